/** Incidents of owners over the API for writing (docs/incidents.md). */
import {
  correctOwnerIncident,
  dropOwnerIncident,
  type OwnerIncidentContext,
  OwnerIncidentInputSchema,
  OwnerIncidentPatchSchema,
  OwnerUpdateInputSchema,
  openOwnerIncident,
  updateOwnerIncident,
  viewOwnerIncident,
} from '../app/owner-incidents.ts';
import { readSubjects, type Subjects } from '../app/subjects.ts';
import { INCIDENT_STATUSES } from '../domain/incident/incident.ts';
import {
  OWNER_SEVERITIES,
  type OwnerIncident,
  readOwnerIncidentId,
} from '../domain/incident/owner-incident.ts';
import { parseJson } from '../http/body.ts';
import { readRevisions, revisionTag } from '../http/conditional.ts';
import type { OpenApiParameter } from '../http/openapi.ts';
import { HttpError } from '../http/problem.ts';
import type { HttpResponse, Route } from '../http/route.ts';
import { enumOf, listOf, named, namedObject, nullable, object, TimeSchema, whole } from '../http/schema.ts';
import { Type } from '../json-schema.ts';
import { IDEMPOTENCY_KEY, once, REPEAT_PROBLEMS } from '../resources/kit/once.ts';
import { cutWindow, ownListRoute } from '../resources/kit/own-list.ts';
import { resultOf } from '../resources/kit/refused.ts';
import {
  bearerOf,
  changed,
  ETAG_HEADER,
  IF_MATCH,
  ownRoute,
  patchBody,
  principalOf,
  REMOVED,
  writeRoute,
} from '../resources/kit/write-route.ts';
import type { IdempotencyStore, IdempotentCalls } from '../store/ports/idempotency.ts';
import type { OwnersWordsStore } from '../store/ports/owners-words.ts';

/** Maximum size of a body, bytes. */
const MAX_BODY_BYTES = 131_072;

const TEXT_MEMBERS = {
  text: Type.String({ description: 'Markdown, as it was written.' }),
  plain: Type.String({ description: 'The same without markup.' }),
};

/** An incident as its account sees it. */
const OwnerIncidentSchema = namedObject('OwnerIncident', {
  id: Type.String(),
  source: enumOf(['owner']),
  title: Type.String(),
  severity: enumOf(OWNER_SEVERITIES),
  status: enumOf(INCIDENT_STATUSES),
  started_at: TimeSchema,
  resolved_at: nullable(TimeSchema, 'Null while it is unresolved.'),
  services: Type.Array(Type.String(), { description: 'Slugs of services.' }),
  pages: Type.Array(Type.String(), { description: 'Slugs of status pages.' }),
  updates: listOf('Oldest first. Lists have the newest three, and of texts the first 1,000 characters.', {
    at: TimeSchema,
    status: enumOf(INCIDENT_STATUSES),
    ...TEXT_MEMBERS,
  }),
  updates_total: whole('Number of all updates.'),
  post_mortem: nullable(object({ at: TimeSchema, ...TEXT_MEMBERS }), 'Null: nothing yet.'),
});

const ID = (name: 'slug' | 'id'): OpenApiParameter => ({
  name,
  in: 'path',
  required: true,
  description: 'The id of an incident of the account, such as owner-3.',
  schema: { type: 'string' },
  example: 'owner-3',
});
const GONE = { 404: 'The account has written no such incident.' };
const STALE = { 412: 'The incident has another revision than If-Match names.' };
const EXAMPLE = {
  title: 'Orders arrive late',
  severity: 'minor',
  text: 'A queue is **stuck**. No order is lost.',
  services: ['shop.example.com'],
};

/** Sources of the routes. */
export interface OwnerIncidentSources {
  readonly context: Omit<OwnerIncidentContext, 'registry'> & {
    readonly registry: OwnerIncidentContext['registry'] &
      Pick<OwnersWordsStore, 'ownerIncidentsOf'> &
      IdempotencyStore &
      IdempotentCalls;
  };
}

