/** An incident that an account posts, as a document: of a new one, of a correction and of an update. */
import { formatTime, formatTimeOrNull, readTime } from '../../domain/durations.ts';
import { INCIDENT_STATUSES, type IncidentStatus } from '../../domain/incident/incident.ts';
import {
  OWNER_INCIDENT_BOUNDS,
  OWNER_SEVERITIES,
  type OwnerIncident,
  type OwnerSeverity,
  ownerIncidentId,
} from '../../domain/incident/owner-incident.ts';
import { type Static, strictObject, Type } from '../../json-schema.ts';
import { accept, type Outcome, readAll, refuse } from '../kit/change.ts';
import { findSubjects, type NamedSubjects, nameSubjects, type Subjects } from '../kit/post-subjects.ts';
import { readPostText, readPostTitle } from '../kit/post-text.ts';
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
export type IncidentDocument = Static<typeof IncidentPatchSchema> & ReturnType<typeof nameSubjects>;

export type WantedIncident = Omit<
  OwnerIncident,
  'id' | 'accountId' | 'revision' | 'createdAt' | 'updatedAt' | 'earlier'
>;

/** Reads a new incident. Refused with `member_invalid`, `subject_missing` and `no_subject`. */
export async function readNewIncident(
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
export async function readCorrection(
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
export async function readUpdate(document: unknown, before: OwnerIncident, now: number) {
  const structure = readUpdateInput(document);
  if (!structure.ok) return structure;
  const { status = before.status } = structure.value;
  const reading = await readPostText(structure.value.text, 'text');
  return reading.ok ? accept({ at: now, status, ...reading.value }) : reading;
}

/** The members of an incident that can be corrected. */
export function incidentDocumentOf(incident: OwnerIncident, owned: Subjects): IncidentDocument {
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
