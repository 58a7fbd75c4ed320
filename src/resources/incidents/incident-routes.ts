/** Incidents that accounts post: `/api/v1/incidents` and `/api/v1/account/incidents` (docs/incidents.md). */
import { INCIDENT_STATUSES } from '../../domain/incident/incident.ts';
import { OWNER_SEVERITIES, type OwnerIncident } from '../../domain/incident/owner-incident.ts';
import { parseJson } from '../../http/body.ts';
import { revisionTag } from '../../http/conditional.ts';
import type { OpenApiParameter } from '../../http/openapi.ts';
import type { Route } from '../../http/route.ts';
import { enumOf, listOf, named, namedObject, nullable, TimeSchema, whole } from '../../http/schema.ts';
import { strictObject, Type } from '../../json-schema.ts';
import type { PostStore } from '../../store/ports/incidents.ts';
import { type RepeatableContext, repeatableRoute } from '../kit/once.ts';
import { createResourceRoutes } from '../kit/resource-routes.ts';
import { changed, ETAG_HEADER, IF_MATCH, principalOf, resultOf, targetOf } from '../kit/write-route.ts';
import {
  type IncidentContext,
  IncidentInputSchema,
  IncidentPatchSchema,
  incidentChanges,
  UpdateInputSchema,
  updateIncident,
  viewIncident,
} from './incidents.ts';

const TAG = 'Incidents';
/** The path for posting incidents. `/api/v1/incidents/:slug` is also that of the incidents of a service. */
const PATH = '/api/v1/incidents';
/** Maximum size of a body, bytes. */
const MAX_BODY_BYTES = 131_072;

const TEXT_MEMBERS = {
  text: Type.String({ description: 'Markdown, as it was written.' }),
  plain: Type.String({ description: 'The same without markup.' }),
};

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
  post_mortem: nullable(strictObject({ at: TimeSchema, ...TEXT_MEMBERS }), 'Null: nothing yet.'),
});

const ID = (name: 'slug' | 'id'): OpenApiParameter => ({
  name,
  in: 'path',
  required: true,
  description: 'The id of an incident of the account, such as owner-164829301745526.',
  schema: { type: 'string' },
  example: 'owner-164829301745526',
});

export interface OwnerIncidentSources {
  readonly context: IncidentContext & RepeatableContext;
}

export function ownerIncidentRoutes({ context }: OwnerIncidentSources): Route[] {
  return [
    ...createResourceRoutes({
      ...{ changes: incidentChanges, context, siteUrl: context.siteUrl, view: viewIncident },
      path: '/api/v1/account/incidents',
      writing: { path: PATH, parameter: ID('slug') },
      tag: TAG,
      name: 'OwnerIncident',
      word: 'incident',
      key: { parameter: ID('id'), read: (text) => text ?? '' },
      schema: OwnerIncidentSchema,
      document: named('OwnerIncidentInput', IncidentInputSchema),
      patch: IncidentPatchSchema,
      maxBytes: MAX_BODY_BYTES,
      examples: {
        document: {
          title: 'Orders arrive late',
          severity: 'minor',
          text: 'A queue is **stuck**. No order is lost.',
          services: ['shop.example.com'],
        },
        patch: { post_mortem: 'A disk was full. It is *watched* now.' },
      },
      order: { says: 'Newest start first.', place: ['number', 'number'] },
      placeOf: ({ startedAt, id }: OwnerIncident) => [-startedAt, -id],
      says: {
        list: {
          id: 'listOwnIncidents',
          summary: 'List incidents of the account',
          description: 'Those that checks and vendors report are not among them.',
        },
        create: {
          id: 'openIncident',
          summary: 'Create an incident about services and status pages',
          description:
            'It is shown as the word of the owner, beside what checks see, which it does not change.',
        },
        get: {
          id: 'getOwnIncident',
          summary: 'Get an incident of the account',
          description: 'With its updates in Markdown. The ETag begins with the revision.',
        },
        change: {
          id: 'correctIncident',
          summary: 'Correct an incident of the account, or add its post-mortem',
          description:
            'By a JSON Merge Patch (RFC 7396) of title, severity, services, pages and post_mortem, which can be written once it is resolved.',
        },
        remove: {
          id: 'removeIncident',
          summary: 'Delete an incident that should not have been written',
          description: 'It disappears from all lists. One that is over is resolved by an update instead.',
        },
      },
    }),
    updateRoute(context),
  ];
}

function updateRoute(context: OwnerIncidentSources['context']): Route {
  return repeatableRoute(context, {
    path: `${PATH}/:slug/updates`,
    id: 'updateIncident',
    tag: TAG,
    summary: 'Add an update to an incident of the account',
    description: 'An update can change the status: resolved ends the incident, another one opens it again.',
    parameters: [ID('slug'), IF_MATCH],
    body: {
      schema: named('OwnerUpdateInput', UpdateInputSchema),
      example: { status: 'resolved', text: 'The queue is empty.' },
      maxBytes: MAX_BODY_BYTES,
    },
    answers: { 200: { description: 'The incident.', headers: ETAG_HEADER, schema: OwnerIncidentSchema } },
    problems: {
      404: 'The account has no such incident (incident_not_found).',
      412: 'The incident has another revision than If-Match names.',
    },
    async change(made, request, _secret, keep): Promise<unknown> {
      const putOwnerIncident: PostStore['putOwnerIncident'] = (incident, at) => {
        const { updates, ...stored } = { ...incident, revision: incident.revision + 1, updatedAt: at };
        // The texts are stored once: a repeated request reads them.
        keep(JSON.stringify({ ...stored, updates: updates.length }));
        return made.registry.putOwnerIncident(incident, at);
      };
      const own = { ...made, registry: { ...made.registry, putOwnerIncident } };
      const target = targetOf(request.params.slug ?? '', request);
      const principal = principalOf(request.key);
      return resultOf(await updateIncident(own, principal, target, parseJson(request.body)));
    },
    async answer(_value, kept) {
      const after: Omit<OwnerIncident, 'updates'> & { readonly updates: number } = JSON.parse(kept ?? '');
      const stored = await context.registry.findOwnerIncident(after.accountId, after.id);
      const incident = { ...after, updates: stored?.updates.slice(0, after.updates) ?? [] };
      const document = await incidentChanges.documentOf(context, incident);
      const shown = JSON.stringify(viewIncident(incident, document));
      return changed(200, shown, {}, revisionTag(incident.revision, shown));
    },
  });
}
