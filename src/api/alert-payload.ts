/** The payload of channels of kind `webhook`, for the OpenAPI document. The example is made by the code that makes the bodies. */
import type { AlertMessage } from '../domain/alert/message.ts';
import { ALERT_EVENTS } from '../domain/alert/rule.ts';
import { PHASES } from '../domain/failure.ts';
import { INCIDENT_STATUSES, SEVERITIES } from '../domain/incident/incident.ts';
import { enumOf, listOf, namedObject, nullable, TimeSchema, whole } from '../http/schema.ts';
import { strictObject, Type } from '../json-schema.ts';
import { ScopeSchema, StatusWordSchema } from './service-view.ts';

const UrlSchema = Type.String({ description: 'An absolute URL.' });
const text = (description: string) => Type.String({ description });

const IncidentPart = strictObject({
  id: Type.String(),
  source: enumOf(['own', 'vendor', 'owner']),
  title: Type.String(),
  text: Type.String(),
  severity: enumOf(SEVERITIES),
  status: enumOf(INCIDENT_STATUSES),
  started_at: TimeSchema,
  url: UrlSchema,
});

const MaintenancePart = strictObject({
  phase: enumOf(['planned', 'running', 'ended']),
  title: Type.String(),
  text: Type.String(),
  starts_at: TimeSchema,
  ends_at: nullable(TimeSchema),
  url: UrlSchema,
});

const NotePart = Type.Union([
  namedObject('AlertAcknowledged', { by: text('Who has acknowledged it; empty: by the link in a message.') }),
  namedObject('AlertChannelFailing', {
    channel: text('Name of the channel that fails.'),
    problem: text('Why, in English.'),
  }),
]);

export const AlertPayloadSchema = namedObject('AlertMessageEvent', {
  type: Type.Literal('alert'),
  timestamp: TimeSchema,
  data: strictObject({
    type: enumOf(
      [
        'alert',
        'recovery',
        'update',
        'reminder',
        'acknowledged',
        'test',
        'channel_failing',
        'prober_offline',
        'prober_online',
      ],
      'Which message it is.',
    ),
    thread: text('The same in an alert, its updates, reminders and recovery.'),
    urgency: enumOf(['high', 'normal', 'low'], 'high: something is down; low: all is well.'),
    title: text('What happened, in one line, in the language of the channel.'),
    total: whole('Number of services, of which `services` are the first 20.'),
    services: listOf('What the message says of each service.', {
      service: strictObject({
        slug: Type.String(),
        name: Type.String(),
        domain: Type.String(),
        url: UrlSchema,
      }),
      event: enumOf(ALERT_EVENTS, 'What happened.'),
      status: StatusWordSchema,
      told: Type.Boolean({
        description:
          'It was reported before in this thread and has not changed. The message is about the others.',
      }),
      since: TimeSchema,
      lasted_seconds: nullable(whole('How long it lasted.'), 'Null: it goes on.'),
      reason: nullable(Type.String(), 'Why, in English, for people; null: not known.'),
      phase: nullable(
        enumOf(PHASES),
        'In which part of the request it failed; null: it is no failure of a check.',
      ),
      last_good_at: nullable(TimeSchema, 'The last good check or heartbeat before it; null: not known.'),
      scope: nullable(ScopeSchema, 'Null: it is not known from where it fails.'),
      regions: Type.Array(Type.String(), { description: 'Regions in which it fails.' }),
      vendor: nullable(
        strictObject({ title: Type.String(), url: UrlSchema }),
        'What the vendor says now; null: nothing.',
      ),
      flapping: nullable(
        strictObject({
          changes: whole('Changes of its status.'),
          within_seconds: whole('The time that they took.'),
        }),
        'Null: it does not flap.',
      ),
      incident: nullable(IncidentPart, 'Null: the event is about no incident.'),
      maintenance: nullable(MaintenancePart, 'Null: the event is about no maintenance.'),
      certificate: nullable(
        strictObject({ ends_at: TimeSchema, days: whole('The threshold that was reached: 21, 7 or 1.') }),
        'Null: the event is about no certificate.',
      ),
      ended: nullable(
        enumOf(['paused', 'removed']),
        'Why nothing more is reported of the service although it is not over; null: it is still monitored.',
      ),
      because: Type.Optional(
        strictObject(
          { slug: Type.String(), name: Type.String() },
          'What it cannot be reached without, and is down; absent: nothing, or it is not known.',
        ),
      ),
      behind: Type.Optional(
        whole('Services that cannot be reached without it and are not reported on their own; absent: none.'),
      ),
    }),
    cause: nullable(
      strictObject({
        kind: enumOf(['address', 'dependency', 'vendor', 'region', 'certificate']),
        name: Type.String(),
      }),
      'What the services have in common; null: nothing that the data shows.',
    ),
    rule: nullable(Type.String(), 'Name of the rule; null: no rule made it.'),
    note: nullable(NotePart, 'Of `acknowledged` and `channel_failing`; null: there is nothing to add.'),
    dropped: whole(
      'Number of messages to the channel before this one that were dropped, since too many waited.',
    ),
    url: UrlSchema,
    acknowledge_url: nullable(
      UrlSchema,
      'A page to acknowledge it without signing in; null: there is nothing to acknowledge.',
    ),
  }),
});

const BEGAN_AT = Date.UTC(2026, 10, 20, 10, 0, 0);
const PAGE = 'https://status.example.org/status/shop-example-org';

/** A message about the outage of one service. */
export const ALERT_EXAMPLE: AlertMessage = {
  type: 'alert',
  thread: '7-2f0c8a',
  urgency: 'high',
  at: BEGAN_AT,
  items: [
    {
      service: { id: 7, slug: 'shop-example-org', name: 'Shop', domain: 'shop.example.org', url: PAGE },
      event: 'down',
      status: 'down',
      since: BEGAN_AT,
      lastedMs: null,
      reason: {
        code: 'check_failed',
        failure: { class: 'status', phase: 'first_byte', cause: { code: 'status', statusCode: 503 } },
      },
      phase: 'first_byte',
      lastGoodAt: BEGAN_AT - 60_000,
      scope: 'partial',
      regions: ['eu'],
      vendor: null,
      flapping: null,
      incident: null,
      maintenance: null,
      certificate: null,
    },
  ],
  total: 1,
  cause: null,
  rule: 'Nights',
  url: PAGE,
  acknowledgeUrl: 'https://status.example.org/alerts/acknowledge/1.7-2f0c8a.Zm9v',
  note: null,
};
