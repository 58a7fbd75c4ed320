/** What is behind another service is told where nothing else is. */
import t from 'tap';
import { AlertWorld, HOUR, MINUTE, NOON, ruleOf, SECOND, serviceOf } from './alert-world.ts';

/** Service 1 and what depends on it, 2. */
function worldOf(rules = [ruleOf()]): AlertWorld {
  const world = new AlertWorld(rules, 0);
  world.services.set(1, serviceOf(1, { since: NOON - HOUR, checkedAt: NOON }));
  world.services.set(2, serviceOf(2, { since: NOON - HOUR, checkedAt: NOON, ancestors: [1] }));
  return world;
}

/** It goes down at once. */
function fail(world: AlertWorld, afterMs: number, id: number): void {
  const service = world.services.get(id) ?? serviceOf(id);
  world.services.set(id, { ...service, status: 'down', since: NOON + afterMs, checkedAt: NOON + afterMs });
  world.down(afterMs, id);
}

/** A minute later each, it goes up and down. */
function flap(world: AlertWorld, minutes: number, id: number): void {
  for (let minute = 1; minute < minutes; minute += 1) {
    const at = minute * MINUTE;
    if (minute % 2 === 0) fail(world, at, id);
    else {
      const service = world.services.get(id) ?? serviceOf(id);
      world.services.set(id, { ...service, status: 'up', since: NOON + at, checkedAt: NOON + at });
      world.up(at, id);
    }
    world.pass(at + 2 * SECOND);
    const child = world.services.get(2) ?? serviceOf(2);
    world.services.set(2, { ...child, checkedAt: NOON + at + 3 * SECOND });
  }
}

const linesUntil = (world: AlertWorld, afterMs: number) => {
  world.pass(afterMs);
  return world.lines().map(([, , type, words]) => `${type}: ${words}`);
};

t.test('it tells what is behind a service whose outage began before anybody was told of it', async (t) => {
  const world = worldOf();
  world.services.set(1, serviceOf(1, { status: 'down', since: NOON - HOUR, checkedAt: NOON }));
  fail(world, SECOND, 2);
  t.strictSame(linesUntil(world, MINUTE), ['alert: down s2']);
});

t.test('it tells services that depend on each other by mistake', async (t) => {
  const world = worldOf();
  world.services.set(1, serviceOf(1, { since: NOON - HOUR, checkedAt: NOON, ancestors: [2] }));
  fail(world, SECOND, 1);
  fail(world, SECOND, 2);
  t.strictSame(linesUntil(world, 5 * MINUTE), ['alert: down s1, down s2']);
});

t.test('it tells within seconds what depends on nothing any more', async (t) => {
  const world = worldOf();
  fail(world, SECOND, 1);
  fail(world, 2 * SECOND, 2);
  t.strictSame(linesUntil(world, 2 * MINUTE), ['alert: down s1']);
  const child = world.services.get(2) ?? serviceOf(2);
  world.services.set(2, { ...child, ancestors: [] });
  t.strictSame(linesUntil(world, 4 * MINUTE), ['alert: down s2']);
});

t.test(
  'it keeps what waits for another message, where the channel is told of nothing in front',
  async (t) => {
    const of = { own: false, services: [2, 3], categories: [], publicCategories: [], pages: [] };
    const world = worldOf([ruleOf(), ruleOf({ id: 2, of, channels: [2] })]);
    world.services.set(3, serviceOf(3));
    fail(world, SECOND, 1);
    fail(world, 2 * SECOND, 3);
    fail(world, 5 * SECOND, 2);
    const child = world.services.get(2) ?? serviceOf(2);
    world.services.set(2, { ...child, status: 'up', since: NOON + 10 * SECOND });
    world.up(10 * SECOND, 2);
    world.pass(MINUTE);
    t.strictSame(
      world
        .lines()
        .filter(([, channel]) => channel === 2)
        .map(([, , type, words]) => `${type}: ${words}`),
      ['recovery: up s2', 'alert: down s3'],
    );
  },
);

const only = (id: number) => ({
  own: false,
  services: [id],
  categories: [],
  publicCategories: [],
  pages: [],
});

t.test('it tells at night what may be told, where what is in front of it may not', async (t) => {
  const quiet = { from: 0, to: 1_439, timeZone: 'UTC', except: [] };
  const world = worldOf([ruleOf({ of: only(1), quiet }), ruleOf({ id: 2, of: only(2) })]);
  fail(world, SECOND, 1);
  fail(world, 5 * SECOND, 2);
  t.strictSame(linesUntil(world, 2 * MINUTE), ['alert: down s2']);
});

t.test('it tells what is behind a service of which no rule tells that it is down', async (t) => {
  const world = worldOf([
    ruleOf({ of: only(1), events: ['heartbeat_missed'] }),
    ruleOf({ id: 2, of: only(2) }),
  ]);
  fail(world, SECOND, 1);
  fail(world, 5 * SECOND, 2);
  t.strictSame(linesUntil(world, 2 * MINUTE), ['alert: down s2']);
});

t.test('it tells what stays down behind a service that flaps', async (t) => {
  const world = worldOf();
  fail(world, SECOND, 1);
  fail(world, 5 * SECOND, 2);
  flap(world, 50, 1);
  const told = linesUntil(world, 51 * MINUTE).filter((line) => line.includes('down s2'));
  t.strictSame(told, ['alert: down s2']);
});
