/** Maintenance of owners over the API for writing (docs/maintenance.md). */
import {
  announceMaintenance,
  changeMaintenance,
  changeOccurrence,
  MaintenanceDocumentSchema,
  OccurrenceActionSchema,
  type OwnerMaintenanceContext,
  viewOwnerMaintenance,
  withdrawMaintenance,
} from '../app/owner-maintenances.ts';
import { readSubjects } from '../app/subjects.ts';
import {
  type OwnerMaintenance,
  occurrencesOf,
  ownerMaintenanceId,
  readOwnerMaintenanceId,
} from '../domain/incident/owner-maintenance.ts';
import { parseJson } from '../http/body.ts';
import { readRevisions, revisionTag } from '../http/conditional.ts';
import type { OpenApiParameter } from '../http/openapi.ts';
import { HttpError } from '../http/problem.ts';
import type { HttpResponse, Route } from '../http/route.ts';
import { enumOf, listOf, named, namedObject, TimeSchema } from '../http/schema.ts';
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

const MAX_BODY_BYTES = 131_072;
/** Number of occurrences that an answer lists. */
const MAX_NEXT = 5;

/** A maintenance as its owner defines it. */
const MaintenanceDefinitionSchema = named('MaintenanceDefinition', MaintenanceDocumentSchema);

/** A maintenance as its account sees it. */
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
  description: 'The id of a maintenance of the account, such as m3.',
  schema: { type: 'string' },
  example: 'm3',
};
const GONE = { 404: 'The account has announced no such maintenance.' };
const STALE = { 412: 'The maintenance has another revision than If-Match names.' };
const EXAMPLE = {
  title: 'Database upgrade',
  text: 'The shop may be *slow*.',
  starts_at: '2028-11-14T22:00',
  duration: '90m',
  time_zone: 'Europe/Berlin',
  recurrence: 'FREQ=WEEKLY;BYDAY=TU',
  services: ['shop.example.com'],
};

/** Sources of the routes. */
export interface OwnerMaintenanceSources {
  readonly context: Omit<OwnerMaintenanceContext, 'registry'> & {
    readonly registry: OwnerMaintenanceContext['registry'] &
      Pick<OwnersWordsStore, 'ownerMaintenancesOf'> &
      IdempotencyStore &
      IdempotentCalls;
  };
}

