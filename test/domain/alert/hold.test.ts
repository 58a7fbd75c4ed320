/** What is held: during maintenance, and behind another service that is told of. */
import t from 'tap';
import type { AlertRule } from '../../../src/domain/alert/rule.ts';
import { AlertWorld, HOUR, MINUTE, NOON, ruleOf, SECOND, serviceOf } from './alert-world.ts';
import { tryRows } from './decision-rows.ts';

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

t.test('it says once that a cause flaps, whose own rule waits longer', async (t) => {
  const world = worldOf([ruleOf({ of: only(1), afterMs: 10 * MINUTE }), ruleOf({ id: 2, of: only(2) })]);
  fail(world, SECOND, 1);
  fail(world, 5 * SECOND, 2);
  world.pass(6 * SECOND);
  flap(world, 6, 1);
  t.strictSame(linesUntil(world, 6 * MINUTE), [
    'alert: down s1',
    'recovery: up s1',
    'alert: down s1',
    'recovery: up s1',
    'alert: down s1 flaps',
  ]);
});

/** Service 1 goes down and up so many seconds later, and so does what is behind it, with rules of their own. */
function outageOf(
  seconds: number,
  afterMs: { readonly cause: number; readonly behind: number },
  quiet: AlertRule['quiet'] = null,
): string[] {
  const world = worldOf([
    ruleOf({ of: only(1), afterMs: afterMs.cause, quiet }),
    ruleOf({ id: 2, of: only(2), afterMs: afterMs.behind, quiet }),
  ]);
  fail(world, SECOND, 1);
  fail(world, 5 * SECOND, 2);
  for (const id of [1, 2]) {
    const at = (seconds + id) * SECOND;
    world.pass(at - 1);
    const service = world.services.get(id) ?? serviceOf(id);
    world.services.set(id, { ...service, status: 'up', since: NOON + at, checkedAt: NOON + at });
    world.up(at, id);
  }
  world.pass(HOUR);
  return world.lines().map(([at, , type, words]) => `${Math.round(at / SECOND)} ${type}: ${words}`);
}

t.test(
  'it tells of a cause when what is behind it would be told, however long its own rule waits',
  async (t) => {
    const late = { cause: 10 * MINUTE, behind: 2 * MINUTE };
    t.strictSame(outageOf(300, late), ['125 alert: down s1', '301 recovery: up s1']);
    t.strictSame(outageOf(90, late), [], 'both were down for less than either rule waits');
    const early = { cause: MINUTE, behind: 5 * MINUTE };
    t.strictSame(outageOf(240, early), ['61 alert: down s1', '241 recovery: up s1']);
    t.strictSame(outageOf(240, { cause: 5 * MINUTE, behind: 0 }), [
      '5 alert: down s1',
      '241 recovery: up s1',
    ]);
    const soon = { from: 12 * 60 + 8, to: 20 * 60, timeZone: 'UTC', except: [] };
    t.strictSame(
      outageOf(300, late, soon),
      ['125 alert: down s1', '301 recovery: up s1'],
      'quiet hours begin before its own rule has waited',
    );
    t.strictSame(outageOf(300, late, { ...soon, from: 11 * 60 }), [], 'what is over in quiet hours');
  },
);

t.test(
  'it does not tell of a cause within the quiet hours of its rule, but of what is behind it',
  async (t) => {
    const quiet = { from: 11 * 60, to: 12 * 60 + 10, timeZone: 'UTC', except: [] };
    const world = worldOf([
      ruleOf({ of: only(1), afterMs: 20 * MINUTE, quiet }),
      ruleOf({ id: 2, of: only(2), afterMs: 2 * MINUTE }),
    ]);
    fail(world, SECOND, 1);
    fail(world, 5 * SECOND, 2);
    t.strictSame(linesUntil(world, 9 * MINUTE), ['alert: down s2']);
    t.strictSame(
      linesUntil(world, 19 * MINUTE),
      [],
      'nor sooner than its own rule says, as nobody waits for it',
    );
    t.strictSame(linesUntil(world, 21 * MINUTE), ['alert: down s1']);
  },
);

t.test('it tells what is behind a cause that quiet hours hold, also where its rule has others', async (t) => {
  const quiet = (from: number, to: number) => ({ from: from * 60, to: to * 60, timeZone: 'UTC', except: [] });
  const worldAt = (cause: number, ofCause: AlertRule['quiet'], ofMember: AlertRule['quiet']) =>
    worldOf([
      ruleOf({ of: only(1), afterMs: cause * MINUTE, quiet: ofCause }),
      ruleOf({ id: 2, of: only(2), afterMs: 2 * MINUTE, quiet: ofMember }),
    ]);
  for (const cause of [0, 60]) {
    const world = worldAt(cause, quiet(11, 13), quiet(1, 2));
    fail(world, SECOND, 1);
    fail(world, 5 * SECOND, 2);
    t.strictSame(linesUntil(world, 5 * MINUTE), ['alert: down s2'], `the cause waits ${cause} minutes`);
  }
  const later = worldAt(0, quiet(11, 13), quiet(11, 14));
  fail(later, SECOND, 1);
  fail(later, 5 * SECOND, 2);
  t.strictSame(linesUntil(later, 3 * HOUR), ['alert: down s1']);
});

