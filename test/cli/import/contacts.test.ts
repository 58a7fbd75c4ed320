/** Contacts and maintenance beside the checks of StatusCake and Pingdom. */
import t from 'tap';
import { readImport } from '../../../src/cli/import/read-import.ts';
import { listsOf, reasonsOf } from './reading-summaries.ts';

t.test('contacts and maintenance beside checks of StatusCake and Pingdom are imported', async (t) => {
  const now = Date.parse('2026-11-28T12:00:00Z');
  const read = (document: unknown) => readImport(JSON.stringify(document), 'x.json', now);
  const web = { test_type: 'HTTP', check_rate: 60, timeout: 5, website_url: 'https://a.example/' };
  const cake = read([
    { data: { ...web, id: '1', name: 'A', contact_groups: ['7'], trigger_rate: 5, enable_ssl_alert: true } },
    { data: { ...web, id: '2', name: 'B', contact_groups: ['7'], trigger_rate: 0, tags: ['shop'] } },
    {
      data: [
        {
          ...{ id: '7', name: 'Team', email_addresses: ['a@example.com', 'b@example.com'], ping_url: null },
          ...{ integrations: ['3'], mobile_numbers: [] },
        },
      ],
    },
    {
      data: [
        {
          ...{ id: '9', name: 'Weekly', start_at: '2026-11-02T22:30:00Z', end_at: '2026-11-02T23:30:00Z' },
          ...{
            repeat_interval: '2w',
            timezone: 'Europe/Berlin',
            tests: ['1'],
            tags: ['shop'],
            state: 'pending',
          },
        },
        {
          ...{ id: '10', name: 'Past', start_at: '2026-01-02T22:30:00Z', end_at: '2026-01-02T23:30:00Z' },
          ...{ repeat_interval: 'never', timezone: 'UTC', tests: ['1'], tags: [] },
        },
      ],
    },
  ]);
  const channels = ['Team', 'Team (2)'];
  t.strictSame(listsOf(cake.items), [
    ['channels', { name: 'Team', kind: 'email', settings: { to: 'a@example.com' } }],
    ['channels', { name: 'Team (2)', kind: 'email', settings: { to: 'b@example.com' } }],
    [
      'rules',
      { name: 'Team', services: ['A'], channels, events: ['down', 'up', 'certificate'], after: '5m' },
    ],
    ['rules', { name: 'Team (2)', services: ['B'], channels, events: ['down', 'up'] }],
    [
      'maintenances',
      {
        ...{ title: 'Weekly', time_zone: 'Europe/Berlin', starts_at: '2026-11-30T23:30', duration: '60m' },
        ...{ recurrence: 'FREQ=DAILY;INTERVAL=14', services: ['A', 'B'] },
      },
    ],
  ]);
  t.match(cake.skipped, [{ entry: 'Past', reason: 'it is over' }]);
  t.same(reasonsOf(cake.notCarried), ['Team: integrations']);

  const cakeAgain = {
    id: '1',
    name: 'A',
    website_url: 'https://a.example/',
    test_type: 'HTTP',
    paused: false,
  };
  t.equal(read([{ data: [cakeAgain] }, { data: { ...cakeAgain, ...web } }]).services.length, 1);
  const target = { hostname: 'a.example', resolution: 5, type: { ping: {} } };
  const at = (time: string) => Date.parse(time) / 1_000;
  const dom = read([
    { checks: [{ ...target, id: 1, name: 'A', type: 'ping' }] },
    { check: { ...target, id: 1, name: 'A', userids: [1], notifyagainevery: 2, notifywhenbackup: true } },
    { check: { ...target, id: 2, name: 'B', userids: [1, 2], notifywhenbackup: false } },
    {
      contacts: [
        {
          ...{ id: 1, name: 'Ada', paused: false },
          notification_targets: {
            email: [{ severity: 'HIGH', address: 'ada@example.com' }],
            sms: [{ number: '1' }],
          },
        },
        {
          id: 2,
          name: 'Bob',
          paused: true,
          notification_targets: { email: [{ address: 'bob@example.com' }] },
        },
      ],
    },
    {
      maintenance: [
        {
          ...{
            id: 1,
            description: 'Monthly',
            from: at('2026-11-05T02:00:00Z'),
            to: at('2026-11-05T03:00:00Z'),
          },
          ...{ recurrencetype: 'month', repeatevery: 1, effectiveto: at('2027-11-05T03:00:00Z') },
          checks: { uptime: [1], tms: [] },
        },
      ],
    },
  ]);
  t.strictSame(listsOf(dom.items), [
    ['channels', { name: 'Ada', kind: 'email', settings: { to: 'ada@example.com' } }],
    ['rules', { name: 'Ada', services: ['A'], channels: ['Ada'], events: ['down', 'up'], repeat: '10m' }],
    ['rules', { name: 'Ada (2)', services: ['B'], channels: ['Ada'], events: ['down'] }],
    [
      'maintenances',
      {
        ...{ title: 'Monthly', time_zone: 'UTC', starts_at: '2026-12-05T02:00', duration: '60m' },
        ...{ recurrence: 'FREQ=MONTHLY;BYMONTHDAY=5;UNTIL=20271105', services: ['A'] },
      },
    ],
  ]);
  t.match(dom.skipped, [{ entry: 'Bob', reason: 'it is paused' }]);
  t.same(reasonsOf(dom.notCarried), ['Ada: sms']);
});
