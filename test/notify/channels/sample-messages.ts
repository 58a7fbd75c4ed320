/** Messages of alerts for tests and for the gallery: one outage from its alert to its recovery, and each other kind of message. */
import type { AlertMessage, MessageItem } from '../../../src/domain/alert/message.ts';

/** When the outage of the messages began. */
export const BEGAN_AT = Date.UTC(2026, 10, 20, 10, 0, 0);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const SITE = 'https://status.example.org';

/** An item about a service that is down. */
export function itemOf(
  changed: Partial<MessageItem> = {},
  name = 'Shop',
  slug = 'shop-example-org',
): MessageItem {
  return {
    service: { id: 7, slug, name, domain: 'shop.example.org', url: `${SITE}/status/${slug}` },
    event: 'down',
    status: 'down',
    since: BEGAN_AT,
    lastedMs: null,
    reason: {
      code: 'check_failed',
      failure: { class: 'status', phase: 'first_byte', cause: { code: 'status', statusCode: 503 } },
    },
    phase: 'first_byte',
    lastGoodAt: BEGAN_AT - MINUTE,
    scope: 'partial',
    regions: ['eu', 'us'],
    vendor: { title: 'Elevated error rates', url: 'https://vendor.example/incidents/1' },
    flapping: null,
    incident: null,
    maintenance: null,
    certificate: null,
    ...changed,
  };
}

const BARE = { reason: null, phase: null, lastGoodAt: null, scope: null, regions: [], vendor: null } as const;

/** A message, of the outage unless `changed` says otherwise. */
export function messageOf(changed: Partial<AlertMessage> = {}): AlertMessage {
  const items = changed.items ?? [itemOf()];
  return {
    type: 'alert',
    thread: '7-3f9a1c',
    urgency: 'high',
    at: BEGAN_AT,
    items,
    total: items.length,
    cause: null,
    rule: 'Nights',
    url: `${SITE}/status/shop-example-org`,
    acknowledgeUrl: `${SITE}/alerts/acknowledge/1.7-3f9a1c.Zm9v`,
    note: null,
    ...changed,
  };
}

const over = { status: 'up', lastedMs: 5 * MINUTE + 20_000 } as const;
const closed = { urgency: 'low', acknowledgeUrl: null } as const;
const none = { ...closed, items: [], total: 0, rule: null, url: `${SITE}/dashboard/channels` } as const;

const incident = {
  id: 'v-1',
  source: 'vendor',
  title: 'Elevated error rates',
  text: 'We see more errors than usual in the EU.\nA fix is being rolled out.',
  severity: 'major',
  status: 'identified',
  startedAt: BEGAN_AT,
  url: 'https://vendor.example/incidents/1',
} as const;

const maintenance = {
  phase: 'planned',
  title: 'Move to new hosts',
  text: 'Short interruptions are possible.',
  startsAt: BEGAN_AT + 24 * HOUR,
  endsAt: BEGAN_AT + 26 * HOUR,
  url: `${SITE}/status/shop-example-org`,
} as const;

const names = [
  'Shop',
  'Checkout',
  'Search',
  'Accounts',
  'Mail',
  'Images',
  'Invoices',
  'Reports',
  'Login',
  'Help',
  'Forum',
  'API',
];

