/** What the program made of a world, as the registry has it. */
import { acknowledgements } from '../../src/domain/acknowledgement.ts';
import type { Incident } from '../../src/domain/incident.ts';
import type { RecordedRegistry } from '../support/recorded-registry.ts';
import type { Outcome } from './diary.ts';

/** Reads it; `now`: the end of the world, epoch milliseconds. */
export function readOutcome(
  { transitions, incidents }: RecordedRegistry,
  now: number,
): Omit<Outcome, 'days'> {
  const listed = [...incidents.values()];
  const byService = Map.groupBy(listed, ({ serviceId }) => serviceId);
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
      .sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : a.startedAt - b.startedAt)),
    lags: [...byService.values()]
      .flatMap((those) => acknowledgements(those, now))
      .map(({ incidentId: id, lagMs }) => ({ id, lagMs }))
      .sort((a, b) => (a.id < b.id ? -1 : 1)),
  };
}

/** The ID of a vendor's incident is a digest: its title is that of its entry. */
function nameOf({ id, source, title, serviceId }: Incident): string {
  return source === 'vendor' ? `${title} ${serviceId}` : id;
}
