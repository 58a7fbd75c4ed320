/** Uptime Kuma's backup, and what cannot be carried over. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { PLAIN_SERVICE } from '../../../src/cli/import/listed-service.ts';
import { readImport } from '../../../src/cli/import/read-import.ts';
import { describeLost, describeSkipped } from '../../../src/cli/import-services.ts';

const FIXTURES = join(import.meta.dirname, '../fixtures');

const fixture = (name: string) => readImport(readFileSync(join(FIXTURES, name), 'utf8'), name);

const MINUTELY = { intervalMs: 60_000, timeoutMs: 48_000 };

t.test("it reads Uptime Kuma's backup, and says what it cannot carry over", async (t) => {
  const { services, items, skipped, notCarried, format } = fixture('uptime-kuma-1.23-backup.json');
  t.equal(format, 'uptime-kuma');
  t.same(services, [
    {
      ...PLAIN_SERVICE,
      ...{ domain: 'shop.example.com', name: 'Shop', method: 'GET', accept: ['2xx'] },
      choice: { ...MINUTELY, confirmAfterMs: [60_000, 60_000] },
      texts: { note: 'Group: Web\nTags: prod' },
    },
    {
      ...PLAIN_SERVICE,
      ...{ domain: 'api.example.com', name: 'API health', kind: 'http', accept: [200, 204, 205, 206] },
      settings: { path: '/health?full=1', port: 8443, assertions: ['body lacks maintenance'] },
      secrets: { secretHeaders: ['X-Token: s3cret'] },
      choice: MINUTELY,
      texts: { note: 'behind the balancer' },
    },
    {
      ...PLAIN_SERVICE,
      ...{ domain: 'login.example.com', name: 'Login (staging)', kind: 'http', paused: true },
      accept: ['2xx', '3xx', 401],
      settings: {
        ...{ path: '/session', method: 'POST', certificate: 'ignore', followRedirects: true },
        headers: ['Content-Type: application/json'],
      },
      secrets: { body: '{"user":"probe"}', username: 'probe', password: 'hunter2' },
      choice: { ...MINUTELY, confirmAfterMs: [60_000] },
    },
    {
      ...PLAIN_SERVICE,
      ...{
        domain: 'backup.example.com',
        name: 'backup.example.com',
        kind: 'heartbeat',
        periodMs: 86_400_000,
        graceMs: 1_000,
        pushToken: 'Q2hhbmdlTWU',
      },
    },
    {
      ...PLAIN_SERVICE,
      ...{ domain: 'my-nightly-job', name: 'My nightly job', kind: 'heartbeat' },
      ...{ periodMs: 86_400_000, graceMs: 1_000, pushToken: 'Zm9vYmFy' },
    },
    {
      ...PLAIN_SERVICE,
      ...{ domain: '192.0.2.1', name: 'Router', kind: 'icmp', choice: MINUTELY },
    },
    {
      ...PLAIN_SERVICE,
      ...{ domain: 'db.example.com', name: 'Database', kind: 'tcp', settings: { port: 5432 } },
      choice: MINUTELY,
    },
    {
      ...PLAIN_SERVICE,
      ...{ domain: 'nas', name: 'NAS', url: 'http://nas:5000/', method: 'GET' },
      accept: ['2xx'],
      choice: MINUTELY,
    },
    {
      ...PLAIN_SERVICE,
      ...{ domain: '192.0.2.2', name: 'Switch', kind: 'icmp', choice: MINUTELY },
    },
  ]);
  const names = { service: ({ domain }: { domain: string }) => domain, has: () => true };
  t.same(
    items.map(({ list, document }) => [list, document(names)]),
    [
      ['channels', { name: 'Mail', kind: 'email', settings: { to: 'ops@example.com' } }],
      ['rules', { name: 'Mail', services: ['shop.example.com'], channels: ['Mail'] }],
      [
        'rules',
        {
          ...{ name: 'Mail (2)', channels: ['Mail'], events: ['down', 'up'] },
          services: ['api.example.com', 'login.example.com'],
        },
      ],
      [
        'pages',
        {
          ...{ slug: 'uptime-kuma-groups', title: 'Groups of Uptime Kuma', access: 'members' },
          groups: [{ name: 'Web', services: ['shop.example.com'] }],
        },
      ],
    ],
  );
  t.strictSame(describeSkipped(skipped), [
    'left out: Must not answer: a monitor that is upside down has no equal here',
  ]);
  const lines = describeLost(notCarried);
  for (const field of [
    ...['proxy of the file', 'smtpHost of Mail', 'isDefault of Mail', 'proxyId of Login (staging)'],
    ...['maxredirects of Login (staging)', 'accepted_statuscodes of Login (staging)'],
  ])
    t.ok(
      lines.some((line) => line.startsWith(`not carried over: ${field}`)),
      field,
    );
  t.notMatch(lines.join('\n'), /hunter2|s3cret/, 'no secret is repeated');
  t.notMatch(lines.join('\n'), /weight|dns_resolve|kafka|packetSize|pathName/, 'nor what says nothing');
  t.notMatch(
    lines.join('\n'),
    /: (?:keyword|invertKeyword|headers|method|body|basic_auth_user) of/,
    'nor what is',
  );
});
