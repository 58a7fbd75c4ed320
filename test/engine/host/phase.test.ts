import fc from 'fast-check';
import t from 'tap';
import { chooseHost } from '../../../src/engine/fleet/assignments.ts';
import {
  dueAfterCheck,
  dueAfterCrash,
  firstDue,
  nextPhase,
  phaseOf,
} from '../../../src/engine/host/phase.ts';

const INTERVAL = 300_000;
const TIMES = { intervalMs: INTERVAL, spreadMs: 60_000 };
const id = fc.nat(2 ** 31 - 1);
const time = fc.integer({ min: 1_700_000_000_000, max: 1_900_000_000_000 });

t.test('it gives each service a constant phase', async () => {
  fc.assert(
    fc.property(id, time, time, (serviceId, a, b) => {
      const [first, second] = [nextPhase(serviceId, INTERVAL, a), nextPhase(serviceId, INTERVAL, b)];
      if (first <= a || first > a + INTERVAL) throw new Error('not the next one');
      if ((first - second) % INTERVAL !== 0) throw new Error('the phase moved');
    }),
  );
});

t.test('only services without a check within the last interval belong to the sweep', async () => {
  fc.assert(
    fc.property(id, time, fc.nat(2 * INTERVAL), (serviceId, now, age) => {
      const due = firstDue(serviceId, now - age, now, TIMES);
      const kept = due > now && due % INTERVAL === phaseOf(serviceId, INTERVAL);
      const swept = due >= now && due <= now + 60_000;
      if (age < INTERVAL ? !kept : !swept) throw new Error(`age ${age}: due in ${due - now}`);
    }),
  );
});

t.test('a restart neither moves nor repeats a check, also after a check out of phase', async () => {
  fc.assert(
    fc.property(
      id,
      time,
      fc.nat(36_000),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (serviceId, at, lasted, part) => {
        const due = dueAfterCheck(serviceId, INTERVAL, at, at + lasted);
        const restartAt = Math.floor(at + lasted + part * (Math.min(due, at + INTERVAL) - at - lasted - 1));
        if (firstDue(serviceId, at, restartAt, TIMES) !== due)
          throw new Error(`a restart ${restartAt - at} ms after the check moves the next one`);
      },
    ),
  );
});

t.test('it does not wait for a wall clock that was set back during a check', async () => {
  fc.assert(
    fc.property(id, time, fc.nat(864_000_000), (serviceId, now, backMs) => {
      if (dueAfterCheck(serviceId, INTERVAL, now + backMs, now) > now + 1.5 * INTERVAL)
        throw new Error('it does');
    }),
  );
});

t.test('services whose thread crashed are due within the time, at another place each time', async () => {
  fc.assert(
    fc.property(id, fc.nat(100_000), time, (serviceId, life, now) => {
      const due = dueAfterCrash(serviceId, INTERVAL, life, now) - now;
      if (due < INTERVAL / 2 || due > INTERVAL) throw new Error(`${due}`);
      if (due + now === dueAfterCrash(serviceId, INTERVAL, life + 1, now)) throw new Error('the same place');
    }),
    { seed: 1 },
  );
});

t.test('services without a check, or with one in the future, belong to the sweep', async (t) => {
  for (const last of [null, 5_000_000]) {
    const due = firstDue(7, last, 1_000_000, TIMES);
    t.ok(due >= 1_000_000 && due <= 1_060_000);
    t.equal(firstDue(7, last, 1_000_000, { ...TIMES, aheadMs: 4_000 }), due + 4_000);
  }
});

t.test('it skips a phase within half an interval after a check', async () => {
  fc.assert(
    fc.property(id, time, fc.nat(36_000), (serviceId, startedAt, lasted) => {
      const due = dueAfterCheck(serviceId, INTERVAL, startedAt, startedAt + lasted);
      if (due - startedAt <= INTERVAL / 2 || due - startedAt > 1.5 * INTERVAL)
        throw new Error(`${due - startedAt}`);
      if (due % INTERVAL !== phaseOf(serviceId, INTERVAL)) throw new Error('out of phase');
    }),
  );
});

t.test('it shifts a phase by a part of the interval', async () => {
  fc.assert(
    fc.property(id, time, fc.nat(INTERVAL - 1), (serviceId, after, shiftMs) => {
      const due = nextPhase(serviceId, INTERVAL, after, shiftMs);
      if (due <= after || due > after + INTERVAL) throw new Error(`${due - after}`);
      if (due % INTERVAL !== (phaseOf(serviceId, INTERVAL) + shiftMs) % INTERVAL)
        throw new Error('out of phase');
    }),
  );
});

t.test('it spreads the phases evenly', async (t) => {
  const tenths = new Array<number>(10).fill(0);
  for (let serviceId = 1; serviceId <= 10_000; serviceId++) {
    const tenth = Math.floor(phaseOf(serviceId, INTERVAL) / (INTERVAL / 10));
    tenths[tenth] = (tenths[tenth] ?? 0) + 1;
  }
  t.ok(Math.min(...tenths) > 850 && Math.max(...tenths) < 1_150, `${tenths}`);
});

t.test('it spreads services over hosts, and moves them only to a host that is added', async (t) => {
  const counts = [0, 0, 0];
  for (let serviceId = 1; serviceId <= 9_000; serviceId++) {
    const host = chooseHost(serviceId, 3);
    counts[host] = (counts[host] ?? 0) + 1;
    const before = chooseHost(serviceId, 2);
    if (host !== 2 && host !== before) t.fail(`service ${serviceId} moved from ${before} to ${host}`);
  }
  t.ok(Math.min(...counts) > 2_700, `${counts}`);
});
