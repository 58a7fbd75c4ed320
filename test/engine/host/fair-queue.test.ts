import fc from 'fast-check';
import t from 'tap';
import { CATALOGUE, FairQueue, type Lane, limitsOf } from '../../../src/engine/host/fair-queue.ts';
import { propertyRuns } from '../../support/property-runs.ts';

/** A queue whose checks hold their slots until a test ends them. */
function openQueue(slots: number, services: Readonly<Record<number, number>>) {
  const queue = new FairQueue(slots);
  for (const [key, count] of Object.entries(services))
    for (let index = 0; index < count; index++) queue.add(Number(key));
  const held: Lane[] = [];
  return {
    queue,
    held,
    /** Adds so many checks of an account. */
    push(key: number, count: number, isLong = false) {
      for (let index = 0; index < count; index++) queue.push(key, key, isLong);
    },
    /** Starts all that may start; returns their accounts in order. */
    start(most = Number.POSITIVE_INFINITY): number[] {
      const started: number[] = [];
      while (started.length < most) {
        const turn = queue.shift(slots - held.length);
        if (turn === null) return started;
        held.push(turn.lane);
        queue.hold(turn.lane);
        started.push(turn.item);
      }
      return started;
    },
    end(lane: Lane) {
      held.splice(held.indexOf(lane), 1);
      queue.release(lane);
    },
  };
}

const count = (keys: readonly number[], wanted: number) => keys.filter((key) => key === wanted).length;

t.test('it lets accounts take turns', async (t) => {
  const { push, start } = openQueue(100, { [CATALOGUE]: 9, 1: 9, 2: 9 });
  push(1, 4);
  push(2, 2);
  push(CATALOGUE, 3);
  t.same(start(), [0, 1, 0, 2, 0, 1, 2, 1, 1]);
});

t.test('it lets an account hold a quarter of the slots, and an eighth by long checks', async (t) => {
  const { queue, held, push, start, end } = openQueue(256, { [CATALOGUE]: 1, 1: 1_000, 2: 1 });
  push(1, 500, true);
  t.equal(start().length, 32);
  push(1, 500);
  t.equal(start().length, 32);
  t.equal(queue.ready, 0, 'what waits for its own account does not count');
  t.same(queue.shares(), {
    catalogue: { held: 0, waiting: 0 },
    owners: { held: 64, waiting: 936 },
    heldLong: 32,
    mostOfAccount: 64,
    heldUp: 936,
    bounded: [{ accountId: 1, held: 64, waiting: 936 }],
  });
  push(2, 1);
  push(CATALOGUE, 1);
  t.same(start().sort(), [0, 2], 'others start at once');
  end(held[0] as Lane);
  t.same(start(), [1], 'the next one when a slot is given back');
  t.equal(queue.shift(1)?.wasHeldUp, undefined);
  end(held.at(-1) as Lane);
  t.equal(queue.shift(1), null, 'not the last slot, which others keep');
  t.equal(queue.shift(256)?.wasHeldUp, true);
});

t.test(
  'it lets owners hold half of the slots, however many they are, and the catalogue all others',
  async (t) => {
    const accounts = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [index + 1, 100]));
    const { queue, push, start } = openQueue(256, { ...accounts, [CATALOGUE]: 1_000 });
    for (let key = 1; key <= 50; key++) push(key, 100);
    t.equal(start().length, 128);
    push(CATALOGUE, 1_000);
    t.equal(start().length, 128);
    t.match(queue.shares(), { catalogue: { held: 128 }, owners: { held: 128 }, heldUp: 0 });
  },
);

t.test('it keeps slots for short checks while long ones wait', async (t) => {
  const { push, start } = openQueue(256, { [CATALOGUE]: 1_000, 1: 1 });
  push(CATALOGUE, 1_000, true);
  t.equal(start().length, 256 - 64 - 16, 'a quarter for the catalogue, a sixteenth for owners');
  push(1, 100);
  t.equal(count(start(), 1), 16);
  push(CATALOGUE, 1_000);
  t.equal(count(start(), CATALOGUE), 64);
});

t.test('it keeps the last slots of owners for accounts that hold few', async (t) => {
  const { queue, push, start } = openQueue(256, { [CATALOGUE]: 1, 1: 300, 2: 300, 3: 300, 4: 300, 5: 9 });
  for (const key of [1, 2, 3, 4]) push(key, 300);
  t.equal(start().length, 128 - 16);
  push(5, 9);
  t.equal(count(start(), 5), 4);
  t.match(queue.shares(), { owners: { held: 116 } });
});

t.test('it leaves all slots to an account that is alone', async (t) => {
  for (const key of [CATALOGUE, 7]) {
    const { push, start, queue } = openQueue(16, { [key]: 100 });
    push(key, 100);
    t.equal(start().length, 16);
    t.same(queue.shares().bounded, []);
  }
  const { queue, push, start } = openQueue(16, { 7: 100, 8: 1 });
  push(7, 100);
  t.equal(start().length, 4);
  queue.remove(8);
  t.equal(start().length, 12, 'from when others have no services here');
});

t.test('its limits leave something to everyone, whatever the number of slots', async (t) => {
  for (const slots of [1, 2, 3, 7, 64, 256, 10_000])
    for (const accounts of [2, 3, 1_000]) {
      const limits = limitsOf(slots, true, accounts);
      t.ok(limits.accountLong >= 1 && limits.ownersLong >= 1 && limits.owners >= limits.account);
      t.ok(limits.catalogueKeeps + limits.owners <= Math.max(1, slots));
    }
});

t.test('it starts each check once, and none beyond a bound, under any load', async () => {
  const move = fc.record({
    kind: fc.constantFrom('push', 'push', 'start', 'end', 'remove'),
    key: fc.nat(4),
    isLong: fc.boolean(),
    many: fc.integer({ min: 1, max: 30 }),
  });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.array(move, { maxLength: 60 }), (slots, moves) => {
      const { queue, held, push, start, end } = openQueue(slots, { [CATALOGUE]: 1, 1: 1, 2: 1, 3: 1, 4: 1 });
      const services = new Set([0, 1, 2, 3, 4]);
      let waiting = 0;
      for (const { kind, key, isLong, many } of moves) {
        if (kind === 'push' && services.has(key)) {
          push(key, many, isLong);
          waiting += many;
        } else if (kind === 'start') waiting -= start().length;
        else if (kind === 'end') for (const lane of held.slice(0, many)) end(lane);
        else if (kind === 'remove' && key > 1 && services.delete(key)) queue.remove(key);
        const { catalogue, owners, mostOfAccount } = queue.shares();
        if (catalogue.waiting + owners.waiting !== waiting) throw new Error('a check is lost or doubled');
        if (catalogue.held + owners.held !== held.length) throw new Error('slots are lost');
        if (mostOfAccount > Math.max(1, Math.floor(slots / 4))) throw new Error('an account holds too many');
        if (owners.held > Math.max(1, Math.floor(slots / 2))) throw new Error('owners hold too many');
      }
      // With time, everything starts.
      for (let round = 0; round < 10_000 && waiting > 0; round++) {
        for (const lane of [...held]) end(lane);
        waiting -= start().length;
      }
      if (waiting !== 0) throw new Error(`${waiting} never start`);
    }),
    { numRuns: propertyRuns(300) },
  );
});
