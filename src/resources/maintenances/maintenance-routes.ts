/** Maintenance that accounts announce: `/api/v1/maintenances` (docs/maintenance.md). */
import type { OwnerMaintenance } from '../../domain/incident/owner-maintenance.ts';
import { parseJson } from '../../http/body.ts';
import { revisionTag } from '../../http/conditional.ts';
import type { OpenApiParameter } from '../../http/openapi.ts';
import type { Route } from '../../http/route.ts';
import { enumOf, listOf, named, namedObject, TimeSchema } from '../../http/schema.ts';
import { Type } from '../../json-schema.ts';
import type { PostStore } from '../../store/ports/incidents.ts';
import { nextOccurrences } from '../../view/status-page-view.ts';
import { type RepeatableContext, repeatableRoute } from '../kit/once.ts';
import { createResourceRoutes } from '../kit/resource-routes.ts';
import { changed, ETAG_HEADER, IF_MATCH, principalOf, resultOf, targetOf } from '../kit/write-route.ts';
import {
  changeOccurrence,
  type MaintenanceContext,
  type MaintenanceDocument,
  MaintenanceDocumentSchema,
  maintenanceChanges,
  OccurrenceActionSchema,
  viewMaintenance,
} from './maintenances.ts';

const TAG = 'Incidents';
const PATH = '/api/v1/maintenances';
/** Maximum size of a body, bytes. */
const MAX_BODY_BYTES = 131_072;
/** Number of occurrences that an answer lists. */
const MAX_NEXT = 5;

const MaintenanceDefinitionSchema = named('MaintenanceDefinition', MaintenanceDocumentSchema);

const OwnerMaintenanceSchema = namedObject('OwnerMaintenance', {
  id: Type.String(),
  source: enumOf(['owner']),
  title: Type.String(),
  description: Type.String({ description: 'Plain text.' }),
  definition: MaintenanceDefinitionSchema,
  announced_at: TimeSchema,
  next: listOf('The occurrences that run or come next.', {
    state: enumOf(['running', 'planned']),
    starts_at: TimeSchema,
    ends_at: TimeSchema,
  }),
});

const ID: OpenApiParameter = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The id of a maintenance of the account, such as m201853664029137.',
  schema: { type: 'string' },
  example: 'm201853664029137',
};

export interface OwnerMaintenanceSources {
  readonly context: MaintenanceContext & RepeatableContext;
}

export function ownerMaintenanceRoutes({ context }: OwnerMaintenanceSources): Route[] {
  const { siteUrl, now } = context;
  const view = async (maintenance: OwnerMaintenance, definition: MaintenanceDocument) =>
    viewMaintenance(maintenance, definition, await nextOccurrences(maintenance, now(), MAX_NEXT), now());
  return [
    ...createResourceRoutes({
      ...{ changes: maintenanceChanges, context, siteUrl, view },
      path: PATH,
      tag: TAG,
      name: 'Maintenance',
      listName: 'OwnerMaintenanceList',
      word: 'maintenance',
      key: { parameter: ID, read: (text) => text ?? '' },
      schema: OwnerMaintenanceSchema,
      document: MaintenanceDefinitionSchema,
      patch: MaintenanceDocumentSchema,
      maxBytes: MAX_BODY_BYTES,
      examples: {
        document: {
          title: 'Database upgrade',
          text: 'The shop may be *slow*.',
          starts_at: '2028-11-14T22:00',
          duration: '90m',
          time_zone: 'Europe/Berlin',
          recurrence: 'FREQ=WEEKLY;BYDAY=TU',
          services: ['shop.example.com'],
        },
        patch: { duration: '2h' },
      },
      order: { says: 'Oldest first.', place: ['number'] },
      placeOf: ({ id }: OwnerMaintenance) => [id],
      says: {
        list: {
          id: 'listOwnMaintenances',
          summary: 'List maintenance of the account',
          description: 'What is planned or runs for all services, by vendors too, is at /api/v1/maintenance.',
        },
        create: {
          id: 'announceMaintenance',
          summary: 'Announce maintenance of services and status pages',
          description:
            'While it runs, alerts are held, and incidents of checks have the severity maintenance. Uptime is shown with and without it.',
        },
        get: {
          id: 'getOwnMaintenance',
          summary: 'Get maintenance of the account',
          description: 'The ETag begins with the revision.',
        },
        change: {
          summary: 'Change maintenance',
          description: 'By a JSON Merge Patch (RFC 7396) of its definition.',
        },
        remove: {
          id: 'withdrawMaintenance',
          summary: 'Withdraw maintenance',
          description: 'One that runs ends now; what was is kept.',
          done: 'It is withdrawn.',
        },
      },
    }),
    occurrenceRoute(context, view),
  ];
}

function occurrenceRoute(
  context: OwnerMaintenanceSources['context'],
  view: (maintenance: OwnerMaintenance, definition: MaintenanceDocument) => Promise<object>,
): Route {
  return repeatableRoute(context, {
    path: `${PATH}/:id/occurrence`,
    id: 'changeOccurrence',
    tag: TAG,
    summary: 'End or extend the occurrence in progress, or skip the next one',
    description: 'The other occurrences stay as they are.',
    parameters: [ID, IF_MATCH],
    body: {
      schema: named('OccurrenceAction', OccurrenceActionSchema),
      example: { action: 'extend', by: '30m' },
      maxBytes: MAX_BODY_BYTES,
    },
    answers: {
      200: { description: 'The maintenance.', headers: ETAG_HEADER, schema: OwnerMaintenanceSchema },
    },
    problems: {
      404: 'The account has no such maintenance (maintenance_not_found).',
      409: 'No occurrence runs, or none is left (conflict).',
      412: 'The maintenance has another revision than If-Match names.',
    },
    async change(made, request, _secret, keep): Promise<unknown> {
      const putOwnerMaintenance: PostStore['putOwnerMaintenance'] = (maintenance, at) => {
        keep(JSON.stringify({ ...maintenance, revision: maintenance.revision + 1 }));
        return made.registry.putOwnerMaintenance(maintenance, at);
      };
      const own = { ...made, registry: { ...made.registry, putOwnerMaintenance } };
      const target = targetOf(request.params.id ?? '', request);
      const principal = principalOf(request.key);
      return resultOf(await changeOccurrence(own, principal, target, parseJson(request.body)));
    },
    async answer(_value, kept) {
      const after: OwnerMaintenance = JSON.parse(kept ?? '');
      const shown = JSON.stringify(await view(after, await maintenanceChanges.documentOf(context, after)));
      return changed(200, shown, {}, revisionTag(after.revision, shown));
    },
  });
}
