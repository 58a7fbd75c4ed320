import fc from 'fast-check';
import t from 'tap';
import {
  type AddressLoadOptions,
  createAddressLoads,
  loadKeyOf,
  shareAddressLoad,
} from '../../src/outbound/address-load.ts';
import { propertyRuns } from '../support/property-runs.ts';

/** Loads on a clock that stands still until a test moves it. */
function openLoads(options: Partial<AddressLoadOptions> = {}) {
  let now = 1_000_000_000n;
  const nowNs = () => now;
  const loadOf = createAddressLoads({ perMinute: 240, nowNs, ...options });
  return {
    loadOf,
    nowNs,
    pass(ms: number) {
      now += BigInt(Math.round(ms * 1_000_000));
    },
    /** Opens connections, each of which is closed at once, until one must wait; returns their number. */
    openAll(account: number, address: string): number {
      const load = loadOf(account);
      for (let count = 0; ; count++) {
        if (load.open(address) > 0) return count;
        load.close(address);
      }
    },
  };
}

t.test('it bounds the connections that begin at an address, by account and in all', async (t) => {
  const { openAll, pass } = openLoads();
  t.equal(openAll(1, '192.0.2.1'), 10, 'half of a burst for an account');
  t.equal(openAll(2, '192.0.2.1'), 7);
  const few = (...accounts: readonly number[]) => accounts.map((account) => openAll(account, '192.0.2.1'));
  t.same(few(3, 4, 5, 6), [1, 1, 1, 0], 'the last ones are for accounts that make few');
  t.equal(openAll(1, '192.0.2.2'), 10, 'another address has a bound apart');
  pass(1_000);
  t.same(few(7, 8, 9, 10, 11), [1, 1, 1, 1, 0], 'four a second');
  pass(10_000);
  t.equal(openAll(1, '192.0.2.1'), 10);
  pass(1_000);
  t.equal(openAll(1, '192.0.2.1'), 2, 'of which an account has half');
  pass(3_600_000);
  t.equal(openAll(1, '192.0.2.1'), 10, 'a pause saves no more than a burst');
});

t.test('it bounds the connections that are open', async (t) => {
  const { loadOf, pass } = openLoads();
  const [one, two, three] = [loadOf(1), loadOf(2), loadOf(3)];
  const open = (load: typeof one) => {
    pass(60_000);
    return load.open('192.0.2.1');
  };
  for (let count = 0; count < 10; count++) t.equal(open(one), 0);
  t.ok(open(one) > 0);
  for (let count = 0; count < 10; count++) t.equal(open(two), 0);
  t.ok(open(three) > 0);
  one.close('192.0.2.1');
  t.equal(open(three), 0);
});

t.test('it lets what waits return one after the other, a minute later at most', async (t) => {
  const { loadOf, openAll, pass } = openLoads();
  openAll(1, '192.0.2.1');
  const waits = Array.from({ length: 300 }, () => loadOf(1).open('192.0.2.1'));
  t.same(waits.slice(0, 3), [1_500, 2_000, 2_500], 'behind the one that was refused before');
  t.ok(Math.max(...waits) <= 60_000 && Math.min(...waits.slice(120)) >= 30_000);
  pass(1_000);
  t.equal(loadOf(1).open('192.0.2.1'), 0);
});

t.test('threads share the rate of a process', async (t) => {
  const shared = shareAddressLoad();
  const first = openLoads({ shared });
  const second = openLoads({ shared });
  t.equal(first.openAll(1, '192.0.2.1'), 10);
  t.equal(second.openAll(1, '192.0.2.1'), 0);
  t.equal(second.openAll(2, '192.0.2.1'), 7);
});

t.test('an account checks 20 services at one address twice a minute, by the default bound', async (t) => {
  const { loadOf, pass } = openLoads({ perMinute: 600 });
  const load = loadOf(1);
  for (let round = 0; round < 4; round++) {
    const waits = Array.from({ length: 20 }, () => load.open('192.168.1.5'));
    t.same(waits, Array(20).fill(0), 'none waits, though all begin at once');
    for (const _ of waits) load.close('192.168.1.5');
    pass(30_000);
  }
});

t.test('an address is known in every form', async (t) => {
  for (const [text, key] of [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['64:ff9b::192.0.2.1', '192.0.2.1'],
    ['2002:c000:201::5', '192.0.2.1'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:0:0:ffff::1', '2001:db8:0:0::/64'],
    ['2001:db8:0:1::1', '2001:db8:0:1::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fd00:1:0:0:0:0:0:5', 'fd00:1::5'],
    ['1:2:3:4:5:6:7:8', '1:2:3:4::/64'],
  ] as const)
    t.equal(loadKeyOf(text), key, text);
});

t.test('no address gets more than its bound, in any minute and under any load', async () => {
  const step = fc.record({
    ms: fc.integer({ min: 0, max: 3_000 }),
    account: fc.integer({ min: 1, max: 4 }),
    tries: fc.integer({ min: 1, max: 40 }),
  });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 600 }), fc.array(step, { maxLength: 80 }), (perMinute, steps) => {
      const { loadOf, pass, nowNs } = openLoads({ perMinute });
      const began: number[] = [];
      for (const { ms, account, tries } of steps) {
        pass(ms);
        for (let count = 0; count < tries; count++) {
          if (loadOf(account).open('192.0.2.1') > 0) continue;
          began.push(Number(nowNs() / 1_000_000n));
          loadOf(account).close('192.0.2.1');
        }
      }
      const most = perMinute + Math.max(1, Math.floor(perMinute / 12)) + 1;
      for (const [index, at] of began.entries())
        if ((began[index + most] ?? Number.POSITIVE_INFINITY) - at < 60_000)
          throw new Error(`over ${most} within a minute of ${at}`);
    }),
    { numRuns: propertyRuns(100) },
  );
});
