import { createSocket } from 'node:dgram';
import { utimesSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type Clock, systemClock } from '../../src/clock.ts';
import {
  createHostsLookup,
  createResolver,
  parseHosts,
  type ResolverSettings,
} from '../../src/outbound/resolver.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import {
  type AnswerName,
  type NameQuestion,
  type NameResult,
  startNameServer,
} from '../support/name-server.ts';

/** A time-out that no test waits for. */
const TIMEOUT_MS = 60_000;
const until = (clock: Clock = systemClock, timeoutMs = TIMEOUT_MS) => clock.monotonic() + timeoutMs;

async function start(t: Test, answer: AnswerName, more: Partial<ResolverSettings> = {}) {
  const server = await startNameServer(answer);
  const resolver = createResolver({ nameservers: [server.address], hostsFile: '/nowhere', ...more });
  t.teardown(() => {
    resolver.close();
    return server.close();
  });
  return { server, resolver };
}

t.test('it asks for each family by itself', async (t) => {
  const { resolver, server } = await start(t, () => ({
    addresses: ['192.0.2.1', '192.0.2.2', '2001:db8::1'],
  }));
  const both = [
    resolver.lookup('a.example', 4, false, until()),
    resolver.lookup('a.example', 6, false, until()),
  ];
  t.same(await Promise.all(both), [
    { kind: 'addresses', addresses: ['192.0.2.1', '192.0.2.2'], queried: true },
    { kind: 'addresses', addresses: ['2001:db8::1'], queried: true },
  ]);
  t.same(
    server.questions.toSorted((a, b) => a.type.localeCompare(b.type)),
    [
      { name: 'a.example', type: 'A' },
      { name: 'a.example', type: 'AAAA' },
    ],
  );
});

t.test(
  'it keeps an answer for its time to live, at most five minutes, and passes it by when asked to',
  async (t) => {
    const clock = createFakeClock();
    const answer = ({ name }: NameQuestion): NameResult => ({
      addresses: ['192.0.2.1'],
      ttl: { 'short.example': 30, 'long.example': 86_400 }[name] ?? 0,
    });
    const { resolver, server } = await start(t, answer, { clock });
    const asks = async (name: string, fresh = false) => {
      const before = server.questions.length;
      await resolver.lookup(name, 4, fresh, until(clock));
      return server.questions.length - before;
    };
    t.equal(await asks('short.example'), 1);
    t.same(resolver.lookup('short.example', 4, false, until()), {
      kind: 'addresses',
      addresses: ['192.0.2.1'],
      queried: false,
    });
    t.equal(await asks('short.example', true), 1);
    await clock.advance(29_999);
    t.equal(await asks('short.example'), 0);
    await clock.advance(1);
    t.equal(await asks('short.example'), 1);
    t.equal(await asks('long.example'), 1);
    await clock.advance(299_999);
    t.equal(await asks('long.example'), 0);
    await clock.advance(1);
    t.equal(await asks('long.example'), 1);
    t.equal(await asks('zero.example'), 1);
    t.equal(await asks('zero.example'), 1);
  },
);

t.test('it asks once for those who wait for the same', async (t) => {
  const { resolver, server } = await start(t, () => ({ addresses: ['192.0.2.1'] }));
  const three = [1, 2, 3].map(() => resolver.lookup('a.example', 4, true, until()));
  t.equal(new Set((await Promise.all(three)).map((each) => JSON.stringify(each))).size, 1);
  t.equal(server.questions.length, 1);
});

t.test('it distinguishes what a name server says of a name from a server that serves us badly', async (t) => {
  const codes: Readonly<Record<string, number>> = {
    'nx.example': 3,
    'fail.example': 2,
    'refused.example': 5,
  };
  const { resolver } = await start(t, ({ name }) => ({ code: codes[name] ?? 0 }));
  t.same(await resolver.lookup('nx.example', 4, false, until()), { kind: 'none', code: 'ENOTFOUND' });
  t.same(await resolver.lookup('empty.example', 4, false, until()), { kind: 'none', code: 'ENODATA' });
  t.same(await resolver.lookup('fail.example', 4, false, until()), {
    kind: 'failed',
    code: 'ESERVFAIL',
    ownFault: false,
  });
  t.same(await resolver.lookup('refused.example', 4, false, until()), {
    kind: 'failed',
    code: 'EREFUSED',
    ownFault: true,
  });
});

t.test('it holds a name server that truncates its answers and refuses TCP for our own fault', async (t) => {
  const { resolver, server } = await start(t, ({ type }) =>
    type === 'A' ? { addresses: ['192.0.2.1'], cut: 'between' } : 'truncated',
  );
  await server.refuseTcp();
  t.match(await resolver.lookup('a.example', 4, false, until()), {
    kind: 'addresses',
    addresses: ['192.0.2.1'],
  });
  const failed = { kind: 'failed', code: 'ETRUNCATED', ownFault: true };
  t.same(await resolver.lookup('a.example', 6, false, until()), failed);
});