t.test('it tells of what is behind a service that is removed, or whose maintenance ends', async (t) => {
  const removed = worldOf();
  fail(removed, SECOND, 1);
  fail(removed, 5 * SECOND, 2);
  t.strictSame(linesUntil(removed, MINUTE), ['alert: down s1']);
  removed.services.delete(1);
  const child = removed.services.get(2) ?? serviceOf(2);
  removed.services.set(2, { ...child, ancestors: [] });
  t.strictSame(linesUntil(removed, 11 * MINUTE), ['recovery: down s1 removed', 'alert: down s2']);
  const kept = worldOf();
  const work = (phase: 'running' | 'ended') => ({
    type: 'maintenance' as const,
    id: 'm',
    source: 'owner' as const,
    phase,
    title: 'Work',
    text: '',
    startsAt: NOON,
    endsAt: null,
    url: '',
  });
  kept.change(0, 1, work('running'));
  fail(kept, SECOND, 1);
  fail(kept, 5 * SECOND, 2);
  t.strictSame(linesUntil(kept, 20 * MINUTE), []);
  kept.change(25 * MINUTE, 1, work('ended'));
  t.strictSame(linesUntil(kept, 40 * MINUTE), ['alert: down s1']);
});

t.test("an owner's maintenance holds alerts", async (t) => {
  const phase = (phase: 'running' | 'ended', source: 'owner' | 'vendor' = 'owner', id = 'm') =>
    ({
      type: 'maintenance',
      id,
      source,
      phase,
      title: 'Work',
      text: '',
      startsAt: 0,
      endsAt: null,
      url: '',
    }) as const;
  tryRows(t, [
    [
      'what is still down at its end is told then',
      [ruleOf()],
      (world) => {
        world.change(0, 1, phase('running'));
        world.change(0, 2, phase('running'));
        world.down(MINUTE, 1);
        world.down(MINUTE, 2);
        world.up(10 * MINUTE, 2);
        world.change(HOUR, 1, phase('ended'));
        world.change(HOUR, 2, phase('ended'));
        world.pass(2 * HOUR);
      },
      [[HOUR, 1, 'alert', 'down s1']],
    ],
    [
      'an end within it is told at its end',
      [ruleOf({ repeatMs: 10 * MINUTE })],
      (world) => {
        world.down(0, 1);
        world.change(MINUTE, 1, phase('running'));
        world.up(40 * MINUTE, 1);
        world.change(HOUR, 1, phase('ended'));
        world.pass(2 * HOUR);
      },
      [
        [0, 1, 'alert', 'down s1'],
        [HOUR, 1, 'recovery', 'up s1'],
      ],
    ],
    [
      'what still is so at its end waits for quiet hours, unless `except` names it',
      (['up', 'down'] as const).map((word, index) =>
        ruleOf({
          id: index + 1,
          channels: [index + 1],
          quiet: { from: 12 * 60, to: 15 * 60, timeZone: 'UTC', except: [word] },
        }),
      ),
      (world) => {
        world.change(0, 1, phase('running'));
        world.down(MINUTE, 1);
        world.change(HOUR, 1, phase('ended'));
        world.pass(6 * HOUR);
      },
      [
        [HOUR, 2, 'alert', 'down s1'],
        [3 * HOUR, 1, 'alert', 'down s1'],
      ],
    ],
    [
      'until the last of two ends',
      [ruleOf()],
      (world) => {
        world.change(0, 1, phase('running'));
        world.change(0, 1, phase('running', 'owner', 'n'));
        world.down(MINUTE, 1);
        world.change(10 * MINUTE, 1, phase('ended'));
        world.change(20 * MINUTE, 1, phase('ended', 'owner', 'n'));
        world.pass(2 * HOUR);
      },
      [[20 * MINUTE, 1, 'alert', 'down s1']],
    ],
    [
      'what began within it, but was noted before its beginning was',
      [ruleOf()],
      (world) => {
        world.down(0, 1);
        world.down(1_000, 2);
        for (const service of [1, 2])
          world.change(1_100, service, { ...phase('running'), startsAt: NOON + 500 });
        world.change(HOUR, 1, phase('ended'));
        world.change(HOUR, 2, phase('ended'));
        world.pass(2 * HOUR);
      },
      [
        [0, 1, 'alert', 'down s1'],
        [HOUR, 1, 'alert', 'down s2'],
      ],
    ],
    [
      'one that began before the rule was made',
      [ruleOf()],
      (world) => {
        world.services.set(1, serviceOf(1, { isInMaintenance: true }));
        world.down(0, 1);
        world.pass(MINUTE);
        world.services.set(1, serviceOf(1));
        world.change(10 * MINUTE, 1, phase('ended'));
        world.pass(2 * HOUR);
      },
      [[10 * MINUTE, 1, 'alert', 'down s1']],
    ],
    [
      "a vendor's holds nothing; both are told to rules that ask",
      [ruleOf({ events: ['down', 'maintenance'] })],
      (world) => {
        world.change(0, 1, phase('running', 'vendor'));
        world.change(0, 2, phase('running'));
        world.down(MINUTE, 1);
        world.change(HOUR, 1, phase('ended', 'vendor'));
        world.pass(2 * HOUR);
      },
      [
        [0, 1, 'alert', 'maintenance s1, maintenance s2'],
        [MINUTE, 1, 'alert', 'down s1'],
        [HOUR, 1, 'update', 'maintenance s1'],
      ],
    ],
  ]);
});
