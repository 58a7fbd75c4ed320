/** `/dashboard/incidents`: incidents that the account posts, written, updated, corrected, explained and removed. */
import { INCIDENT_STATUSES, incidentPath } from '../../domain/incident/incident.ts';
import {
  OWNER_INCIDENT_BOUNDS,
  OWNER_SEVERITIES,
  type OwnerIncident,
  ownerIncidentId,
} from '../../domain/incident/owner-incident.ts';
import type { Route } from '../../http/route.ts';
import { incidentChanges, updateIncident } from '../../resources/incidents/incidents.ts';
import type { Subjects } from '../../resources/kit/posts.ts';
import type { Language } from '../language/language.ts';
import { viewPost } from '../parts/incidents.ts';
import { type DashboardSources, renameFields, type ShowPage, targetIn } from './dashboard-forms.ts';
import { type PostCard, type PostField, postPages } from './post-pages.ts';

/** Maximum number of incidents on the page. */
const MAX_SHOWN = 30;
const { titleCharacters, textCharacters } = OWNER_INCIDENT_BOUNDS;

export function incidentPages(show: ShowPage, sources: DashboardSources): Route[] {
  const { registry, now } = sources;
  return postPages(show, sources, {
    path: '/dashboard/incidents',
    ...{ changes: incidentChanges, context: sources },
    words: ({ texts: { posts, dashboard } }) => ({
      title: posts.incidents,
      lead: posts.incidentsLead,
      none: posts.noIncidents,
      create: posts.newIncident,
      publish: posts.publish,
      remove: dashboard.remove,
    }),
    async list(accountId) {
      const shown = (await registry.ownerIncidentsOf(accountId)).slice(0, MAX_SHOWN);
      return await Promise.all(
        shown.map(async (incident) => {
          if (incident.postMortem?.isCut !== true) return incident;
          // Its form has the whole text.
          const whole = await registry.findOwnerIncident(accountId, incident.id);
          return { ...incident, postMortem: whole?.postMortem ?? null };
        }),
      );
    },
    card: (incident, language, owned) => viewIncident(incident, now(), language, pathOf(incident, owned)),
    fields: incidentFields,
    documentIn: (fields, incident) => ({
      title: fields.get('title') ?? '',
      severity: fields.get('severity') || 'minor',
      ...(incident === null
        ? {
            status: fields.get('status') || 'investigating',
            text: fields.get('text') ?? '',
            ...startIn(fields.get('started_at') ?? ''),
          }
        : {}),
    }),
    fieldNames: {},
    actions: {
      update: (session, fields, id) => {
        const update = { status: fields.get('status') ?? '', text: fields.get('text') ?? '' };
        return updateIncident(sources, session, targetIn(id, fields), update);
      },
      async explain(session, fields, id) {
        const patch = { post_mortem: fields.get('text') || null };
        const outcome = await incidentChanges.patch(sources, session, targetIn(id, fields), patch);
        return renameFields(outcome, { post_mortem: 'text' });
      },
    },
  });
}

/** The time of a field as the API takes it: browsers send it without a zone, and the label says that it is UTC. */
function startIn(typed: string): { readonly started_at?: string } {
  if (typed === '') return {};
  return { started_at: /T\d\d:\d\d$/.test(typed) ? `${typed}:00Z` : typed };
}

/** The public page that shows all of an incident; null: there is none. */
function pathOf(incident: OwnerIncident, owned: Subjects): string | null {
  const [page, service] = [
    owned.pages.find(({ id }) => incident.pages.includes(id)),
    owned.services.find(({ id }) => incident.services.includes(id)),
  ];
  const id = ownerIncidentId(incident.id);
  if (page !== undefined) return `/p/${page.slug}/incidents/${id}`;
  return service === undefined ? null : incidentPath(service.slug, `${id}-${service.id}`);
}

async function viewIncident(
  incident: OwnerIncident,
  now: number,
  language: Language,
  path: string | null,
): Promise<PostCard> {
  const { texts } = language;
  const view = await viewPost(incident, now, language, { path });
  const text = { name: 'text', input: 'area', maxLength: textCharacters } as const;
  const update: readonly PostField[] = [
    { ...text, label: texts.posts.update, required: true, rows: 3, value: '' },
    statusField(incident.status, language),
  ];
  const explain: readonly PostField[] = [
    { ...text, label: texts.page.postMortem, rows: 4, value: incident.postMortem?.markdown ?? '' },
  ];
  return {
    title: view.title,
    state: view.status,
    look: view.look,
    facts: [`${view.severity} · `, ...view.began, `, ${view.lasted}`],
    text: '',
    post: view,
    forms: [
      { action: 'update', fields: update },
      ...(view.isOpen ? [] : [{ action: 'explain', fields: explain }]),
    ],
    buttons: [],
  };
}

/** Status, text and start of an incident are those of its first update. */
function incidentFields(incident: OwnerIncident | null, language: Language): readonly PostField[] {
  const { texts } = language;
  const title: PostField = {
    name: 'title',
    label: texts.posts.title,
    input: 'text',
    required: true,
    maxLength: titleCharacters,
    value: incident?.title ?? '',
  };
  const severity: PostField = {
    name: 'severity',
    label: texts.posts.severity,
    input: 'choice',
    choices: OWNER_SEVERITIES.map((value) => ({ value, text: texts.severity[value] })),
    value: incident?.severity ?? 'minor',
  };
  if (incident !== null) return [title, severity];
  return [
    title,
    {
      name: 'text',
      label: texts.posts.text,
      input: 'area',
      required: true,
      rows: 6,
      maxLength: textCharacters,
      value: '',
    },
    severity,
    statusField('investigating', language),
    { name: 'started_at', label: texts.posts.started, input: 'time', value: '' },
  ];
}

function statusField(value: string, { texts }: Language): PostField {
  const choices = INCIDENT_STATUSES.map((one) => ({ value: one, text: texts.incidentStatus[one] }));
  return { name: 'status', label: texts.posts.status, input: 'choice', choices, value };
}
