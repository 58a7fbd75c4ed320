import type { Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/clock.ts';
import {
  type AddressLoad,
  createAddressGuard,
  type Destination,
  readDestination,
} from '../../src/outbound/address-guard.ts';
import { createIdentityReader, newPhaseTimings } from '../../src/outbound/connection.ts';
import { startDeadline } from '../../src/outbound/deadline.ts';
import { dial } from '../../src/outbound/dial.ts';
import { createResolver } from '../../src/outbound/resolver.ts';
import { openBlackHole } from '../support/black-hole.ts';
import { listenRaw, until } from '../support/loopback.ts';
import { type NameQuestion, type NameResult, startNameServer } from '../support/name-server.ts';

const guard = createAddressGuard({ allowPrivate: ['127.0.0.0/8', '::1/128'], ports: [] });

/** Dials `host` where names are answered by `answer`. */
async function start(
  t: Test,
  answer: (question: NameQuestion) => NameResult | Promise<NameResult>,
  load?: AddressLoad,
) {
  const names = await startNameServer(answer);
  const resolver = createResolver({ nameservers: [names.address], hostsFile: '/nowhere' });
  t.teardown(() => {
    resolver.close();
    return names.close();
  });
  return async (url: string, timeoutMs = 20_000, isOver = false) => {
    const deadline = startDeadline(systemClock, timeoutMs);
    while (isOver && deadline.over === null) await new Promise((resolve) => setTimeout(resolve, 1));
    const timings = newPhaseTimings();
    const destination = readDestination(url) as Destination;
    const trust = {
      context: createSecureContext(),
      verify: true,
      identify: createIdentityReader(() => false),
      isIssuedByRoot: () => false,
      offersCertificate: false,
    };
    const guarded = load === undefined ? guard : { ...guard, load };
    const order = { destination, guard: guarded, trust, fresh: false };
    const startedAt = performance.now();
    const result = await dial({ clock: systemClock, resolver }, order, deadline, timings);
    const tookMs = performance.now() - startedAt;
    deadline.close();
    if (result.fault === null) result.socket.destroy();
    const address = result.fault === null ? result.socket.remoteAddress : undefined;
    return { address, failure: result.fault?.failure, suspect: result.fault?.suspect, timings, tookMs };
  };
}

const accept = (socket: Socket) => void socket.resume();

t.test('it tries the next address where one refuses', async (t) => {
  const server = await listenRaw(accept, '127.0.0.3');
  t.teardown(server.close);
  const connect = await start(t, () => ({ addresses: ['127.0.0.1', '127.0.0.2', '127.0.0.3'] }));
  const result = await connect(`http://many.example:${server.port}/`);
  t.match(result, { failure: undefined, timings: { tlsMs: null } });
  t.ok(result.timings.dnsMs !== null && result.timings.connectMs !== null);
  t.equal(server.accepted(), 1);
});

t.test(
  'an address with as many connections as it may is passed over, and makes no failure of the others',
  async (t) => {
    const server = await listenRaw(accept, '127.0.0.3');
    t.teardown(server.close);
    const open: string[] = [];
    const load: AddressLoad = {
      open(address) {
        if (address === '127.0.0.1') return 4_000;
        open.push(address);
        return 0;
      },
      close(address) {
        open.splice(open.indexOf(address), 1);
      },
    };
    const others = await start(t, () => ({ addresses: ['127.0.0.1', '127.0.0.3'] }), load);
    t.match(await others(`http://many.example:${server.port}/`), { failure: undefined });
    t.equal(server.accepted(), 1);
    const refused = await start(t, () => ({ addresses: ['127.0.0.2', '127.0.0.1'] }), load);
    t.match(await refused(`http://other.example:${server.port}/`), {
      failure: { cause: { code: 'address_busy', waitMs: 4_000 } },
      suspect: 'own_fault',
    });
    while (open.length > 0) await new Promise((resolve) => setTimeout(resolve, 1));
    t.pass('each connection is counted until it is closed');
  },
);

t.test('it dials the addresses that may be dialled and passes over the others', async (t) => {
  const server = await listenRaw(accept);
  t.teardown(server.close);
  const connect = await start(t, () => ({ addresses: ['10.0.0.1', '169.254.169.254', '127.0.0.1'] }));
  t.match(await connect(`http://mixed.example:${server.port}/`), { failure: undefined });
});

t.test('it refuses a name all of whose addresses are forbidden, without a connection', async (t) => {
  const connect = await start(t, () => ({ addresses: ['10.0.0.1', '192.168.0.1', 'fd00::1'] }));
  const result = await connect('http://inside.example/');
  t.match(result, {
    failure: {
      class: 'forbidden_address',
      phase: 'connect',
      cause: { code: 'name_not_public' },
    },
    suspect: null,
  });
  t.equal(result.timings.connectMs, null);
});

t.test('it says the failure that tells most of the target', async (t) => {
  const { port, close } = await listenRaw(accept);
  await close();
  const connect = await start(t, () => ({ addresses: ['127.0.0.1', '10.0.0.1'] }));
  t.match(await connect(`http://mixed.example:${port}/`), { failure: { class: 'refused' }, suspect: null });
});

t.test('it goes on to IPv6 where IPv4 leads nowhere', async (t) => {
  let server: Awaited<ReturnType<typeof listenRaw>>;
  try {
    server = await listenRaw(accept, '::1');
  } catch (error) {
    t.pass('IPv6', { skip: `this machine has no IPv6 on loopback (${error})` });
    return;
  }
  t.teardown(server.close);
  const connect = await start(t, ({ name }) =>
    name === 'six.example' ? { addresses: ['::1'] } : { addresses: ['127.0.0.1', '::1'] },
  );
  t.match(await connect(`http://six.example:${server.port}/`), { failure: undefined });
  t.match(await connect(`http://both.example:${server.port}/`), { failure: undefined });
  t.match(await connect(`http://[::1]:${server.port}/`), { failure: undefined, timings: { dnsMs: null } });
  // The server may hear of the last connection after its client.
  await until(() => server.accepted() === 3);
});

t.test('it does not wait for IPv6 addresses that it does not need', async (t) => {
  const server = await listenRaw(accept);
  t.teardown(server.close);
  const connect = await start(t, ({ type }) => (type === 'A' ? { addresses: ['127.0.0.1'] } : 'silence'));
  // A question without an answer takes 1.5 s at least, each time; a busy machine takes that long now and then.
  const tookMs: number[] = [];
  while (tookMs.length < 5 && !((tookMs.at(-1) ?? 1500) < 1400)) {
    const result = await connect(`http://slow6-${tookMs.length}.example:${server.port}/`);
    t.equal(result.failure, undefined);
    tookMs.push(result.tookMs);
  }
  t.ok(Math.min(...tookMs) < 1400, `${tookMs} ms`);
});

t.test('it reports why a name leads nowhere', async (t) => {
  const connect = await start(t, ({ name }) => ({ code: { 'nx.example': 3, 'fail.example': 2 }[name] ?? 0 }));
  const dns = (code: string) => ({ failure: { class: 'dns', phase: 'dns', cause: { code } }, suspect: null });
  t.match(await connect('http://nx.example/'), dns('name_not_found'));
  t.match(await connect('http://empty.example/'), dns('name_without_address'));
  t.match(await connect('http://fail.example/'), dns('name_servers_failed'));
});

t.test('it distrusts a failure to resolve where no name server speaks', async (t) => {
  const connect = await start(t, () => 'silence');
  const result = await connect('http://a.example/', 300);
  t.match(result, { failure: { class: 'timeout', phase: 'dns' }, suspect: 'own_fault' });
  t.ok((result.timings.dnsMs ?? 0) >= 290);
  t.equal(result.timings.connectMs, null);
});

t.test(
  'it gives up a dead address when its time is over, and loses a quarter of a second beside it',
  async (t) => {
    const hole = await openBlackHole(t, '127.0.0.1');
    if (hole === null) {
      t.pass('dead address', { skip: 'this machine accepts connections beyond the backlog' });
      return;
    }
    const server = await listenRaw(accept, '127.0.0.2', hole);
    t.teardown(server.close);
    const connect = await start(t, ({ name }) => ({
      addresses: name === 'hole.example' ? ['127.0.0.1'] : ['127.0.0.1', '127.0.0.2'],
    }));
    const lost = await connect(`http://hole.example:${hole}/`, 500);
    t.match(lost, {
      failure: {
        class: 'timeout',
        phase: 'connect',
        cause: { code: 'timeout', phase: 'connect', timeoutMs: 500 },
      },
    });
    const connectMs: number[] = [];
    while (connectMs.length < 5 && !((connectMs.at(-1) ?? 900) < 800)) {
      const saved = await connect(`http://pair.example:${hole}/`);
      t.equal(saved.failure, undefined);
      connectMs.push(saved.timings.connectMs ?? 0);
    }
    t.ok(Math.min(...connectMs) >= 249 && Math.min(...connectMs) < 800, `${connectMs} ms`);
  },
);

t.test('a deadline that is over before the connection accuses the time to connect, not names', async (t) => {
  const connect = await start(t, () => ({ addresses: ['127.0.0.1'] }));
  // As at a redirect whose response was the last thing in time.
  const result = await connect('http://127.0.0.1:9/', 0, true);
  t.match(result, { failure: { class: 'timeout', phase: 'connect' }, suspect: null });
});

t.test('it notes when the connection begins, unless a name is resolved before it', async (t) => {
  const server = await listenRaw(accept);
  t.teardown(server.close);
  const connect = await start(t, () => ({ addresses: ['127.0.0.1'] }));
  const began = async (host: string) => (await connect(`http://${host}:${server.port}/`)).timings.beganAt;
  t.type(await began('127.0.0.1'), 'number', 'an address');
  t.equal(await began('new.example'), null, 'a name');
  t.type(await began('new.example'), 'number', 'a name that is known');
});

t.test('time in which only forbidden addresses are known is that of the name', async (t) => {
  const connect = await start(t, async ({ type }) => {
    if (type === 'A') return { addresses: ['10.0.0.1'], ttl: 60 };
    await new Promise((resolve) => setTimeout(resolve, 200));
    return { addresses: ['fd00::1'], ttl: 0 };
  });
  await connect('http://slow.example:1/');
  // The IPv4 address is known now, and the other one is asked for again.
  const { failure, timings } = await connect('http://slow.example:1/');
  t.equal(failure?.class, 'forbidden_address');
  t.ok((timings.dnsMs ?? 0) > 150, `${timings.dnsMs} ms`);
});