t.test('it holds a name server that cannot be reached for our own fault', async (t) => {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const { port } = socket.address() as AddressInfo;
  await new Promise<void>((resolve) => socket.close(() => resolve()));
  const resolver = createResolver({ nameservers: [`127.0.0.1:${port}`], hostsFile: '/nowhere' });
  t.teardown(resolver.close);
  t.same(await resolver.lookup('a.example', 4, false, until(systemClock, 300)), {
    kind: 'failed',
    code: 'ECONNREFUSED',
    ownFault: true,
  });
});

t.test('it distinguishes a silent zone from a silent name server by asking for the root', async (t) => {
  const deaf = await start(t, () => 'silence');
  const zone = await start(t, ({ type }) => (type === 'other' ? { code: 0 } : 'silence'));
  const askedAt = systemClock.monotonic();
  void deaf.resolver.lookup('a.example', 4, false, until());
  void zone.resolver.lookup('a.example', 4, false, until());
  t.equal(deaf.resolver.silentSince(askedAt), true);
  t.equal(zone.resolver.silentSince(askedAt), true);
  // The root is asked after 1.5 s of silence; the limit is for a busy machine.
  const endsAt = Date.now() + 20_000;
  while (zone.resolver.silentSince(askedAt) && Date.now() < endsAt) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  t.equal(zone.resolver.silentSince(askedAt), false);
  t.equal(deaf.resolver.silentSince(askedAt), true);
});

t.test('it follows the name servers of the system, within a question too', async (t) => {
  const clock = createFakeClock();
  const [deaf, server] = await Promise.all([
    startNameServer(() => 'silence'),
    startNameServer(() => ({ addresses: ['192.0.2.1'] })),
  ]);
  let system = deaf.address;
  const resolver = createResolver({
    nameservers: [],
    systemServers: () => [system],
    hostsFile: '/nowhere',
    clock,
  });
  t.teardown(async () => {
    resolver.close();
    await Promise.all([deaf.close(), server.close()]);
  });
  const lookup = resolver.lookup('a.example', 4, false, until(clock));
  await clock.advance(4000);
  system = server.address;
  await clock.advance(5000);
  t.match(await lookup, { kind: 'addresses', addresses: ['192.0.2.1'] });
});

t.test('a name in the hosts file sends no query', async (t) => {
  const hostsFile = `${t.testdir({ hosts: '192.0.2.7 a.example\n' })}/hosts`;
  const { resolver, server } = await start(t, () => ({ addresses: ['192.0.2.1'] }), { hostsFile });
  const known = { kind: 'addresses', addresses: ['192.0.2.7'], queried: false };
  t.same(resolver.lookup('a.example', 4, true, until()), known);
  t.same(resolver.lookup('a.example.', 4, true, until()), known);
  t.same(resolver.lookup('a.example', 6, true, until()), { kind: 'none', code: 'ENODATA' });
  t.same(resolver.lookup('localhost', 4, true, until()), {
    kind: 'addresses',
    addresses: ['127.0.0.1'],
    queried: false,
  });
  t.equal(server.questions.length, 0);
});

t.test('it refuses a name server that is none', async (t) => {
  t.throws(() => createResolver({ nameservers: ['not an address'] }));
});

t.test('it reads names, aliases and both families, and passes over what it cannot read', async (t) => {
  const table = parseHosts(
    [
      '# comment',
      '127.0.0.1 a.test A2.test # end',
      '\t::1   a.test',
      'fe80::1%lo0 zone.test',
      'rubbish x',
      '',
    ].join('\n'),
  );
  t.same(Object.fromEntries(table), {
    'a.test': [
      { family: 4, text: '127.0.0.1' },
      { family: 6, text: '::1' },
    ],
    'a2.test': [{ family: 4, text: '127.0.0.1' }],
  });
});

t.test('it follows changes of the file', async (t) => {
  const file = join(t.testdir({ hosts: '127.0.0.1 one.test\n' }), 'hosts');
  const clock = createFakeClock();
  const lookup = createHostsLookup(file, clock);
  t.same(lookup('one.test'), [{ family: 4, text: '127.0.0.1' }]);
  writeFileSync(file, '127.0.0.2 one.test\n');
  utimesSync(file, new Date(), new Date(Date.now() + 60_000));
  t.same(lookup('one.test'), [{ family: 4, text: '127.0.0.1' }]);
  await clock.advance(5000);
  t.same(lookup('one.test'), [{ family: 4, text: '127.0.0.2' }]);
});

t.test('it knows localhost without a file, and nothing else', async (t) => {
  const lookup = createHostsLookup('/nowhere/hosts', createFakeClock());
  const loopback = [
    { family: 4, text: '127.0.0.1' },
    { family: 6, text: '::1' },
  ];
  t.same(lookup('localhost'), loopback);
  t.same(lookup('app.localhost'), loopback);
  t.equal(lookup('example.com'), null);
});
