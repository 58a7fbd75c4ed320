/** `/dashboard/incidents`: incidents in the words of the account, written, updated, corrected, explained and removed. */
import {
  correctOwnerIncident,
  dropOwnerIncident,
  openOwnerIncident,
  updateOwnerIncident,
} from '../../app/owner-incidents.ts';
import type { Subjects } from '../../app/subjects.ts';
import { INCIDENT_STATUSES } from '../../domain/incident/incident.ts';
import {
  OWNER_INCIDENT_BOUNDS,
  OWNER_SEVERITIES,
  type OwnerIncident,
  ownerIncidentId,
  readOwnerIncidentId,
} from '../../domain/incident/owner-incident.ts';
import type { Route } from '../../http/route.ts';
import type { Language } from '../language/language.ts';
import { incidentPath } from '../parts/incidents.ts';
import { viewSaid } from '../parts/owners-words.ts';
import {
  type DashboardSources,
  memberOf,
  renameFields,
  revisionIn,
  type ShowPage,
} from './dashboard-forms.ts';
import { type SaidCard, type SaidField, saidPages, subjectsIn } from './said-pages.ts';

/** Maximum number of incidents on the page. */
const MAX_SHOWN = 30;
const { titleCharacters, textCharacters } = OWNER_INCIDENT_BOUNDS;

/** The routes. */
export function incidentPages(show: ShowPage, sources: DashboardSources): Route[] {
  const { registry, siteUrl, now } = sources;
  const context = { registry, siteUrl, now };
  return saidPages<OwnerIncident>(show, sources, {
    path: '/dashboard/incidents',
    missing: 'incident_not_found',
    words: ({ texts: { said, dashboard } }) => ({
      title: said.incidents,
      lead: said.incidentsLead,
      none: said.noIncidents,
      create: said.newIncident,
      publish: said.publish,
      remove: dashboard.remove,
    }),
    async list(accountId) {
      const shown = (await registry.ownerIncidentsOf(accountId)).slice(0, MAX_SHOWN);
      return await Promise.all(
        shown.map(async (said) => {
          if (said.postMortem?.isCut !== true) return said;
          // Its form has the whole text.
          const whole = await registry.findOwnerIncident(accountId, said.id);
          return { ...said, postMortem: whole?.postMortem ?? null };
        }),
      );
    },
    find: (accountId, id) => registry.findOwnerIncident(accountId, readOwnerIncidentId(id) ?? 0),
    idOf: ({ id }) => ownerIncidentId(id),
    card: (said, language, owned) => viewIncident(said, now(), language, pathOf(said, owned)),
    fields: incidentFields,
    add: (session, fields) =>
      openOwnerIncident(context, memberOf(session), {
        title: fields.get('title') ?? '',
        severity: fields.get('severity') || 'minor',
        status: fields.get('status') || 'investigating',
        text: fields.get('text') ?? '',
        ...startIn(fields.get('started_at') ?? ''),
        ...subjectsIn(fields),
      }),
    save: (session, fields, { id }) =>
      correctOwnerIncident(
        context,
        memberOf(session),
        ownerIncidentId(id),
        {
          title: fields.get('title') ?? '',
          severity: fields.get('severity') ?? '',
          ...subjectsIn(fields),
        },
        revisionIn(fields),
      ),
    actions: {
      update: (session, fields, id) =>
        updateOwnerIncident(
          context,
          memberOf(session),
          id,
          { status: fields.get('status') ?? '', text: fields.get('text') ?? '' },
          revisionIn(fields),
        ),
      async explain(session, fields, id) {
        const patch = { post_mortem: fields.get('text') || null };
        const outcome = await correctOwnerIncident(context, memberOf(session), id, patch, revisionIn(fields));
        return renameFields(outcome, { post_mortem: 'text' });
      },
      remove: (session, fields, id) => dropOwnerIncident(context, memberOf(session), id, revisionIn(fields)),
    },
  });
}

/** The time of a field as the API takes it: browsers send it without a zone, and the label says that it is UTC. */
function startIn(typed: string): { readonly started_at?: string } {
  if (typed === '') return {};
  return { started_at: /T\d\d:\d\d$/.test(typed) ? `${typed}:00Z` : typed };
}

/** The public page that shows all of an incident; null: there is none. */
function pathOf(said: OwnerIncident, owned: Subjects): string | null {
  const [page, service] = [
    owned.pages.find(({ id }) => said.pages.includes(id)),
    owned.services.find(({ id }) => said.services.includes(id)),
  ];
  const id = ownerIncidentId(said.id);
  if (page !== undefined) return `/p/${page.slug}/incidents/${id}`;
  return service === undefined ? null : incidentPath(service.slug, `${id}-${service.id}`);
}

async function viewIncident(
  said: OwnerIncident,
  now: number,
  language: Language,
  path: string | null,
): Promise<SaidCard> {
  const { texts } = language;
  const view = await viewSaid(said, now, language, path);
  const text = { name: 'text', input: 'area', maxLength: textCharacters } as const;
  const update: readonly SaidField[] = [
    { ...text, label: texts.said.update, required: true, rows: 3, value: '' },
    statusField(said.status, language),
  ];
  const explain: readonly SaidField[] = [
    { ...text, label: texts.page.postMortem, rows: 4, value: said.postMortem?.markdown ?? '' },
  ];
  return {
    title: view.title,
    state: view.status,
    look: view.look,
    facts: [`${view.severity} · `, ...view.began, `, ${view.lasted}`],
    text: '',
    said: view,
    forms: [
      { action: 'update', fields: update },
      ...(view.isOpen ? [] : [{ action: 'explain', fields: explain }]),
    ],
    buttons: [],
  };
}

/** Status, text and start of an incident are those of its first update. */
function incidentFields(said: OwnerIncident | null, language: Language): readonly SaidField[] {
  const { texts } = language;
  const title: SaidField = {
    name: 'title',
    label: texts.said.title,
    input: 'text',
    required: true,
    maxLength: titleCharacters,
    value: said?.title ?? '',
  };
  const severity: SaidField = {
    name: 'severity',
    label: texts.said.severity,
    input: 'choice',
    choices: OWNER_SEVERITIES.map((value) => ({ value, text: texts.severity[value] })),
    value: said?.severity ?? 'minor',
  };
  if (said !== null) return [title, severity];
  return [
    title,
    {
      name: 'text',
      label: texts.said.text,
      input: 'area',
      required: true,
      rows: 6,
      maxLength: textCharacters,
      value: '',
    },
    severity,
    statusField('investigating', language),
    { name: 'started_at', label: texts.said.started, input: 'time', value: '' },
  ];
}

function statusField(value: string, { texts }: Language): SaidField {
  const choices = INCIDENT_STATUSES.map((one) => ({ value: one, text: texts.incidentStatus[one] }));
  return { name: 'status', label: texts.said.status, input: 'choice', choices, value };
}
