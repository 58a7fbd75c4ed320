/** Random worlds: the program makes of them what the reference implementation of the rules makes of them, event by event. */
import t from 'tap';
import { propertyRuns } from '../support/property-runs.ts';
import { compareSeed, compareWorld, openShelf } from './compare.ts';
import { LONG_WORLD, MAJORITY_WORLD, SHORT_WORLD, type World } from './world.ts';

/** A busy machine takes ten times as long. */
const TIMEOUT_MS = 300_000;

t.test(
  'transitions, incidents, daily figures and alerts of random worlds are those of the rules',
  { timeout: TIMEOUT_MS },
  async (t) => {
    const shelf = openShelf();
    t.teardown(() => shelf.close());
    const total = { transitions: 0, messages: 0 };
    for (let seed = 1; seed <= propertyRuns(100); seed++) {
      const { transitions, messages } = await compareSeed(seed, SHORT_WORLD, shelf);
      total.transitions += transitions;
      total.messages += messages;
    }
    t.ok(total.transitions > 500, 'much happens in them');
    t.ok(total.messages > 200, 'and much is told');
  },
);

t.test(
  'so they are where the majority of the services tells whether the prober is offline',
  { timeout: TIMEOUT_MS },
  async (t) => {
    const shelf = openShelf();
    t.teardown(() => shelf.close());
    let transitions = 0;
    for (let seed = 1; seed <= propertyRuns(20); seed++) {
      transitions += (await compareSeed(seed, MAJORITY_WORLD, shelf)).transitions;
    }
    t.ok(transitions > 200, 'much happens in them');
  },
);

t.test('what is held of a service outlives a change that leaves its check as it is', async (t) => {
  const shelf = openShelf();
  t.teardown(() => shelf.close());
  const good = { kind: 'checked', slowOverMs: null, spells: [] } as const;
  const span = [0, 240] as const;
  const failing: World['services'][number] = {
    ...good,
    spells: [
      { span, mood: 'refuses', places: [0] },
      { span, mood: 'no-socket', places: [1, 2] },
    ],
  };
  const skipped = { at: 61, what: 'skip', by: 1 } as const;
  const world: World = {
    ...{ seconds: 120, interval: 60, places: 3, quorum: 'majority', targets: 0, hasty: false },
    services: [failing, good, good, good, good, good, good, good, good, good],
    ...{ offline: [], lost: [], faults: [], maintenances: [], schedules: [], edits: [] },
    said: {
      works: [{ service: 0, at: 0, startsIn: -60, lasts: 60, daily: true, changes: [skipped] }],
      stories: [],
      reads: [],
    },
    alerts: { rules: [], switches: [], takes: [] },
  };
  t.match(await compareWorld(world, shelf), { transitions: 9, days: 10 });
});

t.test('so they are in a world of a day', { timeout: TIMEOUT_MS }, async (t) => {
  const shelf = openShelf();
  t.teardown(() => shelf.close());
  const { days } = await compareSeed(1, LONG_WORLD, shelf);
  t.ok(days >= 4, 'of at least two services');
});
