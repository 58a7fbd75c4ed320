/** Incidents that accounts post: opened, updated, corrected, explained afterwards and removed (docs/incidents.md). */
import {
  OWNER_INCIDENT_BOUNDS,
  type OwnerIncident,
  ownerIncidentId,
  readOwnerIncidentId,
  textBytesOf,
  withUpdate,
} from '../../domain/incident/owner-incident.ts';
import type { OwnerIncidentStore } from '../../store/ports/posts.ts';
import { accept, attempt, type Outcome, type Principal, refuse } from '../kit/change.ts';
import { type ChangeTarget, createChanges } from '../kit/create-changes.ts';
import { readSubjects, type SubjectStore } from '../kit/post-subjects.ts';
import {
  type IncidentDocument,
  incidentDocumentOf,
  readCorrection,
  readNewIncident,
  readUpdate,
  type WantedIncident,
} from './incident-document.ts';

export interface IncidentContext {
  readonly registry: OwnerIncidentStore & SubjectStore;
  /** Without a slash at its end. */
  readonly siteUrl: string;
  readonly now: () => number;
}

/** The changes of incidents, which are known by ids such as `owner-164829301745526`. Lists have the beginnings of their newest texts. */
export const incidentChanges = createChanges<
  OwnerIncident,
  string,
  IncidentDocument,
  WantedIncident,
  IncidentContext
>({
  mayChange: 'editor',
  codes: {
    missing: (id) => ({ code: 'no_incident', id: id.slice(0, 100) }),
    stale: 'incident_stale',
    at: {},
  },
  keyOf: ({ id }) => ownerIncidentId(id),
  list: ({ registry }, accountId) => registry.ownerIncidentsOf(accountId),
  find: async ({ registry }, accountId, id) =>
    accountId === null ? null : await registry.findOwnerIncident(accountId, readOwnerIncidentId(id) ?? 0),
  async writer({ registry }, accountId) {
    const owned = await readSubjects(registry, accountId);
    return (incident) => incidentDocumentOf(incident, owned);
  },
  async read({ registry, now }, document, { accountId, before }) {
    const owned = await readSubjects(registry, accountId);
    return before === null
      ? await readNewIncident(document, owned, now())
      : await readCorrection(document, owned, now(), before);
  },
  add: ({ registry, siteUrl, now }, accountId, { postMortem: _, ...wanted }) =>
    attempt(() => registry.addOwnerIncident({ accountId, ...wanted, siteUrl, now: now() })),
  change: (context, before, wanted) => put(context, before, { ...before, ...wanted }),
  remove: ({ registry }, { accountId, id, revision }) =>
    attempt(() => registry.removeOwnerIncident(accountId, id, revision)),
});

/** Adds an update. Refused as `incidentChanges.patch`, and with `too_many_updates`. */
export function updateIncident(
  context: IncidentContext,
  principal: Principal,
  target: ChangeTarget<string>,
  document: unknown,
): Promise<Outcome<OwnerIncident>> {
  return incidentChanges.change(context, principal, target, async (incident) => {
    const update = await readUpdate(document, incident, context.now());
    if (!update.ok) return update;
    const max = OWNER_INCIDENT_BOUNDS.updates;
    if (incident.updates.length >= max) return refuse({ code: 'too_many_updates', max });
    return await put(context, incident, withUpdate(incident, update.value));
  });
}

/** Stores a change. Refused with `incident_too_large`, `incident_stale` and `no_incident`. */
async function put(
  { registry, now }: IncidentContext,
  before: OwnerIncident,
  after: OwnerIncident,
): Promise<Outcome<OwnerIncident>> {
  const max = OWNER_INCIDENT_BOUNDS.textBytes;
  if (textBytesOf(after) > Math.max(max, textBytesOf(before)))
    return refuse({ code: 'incident_too_large', max });
  const outcome = await attempt(() => registry.putOwnerIncident(after, now()));
  if (!outcome.ok) return outcome;
  const stored = await registry.findOwnerIncident(before.accountId, before.id);
  return stored === null ? refuse({ code: 'no_incident', id: ownerIncidentId(before.id) }) : accept(stored);
}
