/** `/dashboard/incidents`: incidents in the words of the account, written, updated, explained and removed. */
import {
  correctOwnerIncident,
  dropOwnerIncident,
  openOwnerIncident,
  updateOwnerIncident,
} from '../../app/owner-incidents.ts';
import { nameSubjects, readSubjects } from '../../app/subjects.ts';
import { INCIDENT_STATUSES } from '../../domain/incident.ts';
import { OWNER_INCIDENT_BOUNDS, OWNER_SEVERITIES, ownerIncidentId } from '../../domain/owner-incident.ts';
import type { HttpResponse, Route } from '../../http/route.ts';
import { ownerTextMarkup, viewSaid } from '../parts/owners-words.ts';
import {
  type DashboardSources,
  type FormFields,
  memberOf,
  type RefusedForm,
  type ShowPage,
  viewForms,
  visitorForms,
  visitorRoute,
} from './dashboard-forms.ts';
import type { Visitor } from './sign-in-pages.ts';

const PATH = '/dashboard/incidents';
/** Maximum number of incidents on the page. */
const MAX_SHOWN = 30;

/** The routes. */
export function incidentPages(show: ShowPage, sources: DashboardSources): Route[] {
  const { registry, siteUrl, now } = sources;
  const context = { registry, siteUrl, now };

  const page = async (session: Visitor, sent: RefusedForm | null): Promise<HttpResponse> => {
    const { accountId, language } = session;
    const { texts } = language;
    const [owned, all] = await Promise.all([
      readSubjects(registry, accountId),
      registry.ownerIncidentsOf(accountId),
    ]);
    const refused = ofSubject(sent);
    const isRefused = refused !== null && Object.keys(refused.problems).length > 0;
    return show(
      './dashboard-incidents',
      {
        title: texts.said.incidents,
        forms: viewForms(refused),
        preview: await previewOf(refused),
        isChosen: chosenIn(refused),
        bounds: OWNER_INCIDENT_BOUNDS,
        statuses: INCIDENT_STATUSES,
        severities: OWNER_SEVERITIES,
        owned,
        incidents: await Promise.all(
          all.slice(0, MAX_SHOWN).map(async (one) => ({
            ...(await viewSaid(one, now(), language)),
            id: ownerIncidentId(one.id),
            current: one.status,
            subjects: Object.values(nameSubjects(owned, one)).flat().join(', '),
            written: one.postMortem?.markdown ?? '',
          })),
        ),
      },
      session,
      isRefused ? 400 : 200,
    );
  };

  const form = visitorForms(sources, PATH, page);
  const preview = async (name: string, session: Visitor, typed: FormFields) =>
    await page(session, { form: name, problems: {}, typed });

  return [
    visitorRoute(sources, PATH, (session) => page(session, null)),
    form('add', async (_, session, fields) => {
      if (fields.has('preview')) return await preview('add', session, fields);
      return await openOwnerIncident(context, memberOf(session), {
        title: fields.get('title') ?? '',
        severity: fields.get('severity') || 'minor',
        status: fields.get('status') || 'investigating',
        text: fields.get('text') ?? '',
        ...subjectsIn(fields),
      });
    }),
    form('update', async (_, session, fields) => {
      if (fields.has('preview')) return await preview('update', session, fields);
      const update = { status: fields.get('status') ?? '', text: fields.get('text') ?? '' };
      return await updateOwnerIncident(context, memberOf(session), fields.get('id') ?? '', update);
    }),
    form('explain', async (_, session, fields) => {
      if (fields.has('preview')) return await preview('explain', session, fields);
      const patch = { post_mortem: fields.get('text') || null };
      const id = fields.get('id') ?? '';
      const outcome = await correctOwnerIncident(context, memberOf(session), id, patch, null);
      if (outcome.ok) return outcome;
      return { ...outcome, refusals: outcome.refusals.map((one) => ({ ...one, field: 'text' })) };
    }),
    form('remove', (_, session, fields) =>
      dropOwnerIncident(context, memberOf(session), fields.get('id') ?? ''),
    ),
  ];
}

/** The services and pages that were ticked. */
export function subjectsIn(fields: FormFields) {
  const named = (prefix: string) =>
    [...fields.keys()].filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
  return { services: named('service:'), pages: named('page:') };
}

/** Whether a box was ticked in a form that is shown again. */
export function chosenIn(refused: RefusedForm | null) {
  return (name: string): boolean => refused?.typed.has(name) ?? false;
}

/** A form about one of several things has its ID in its name. */
export function ofSubject(refused: RefusedForm | null): RefusedForm | null {
  const id = refused?.typed.get('id');
  return refused === null || id === undefined ? refused : { ...refused, form: `${refused.form}-${id}` };
}

/** The text that was typed as HTML, if a preview was asked for. */
export async function previewOf(refused: RefusedForm | null) {
  if (refused === null || !refused.typed.has('preview')) return null;
  const text = (refused.typed.get('text') ?? '').slice(0, OWNER_INCIDENT_BOUNDS.textCharacters);
  return { form: refused.form, html: await ownerTextMarkup(text) };
}
