/**
 * The payloads of webhooks, for the OpenAPI document. The examples are made by the code that makes the payloads, of one outage
 * of one service.
 */

import type { Incident } from '../domain/incident/incident.ts';
import { ownIncidentId } from '../domain/own-incident.ts';
import type { Transition } from '../domain/status/current.ts';
import { type WebhookEvent, webhookBody } from '../domain/webhook-event.ts';
import type { OpenApiOperation, OpenApiParameter } from '../http/openapi.ts';
import { namedObject, nullable, TimeSchema } from '../http/schema.ts';
import { strictObject, type TSchema, Type } from '../json-schema.ts';
import { alertBody } from '../notify/channels/webhook.ts';
import { ALERT_EXAMPLE, AlertPayloadSchema } from './alert-payload.ts';
import { IncidentSchema } from './incidents.ts';
import { ScopeSchema, StatusWordSchema } from './service-view.ts';

interface WebhookKind {
  readonly summary: string;
  readonly description: string;
  readonly payload: TSchema;
  readonly type: string;
  readonly example: string;
}

const EventServiceSchema = namedObject('EventService', {
  slug: Type.String({ description: 'Identifier in paths.' }),
  name: Type.String(),
  domain: Type.String(),
});
const ScopeOrNone = nullable(ScopeSchema, 'Null: it fails nowhere.');
const RegionsSchema = Type.Array(Type.String(), { description: 'The regions in which it fails now.' });
const ReasonSchema = nullable(Type.String(), 'Why, in English, for people; null for a recovery.');
const MEMBERS = { service: EventServiceSchema, at: TimeSchema, reason: ReasonSchema };

/** The body for an event that was recorded at `recordedAt`, epoch milliseconds. */
const exampleOf = (event: WebhookEvent, recordedAt: number) => ({
  type: event.type,
  example: webhookBody(event, recordedAt),
});

/** A payload with its type, its time and its data. */
const payloadOf = (name: string, type: WebhookEvent['type'], data: TSchema) =>
  namedObject(name, {
    type: Type.Literal(type),
    timestamp: TimeSchema,
    data,
  });

const IncidentEventSchema = namedObject('IncidentEvent', {
  service: EventServiceSchema,
  incident: IncidentSchema,
});

const BEGAN_AT = Date.UTC(2026, 10, 20, 10, 0, 0);
/** The failure is confirmed after its re-checks. */
const CONFIRMED_AT = BEGAN_AT + 6_412;
const RECOVERED_AT = BEGAN_AT + 300_184;
const RESOLVED_AT = BEGAN_AT + 900_120;
const SERVICE = { slug: 'shop-example-org', name: 'Shop', domain: 'shop.example.org' };
const FAILED: Transition['reason'] = {
  code: 'check_failed',
  failure: { class: 'status', phase: 'first_byte', cause: { code: 'status', statusCode: 503 } },
};
const INCIDENT: Incident = {
  id: ownIncidentId(SERVICE.slug, BEGAN_AT, 1),
  serviceId: 7,
  source: 'own',
  title: 'Shop answers with errors',
  description: 'shop.example.org is returning errors (HTTP 503).',
  severity: 'major',
  status: 'investigating',
  startedAt: BEGAN_AT,
  resolvedAt: null,
  sourceUrl: 'https://status.example.org/status/shop-example-org',
  goodChecks: 0,
  updates: [],
};

