import { spawn } from 'node:child_process';
import { once } from 'node:events';
import t from 'tap';
import { createLeaseKeeper, MAX_BUSY_MS } from '../../../src/store/lease/held-lease.ts';
import {
  acquireLease,
  createLeaseSight,
  endProcess,
  FRESH_MS,
  identityOf,
  isRunning,
  judgeLease,
  type LeaseProcess,
  type LeaseSight,
} from '../../../src/store/lease/writer-lease.ts';
import type { LeaseState, LeaseStore } from '../../../src/store/ports/lease.ts';
import type { RegistryMethods } from '../../../src/store/registry/registry-thread.ts';
import { type RegistryPlace, testOverBoth } from '../../support/both-registries.ts';
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts';
import { entry, firstTurn, NOON } from '../registry-fixtures.ts';

/** One process that has the registry open. */
interface Member {
  readonly methods: RegistryMethods;
  readonly store: LeaseStore;
  readonly lost: Error[];
  acquire(sight?: LeaseSight): ReturnType<typeof acquireLease>;
}

t.setTimeout(120_000);

/** Calls without an answer. */
const inFlight = new Set<Promise<unknown>>();

/** Lets every call be answered, and what follows from it begin. */
async function settle(): Promise<void> {
  do {
    await Promise.allSettled(inFlight);
    await new Promise((resolve) => setImmediate(resolve));
  } while (inFlight.size > 0);
}

/** A fake clock whose time goes on when nothing is under way: a server answers in its own time. */
function createSettlingClock(): FakeClock {
  const clock = createFakeClock();
  const { advance } = clock;
  return Object.assign(clock, {
    async advance(ms: number) {
      await settle();
      await advance(ms);
      await settle();
    },
  });
}

function track<A extends unknown[], T>(call: (...args: A) => Promise<T>): (...args: A) => Promise<T> {
  return (...args) => {
    const answer = call(...args);
    inFlight.add(answer);
    const end = () => void inFlight.delete(answer);
    answer.then(end, end);
    return answer;
  };
}

async function member(
  place: RegistryPlace,
  clock: FakeClock,
  change: Partial<LeaseProcess> = {},
): Promise<Member> {
  const methods = await place.open();
  const self: LeaseProcess = { pid: 100, host: 'here', isAlive: () => true, ...change };
  const lost: Error[] = [];
  const store: LeaseStore = {
    ...methods,
    readLease: track(methods.readLease),
    takeLease: track(methods.takeLease),
    claimLease: track(methods.claimLease),
    renewLease: track(methods.renewLease),
    markLease: track(methods.markLease),
    releaseLease: track(methods.releaseLease),
  };
  return {
    methods,
    store,
    lost,
    acquire: (sight) =>
      acquireLease({
        store,
        place: 'the registry',
        clock,
        self,
        ...(sight && { sight }),
        onLost: (error) => lost.push(error),
      }),
  };
}

t.test('it judges who may take a lease', (t) => {
  const identity = 'boot pid:[1] 1 5';
  const self: LeaseProcess = { pid: 1, host: 'here', isAlive: (pid) => pid === 2, identity };
  const table: [string, LeaseState['holder'], number, ReturnType<typeof judgeLease>][] = [
    ['it has no holder', null, NOON, 'free'],
    ['another host, fresh', { pid: 9, host: 'there' }, NOON - FRESH_MS, 'held'],
    ['another host, old', { pid: 9, host: 'there' }, NOON - FRESH_MS - 1, 'free'],
    ['another host, our own pid', { pid: 1, host: 'there' }, NOON, 'held'],
    ['this host, alive', { pid: 2, host: 'here' }, NOON - FRESH_MS, 'held'],
    ['this host, alive but silent', { pid: 2, host: 'here' }, NOON - FRESH_MS - 1, 'free'],
    ['this host, dead', { pid: 3, host: 'here' }, NOON, 'free'],
    ['another container of this name', { pid: 3, host: 'here', process: 'boot pid:[2] 3 9' }, NOON, 'held'],
    ['this container, dead', { pid: 3, host: 'here', process: 'boot pid:[1] 3 9' }, NOON, 'free'],
    ['this host, our own pid', { pid: 1, host: 'here' }, NOON, 'unclear'],
    ['this host, our own pid, old', { pid: 1, host: 'here' }, NOON - FRESH_MS - 1, 'free'],
    ['a little in the future', { pid: 9, host: 'there' }, NOON + FRESH_MS, 'held'],
    ['far in the future', { pid: 9, host: 'there' }, NOON + FRESH_MS + 1, 'free'],
  ];
  for (const [what, holder, renewedAt, expected] of table)
    t.equal(judgeLease({ fence: 1, holder, renewedAt }, self, NOON, null), expected, what);
  t.end();
});