/** The routes. `/api/v1/incidents/:slug` is also that of the incidents of a service. */
export function ownerIncidentRoutes({ context }: OwnerIncidentSources): Route[] {
  const { registry, siteUrl } = context;
  const answer = async (status: 200 | 201, said: OwnerIncident): Promise<HttpResponse> => {
    const body = JSON.stringify(viewOwnerIncident(said, await readSubjects(registry, said.accountId)));
    const { id } = said;
    const headers = status === 201 ? { Location: `${siteUrl}/api/v1/account/incidents/owner-${id}` } : {};
    return changed(status, body, headers, revisionTag(said.revision, body));
  };
  const placeOf = ({ said }: { readonly said: OwnerIncident }) => [-said.startedAt, -said.id];
  return [
    writeRoute({
      path: '/api/v1/incidents',
      method: 'POST',
      id: 'openIncident',
      tag: 'Incidents',
      summary: 'Writes an incident about services and status pages of the account',
      description: 'It is shown as the word of the owner, beside what checks see, which it does not change.',
      parameters: [IDEMPOTENCY_KEY],
      body: {
        schema: named('OwnerIncidentInput', OwnerIncidentInputSchema),
        example: EXAMPLE,
        maxBytes: MAX_BODY_BYTES,
      },
      answers: {
        201: {
          description: 'The incident.',
          headers: {
            ...ETAG_HEADER,
            Location: { description: 'Where it can be read.', schema: { type: 'string' } },
          },
          schema: OwnerIncidentSchema,
        },
      },
      problems: {
        403: 'The account has as many incidents as it may (account_limit), or the key lacks the scope write (insufficient_scope).',
        ...REPEAT_PROBLEMS,
      },
      async handle(request) {
        // The answer needs the names of services and pages.
        const said: { made: OwnerIncident | null; repeated: boolean } = { made: null, repeated: false };
        const response = await once<OwnerIncident>(context, {
          id: 'openIncident',
          request,
          secret: null,
          change: async (calls) =>
            resultOf(
              await openOwnerIncident(
                { ...context, registry: { ...registry, ...calls } },
                principalOf(request.key),
                parseJson(request.body),
              ),
            ),
          answer(made) {
            said.made = made;
            return { status: 201, headers: {}, body: '' };
          },
        });
        if (said.made === null) return response;
        const shown = await answer(201, said.made);
        return { ...shown, headers: { ...shown.headers, ...response.headers } };
      },
    }),
    writeRoute({
      path: '/api/v1/incidents/:slug',
      method: 'PATCH',
      id: 'correctIncident',
      tag: 'Incidents',
      summary: 'Corrects an incident of the account, or adds its post-mortem',
      description:
        'By a JSON Merge Patch (RFC 7396) of title, severity, services, pages and post_mortem, which can be written once it is resolved.',
      parameters: [ID('slug'), IF_MATCH],
      body: patchBody(
        'OwnerIncidentPatch',
        OwnerIncidentPatchSchema,
        { post_mortem: 'A disk was full. It is *watched* now.' },
        MAX_BODY_BYTES,
      ),
      answers: { 200: { description: 'The incident.', headers: ETAG_HEADER, schema: OwnerIncidentSchema } },
      problems: { ...GONE, ...STALE },
      async handle({ key, body, params, headers }) {
        const revisions = readRevisions(headers['if-match']);
        const [principal, id] = [principalOf(key), params.slug ?? ''];
        const outcome = await correctOwnerIncident(context, principal, id, parseJson(body), revisions);
        return await answer(200, resultOf(outcome));
      },
    }),
    writeRoute({
      path: '/api/v1/incidents/:slug',
      method: 'DELETE',
      id: 'removeIncident',
      tag: 'Incidents',
      summary: 'Removes an incident that should not have been written',
      description: 'It disappears from all lists. One that is over is resolved by an update instead.',
      parameters: [ID('slug'), IF_MATCH],
      answers: { 204: { description: 'It is removed.' } },
      problems: { ...GONE, ...STALE },
      async handle({ key, params, headers }) {
        const revisions = readRevisions(headers['if-match']);
        resultOf(await dropOwnerIncident(context, principalOf(key), params.slug ?? '', revisions));
        return REMOVED;
      },
    }),
    writeRoute({
      path: '/api/v1/incidents/:slug/updates',
      method: 'POST',
      id: 'updateIncident',
      tag: 'Incidents',
      summary: 'Adds an update to an incident of the account',
      description: 'An update can change the status: resolved ends the incident, another one opens it again.',
      parameters: [ID('slug'), IDEMPOTENCY_KEY, IF_MATCH],
      body: {
        schema: named('OwnerUpdateInput', OwnerUpdateInputSchema),
        example: { status: 'resolved', text: 'The queue is empty.' },
        maxBytes: MAX_BODY_BYTES,
      },
      answers: { 200: { description: 'The incident.', headers: ETAG_HEADER, schema: OwnerIncidentSchema } },
      problems: { ...GONE, ...STALE, ...REPEAT_PROBLEMS },
      handle: (request) =>
        once<unknown>(context, {
          id: 'updateIncident',
          request,
          secret: null,
          async change(calls, _secret, keep) {
            const { key, body, params, headers } = request;
            const putOwnerIncident: OwnersWordsStore['putOwnerIncident'] = (said, at) => {
              const { updates, ...changed } = { ...said, revision: said.revision + 1, updatedAt: at };
              // The texts are stored once: a repeated request reads them.
              keep(JSON.stringify({ ...changed, updates: updates.length }));
              return calls.putOwnerIncident(said, at);
            };
            const own = { ...context, registry: { ...registry, putOwnerIncident } };
            const revisions = readRevisions(headers['if-match']);
            const [principal, id] = [principalOf(key), params.slug ?? ''];
            return resultOf(await updateOwnerIncident(own, principal, id, parseJson(body), revisions));
          },
          async answer(_value, kept) {
            const changed: Omit<OwnerIncident, 'updates'> & { readonly updates: number } = JSON.parse(
              kept ?? '',
            );
            const stored = await registry.findOwnerIncident(changed.accountId, changed.id);
            const updates = stored?.updates.slice(0, changed.updates) ?? [];
            return await answer(200, { ...changed, updates });
          },
        }),
    }),
    ownListRoute<{ readonly said: OwnerIncident; readonly owned: Subjects }>({
      path: '/api/v1/account/incidents',
      id: 'listOwnIncidents',
      tag: 'Incidents',
      summary: 'The incidents that the account has written',
      description: 'Those that checks and vendors report are not among them.',
      name: 'OwnerIncidentList',
      member: 'incidents',
      item: OwnerIncidentSchema,
      order: 'Newest start first.',
      place: ['number', 'number'],
      placeOf,
      async read(accountId, window) {
        const owned = await readSubjects(registry, accountId);
        const all = (await registry.ownerIncidentsOf(accountId)).map((said) => ({ said, owned }));
        return cutWindow(all, window, placeOf);
      },
      view: ({ said, owned }) => viewOwnerIncident(said, owned),
    }),
    ownRoute({
      path: '/api/v1/account/incidents/:id',
      id: 'getOwnIncident',
      tag: 'Incidents',
      summary: 'An incident that the account has written',
      description: 'With its updates in Markdown. The ETag begins with the revision.',
      parameters: [ID('id')],
      answers: { 200: { description: 'The incident.', headers: ETAG_HEADER, schema: OwnerIncidentSchema } },
      problems: GONE,
      async handle(request) {
        const id = request.params.id ?? '';
        const { accountId } = bearerOf(request);
        const said = await registry.findOwnerIncident(accountId, readOwnerIncidentId(id) ?? 0);
        if (said === null)
          throw new HttpError(
            'incident_not_found',
            `The account has written no incident "${id.slice(0, 100)}".`,
          );
        return await answer(200, said);
      },
    }),
  ];
}
