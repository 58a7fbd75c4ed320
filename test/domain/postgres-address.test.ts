import t from 'tap';
import {
  describePostgres,
  readPostgresAddress,
  urlOfDatabase,
  urlsOfServers,
} from '../../src/domain/postgres-address.ts';

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
