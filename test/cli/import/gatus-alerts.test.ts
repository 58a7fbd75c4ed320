/** Alerts and maintenance of Gatus as channels, rules and maintenance. */
import t from 'tap';
import { readImport } from '../../../src/cli/import/read-import.ts';

t.test('alerts and maintenance of Gatus become channels, rules and maintenance', async (t) => {
  const text = `
alerting:
  slack:
    webhook-url: https://hooks.slack.com/services/T0/B0/x
    title: Oh
    default-alert: { failure-threshold: 5, send-on-resolved: on }
    overrides: [{ group: core, webhook-url: "https://hooks.slack.com/services/T0/B1/y" }]
  telegram: { token: "123:ABC", id: -1001 }
  ntfy: { topic: lab, token: tk_x, url: "https://ntfy.example.com" }
  email: { from: a@example.com, host: mail.example.com, port: 25, to: "a@example.com,b@example.com" }
  twilio: { sid: x }
  gotify: { server-url: "https://gotify.example.com", token: "\${GOTIFY}" }
maintenance: { start: "23:30", duration: 1h, timezone: Europe/Berlin, every: [Monday, Sunday] }
endpoints:
  - name: A
    url: https://a.example/
    conditions: ["[STATUS] == 200"]
    alerts: [{ type: slack, description: Look }, { type: telegram, minimum-reminder-interval: 1h }, { type: twilio }]
  - name: B
    group: core
    interval: 30s
    url: https://b.example/
    conditions: ["[STATUS] == 200"]
    alerts: [{ type: slack }, { type: ntfy, failure-threshold: 1 }, { type: ntfy, enabled: no }, { type: gotify }]
    maintenance-windows: [{ start: "02:00", duration: 90m }]
  - { name: C, url: "https://c.example/", alerts: [{ type: slack }, { type: email }] }
`;
  const { items, skipped, notCarried } = readImport(
    text,
    'gatus.yaml',
    Date.parse('2026-11-28T12:00:00Z'),
    {},
  );
  const names = { service: ({ domain }: { domain: string }) => domain, has: () => true };
  t.same(
    items.map((item) => [item.list, item.document(names)]),
    [
      [
        'channels',
        { name: 'slack', kind: 'slack', settings: { url: 'https://hooks.slack.com/services/T0/B0/x' } },
      ],
      [
        'rules',
        {
          ...{ name: 'slack', services: ['a.example', 'c.example'], channels: ['slack'] },
          ...{ events: ['down', 'up'], after: '4m' },
        },
      ],
      ['channels', { name: 'telegram', kind: 'telegram', settings: { token: '123:ABC', chat: '-1001' } }],
      [
        'rules',
        {
          ...{ name: 'telegram', services: ['a.example'], channels: ['telegram'] },
          ...{ events: ['down'], after: '2m', repeat: '1h' },
        },
      ],
      [
        'channels',
        { name: 'slack (2)', kind: 'slack', settings: { url: 'https://hooks.slack.com/services/T0/B1/y' } },
      ],
      [
        'rules',
        {
          ...{ name: 'slack (2)', services: ['b.example'], channels: ['slack (2)'] },
          ...{ events: ['down', 'up'], after: '2m' },
        },
      ],
      [
        'channels',
        {
          ...{ name: 'ntfy', kind: 'ntfy' },
          settings: { topic: 'lab', token: 'tk_x', server: 'https://ntfy.example.com' },
        },
      ],
      ['rules', { name: 'ntfy', services: ['b.example'], channels: ['ntfy'], events: ['down'] }],
      ['channels', { name: 'email', kind: 'email', settings: { to: 'a@example.com' } }],
      ['channels', { name: 'email (2)', kind: 'email', settings: { to: 'b@example.com' } }],
      [
        'rules',
        {
          ...{ name: 'email', services: ['c.example'], channels: ['email', 'email (2)'] },
          ...{ events: ['down'], after: '2m' },
        },
      ],
      [
        'maintenances',
        {
          ...{
            title: 'Maintenance',
            time_zone: 'Europe/Berlin',
            starts_at: '2026-11-29T23:30',
            duration: '60m',
          },
          ...{ recurrence: 'FREQ=WEEKLY;BYDAY=SU,MO', services: ['a.example', 'b.example', 'c.example'] },
        },
      ],
      [
        'maintenances',
        {
          ...{ title: 'Maintenance of B', time_zone: 'UTC', starts_at: '2026-11-28T02:00', duration: '90m' },
          ...{ recurrence: 'FREQ=DAILY', services: ['b.example'] },
        },
      ],
    ],
  );
  t.match(skipped, [
    { entry: 'alerting.twilio', reason: /provider/ },
    { entry: 'alerting.gotify', reason: /GOTIFY/ },
  ]);
  t.same(
    new Set(notCarried.map(({ entry, field }) => `${field} of ${entry}`)),
    new Set(['title of alerting.slack', 'alerts.description of A', 'host of alerting.email']),
  );
});