testOverBoth('it lets one process be the monitor, and names it to the next', async (t, makePlace) => {
  const [place, clock] = [await makePlace(t), createSettlingClock()];
  const first = await member(place, clock);
  const second = await member(place, clock, { pid: 200, host: 'there' });
  const lease = await first.acquire();
  t.equal(lease.fence, 1);
  await t.rejects(second.acquire(), {
    code: 'lease_held',
    message: /Process 100 on here .*storage\.dataDir/,
  });
  for (let second = 0; second < 20; second++) await clock.advance(1_000);
  await t.rejects(second.acquire(), { code: 'lease_held' }, 'it is renewed');
  await lease.release();
  const next = await second.acquire();
  t.equal(next.fence, 2, 'at once after a release');
  await lease.release();
  await t.rejects(first.acquire(), { code: 'lease_held', message: /200 on there/ }, 'released but once');
  t.same([first.lost, second.lost], [[], []]);
  await next.release();
});

testOverBoth(
  'it replaces a dead process of this host at once, and a silent one after 4 s',
  async (t, makePlace) => {
    const [place, clock] = [await makePlace(t), createSettlingClock()];
    const asleep = createSettlingClock();
    await (await member(place, asleep, { pid: 300 })).acquire();
    const other = await member(place, clock, { pid: 400, host: 'there' });
    await t.rejects(other.acquire(), { code: 'lease_held' });
    const neighbour = await member(place, asleep, { pid: 500, isAlive: () => false });
    t.equal((await neighbour.acquire()).fence, 2);
    await clock.advance(FRESH_MS);
    await t.rejects(other.acquire(), { code: 'lease_held' });
    await clock.advance(1);
    const lease = await other.acquire();
    t.equal(lease.fence, 3);
    await lease.release();
  },
);

testOverBoth('it waits for time to tell where the holder has its own pid', async (t, makePlace) => {
  const [place, clock] = [await makePlace(t), createSettlingClock()];
  await (await member(place, createSettlingClock())).acquire();
  const again = await member(place, clock);
  let settled = false;
  const acquired = again.acquire().finally(() => {
    settled = true;
  });
  await clock.advance(FRESH_MS - 1);
  t.notOk(settled);
  await clock.advance(1);
  const lease = await acquired;
  t.equal(lease.fence, 2);

  const twin = await member(place, clock);
  const refused = t.rejects(twin.acquire(), { code: 'lease_held' }, 'a twin that lives keeps it');
  for (let second = 0; second < 6; second++) await clock.advance(1_000);
  await refused;
  await lease.release();
});

testOverBoth(
  'it stops a process whose lease was taken, and refuses what it still writes',
  async (t, makePlace) => {
    const [place, clock, asleep] = [await makePlace(t), createSettlingClock(), createSettlingClock()];
    const first = await member(place, asleep);
    await first.acquire();
    await first.methods.putCatalogue([entry('a')]);
    const second = await member(place, clock, { pid: 200, host: 'there' });
    await clock.advance(FRESH_MS + 1);
    const lease = await second.acquire();

    await t.rejects(first.methods.commitUpdates([firstTurn(1, 'down', NOON)]), {
      code: 'lease_lost',
      message: /Process 200 on there/,
    });
    t.match(await second.methods.loadServices(), [{ current: { status: 'unknown' } }]);
    t.match(await second.methods.commitUpdates([firstTurn(1, 'up', NOON)]), [{ kind: 'committed' }]);
    await asleep.advance(1_000);
    t.match(first.lost, [{ code: 'lease_lost' }]);
    await asleep.advance(5_000);
    t.equal(first.lost.length, 1, 'told once');
    t.same(second.lost, []);
    await lease.release();
  },
);