/** The routes. */
export function ownerMaintenanceRoutes({ context }: OwnerMaintenanceSources): Route[] {
  const { registry, siteUrl, now } = context;
  const view = async (said: OwnerMaintenance) => {
    const [owned, next] = await Promise.all([
      readSubjects(registry, said.accountId),
      occurrencesOf(said, now(), MAX_NEXT),
    ]);
    return viewOwnerMaintenance(said, owned, next, now());
  };
  const answer = async (status: 200 | 201, said: OwnerMaintenance): Promise<HttpResponse> => {
    const body = JSON.stringify(await view(said));
    const headers =
      status === 201 ? { Location: `${siteUrl}/api/v1/maintenances/${ownerMaintenanceId(said.id)}` } : {};
    return changed(status, body, headers, revisionTag(said.revision, body));
  };
  const whole = { description: 'The maintenance.', headers: ETAG_HEADER, schema: OwnerMaintenanceSchema };
  const placeOf = ({ id }: { readonly id: string }) => [Number(id.slice(1))];
  return [
    ownListRoute<Awaited<ReturnType<typeof view>>>({
      path: '/api/v1/maintenances',
      id: 'listOwnMaintenances',
      tag: 'Incidents',
      summary: 'The maintenance that the account has announced',
      description: 'What is planned or runs for all services, by vendors too, is at /api/v1/maintenance.',
      name: 'OwnerMaintenanceList',
      member: 'maintenances',
      item: OwnerMaintenanceSchema,
      order: 'Oldest first.',
      place: ['number'],
      placeOf,
      async read(accountId, window) {
        const all = await registry.ownerMaintenancesOf(accountId);
        const asItems = all.map((said) => ({ said, id: ownerMaintenanceId(said.id) }));
        const { items, total } = cutWindow(asItems, window, placeOf);
        return { items: await Promise.all(items.map(({ said }) => view(said))), total };
      },
      view: (item) => item,
    }),
    writeRoute({
      path: '/api/v1/maintenances',
      method: 'POST',
      id: 'announceMaintenance',
      tag: 'Incidents',
      summary: 'Announces maintenance of services and status pages of the account',
      description:
        'While it runs, alerts are held, and incidents of checks have the severity maintenance. Uptime is shown with and without it.',
      parameters: [IDEMPOTENCY_KEY],
      body: { schema: MaintenanceDefinitionSchema, example: EXAMPLE, maxBytes: MAX_BODY_BYTES },
      answers: {
        201: {
          ...whole,
          headers: {
            ...ETAG_HEADER,
            Location: { description: 'Where it can be read.', schema: { type: 'string' } },
          },
        },
      },
      problems: {
        403: 'The account has announced as much as it may (account_limit), or the key lacks the scope write (insufficient_scope).',
        ...REPEAT_PROBLEMS,
      },
      async handle(request) {
        const kept: { made: OwnerMaintenance | null } = { made: null };
        const response = await once<OwnerMaintenance>(context, {
          id: 'announceMaintenance',
          request,
          secret: null,
          change: async (calls) =>
            resultOf(
              await announceMaintenance(
                { ...context, registry: { ...registry, ...calls } },
                principalOf(request.key),
                parseJson(request.body),
              ),
            ),
          answer(made) {
            kept.made = made;
            return { status: 201, headers: {}, body: '' };
          },
        });
        if (kept.made === null) return response;
        const made = await answer(201, kept.made);
        return { ...made, headers: { ...made.headers, ...response.headers } };
      },
    }),
    ownRoute({
      path: '/api/v1/maintenances/:id',
      id: 'getOwnMaintenance',
      tag: 'Incidents',
      summary: 'A maintenance that the account has announced',
      description: 'The ETag begins with the revision.',
      parameters: [ID],
      answers: { 200: whole },
      problems: GONE,
      async handle(request) {
        const id = request.params.id ?? '';
        const { accountId } = bearerOf(request);
        const said = await registry.findOwnerMaintenance(accountId, readOwnerMaintenanceId(id) ?? 0);
        if (said === null)
          throw new HttpError(
            'maintenance_not_found',
            `The account has announced no maintenance "${id.slice(0, 100)}".`,
          );
        return await answer(200, said);
      },
    }),
    writeRoute({
      path: '/api/v1/maintenances/:id',
      method: 'PATCH',
      id: 'changeMaintenance',
      tag: 'Incidents',
      summary: 'Changes a maintenance',
      description: 'By a JSON Merge Patch (RFC 7396) of its definition.',
      parameters: [ID, IF_MATCH],
      body: patchBody('MaintenancePatch', MaintenanceDocumentSchema, { duration: '2h' }, MAX_BODY_BYTES),
      answers: { 200: whole },
      problems: { ...GONE, ...STALE },
      async handle({ key, body, params, headers }) {
        const revisions = readRevisions(headers['if-match']);
        const [principal, id] = [principalOf(key), params.id ?? ''];
        const outcome = await changeMaintenance(context, principal, id, parseJson(body), revisions);
        return await answer(200, resultOf(outcome));
      },
    }),
    writeRoute({
      path: '/api/v1/maintenances/:id',
      method: 'DELETE',
      id: 'withdrawMaintenance',
      tag: 'Incidents',
      summary: 'Withdraws a maintenance',
      description: 'One that runs ends now; what was is kept.',
      parameters: [ID, IF_MATCH],
      answers: { 204: { description: 'It is withdrawn.' } },
      problems: { ...GONE, ...STALE },
      async handle({ key, params, headers }) {
        const revisions = readRevisions(headers['if-match']);
        resultOf(await withdrawMaintenance(context, principalOf(key), params.id ?? '', revisions));
        return REMOVED;
      },
    }),
    writeRoute({
      path: '/api/v1/maintenances/:id/occurrence',
      method: 'POST',
      id: 'changeOccurrence',
      tag: 'Incidents',
      summary: 'Ends or extends the occurrence that runs, or skips the next one',
      description: 'The other occurrences stay as they are.',
      parameters: [ID, IDEMPOTENCY_KEY, IF_MATCH],
      body: {
        schema: named('OccurrenceAction', OccurrenceActionSchema),
        example: { action: 'extend', by: '30m' },
        maxBytes: MAX_BODY_BYTES,
      },
      answers: { 200: whole },
      problems: {
        ...GONE,
        409: 'No occurrence runs, or none is left (conflict).',
        ...STALE,
        ...REPEAT_PROBLEMS,
      },
      handle: (request) =>
        once<unknown>(context, {
          id: 'changeOccurrence',
          request,
          secret: null,
          async change(calls, _secret, keep) {
            const { key, body, params, headers } = request;
            const putOwnerMaintenance: OwnersWordsStore['putOwnerMaintenance'] = (said, at) => {
              const changed: OwnerMaintenance = { ...said, revision: said.revision + 1 };
              keep(JSON.stringify(changed));
              return calls.putOwnerMaintenance(said, at);
            };
            const own = { ...context, registry: { ...registry, putOwnerMaintenance } };
            const revisions = readRevisions(headers['if-match']);
            const [principal, id] = [principalOf(key), params.id ?? ''];
            return resultOf(await changeOccurrence(own, principal, id, parseJson(body), revisions));
          },
          async answer(_value, kept) {
            const said: OwnerMaintenance = JSON.parse(kept ?? '');
            return await answer(200, said);
          },
        }),
    }),
  ];
}