/** The messages by name. */
export const SAMPLES = {
  alert: messageOf(),
  group: messageOf({
    items: names.map((name) => itemOf({}, name, name.toLowerCase())),
    total: 14,
    cause: { kind: 'address', name: '198.51.100.7' },
    url: SITE,
  }),
  update: messageOf({
    type: 'update',
    items: [itemOf({ event: 'scope', scope: 'global', regions: ['ap', 'eu', 'us'] })],
  }),
  reminder: messageOf({ type: 'reminder' }),
  recovery: messageOf({ ...closed, type: 'recovery', items: [itemOf(over)] }),
  acknowledged: messageOf({
    type: 'acknowledged',
    urgency: 'low',
    acknowledgeUrl: null,
    note: { by: 'Ada' },
  }),
  silent: messageOf({
    items: [
      itemOf(
        { ...BARE, event: 'heartbeat_missed', reason: { code: 'no_heartbeat', silenceMs: 10 * MINUTE } },
        'Backup',
      ),
    ],
  }),
  slow: messageOf({
    urgency: 'normal',
    items: [
      itemOf({
        ...BARE,
        event: 'slow',
        status: 'slow',
        reason: { code: 'slow_response', responseTimeMs: 4_200 },
      }),
    ],
  }),
  flapping: messageOf({ items: [itemOf({ flapping: { changes: 6, withinMs: 10 * MINUTE } })] }),
  certificate: messageOf({
    ...closed,
    urgency: 'normal',
    items: [
      itemOf({
        ...BARE,
        event: 'certificate',
        status: 'up',
        certificate: { endsAt: BEGAN_AT + 7 * 24 * HOUR, days: 7 },
      }),
    ],
  }),
  maintenance: messageOf({
    ...closed,
    items: [itemOf({ ...BARE, event: 'maintenance', status: 'up', maintenance })],
  }),
  incident: messageOf({
    ...closed,
    urgency: 'normal',
    items: [itemOf({ ...BARE, event: 'incident_update', incident })],
  }),
  test: messageOf({ ...none, type: 'test' }),
  channelFailing: messageOf({
    ...none,
    type: 'channel_failing',
    urgency: 'normal',
    note: { channel: '#ops', problem: 'HTTP 404: channel_not_found' },
  }),
  offline: messageOf({ ...none, type: 'prober_offline', urgency: 'high', url: SITE }),
  online: messageOf({ ...none, type: 'prober_online', url: SITE }),
} satisfies Record<string, AlertMessage>;

/** A name with what makes mentions, links and formats in every medium, and characters that break lines and directions. */
export const HOSTILE =
  '<!channel> @everyone <@U1> [x](http://evil.example) **b** `c` <b>&amp;</b> "q" {{TIME(2026)}} ~y~ \u202e\r\n# h\ud800';

/** A message all of whose foreign texts are hostile. */
export const HOSTILE_MESSAGE = messageOf({
  rule: HOSTILE,
  cause: { kind: 'dependency', name: HOSTILE },
  items: [
    itemOf(
      {
        reason: { code: 'text', text: HOSTILE },
        regions: [HOSTILE],
        vendor: { title: HOSTILE, url: 'https://vendor.example/a(b)|<c>' },
        incident: { ...incident, title: HOSTILE, text: `${HOSTILE}\n${HOSTILE}` },
      },
      HOSTILE,
    ),
  ],
});

const long = '🧑‍🚀'.repeat(2_000);

/** Messages with the longest texts that may come, and more. */
export const LONGEST_MESSAGES: readonly AlertMessage[] = [
  messageOf({
    rule: long,
    cause: { kind: 'dependency', name: long },
    items: [
      itemOf(
        {
          reason: { code: 'text', text: long },
          regions: Array.from({ length: 200 }, () => long),
          vendor: { title: long, url: `https://vendor.example/${'x'.repeat(1_900)}` },
          incident: { ...incident, title: long, text: `${long}\n`.repeat(20) },
        },
        long,
      ),
    ],
  }),
  messageOf({
    items: Array.from({ length: 20 }, () =>
      itemOf({ reason: { code: 'text', text: '<&>@*_'.repeat(99) } }, '<&>@*_'.repeat(99)),
    ),
    total: 1_000_000,
  }),
  // Three bytes in UTF-8 and one unit in UTF-16.
  messageOf({
    items: Array.from({ length: 20 }, () =>
      itemOf({ reason: { code: 'text', text: '雲'.repeat(999) } }, '雲'.repeat(999)),
    ),
    total: 21,
    cause: { kind: 'dependency', name: '雲'.repeat(999) },
  }),
  messageOf({
    items: Array.from({ length: 20 }, (_, at) =>
      itemOf({ reason: { code: 'text', text: `${at} ${'雲'.repeat(999)}` } }, '雲'.repeat(999)),
    ),
  }),
];
