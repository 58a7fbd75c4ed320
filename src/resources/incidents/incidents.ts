/** Incidents that accounts post: their documents; opened, updated, corrected, explained afterwards and removed (docs/incidents.md). */

import { formatTime, formatTimeOrNull, readTime } from '../../domain/durations.ts';
import { INCIDENT_STATUSES, type IncidentStatus } from '../../domain/incident/incident.ts';
import {
  OWNER_INCIDENT_BOUNDS,
  OWNER_SEVERITIES,
  type OwnerIncident,
  type OwnerSeverity,
  ownerIncidentId,
  readOwnerIncidentId,
  textBytesOf,
  withUpdate,
} from '../../domain/incident/owner-incident.ts';
import { type Static, strictObject, Type } from '../../json-schema.ts';
import type { OwnerIncidentStore } from '../../store/ports/incidents.ts';
import { accept, attempt, type Outcome, type Principal, readAll, refuse } from '../kit/change.ts';
import { type ChangeTarget, createChanges } from '../kit/create-changes.ts';
import {
  findSubjects,
  type NamedSubjects,
  nameSubjects,
  readPostText,
  readPostTitle,
  readSubjects,
  type SubjectStore,
  type Subjects,
} from '../kit/posts.ts';
import { createDocumentReader } from '../kit/read-document.ts';

const { subjects, titleCharacters, textCharacters } = OWNER_INCIDENT_BOUNDS;
const word = <Word extends string>(words: readonly Word[], description: string) =>
  Type.Unsafe<Word>({ type: 'string', enum: [...words], description });
const text = (description: string) => Type.String({ maxLength: textCharacters, description });
const names = (description: string) =>
  Type.Optional(Type.Array(Type.String({ maxLength: 300 }), { maxItems: subjects, description }));

const MEMBERS = {
  title: Type.String({ minLength: 1, maxLength: titleCharacters }),
  severity: Type.Optional(word<OwnerSeverity>(OWNER_SEVERITIES, 'Default: minor.')),
  services: names('Slugs or domains of services of the account.'),
  pages: names('Slugs of status pages of the account.'),
};

export const IncidentInputSchema = strictObject({
  ...MEMBERS,
  status: Type.Optional(word<IncidentStatus>(INCIDENT_STATUSES, 'Default: investigating.')),
  text: text('The first update, in Markdown.'),
  started_at: Type.Optional(
    Type.String({
      maxLength: 40,
      description: 'When it began (ISO 8601, not in the future). Default: now.',
    }),
  ),
});

/** The members that can be corrected. */
export const IncidentPatchSchema = strictObject({
  ...MEMBERS,
  post_mortem: Type.Optional(text('What was found out, in Markdown, after it is resolved; null: none.')),
});

export const UpdateInputSchema = strictObject({
  status: Type.Optional(word<IncidentStatus>(INCIDENT_STATUSES, 'Default: it stays.')),
  text: text('In Markdown.'),
});

const readInput = createDocumentReader<Static<typeof IncidentInputSchema>>(IncidentInputSchema);
const readPatch = createDocumentReader<Static<typeof IncidentPatchSchema>>(IncidentPatchSchema);
const readUpdateInput = createDocumentReader<Static<typeof UpdateInputSchema>>(UpdateInputSchema);

/** The members of an incident that can be corrected. */
type IncidentDocument = Static<typeof IncidentPatchSchema> & ReturnType<typeof nameSubjects>;

type WantedIncident = Omit<
  OwnerIncident,
  'id' | 'accountId' | 'revision' | 'createdAt' | 'updatedAt' | 'earlier'
>;

/** Reads a new incident. Refused with `member_invalid`, `subject_missing` and `no_subject`. */
async function readNewIncident(
  document: unknown,
  owned: Subjects,
  now: number,
): Promise<Outcome<WantedIncident>> {
  const structure = readInput(document);
  if (!structure.ok) return structure;
  const { severity = 'minor', status = 'investigating', services = [], pages = [] } = structure.value;
  const reading = readAll({
    title: readPostTitle(structure.value.title),
    first: await readPostText(structure.value.text, 'text'),
    startedAt: readStart(structure.value.started_at, now),
    subjects: findSubjects(owned, { services, pages }),
  });
  if (!reading.ok) return reading;
  const { title, first, startedAt, subjects } = reading.value;
  const resolvedAt = status === 'resolved' ? now : null;
  const updates = [{ at: now, status, ...first }];
  return accept({ title, severity, status, startedAt, resolvedAt, ...subjects, updates, postMortem: null });
}

/** Reads a correction. Refused as {@link readNewIncident}, and with `post_mortem_early`. */
async function readCorrection(
  document: unknown,
  owned: Subjects,
  now: number,
  before: OwnerIncident,
): Promise<Outcome<WantedIncident>> {
  const structure = readPatch(document);
  if (!structure.ok) return structure;
  const {
    severity = before.severity,
    services = [],
    pages = [],
    post_mortem: written = '',
  } = structure.value;
  if (written !== '' && before.status !== 'resolved')
    return refuse({ code: 'post_mortem_early' }, 'post_mortem');
  const reading = readAll({
    title: readPostTitle(structure.value.title),
    postMortem: await readPostText(written, 'post_mortem'),
    subjects: findSubjects(owned, { services, pages }),
  });
  if (!reading.ok) return reading;
  const { title, postMortem: found, subjects } = reading.value;
  const changed = found.markdown === '' ? null : { at: now, ...found };
  const isSame = found.markdown === before.postMortem?.markdown;
  return accept({
    ...before,
    title,
    severity,
    ...subjects,
    postMortem: isSame ? before.postMortem : changed,
  });
}

/** Reads an update of an incident. Refused with `member_invalid`. */
async function readUpdate(document: unknown, before: OwnerIncident, now: number) {
  const structure = readUpdateInput(document);
  if (!structure.ok) return structure;
  const { status = before.status } = structure.value;
  const reading = await readPostText(structure.value.text, 'text');
  return reading.ok ? accept({ at: now, status, ...reading.value }) : reading;
}

/** The members of an incident that can be corrected. */
function incidentDocumentOf(incident: OwnerIncident, owned: Subjects): IncidentDocument {
  const { title, severity, postMortem } = incident;
  const explained = postMortem === null ? {} : { post_mortem: postMortem.markdown };
  return { title, severity, ...nameSubjects(owned, incident), ...explained };
}

/** An incident as its account sees it by the API. */
export function viewIncident(incident: OwnerIncident, { services, pages }: NamedSubjects) {
  const { id, title, severity, status, startedAt, resolvedAt, updates, earlier = 0, postMortem } = incident;
  return {
    id: ownerIncidentId(id),
    source: 'owner' as const,
    ...{ title, severity, status },
    started_at: formatTime(startedAt),
    resolved_at: formatTimeOrNull(resolvedAt),
    ...{ services, pages },
    updates: updates.map(({ at, status, markdown, plain }) => ({
      ...{ at: formatTime(at), status, text: markdown, plain },
    })),
    updates_total: updates.length + earlier,
    post_mortem:
      postMortem === null
        ? null
        : { at: formatTime(postMortem.at), text: postMortem.markdown, plain: postMortem.plain },
  };
}

function readStart(given: string | undefined, now: number): Outcome<number> {
  const at = given === undefined ? now : readTime(given);
  if (at !== null && at <= now) return accept(at);
  const problem = { code: 'format', example: `a time that is past, such as ${formatTime(now)}` } as const;
  return refuse({ code: 'member_invalid', member: 'started_at', problem }, 'started_at');
}

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