testOverBoth('it allows processes without a lease to write beside the monitor', async (t, makePlace) => {
  const [place, clock] = [await makePlace(t), createSettlingClock()];
  const monitor = await member(place, clock);
  const lease = await monitor.acquire();
  const command = await member(place, clock, { pid: 200 });
  t.match(await command.methods.ensureAccount('acme', NOON), { name: 'acme' });
  await lease.release();
});

t.test('it bears a renewal that fails now and then, and gives up after 4 s', async (t) => {
  const clock = createFakeClock();
  let failing = true;
  const store: LeaseStore = {
    readLease: async () => ({ fence: 0, holder: null, renewedAt: 0 }),
    takeLease: async () => 1,
    claimLease: async () => null,
    markLease: async () => {},
    renewLease: async () => {
      if (failing) throw Object.assign(new Error('disk full'), { code: 'away' });
    },
    releaseLease: async () => {},
  };
  const lost: Error[] = [];
  await acquireLease({ store, place: 'd', clock, onLost: (error) => lost.push(error) });
  await clock.advance(FRESH_MS - 1_000);
  failing = false;
  await clock.advance(1_000);
  failing = true;
  await clock.advance(FRESH_MS - 1_000);
  t.same(lost, []);
  await clock.advance(1_000);
  t.match(lost, [{ message: 'disk full' }]);
});

t.test('the thread of the registry renews for a main thread that is busy, for 15 s', async (t) => {
  const clock = createFakeClock();
  const renewed: [fence: number, afterMs: number][] = [];
  const startedAt = clock.now();
  let failing = false;
  const keeper = createLeaseKeeper(clock, async (fence, now) => {
    renewed.push([fence, now - startedAt]);
    if (failing) throw new Error('lost');
  });
  await clock.advance(5_000);
  t.same(renewed, [], 'nothing before the main thread has renewed');
  for (let second = 0; second < 5; second++) {
    keeper.heard(7);
    await clock.advance(900);
  }
  t.same(renewed, [], 'nothing while it renews');
  keeper.heard(7);
  await clock.advance(60_000);
  t.ok(renewed.length >= 14 && renewed.length <= 15, `${renewed.length} renewals`);
  const last = renewed.at(-1)?.[1] ?? 0;
  t.ok(last > 9_500 + 13_000 && last <= 9_500 + MAX_BUSY_MS, `the last one after ${last} ms`);
  renewed.length = 0;
  failing = true;
  keeper.heard(8);
  await clock.advance(3_000);
  t.ok(renewed.length >= 2 && renewed.every(([fence]) => fence === 8), 'a fault does not end it');
  keeper.stop();
  renewed.length = 0;
  await clock.advance(10_000);
  t.same(renewed, []);
});

t.test('an outage of the registry does not count as silence of the holder', async (t) => {
  const clock = createFakeClock();
  const state = { fence: 1, holder: { pid: 5, host: 'there' }, renewedAt: clock.now() };
  const refusal = Object.assign(new Error('away'), { code: 'storage_unreachable' });
  let isAway = false;
  const answer = async <T>(value: T): Promise<T> => {
    if (isAway) throw refusal;
    return value;
  };
  const store: LeaseStore = {
    readLease: () => answer(state),
    takeLease: () => answer(2),
    claimLease: async () => null,
    renewLease: async () => {},
    markLease: async () => {},
    releaseLease: async () => {},
  };
  const sight = createLeaseSight(clock);
  const acquire = () => acquireLease({ store, place: 'd', clock, sight, onLost() {} });
  const held = { code: 'lease_held' };
  await t.rejects(acquire(), held);
  isAway = true;
  await clock.advance(1_000);
  await t.rejects(acquire(), refusal);
  await clock.advance(60_000);
  isAway = false;
  await t.rejects(acquire(), held, 'the holder has time to renew it');
  await clock.advance(FRESH_MS);
  await t.rejects(acquire(), held);
  await clock.advance(1);
  t.equal((await acquire()).fence, 2);
});

