/** Incidents that owners write: opened, updated, corrected, explained afterwards and removed. */
import { formatTime, readTime } from '../domain/durations.ts';
import { INCIDENT_STATUSES } from '../domain/incident/incident.ts';
import {
  OWNER_INCIDENT_BOUNDS,
  OWNER_SEVERITIES,
  type OwnerIncident,
  ownerIncidentId,
  readOwnerIncidentId,
  textBytesOf,
  withUpdate,
} from '../domain/incident/owner-incident.ts';
import { type Static, Type } from '../json-schema.ts';
import {
  type AccountPrincipal,
  accept,
  attempt,
  type Outcome,
  refuse,
  refuseRole,
} from '../resources/kit/change.ts';
import { mergePatch } from '../resources/kit/merge-patch.ts';
import { createDocumentReader } from '../resources/kit/read-document.ts';
import { readAll } from '../resources/kit/read-input.ts';
import type { OwnersWordsStore, RevisionOutcome } from '../store/ports/owners-words.ts';
import type { ServiceStore } from '../store/ports/services.ts';
import type { PageStore } from '../store/ports/status-pages.ts';
import { readOwnerText, readOwnerTitle } from './owner-text.ts';
import { findSubjects, nameSubjects, readSubjects, type Subjects } from './subjects.ts';

/** The dependencies of these changes. */
export interface OwnerIncidentContext {
  readonly registry: Pick<
    OwnersWordsStore,
    'addOwnerIncident' | 'findOwnerIncident' | 'putOwnerIncident' | 'removeOwnerIncident'
  > &
    Pick<ServiceStore, 'servicesOf'> &
    Pick<PageStore, 'pagesOf'>;
  /** Without a slash at its end. */
  readonly siteUrl: string;
  readonly now: () => number;
}

const strict = { additionalProperties: false };
const { subjects, titleCharacters, textCharacters } = OWNER_INCIDENT_BOUNDS;
const word = (words: readonly string[], description: string) =>
  Type.Unsafe<string>({ type: 'string', enum: [...words], description });
const text = (description: string) => Type.String({ maxLength: textCharacters, description });

const MEMBERS = {
  title: Type.String({ minLength: 1, maxLength: titleCharacters }),
  severity: Type.Optional(word(OWNER_SEVERITIES, 'Default: minor.')),
  services: Type.Optional(
    Type.Array(Type.String({ maxLength: 300 }), {
      maxItems: subjects,
      description: 'Slugs or domains of services of the account.',
    }),
  ),
  pages: Type.Optional(
    Type.Array(Type.String({ maxLength: 300 }), {
      maxItems: subjects,
      description: 'Slugs of status pages of the account.',
    }),
  ),
};

/** An incident that is written. */
export const OwnerIncidentInputSchema = Type.Object(
  {
    ...MEMBERS,
    status: Type.Optional(word(INCIDENT_STATUSES, 'Default: investigating.')),
    text: text('The first update, in Markdown.'),
    started_at: Type.Optional(
      Type.String({
        maxLength: 40,
        description: 'When it began (ISO 8601, not in the future). Default: now.',
      }),
    ),
  },
  strict,
);

/** What can be corrected. */
export const OwnerIncidentPatchSchema = Type.Object(
  {
    ...MEMBERS,
    post_mortem: Type.Optional(text('What was found out, in Markdown, after it is resolved; null: none.')),
  },
  strict,
);

/** An update. */
export const OwnerUpdateInputSchema = Type.Object(
  {
    status: Type.Optional(word(INCIDENT_STATUSES, 'Default: it stays.')),
    text: text('In Markdown.'),
  },
  strict,
);

const readInput = createDocumentReader<Static<typeof OwnerIncidentInputSchema>>(OwnerIncidentInputSchema);
const readPatch = createDocumentReader<Static<typeof OwnerIncidentPatchSchema>>(OwnerIncidentPatchSchema);
const readUpdate = createDocumentReader<Static<typeof OwnerUpdateInputSchema>>(OwnerUpdateInputSchema);

