/** Several addresses of a name, some of them dead: the order, the pace and what is left of it (RFC 8305). */

import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import t, { type Test } from 'tap';
import { type AddressGuard, type Destination, readDestination } from '../../src/outbound/address-guard.ts';
import { createIdentityReader, newPhaseTimings } from '../../src/outbound/connection.ts';
import { startDeadline } from '../../src/outbound/deadline.ts';
import { type Dialled, dial } from '../../src/outbound/dial.ts';
import type { Lookup, Resolver } from '../../src/outbound/resolver.ts';
import { openBlackHole } from '../support/black-hole.ts';
import { makeCertificate } from '../support/certificates.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { listenRaw } from '../support/loopback.ts';

const TIMEOUT_MS = 10_000;

const accept = (socket: Socket) => void socket.resume();

/** What a name has of one family, and when that becomes known; null: at once, without a query. */
interface Known {
  readonly addresses?: readonly string[];
  readonly failed?: { readonly code: string; readonly ownFault: boolean };
  readonly afterMs: number | null;
}

const FROM_CACHE = { afterMs: null };

/** Dials under a clock of its own, and notes when each address is judged. */
function start(t: Test, four: Known, six: Known, lateness?: () => number) {
  const clock = createFakeClock();
  const judged: [ms: number, address: string][] = [];
  const answerOf = ({ addresses = [], failed, afterMs }: Known): Lookup => {
    if (failed !== undefined) return { kind: 'failed', ...failed };
    if (addresses.length === 0) return { kind: 'none', code: 'ENODATA' };
    return { kind: 'addresses', addresses, queried: afterMs !== null };
  };
  const resolver: Resolver = {
    lookup(_name, family) {
      const known = family === 4 ? four : six;
      const { afterMs } = known;
      if (afterMs === null) return answerOf(known);
      return new Promise((resolve) => clock.after(afterMs, () => resolve(answerOf(known))));
    },
    silentSince: () => false,
    close() {},
  };
  const guard: AddressGuard = {
    judge(address) {
      judged.push([clock.monotonic(), address]);
      return address.startsWith('10.') ? { code: 'address_not_public', address, purpose: 'private' } : null;
    },
  };
  const deadline = startDeadline(clock, TIMEOUT_MS, lateness);
  const timings = newPhaseTimings();
  return {
    clock,
    judged,
    timings,
    deadline,
    /** Dials and lets time pass until it has ended. */
    async dial(url: string) {
      const destination = readDestination(url) as Destination;
      const trust = {
        context: createSecureContext(),
        verify: true,
        identify: createIdentityReader(() => false),
        isIssuedByRoot: () => false,
        offersCertificate: false,
      };
      let ended: Dialled | null = null;
      const order = { destination, guard, trust, fresh: false };
      void dial({ clock, resolver }, order, deadline, timings).then((result) => {
        ended = result;
      });
      await deliver();
      while (ended === null) {
        await clock.advance(10);
        await deliver();
      }
      const result = ended as Dialled;
      if (result.fault !== null) return { address: null, fault: result.fault };
      const address = result.socket.remoteAddress;
      t.teardown(() => void result.socket.destroy());
      return { address, fault: null };
    },
  };
}

