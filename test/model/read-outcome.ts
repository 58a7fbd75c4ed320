/** What the program made of a world, as the registry has it. */

import type { AlertEvent } from '../../src/domain/alert/event.ts';
import { acknowledgements } from '../../src/domain/incident/acknowledgement.ts';
import type { Incident } from '../../src/domain/incident/incident.ts';
import type { RecordedRegistry } from '../support/recorded-registry.ts';
import type { Outcome, TellingEvent } from './diary.ts';
import { byId, byService } from './reference/lists.ts';

/** Reads it; `events`: those that alerts were decided from; `now`: the end of the world, epoch milliseconds. */
export async function readOutcome(
  { transitions, incidents }: RecordedRegistry,
  events: readonly AlertEvent[],
  now: number,
): Promise<Omit<Outcome, 'days' | 'tellings'>> {
  const listed = [...incidents.values()];
  const ofServices = Map.groupBy(listed, ({ serviceId }) => serviceId);
  return {
    transitions: transitions
      .toSorted((a, b) => a.serviceId - b.serviceId || a.seq - b.seq)
      .map(({ serviceId: service, from, to, at, recordedAt, scope }) => ({
        ...{ service, from, to, at, recordedAt },
        scope: scope === undefined ? (to === 'down' ? 'global' : null) : scope.to,
        regions: (scope?.regions ?? []).join(' '),
      })),
    incidents: listed
      .map((one) => ({
        ...{ id: nameOf(one), severity: one.severity, status: one.status },
        ...{ startedAt: one.startedAt, resolvedAt: one.resolvedAt },
        timeline: one.updates.map(({ status, at }) => `${status}@${at}`).join(' '),
      }))
      .sort(byId),
    events: events.map(describeEvent).sort(byService),
    lags: [...ofServices.values()]
      .flatMap((those) => acknowledgements(those, now))
      .map(({ incidentId: id, lagMs }) => ({ id, lagMs }))
      .sort(byId),
  };
}

function describeEvent({ serviceId: service, change, at, recordedAt }: AlertEvent): TellingEvent {
  switch (change.type) {
    case 'status':
      return { service, kind: 'status', what: `${change.from} to ${change.to}`, at, recordedAt };
    case 'scope':
      return { service, kind: 'scope', what: `${change.from} to ${change.to}`, at, recordedAt };
    case 'incident': {
      const { source, severity, status, title, id } = change.incident;
      const name = source === 'vendor' ? title : withoutMark(id);
      return { service, kind: 'incident', what: `${name} ${severity} ${status}`, at, recordedAt };
    }
    case 'maintenance': {
      const name = change.source === 'vendor' ? change.title : withoutMark(change.id);
      return { service, kind: 'maintenance', what: `${name} ${change.phase}`, at, recordedAt };
    }
    case 'certificate':
      throw new Error('worlds have no certificates');
  }
}

/** The ID of a vendor's incident is a digest: its title is that of its entry. */
function nameOf({ id, source, title, serviceId }: Incident): string {
  return source === 'vendor' ? `${title} ${serviceId}` : withoutMark(id);
}

/** The ID of an owner's maintenance, which is of one service here, without what stands for the service. */
export function withoutMark(id: string): string {
  return id.replace(/^(owner-m\d+-\d+)-[0-9a-f]+$/, '$1');
}