t.test('a process that was busy does not count its own delay as silence of the holder', async (t) => {
  const clock = createFakeClock();
  const state = { fence: 1, holder: { pid: 5, host: 'there' }, renewedAt: clock.now() };
  let delayMs = 0;
  const store: LeaseStore = {
    async readLease() {
      const seen = { ...state };
      // The holder goes on renewing while this process does not get to take the response.
      await clock.advance(delayMs);
      state.renewedAt = clock.now();
      return seen;
    },
    takeLease: async () => 2,
    claimLease: async () => null,
    renewLease: async () => {},
    markLease: async () => {},
    releaseLease: async () => {},
  };
  for (const isBusyAtFirst of [true, false]) {
    const sight = createLeaseSight(clock);
    const acquire = () => acquireLease({ store, place: 'd', clock, sight, onLost() {} });
    delayMs = isBusyAtFirst ? 60_000 : 0;
    await t.rejects(acquire(), { code: 'lease_held' });
    delayMs = 60_000;
    for (let look = 0; look < 3; look++) await t.rejects(acquire(), { code: 'lease_held' });
  }
});

t.test('it asks again where another process was quicker', async (t) => {
  const states: LeaseState[] = [
    { fence: 0, holder: null, renewedAt: 0 },
    { fence: 1, holder: { pid: 5, host: 'there' }, renewedAt: createFakeClock().now() },
  ];
  const store: LeaseStore = {
    readLease: async () => states.shift() ?? Promise.reject(new Error('asked too often')),
    takeLease: async () => null,
    claimLease: async () => null,
    renewLease: async () => {},
    markLease: async () => {},
    releaseLease: async () => {},
  };
  const acquired = acquireLease({ store, place: 'd', clock: createFakeClock(), onLost() {} });
  await t.rejects(acquired, { code: 'lease_held', message: /Process 5 on there/ });
});

t.test('it knows living and dead processes of this machine', async (t) => {
  const clock = createFakeClock();
  const held = (pid: number, host: string): LeaseStore => ({
    readLease: async () => ({ fence: 7, holder: { pid, host }, renewedAt: clock.now() }),
    takeLease: async ({ replacing }) => replacing + 1,
    claimLease: async () => null,
    renewLease: async () => {},
    markLease: async () => {},
    releaseLease: async () => {},
  });
  const { hostname } = await import('node:os');
  const acquire = (pid: number) =>
    acquireLease({ store: held(pid, hostname()), place: 'd', clock, onLost() {} });
  await t.rejects(acquire(process.ppid), { code: 'lease_held' });
  // The greatest pid there can be on Linux is 2 to the power of 22.
  t.equal((await acquire(2 ** 22 + 1)).fence, 8);
});

testOverBoth(
  'it goes by its own clock while it watches a lease, whatever the time of day is set to',
  async (t, makePlace) => {
    const [place, clock] = [await makePlace(t), createSettlingClock()];
    const holder = await member(place, clock);
    const lease = await holder.acquire();
    const watcher = await member(place, clock);
    const self: LeaseProcess = { pid: 200, host: 'here', isAlive: () => true };
    let setByMs = 0;
    const watching = { ...clock, now: () => clock.now() + setByMs };
    const sight = createLeaseSight(watching);
    const ask = () =>
      acquireLease({
        store: watcher.store,
        place: 'the registry',
        clock: watching,
        self,
        sight,
        onLost: (e) => t.fail(e.message),
      });
    await t.rejects(ask(), { code: 'lease_held' });
    for (const hours of [1, -1]) {
      setByMs = hours * 3_600_000;
      await t.rejects(ask(), { code: 'lease_held' }, 'a clock was set; the holder is alive');
      await clock.advance(1_000);
      await t.rejects(ask(), { code: 'lease_held' });
    }
    await lease.release();
    await (await holder.acquire()).release();
    // A holder that hangs.
    t.equal(
      await holder.methods.takeLease({
        pid: 100,
        host: 'here',
        replacing: 2,
        renewedAt: clock.now(),
        now: clock.now(),
      }),
      3,
    );
    await t.rejects(ask(), { code: 'lease_held' });
    await clock.advance(FRESH_MS);
    await t.rejects(ask(), { code: 'lease_held' });
    await clock.advance(1);
    const next = await ask();
    t.equal(next.fence, 4);
    await next.release();
  },
);

