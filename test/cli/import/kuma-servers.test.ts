/** Monitors of Uptime Kuma that talk with a server by its own protocol. */
import t from 'tap';
import { readImport, readImportFile } from '../../../src/cli/import/read-import.ts';
import { createKumaDatabase } from '../kuma-databases.ts';

/** Monitors of Uptime Kuma, and the services that they become. */
const MONITORS: readonly (readonly [object, object])[] = [
  [
    {
      ...{ type: 'smtp', hostname: 'mail.example.com', port: 465, smtpSecurity: 'secure' },
      ...{ accepted_statuscodes: ['200-299'], interval: 60, maxretries: 0 },
    },
    { domain: 'mail.example.com', settings: { port: 465, security: 'tls' } },
  ],
  [
    { type: 'smtp', hostname: 'relay.example.com', port: 25 },
    { domain: 'relay.example.com', settings: { port: 25, security: 'starttls' } },
  ],
  [
    {
      ...{ type: 'postgres', databaseQuery: 'SELECT 1' },
      databaseConnectionString: 'postgres://ada:hunter%202@db.example.com:5433/orders?sslmode=require',
    },
    {
      domain: 'db.example.com',
      settings: { port: 5433, security: 'starttls', database: 'orders' },
      secrets: { username: 'ada', password: 'hunter 2', query: 'SELECT 1' },
    },
  ],
  [
    { type: 'postgres', databaseConnectionString: 'postgres://open.example.com/postgres' },
    { domain: 'open.example.com' },
  ],
  [
    {
      ...{ type: 'mysql', databaseQuery: 'SELECT 1', radiusPassword: '' },
      databaseConnectionString: 'mysql://ada:hunter2@db.example.com:3307/orders',
    },
    {
      domain: 'db.example.com',
      settings: { port: 3307, database: 'orders' },
      secrets: { username: 'ada', password: 'hunter2', query: 'SELECT 1' },
    },
  ],
  [
    { type: 'redis', databaseConnectionString: 'rediss://ada:hunter2@cache.example.com:6380' },
    {
      domain: 'cache.example.com',
      settings: { port: 6380, security: 'tls' },
      secrets: { username: 'ada', password: 'hunter2' },
    },
  ],
  [
    {
      ...{ type: 'mqtt', hostname: 'mqtts://broker.example.com', port: 8883, mqttTopic: 'house/#' },
      ...{ mqttUsername: 'ada', mqttPassword: 'hunter2', mqttSuccessMessage: 'ok', mqttCheckType: 'keyword' },
    },
    {
      domain: 'broker.example.com',
      settings: { port: 8883, security: 'tls', topic: 'house/#', contains: 'ok' },
      secrets: { username: 'ada', password: 'hunter2' },
    },
  ],
  [
    { type: 'mqtt', hostname: 'broker.example.org', mqttTopic: 'house', mqttSuccessMessage: '' },
    { domain: 'broker.example.org', settings: { topic: 'house', matches: '^' } },
  ],
  [
    { type: 'mongodb', databaseConnectionString: 'mongodb://db.example.org:27018/?tls=true' },
    { domain: 'db.example.org', settings: { port: 27_018, security: 'tls' } },
  ],
];

t.test("it reads Uptime Kuma's monitors of servers", async (t) => {
  const monitorList = MONITORS.map(([monitor]) => ({ name: 'One', ...monitor }));
  const { services, skipped, notCarried } = readImport(JSON.stringify({ monitorList }), 'kuma.json');
  t.same(
    services.map(({ domain, kind, settings, secrets }) => ({ domain, kind, settings, secrets })),
    MONITORS.map(([monitor, expected]) => ({
      kind: Object(monitor).type,
      settings: null,
      secrets: null,
      ...expected,
    })),
  );
  t.same([skipped, notCarried], [[], []]);
});

const NOW = Date.parse('2026-11-28T12:00:00Z');

