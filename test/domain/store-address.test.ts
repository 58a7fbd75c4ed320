/** The line that says where Redis is. */
import fc from 'fast-check';
import t from 'tap';
import {
  describePostgres,
  describeRedis,
  type RedisAddress,
  readPostgresAddress,
  readRedisAddress,
  urlOfDatabase,
  urlsOfServers,
} from '../../src/domain/store-address.ts';
import { anyText } from '../support/any-text.ts';

const PLAIN: RedisAddress = {
  kind: 'single',
  nodes: [{ host: 'cache', port: 6379 }],
  masterName: null,
  tls: false,
  username: null,
  password: null,
  sentinelUser: null,
  sentinelPassword: null,
  database: 0,
  prefix: 'upbeat',
};

t.test('it parses every form', async (t) => {
  const both = [
    { host: 'a', port: 7000 },
    { host: 'b.example', port: 7001 },
  ];
  const table: [string, Partial<RedisAddress>][] = [
    ['redis://cache', {}],
    ['redis://cache/', {}],
    ['redis://cache:6380/3', { nodes: [{ host: 'cache', port: 6380 }], database: 3 }],
    ['redis://[::1]:6380', { nodes: [{ host: '::1', port: 6380 }] }],
    ['redis://:pass@cache', { password: 'pass' }],
    ['redis://ada:p%40ss%2F:x@cache', { username: 'ada', password: 'p@ss/:x' }],
    ['rediss://cache?prefix=up.2', { tls: true, prefix: 'up.2' }],
    ['redis+sentinel://a:7000,b.example:7001/house', { kind: 'sentinel', nodes: both, masterName: 'house' }],
    [
      'rediss+sentinel://u:p@a/house/2?sentinelUser=s&sentinelPassword=q',
      {
        kind: 'sentinel',
        nodes: [{ host: 'a', port: 26_379 }],
        masterName: 'house',
        database: 2,
        tls: true,
        username: 'u',
        password: 'p',
        sentinelUser: 's',
        sentinelPassword: 'q',
      },
    ],
    ['redis+cluster://a:7000,b.example:7001', { kind: 'cluster', nodes: both }],
  ];
  for (const [text, expected] of table) t.strictSame(readRedisAddress(text), { ...PLAIN, ...expected }, text);
});

t.test('it refuses everything else', async (t) => {
  for (const text of [
    '',
    'cache:6379',
    'http://cache',
    'redis://',
    'redis://a,b',
    'redis://cache:0',
    'redis://cache:65536',
    'redis://cache/x',
    'redis://cache/1/2',
    'redis://cache/%E0%A4%A',
    'redis://%zz@cache',
    'redis://cache?prefix=',
    'redis://cache?prefix={a}',
    'redis://cache?prefx=a',
    'redis://cache#a',
    'redis+sentinel://a:1',
    'redis+sentinel://a:1/',
    'redis+sentinel://a:1,/house',
    'redis+cluster://a:1/2',
    'redis+other://a:1',
  ])
    t.equal(readRedisAddress(text), null, text);
});

t.test('it describes the servers without passwords', async (t) => {
  const table = [
    ['redis://ada:hunter2@cache:6380/1', 'cache:6380'],
    ['rediss://[::1]', '[::1]:6379'],
    ['redis+sentinel://:hunter2@a:1,b:2/house?sentinelPassword=hunter2', 'house by Sentinel at a:1, b:2'],
    ['redis+cluster://:hunter2@a:1,b:2', 'the cluster at a:1, b:2'],
  ] as const;
  for (const [text, expected] of table) {
    const address = readRedisAddress(text);
    t.equal(address === null ? null : describeRedis(address), expected, text);
  }
});

t.test('it parses any percent-encoded user and password', async () => {
  fc.assert(
    fc.property(anyText({ minLength: 1 }), anyText({ minLength: 1 }), (name, word) => {
      fc.pre(isWellFormed(name) && isWellFormed(word));
      const address = readRedisAddress(
        `redis://${encodeURIComponent(name)}:${encodeURIComponent(word)}@cache`,
      );
      return address?.username === name && address.password === word;
    }),
  );
});

function isWellFormed(text: string): boolean {
  return text.isWellFormed();
}

t.test('it reads one server, or several', (t) => {
  const one = { host: 'db.example.net', port: 5432 };
  const table: [string, ReturnType<typeof readPostgresAddress>][] = [
    [
      'postgres://ada:p%40ss@db.example.net/upbeat',
      { servers: [one], needsPrimary: false, database: 'upbeat', user: 'ada' },
    ],
    [
      'postgresql://db.example.net:6000/up%20beat?target_session_attrs=primary&sslmode=verify-full',
      { servers: [{ ...one, port: 6_000 }], needsPrimary: true, database: 'up beat', user: '' },
    ],
    [
      'postgres://ada:x@db.example.net,[::1]:5433,10.0.0.1/upbeat?target_session_attrs=read-write',
      {
        servers: [one, { host: '::1', port: 5_433 }, { host: '10.0.0.1', port: 5_432 }],
        needsPrimary: true,
        database: 'upbeat',
        user: 'ada',
      },
    ],
    [
      'postgres:///upbeat?host=/run/postgresql',
      {
        servers: [{ host: '/run/postgresql', port: 5_432 }],
        needsPrimary: false,
        database: 'upbeat',
        user: '',
      },
    ],
    ['postgres://db.example.net/upbeat?target_session_attrs=standby', null],
    ['postgres://one,,two/upbeat', null],
    ['postgres://one,two:99999/upbeat', null],
    ['postgres://one/', null],
    ['mysql://one/upbeat', null],
    ['', null],
  ];
  for (const [text, expected] of table) t.same(readPostgresAddress(text), expected, text);
  t.end();
});

t.test('it makes a URL for each server, and of another database', (t) => {
  const text = 'postgres://ada:a,b@one:1,two:2/upbeat?sslmode=verify-full';
  t.same(urlsOfServers(text), [
    'postgres://ada:a,b@one:1/upbeat?sslmode=verify-full',
    'postgres://ada:a,b@two:2/upbeat?sslmode=verify-full',
  ]);
  t.equal(urlOfDatabase(text, 'post gres'), 'postgres://ada:a,b@one:1,two:2/post%20gres?sslmode=verify-full');
  t.end();
});

t.test('it names no password', (t) => {
  const address = readPostgresAddress('postgres://ada:secret@one,[::1]:6/upbeat');
  t.equal(address && describePostgres(address), 'one:5432,[::1]:6/upbeat');
  t.end();
});