testOverBoth('it leaves a holder alone that woke between the look and the taking', async (t, makePlace) => {
  const [place, clock] = [await makePlace(t), createSettlingClock()];
  const holder = await member(place, createSettlingClock());
  await holder.acquire();
  const other = await member(place, clock);
  await clock.advance(FRESH_MS + 1);
  const takeLease: LeaseStore['takeLease'] = async (request) => {
    await holder.methods.renewLease(1, clock.now());
    return other.store.takeLease(request);
  };
  const self: LeaseProcess = { pid: 200, host: 'there', isAlive: () => true };
  const asked = acquireLease({
    store: { ...other.store, takeLease },
    place: 'the registry',
    clock,
    self,
    onLost() {},
  });
  await t.rejects(asked, { code: 'lease_held' });
});

testOverBoth(
  'it ends a holder that hangs, once it has watched it for 4 s by its own clock',
  async (t, makePlace) => {
    const [place, clock, stopped] = [await makePlace(t), createSettlingClock(), createSettlingClock()];
    const ended: [number, string][] = [];
    let running = true;
    const at = (pid: number) => ({
      pid,
      isAlive: () => running,
      identity: `boot ns ${pid}`,
      identityOf: (other: number) => `boot ns ${other}`,
      end: async (other: number, identity: string) => void ended.push([other, identity]),
    });
    await (await member(place, stopped, at(300))).acquire();
    const next = await member(place, clock, at(400));
    let setByMs = 3_600_000;
    const sight = createLeaseSight({ ...clock, now: () => clock.now() + setByMs });
    await t.rejects(next.acquire(sight), { code: 'lease_held' });
    await clock.advance(200);
    await t.rejects(next.acquire(sight), { code: 'lease_held' }, 'a clock was set: that proves nothing');
    setByMs = 0;
    await clock.advance(FRESH_MS);
    t.same(ended, []);
    t.equal((await next.acquire(sight)).fence, 2);
    t.same(ended, [[300, 'boot ns 300']]);

    // Another process has its id by now.
    const third = await member(place, clock, { ...at(500), identityOf: () => 'a process started later' });
    await clock.advance(FRESH_MS);
    running = false;
    t.equal((await third.acquire()).fence, 3);
    t.equal(ended.length, 1);
  },
);

testOverBoth(
  'it takes the lease of a process that cannot be ended, where it holds no lock',
  async (t, makePlace) => {
    const [place, clock] = [await makePlace(t), createSettlingClock()];
    const at = (pid: number) => ({
      pid,
      identity: `boot ns ${pid}`,
      identityOf: (other: number) => `boot ns ${other}`,
      end: async () => {
        throw new Error('not permitted');
      },
    });
    await (await member(place, createSettlingClock(), at(300))).acquire();
    const next = await member(place, clock, at(400));
    const sight = createLeaseSight(clock);
    await t.rejects(next.acquire(sight), { code: 'lease_held' });
    await clock.advance(FRESH_MS + 1);
    t.equal((await next.acquire(sight)).fence, 2);
  },
);

t.test('it ends the process that it means and no other', async (t) => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  const exit = once(child, 'exit');
  const pid = child.pid ?? 0;
  const identity = identityOf(pid) ?? '';
  t.match(identity, /^[0-9a-f-]{36} pid:\[\d+\] \d+ \d+$/);
  await endProcess(pid, `${identity}0`);
  t.ok(isRunning(pid));
  process.kill(pid, 'SIGSTOP');
  await endProcess(pid, identity);
  t.notOk(isRunning(pid));
  await exit;
  t.equal(identityOf(pid), null);
});

t.test('it does not call a lease fresh whose renewal was answered after a sleep', async (t) => {
  const clock = createFakeClock();
  const renewals: (() => void)[] = [];
  const store: LeaseStore = {
    readLease: async () => ({ fence: 0, holder: null, renewedAt: 0 }),
    takeLease: async () => 1,
    claimLease: async () => null,
    markLease: async () => {},
    renewLease: () => new Promise((resolve) => renewals.push(resolve)),
    releaseLease: async () => {},
  };
  const lease = await acquireLease({ store, place: 'd', clock, onLost() {} });
  await clock.advance(1_000);
  let sleptMs = 60_000;
  const { monotonic } = clock;
  clock.monotonic = () => monotonic() + sleptMs;
  renewals.shift()?.();
  await clock.advance(0);
  t.notOk(lease.isFresh(), 'another process had a minute to take it');
  sleptMs = 0;
  t.ok(lease.isFresh());
  await lease.release();
});