/** Lets connections be made: loopback makes them within the call that dials. */
async function deliver() {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Connections to a port that are neither made nor given up (state SYN_SENT of proc(5)). */
function dialling(port: number): number {
  const remote = `:${port.toString(16).toUpperCase().padStart(4, '0')} 02 `;
  const lines = ['/proc/self/net/tcp', '/proc/self/net/tcp6']
    .flatMap((file) => readFileSync(file, 'latin1').split('\n'))
    .filter((line) => line.includes(remote));
  // A table that changes while it is read can show one connection twice: count its two addresses once.
  return new Set(lines.map((line) => line.trim().split(/ +/).slice(1, 3).join())).size;
}

t.test('with addresses that drop connections', async (t) => {
  const port = existsSync('/proc/self/net/tcp6') ? await openBlackHole(t, '0.0.0.0') : null;
  const six = port === null ? null : await listenRaw(accept, '::1', port).catch(() => null);
  if (port === null || six === null) {
    t.pass('dead addresses', {
      skip: 'this machine has no proc(5), no IPv6, or accepts connections beyond the backlog',
    });
    return;
  }
  t.teardown(six.close);
  const url = `http://many.example:${port}/`;
  const before = dialling(port);

  await t.test('it takes the families by turns, each 250 ms after the one before', async (t) => {
    const { dial, judged, timings } = start(
      t,
      { addresses: ['127.0.0.1', '127.0.0.2', '127.0.0.3'], ...FROM_CACHE },
      { addresses: ['::ffff:127.0.0.4', '::ffff:127.0.0.5', '::1'], ...FROM_CACHE },
    );
    t.match(await dial(url), { address: '::1', fault: null });
    t.same(judged, [
      [0, '127.0.0.1'],
      [250, '::ffff:127.0.0.4'],
      [500, '127.0.0.2'],
      [750, '::ffff:127.0.0.5'],
      [1000, '127.0.0.3'],
      [1250, '::1'],
    ]);
    t.match(timings, { dnsMs: null, connectMs: 1250, tlsMs: null });
    t.equal(dialling(port), before, 'the others are closed');
  });

  await t.test(
    'it judges an address when it is its turn, and loses no time on one that is refused',
    async (t) => {
      const { dial, judged } = start(
        t,
        { addresses: ['127.0.0.1', '10.0.0.1'], ...FROM_CACHE },
        { addresses: ['::ffff:127.0.0.2', '::1'], ...FROM_CACHE },
      );
      t.match(await dial(url), { address: '::1', fault: null });
      t.same(judged, [
        [0, '127.0.0.1'],
        [250, '::ffff:127.0.0.2'],
        [500, '10.0.0.1'],
        [500, '::1'],
      ]);
    },
  );

  await t.test('it dials at most eight at a time, and gives all up when its time is over', async (t) => {
    const addresses = Array.from({ length: 12 }, (_, n) => `127.0.1.${n + 1}`);
    const { dial, judged, timings, clock } = start(
      t,
      { addresses, ...FROM_CACHE },
      { addresses: ['::ffff:127.0.2.1'], ...FROM_CACHE },
    );
    let most = 0;
    clock.every(100, () => {
      most = Math.max(most, dialling(port) - before);
    });
    const cause = { code: 'timeout', phase: 'connect', timeoutMs: 10_000 };
    t.match(await dial(url), { fault: { failure: { class: 'timeout', phase: 'connect', cause } } });
    t.equal(judged.length, 8);
    t.equal(most, 8);
    t.match(timings, { dnsMs: null, connectMs: TIMEOUT_MS });
    t.equal(dialling(port), before);
  });

  await t.test(
    'it dials an address that becomes known late at once, if the others had their 250 ms',
    async (t) => {
      const { dial, judged, timings } = start(
        t,
        { addresses: ['127.0.0.1'], afterMs: 100 },
        { addresses: ['::1'], afterMs: 600 },
      );
      t.match(await dial(url), { address: '::1', fault: null });
      t.same(judged, [
        [100, '127.0.0.1'],
        [600, '::1'],
      ]);
      t.match(timings, { dnsMs: 100, connectMs: 500 });
    },
  );
});

t.test('with addresses that refuse', async (t) => {
  const server = await listenRaw(accept, '127.0.0.9');
  t.teardown(server.close);
  const url = `http://many.example:${server.port}/`;
  const refusing = ['127.0.0.1', '127.0.0.2'];

  await t.test('it loses no time', async (t) => {
    const { dial, judged, timings } = start(
      t,
      { addresses: [...refusing, '127.0.0.9'], afterMs: 20 },
      { afterMs: 20 },
    );
    t.match(await dial(url), { address: '127.0.0.9' });
    t.same(judged, [
      [20, '127.0.0.1'],
      [20, '127.0.0.2'],
      [20, '127.0.0.9'],
    ]);
    t.match(timings, { dnsMs: 20, connectMs: 0 });
  });

  await t.test('it counts the wait for further addresses as resolution of the name', async (t) => {
    const { dial, timings } = start(
      t,
      { addresses: ['127.0.0.9'], afterMs: 2000 },
      { addresses: ['::ffff:127.0.0.1'], afterMs: 100 },
    );
    t.match(await dial(url), { address: '127.0.0.9' });
    t.match(timings, { dnsMs: 2000, connectMs: 0 });
  });

  await t.test('it notes what a late event loop may have cost, at each step', async (t) => {
    const { dial, deadline } = start(
      t,
      { addresses: ['127.0.0.9'], afterMs: 100 },
      { afterMs: 300 },
      () => 30,
    );
    await dial(url);
    t.equal(deadline.lostMs, 30, 'the name; the connection took no time');
    const both = start(t, { afterMs: 100 }, { addresses: ['::ffff:127.0.0.9'], afterMs: 300 }, () => 30);
    await both.dial(url);
    t.equal(both.deadline.lostMs, 60);
  });

  await t.test('it prefers IPv4, and waits 50 ms for it', async (t) => {
    for (const [afterMs, first] of [
      [140, '127.0.0.9'],
      [160, '::ffff:127.0.0.9'],
    ] as const) {
      const { dial, judged } = start(
        t,
        { addresses: ['127.0.0.9'], afterMs },
        { addresses: ['::ffff:127.0.0.9'], afterMs: 100 },
      );
      await dial(url);
      t.same(judged, [[Math.min(afterMs, 150), first]]);
    }
  });

  await t.test('it reports the failure that says most, when all have failed', async (t) => {
    const servfail = { failed: { code: 'ESERVFAIL', ownFault: false }, afterMs: 10 };
    const deaf = { failed: { code: 'ETIMEOUT', ownFault: true }, afterMs: 10 };
    const none = { afterMs: 10 };
    const forbidden = { addresses: ['10.0.0.1'], afterMs: 10 };
    const refused = { addresses: refusing, afterMs: 10 };
    const cannot = { addresses: ['255.255.255.255'], afterMs: 10 };
    for (const [four, six, expected] of [
      [refused, servfail, { class: 'refused', phase: 'connect' }],
      [refused, forbidden, { class: 'refused', phase: 'connect' }],
      [forbidden, servfail, { class: 'forbidden_address', phase: 'connect' }],
      [cannot, servfail, { class: 'dns', phase: 'dns' }],
      [cannot, none, { class: 'unreachable', phase: 'connect' }],
      [deaf, servfail, { class: 'dns', cause: { code: 'name_servers_failed' } }],
      [none, none, { class: 'dns', cause: { code: 'name_without_address' } }],
    ] as const) {
      const result = await start(t, four, six).dial(url);
      t.match(result, { fault: { failure: expected } }, JSON.stringify([four, six]));
    }
  });
});

const notAfter = new Date(Date.UTC(2056, 0, 1));

const FOREIGN = {
  expiresAt: notAfter.getTime(),
  intermediate: null,
  problem: 'ERR_TLS_CERT_ALTNAME_INVALID',
};

const OWN = { expiresAt: notAfter.getTime(), intermediate: null, problem: null };

/** A certificate that counts how often it is read. */
function counted(...names: string[]) {
  const certificate = new X509Certificate(makeCertificate({ names, notAfter }).cert);
  let readings = 0;
  const toLegacyObject = certificate.toLegacyObject.bind(certificate);
  certificate.toLegacyObject = () => {
    readings++;
    return toLegacyObject();
  };
  return { certificate, readings: () => readings };
}

t.test('it tells whether a certificate is for a host, by name, wildcard or address', async (t) => {
  const { certificate } = counted('one.example', '*.two.example', '192.0.2.1');
  const identify = createIdentityReader(() => false);
  for (const host of ['one.example', 'a.two.example', '192.0.2.1'])
    t.same(identify(host, certificate), OWN, host);
  for (const host of ['www.one.example', 'two.example', 'a.b.two.example', '192.0.2.2'])
    t.same(identify(host, certificate), FOREIGN, host);
});

t.test('it reads a certificate once for each host', async (t) => {
  const identify = createIdentityReader(() => false);
  const { certificate, readings } = counted('one.example');
  for (let n = 0; n < 3; n++) t.same(identify('one.example', certificate), OWN);
  t.equal(readings(), 1);
  for (let n = 0; n < 3; n++) t.same(identify('two.example', certificate), FOREIGN);
  t.equal(readings(), 2);
  const other = counted('two.example');
  t.same(identify('two.example', other.certificate), OWN);
  t.same(identify('one.example', other.certificate), FOREIGN);
  t.equal(other.readings(), 2);
});