/**
 * Opens an incident. Refused with `role_required`, `member_invalid`, `subject_missing`, `no_subject` and `too_many_incidents`.
 */
export async function openOwnerIncident(
  context: OwnerIncidentContext,
  principal: AccountPrincipal,
  document: unknown,
): Promise<Outcome<OwnerIncident>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  const structure = readInput(document);
  if (!structure.ok) return structure;
  const { registry, siteUrl } = context;
  const { accountId } = principal;
  const now = context.now();
  const {
    title,
    severity,
    status,
    text: said,
    started_at: startedAt,
    services = [],
    pages = [],
  } = structure.value;
  const reading = readAll({
    title: readOwnerTitle(title),
    said: await readOwnerText(said, 'text'),
    startedAt: readStart(startedAt, now),
    subjects: findSubjects(await readSubjects(registry, accountId), { services, pages }),
  });
  if (!reading.ok) return reading;
  const chosen = statusOf(status, 'investigating');
  const update = { at: now, status: chosen, ...reading.value.said };
  return await attempt(() =>
    registry.addOwnerIncident({
      accountId,
      title: reading.value.title,
      severity: severityOf(severity, 'minor'),
      status: chosen,
      startedAt: reading.value.startedAt,
      resolvedAt: chosen === 'resolved' ? now : null,
      ...reading.value.subjects,
      updates: [update],
      siteUrl,
      now,
    }),
  );
}

/**
 * Adds an update. Refused with `role_required`, `no_incident`, `incident_stale`, `too_many_updates`, `incident_too_large` and `member_invalid`.
 * `revisions`: those that the client has seen; null: any.
 */
export async function updateOwnerIncident(
  context: OwnerIncidentContext,
  principal: AccountPrincipal,
  id: string,
  document: unknown,
  revisions: readonly number[] | null,
): Promise<Outcome<OwnerIncident>> {
  const structure = readUpdate(document);
  if (!structure.ok) return structure;
  const said = await readOwnerText(structure.value.text, 'text');
  if (!said.ok) return said;
  return await change(context, principal, id, revisions, async (incident) => {
    const max = OWNER_INCIDENT_BOUNDS.updates;
    if (incident.updates.length >= max) return refuse({ code: 'too_many_updates', max });
    const status = statusOf(structure.value.status, incident.status);
    return accept(withUpdate(incident, { at: context.now(), status, ...said.value }));
  });
}

/** Corrects an incident by a merge patch, or adds its post-mortem. Refused as the others, and with `post_mortem_early`. */
export async function correctOwnerIncident(
  context: OwnerIncidentContext,
  principal: AccountPrincipal,
  id: string,
  patch: unknown,
  revisions: readonly number[] | null,
): Promise<Outcome<OwnerIncident>> {
  return await change(context, principal, id, revisions, async (incident, owned) => {
    const before = {
      title: incident.title,
      severity: incident.severity,
      ...nameSubjects(owned, incident),
      ...(incident.postMortem === null ? {} : { post_mortem: incident.postMortem.markdown }),
    };
    const structure = readPatch(mergePatch(before, patch));
    if (!structure.ok) return structure;
    const { title, severity, services = [], pages = [], post_mortem: written = '' } = structure.value;
    if (written !== '' && incident.status !== 'resolved')
      return refuse({ code: 'post_mortem_early' }, 'post_mortem');
    const reading = readAll({
      title: readOwnerTitle(title),
      postMortem: await readOwnerText(written, 'post_mortem'),
      subjects: findSubjects(owned, { services, pages }),
    });
    if (!reading.ok) return reading;
    const { postMortem } = reading.value;
    const isSame = postMortem.markdown === incident.postMortem?.markdown;
    return accept({
      ...incident,
      title: reading.value.title,
      severity: severityOf(severity, incident.severity),
      ...reading.value.subjects,
      postMortem: isSame
        ? incident.postMortem
        : postMortem.markdown === ''
          ? null
          : { at: context.now(), ...postMortem },
    });
  });
}