t.test('monitors of containers are checked at their Docker host', async (t) => {
  const { file, database, insert } = createKumaDatabase(t.testdir(), 2);
  insert(
    'docker_host',
    { id: 1, user_id: 1, docker_daemon: '/var/run/docker.sock', docker_type: 'socket', name: 'Here' },
    {
      id: 2,
      user_id: 1,
      docker_daemon: 'unix:///run/podman/podman.sock',
      docker_type: 'socket',
      name: 'Podman',
    },
    { id: 3, user_id: 1, docker_daemon: 'tcp://192.168.1.5:2375', docker_type: 'tcp', name: 'NAS' },
    { id: 4, user_id: 1, docker_daemon: 'https://192.168.1.5:2376', docker_type: 'tcp', name: 'TLS' },
  );
  for (const host of [1, 2, 3, 4, 5])
    insert('monitor', {
      ...{ id: host, name: `Container ${host}`, type: 'docker', interval: 60 },
      ...{ docker_host: host, docker_container: `app_${host}` },
    });
  database.close();
  const { services, skipped, notCarried } = await readImportFile(file, NOW);
  t.match(services, [
    { kind: 'docker', domain: 'localhost', name: 'Container 1', settings: { container: 'app_1' } },
    { domain: 'localhost', settings: { container: 'app_2', socket: '/run/podman/podman.sock' } },
    { domain: '192.168.1.5', settings: { container: 'app_3', port: 2375 } },
  ]);
  t.same(
    skipped.map(({ reason }) => reason),
    ['a Docker host is asked at a socket, or by HTTP without TLS', 'its Docker host is not in the file'],
  );
  t.same(
    notCarried.map(({ field }) => field),
    ['heartbeat'],
  );
});

t.test('DNS queries become dns checks', async (t) => {
  const monitor = { type: 'dns', name: 'A', hostname: 'a.example', dns_resolve_type: 'MX', port: 53 };
  const equals = (value: string) => ({ type: 'expression', variable: 'record', operator: 'equals', value });
  const conditions = (...list: object[]) => ({ conditions: JSON.stringify(list) });
  const rows: readonly (readonly [object, settings: object, lost?: string])[] = [
    [{ dns_resolve_server: '1.1.1.1' }, { record: 'MX', server: '1.1.1.1' }],
    [{}, { record: 'MX' }],
    [
      { dns_resolve_server: '1.1.1.1, 8.8.8.8', port: 5353 },
      { record: 'MX', server: '1.1.1.1', port: 5353 },
      'dns_resolve_server',
    ],
    [conditions(equals('10 mail.a.example')), { record: 'MX', values: ['10 mail.a.example'] }],
    [conditions(equals('a'), equals('b')), { record: 'MX' }, 'conditions'],
    [{ conditions: '{' }, { record: 'MX' }, 'conditions'],
  ];
  for (const [row, settings, lost] of rows) {
    const text = JSON.stringify({ monitorList: [{ ...monitor, ...row }] });
    const { services, notCarried } = readImport(text, 'kuma.json');
    t.match(services, [{ kind: 'dns', domain: 'a.example' }], text);
    t.strictSame(services[0]?.settings, settings, text);
    t.same(
      notCarried.map(({ field }) => field),
      lost === undefined ? [] : [lost],
      text,
    );
  }
  const dns = { 'query-name': 'a.example.', 'query-type': 'TXT' };
  const values = ['[DNS_RCODE] == NOERROR', '[BODY] == v=1', '[RESPONSE_TIME] < 5'];
  const endpoints = [{ name: 'A', url: '[2001:db8::53]:5353', dns, conditions: values }];
  t.match(readImport(JSON.stringify({ endpoints }), 'gatus.json'), {
    services: [
      {
        ...{ kind: 'dns', domain: 'a.example' },
        settings: { record: 'TXT', server: '2001:db8::53', port: 5353, values: ['v=1'] },
      },
    ],
    notCarried: [{ field: 'condition [RESPONSE_TIME]' }],
  });
});