const KINDS: readonly WebhookKind[] = [
  {
    summary: 'The status of a service has changed',
    description:
      '`from` and `to` are statuses. A service that is down is reported after the confirmation of the failure, and `at` is the start of the first failed attempt. Where several regions check the service, `scope` and `regions` say from where it fails.',
    payload: payloadOf(
      'StatusChangedEvent',
      'service.status_changed',
      strictObject({
        ...MEMBERS,
        from: StatusWordSchema,
        to: StatusWordSchema,
        scope: Type.Optional(ScopeOrNone),
        regions: Type.Optional(RegionsSchema),
      }),
    ),
    ...exampleOf(
      {
        type: 'service.status_changed',
        service: SERVICE,
        transition: { from: 'up', to: 'down', at: BEGAN_AT, reason: FAILED },
      },
      CONFIRMED_AT,
    ),
  },
  {
    summary: 'A service fails from more or fewer regions, and its status stays',
    description: 'Only where several regions check the service. `from` and `to` are scopes.',
    payload: payloadOf(
      'ScopeChangedEvent',
      'service.scope_changed',
      strictObject({
        ...MEMBERS,
        status: StatusWordSchema,
        from: ScopeOrNone,
        to: ScopeOrNone,
        regions: RegionsSchema,
      }),
    ),
    ...exampleOf(
      {
        type: 'service.scope_changed',
        service: SERVICE,
        transition: {
          from: 'up',
          to: 'up',
          at: BEGAN_AT,
          reason: FAILED,
          scope: { from: null, to: 'partial', regions: ['eu'] },
        },
      },
      CONFIRMED_AT,
    ),
  },
  {
    summary: 'An incident of a service has begun',
    description:
      'From our own checks, from the status page of the vendor, or written by the owner, and then with `"source": "owner"`. A maintenance is an incident with the severity `maintenance` while it lasts.',
    payload: payloadOf('IncidentOpenedEvent', 'incident.opened', IncidentEventSchema),
    ...exampleOf({ type: 'incident.opened', service: SERVICE, incident: INCIDENT }, CONFIRMED_AT),
  },
  {
    summary: 'The status of an incident has changed',
    description:
      'Other changes of an incident send nothing, but each update that the owner writes is sent, even if the status stays.',
    payload: payloadOf('IncidentUpdatedEvent', 'incident.updated', IncidentEventSchema),
    ...exampleOf(
      {
        type: 'incident.updated',
        service: SERVICE,
        incident: { ...INCIDENT, status: 'monitoring' },
      },
      RECOVERED_AT,
    ),
  },
  {
    summary: 'An incident of a service has ended',
    description: '`resolved_at` is its end.',
    payload: payloadOf('IncidentResolvedEvent', 'incident.resolved', IncidentEventSchema),
    ...exampleOf(
      {
        type: 'incident.resolved',
        service: SERVICE,
        incident: { ...INCIDENT, status: 'resolved', resolvedAt: RESOLVED_AT },
      },
      RESOLVED_AT,
    ),
  },
  {
    summary: 'A test from the dashboard',
    description: 'Sent when an owner tries a webhook.',
    payload: payloadOf('TestEvent', 'test', strictObject({ message: Type.String() })),
    ...exampleOf({ type: 'test', message: 'It works.' }, BEGAN_AT),
  },
  {
    summary: 'A message to a channel of the kind webhook',
    description:
      'What rules decide: an alert, its updates, reminders and its recovery, which have the same `thread`. Channels of other kinds are sent the same in their own form.',
    payload: AlertPayloadSchema,
    type: 'alert',
    example: alertBody(ALERT_EXAMPLE, 'en'),
  },
];

const SIGNATURE_HEADERS: readonly OpenApiParameter[] = [
  ['webhook-id', 'Identifier of the message; the same in all attempts and replays.', 'msg_2f0c8a'],
  ['webhook-timestamp', 'Unix time of the attempt in seconds.', '1795168806'],
  [
    'webhook-signature',
    '`v1,` and base64 of HMAC-SHA-256 over `id.timestamp.body` with the secret (Standard Webhooks).',
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  ],
].map(([name = '', description = '', example = '']) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
  example,
}));

/** The operations of receivers by the type of their event, for `webhooks` of the document. */
export function describeWebhooks(): Readonly<Record<string, { readonly post: OpenApiOperation }>> {
  return Object.fromEntries(KINDS.map((kind) => [kind.type, { post: describe(kind) }]));
}

/**
 * The requests to the server of a webhook or a channel, for `callbacks` of the operation that creates it. Generators that do
 * not know `webhooks` find the types here. `url`: where its address stands in the body.
 */
export function describeCallback(name: string, url: string, isFor: (type: string) => boolean): object {
  const kinds = KINDS.filter(({ type }) => isFor(type));
  const [first] = kinds;
  if (first === undefined) throw new Error(`nothing is sent to ${name}`);
  const schema = kinds.length === 1 ? first.payload : { oneOf: kinds.map(({ payload }) => payload) };
  const operation = {
    operationId: name,
    summary: 'What it receives',
    description: 'Each is described below `webhooks`.',
  };
  return {
    [name]: { [`{$request.body#/${url}}`]: { post: receive(operation, schema, JSON.parse(first.example)) } },
  };
}

function describe({ type, summary, description, payload, example }: WebhookKind): OpenApiOperation {
  const words = type.split(/[._]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return receive({ operationId: `on${words.join('')}`, summary, description }, payload, JSON.parse(example));
}

function receive(
  operation: Pick<OpenApiOperation, 'operationId' | 'summary' | 'description'>,
  schema: object,
  example: unknown,
): OpenApiOperation {
  return {
    ...operation,
    tags: ['Webhooks'],
    // Signed instead: the receiver verifies the signature.
    security: [],
    parameters: SIGNATURE_HEADERS,
    requestBody: {
      required: true,
      content: {
        'application/json': { schema, example },
      },
    },
    responses: {
      '2XX': { description: 'The receiver has the message. The body is ignored.' },
      410: { description: 'The receiver wants no further attempt for this message.' },
      default: {
        description:
          'Every other status, redirects included, and no answer within 15 s: the message is sent again, seven times within a day.',
      },
    },
  };
}