/** Removes an incident. Refused with `role_required`, `no_incident` and `incident_stale`. */
export async function dropOwnerIncident(
  { registry }: OwnerIncidentContext,
  principal: AccountPrincipal,
  id: string,
  revisions: readonly number[] | null,
): Promise<Outcome<void>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  const { accountId } = principal;
  const number = readOwnerIncidentId(id) ?? 0;
  const found = await registry.findOwnerIncident(accountId, number);
  if (found !== null && revisions !== null && !revisions.includes(found.revision))
    return refuse({ code: 'incident_stale' });
  const outcome = await registry.removeOwnerIncident(accountId, number, found?.revision);
  return outcome === 'changed' ? accept(undefined) : refuseOutcome(outcome, id);
}

/** Changes an incident that the account has, if it is at one of the revisions. */
async function change(
  { registry, now }: OwnerIncidentContext,
  principal: AccountPrincipal,
  id: string,
  revisions: readonly number[] | null,
  make: (incident: OwnerIncident, owned: Subjects) => Promise<Outcome<OwnerIncident>>,
): Promise<Outcome<OwnerIncident>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  const { accountId } = principal;
  const incident = await registry.findOwnerIncident(accountId, readOwnerIncidentId(id) ?? 0);
  if (incident === null) return refuse({ code: 'no_incident', id: id.slice(0, 100) });
  if (revisions !== null && !revisions.includes(incident.revision)) return refuse({ code: 'incident_stale' });
  const made = await make(incident, await readSubjects(registry, accountId));
  if (!made.ok) return made;
  const max = OWNER_INCIDENT_BOUNDS.textBytes;
  if (textBytesOf(made.value) > Math.max(max, textBytesOf(incident)))
    return refuse({ code: 'incident_too_large', max });
  const put = await attempt(() => registry.putOwnerIncident(made.value, now()));
  if (!put.ok) return put;
  if (put.value !== 'changed') return refuseOutcome(put.value, id);
  const stored = await registry.findOwnerIncident(accountId, incident.id);
  return stored === null ? refuseOutcome('missing', id) : accept(stored);
}

function refuseOutcome(outcome: Exclude<RevisionOutcome, 'changed'>, id: string) {
  return refuse(
    outcome === 'stale' ? { code: 'incident_stale' } : { code: 'no_incident', id: id.slice(0, 100) },
  );
}

function readStart(given: string | undefined, now: number): Outcome<number> {
  const at = given === undefined ? now : readTime(given);
  if (at !== null && at <= now) return accept(at);
  const problem = { code: 'format', example: `a time that is past, such as ${formatTime(now)}` } as const;
  return refuse({ code: 'member_invalid', member: 'started_at', problem }, 'started_at');
}

function severityOf(given: string | undefined, otherwise: OwnerIncident['severity']) {
  return OWNER_SEVERITIES.find((one) => one === given) ?? otherwise;
}

function statusOf(given: string | undefined, otherwise: OwnerIncident['status']) {
  return INCIDENT_STATUSES.find((one) => one === given) ?? otherwise;
}

/** An incident as its account sees it by the API. */
export function viewOwnerIncident(said: OwnerIncident, owned: Subjects) {
  return {
    id: ownerIncidentId(said.id),
    source: 'owner' as const,
    title: said.title,
    severity: said.severity,
    status: said.status,
    started_at: formatTime(said.startedAt),
    resolved_at: said.resolvedAt === null ? null : formatTime(said.resolvedAt),
    ...nameSubjects(owned, said),
    updates: said.updates.map(({ at, status, markdown, plain }) => ({
      at: formatTime(at),
      status,
      text: markdown,
      plain,
    })),
    updates_total: said.updates.length + (said.earlier ?? 0),
    post_mortem:
      said.postMortem === null
        ? null
        : {
            at: formatTime(said.postMortem.at),
            text: said.postMortem.markdown,
            plain: said.postMortem.plain,
          },
  };
}
