/** Contract of the registry: updates, exactly once. */
import type { Test } from 'tap';
import { type CurrentStatus, unknownStatus } from '../../src/domain/status/current.ts';
import type { StatusUpdate } from '../../src/store/ports/updates.ts';
import type { OpenForTest } from './registry-contract.ts';
import { entry, firstTurn, incident, inRegions, NOON, record, stay, turn } from './registry-fixtures.ts';

function required<T>(value: T | null): T {
  if (value === null) throw new Error('it is missing');
  return value;
}

/** Runs this part of the contract. */
export async function updateContract(t: Test, open: OpenForTest): Promise<void> {
  t.test('it writes record, transition, incident and memory together, and keeps them', async (t) => {
    const dataDir = t.testdir();
    const registry = await open(t, dataDir);
    await registry.putCatalogue([entry('a'), entry('b')]);
    const memory = { needsGet: true, headSeen: false, healthSeen: false, askHealthAt: NOON };
    const opened = incident(1, 'own-1-1');
    const update = { ...firstTurn(1, 'down', NOON, 'a'), incident: opened, memory };
    const transition = { position: 1, ...update.transition };
    t.strictSame(await registry.commitUpdates([update]), [{ kind: 'committed', transition }]);
    await registry.close();

    const again = await open(t, dataDir);
    const [a, b] = await again.loadServices();
    t.strictSame(
      { current: a?.current, memory: a?.memory, openIncident: a?.openIncident },
      { current: update.current, memory, openIncident: opened },
    );
    t.same(b?.current, unknownStatus(2));
    t.strictSame(await again.transitionsAfter(0, 10), [transition]);
    t.equal(await again.lastTransition(), 1);
  });

  t.test('it keeps regions and scope, and forgets them with the last of several regions', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a')]);
    const first = firstTurn(1, 'up', NOON, 'a');
    const partial: StatusUpdate = {
      ...first,
      current: inRegions(first.current),
      transition: { ...required(first.transition), scope: { from: null, to: 'partial', regions: ['us'] } },
    };
    t.strictSame(await registry.commitUpdates([partial]), [
      { kind: 'committed', transition: { position: 1, ...partial.transition } },
    ]);
    t.strictSame((await registry.loadServices())[0]?.current, partial.current);
    const stale = await registry.commitUpdates([first]);
    t.strictSame(stale, [{ kind: 'stale', current: partial.current }]);
    const second = turn(partial.current, 'up', NOON + 9, 'a');
    const alone: StatusUpdate = {
      ...second,
      transition: { ...required(second.transition), scope: { from: 'partial', to: null, regions: [] } },
    };
    await registry.commitUpdates([alone]);
    t.strictSame((await registry.loadServices())[0]?.current, alone.current);
    t.strictSame(await registry.transitionsAfter(0, 9), [
      { position: 1, ...partial.transition },
      { position: 2, ...alone.transition },
    ]);
  });

  t.test('it keeps the memory where an update learnt nothing, and forgets a resolved incident', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a')]);
    const memory = { needsGet: true, headSeen: false, healthSeen: true, askHealthAt: null };
    const down = { ...firstTurn(1, 'down', NOON, 'a'), memory, incident: incident(1, 'own-1-1') };
    const resolved = incident(1, 'own-1-1', { status: 'resolved', resolvedAt: NOON + 9, goodChecks: 2 });
    await registry.commitUpdates([down]);
    await registry.commitUpdates([{ ...turn(down.current, 'up', NOON + 9, 'a'), incident: resolved }]);
    const [state] = await registry.loadServices();
    t.match(state, { memory, openIncident: null });
    t.strictSame(await registry.listIncidents({ limit: 9, offset: 0 }), [resolved], 'replaced by its id');
  });

  t.test('it compares each update on its own and answers in the order of the input', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a'), entry('b')]);
    const up = firstTurn(1, 'up', NOON, 'a');
    const outcomes = await registry.commitUpdates([
      up,
      firstTurn(1, 'down', NOON + 1, 'a'),
      stay(up.current, NOON + 2),
      firstTurn(2, 'up', NOON, 'b'),
    ]);
    t.same(
      outcomes.map(({ kind }) => kind),
      ['committed', 'stale', 'committed', 'committed'],
    );
    t.strictSame(outcomes[1], { kind: 'stale', current: up.current });
    t.strictSame(outcomes[2], { kind: 'committed', transition: null });
    t.same(
      (await registry.transitionsAfter(0, 10)).map(({ position, slug, seq, to }) => [
        position,
        slug,
        seq,
        to,
      ]),
      [
        [1, 'a', 1, 'up'],
        [2, 'b', 1, 'up'],
      ],
    );
    t.equal((await registry.loadServices())[0]?.current.observedAt, NOON + 2);
  });

  t.test('it refreshes the records of many services, and returns those that are newer', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue(['a', 'b', 'c'].map((slug) => entry(slug)));
    const [a, b, c] = [firstTurn(1, 'up', NOON), firstTurn(2, 'up', NOON), firstTurn(3, 'up', NOON)];
    const down = turn(b.current, 'down', NOON + 1);
    await registry.commitUpdates([a, b, c, down]);
    const memory = { needsGet: true, headSeen: false, healthSeen: true, askHealthAt: 7 };
    const regional = { ...inRegions({ ...a.current, observedAt: NOON + 5 }), scope: null };
    const outcomes = await registry.commitUpdates([
      { ...stay(a.current, NOON + 5), current: regional, memory },
      stay(b.current, NOON + 5),
      stay(c.current, NOON + 6),
      stay(unknownStatus(99), NOON),
    ]);
    t.strictSame(outcomes, [
      { kind: 'committed', transition: null },
      { kind: 'stale', current: down.current },
      { kind: 'committed', transition: null },
      { kind: 'stale', current: unknownStatus(99) },
    ]);
    const states = await registry.loadServices();
    t.strictSame(states[0]?.current, regional);
    t.strictSame(states[0]?.memory, memory);
    t.same(
      states.slice(1).map(({ current }) => current.observedAt),
      [NOON + 1, NOON + 6],
    );
    const contradiction = { ...stay(c.current, NOON + 7), expectedSeq: 0 };
    await t.rejects(registry.commitUpdates([contradiction]), /contradicts itself/);
  });

  t.test('it writes nothing of an update that is stale', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a')]);
    await registry.commitUpdates([firstTurn(1, 'up', NOON, 'a')]);
    const late = { ...firstTurn(1, 'down', NOON, 'a'), incident: incident(1, 'own-1-1') };
    const memory = { needsGet: true, headSeen: false, healthSeen: true, askHealthAt: 1 };
    t.match(await registry.commitUpdates([{ ...late, memory }]), [{ kind: 'stale', current: { seq: 1 } }]);
    t.same(await registry.listIncidents({ limit: 9, offset: 0 }), []);
    t.same((await registry.loadServices())[0]?.memory.needsGet, false);
    t.equal(await registry.lastTransition(), 1);
  });

  t.test(
    'it calls updates of removed and unknown services stale, with the seq that was expected',
    async (t) => {
      const registry = await open(t);
      await registry.putCatalogue([entry('a')]);
      const up = firstTurn(1, 'up', NOON, 'a');
      await registry.commitUpdates([up]);
      await registry.putCatalogue([]);
      t.strictSame(
        await registry.commitUpdates([turn(up.current, 'down', NOON + 1), firstTurn(77, 'up', NOON)]),
        [
          { kind: 'stale', current: up.current },
          { kind: 'stale', current: unknownStatus(77) },
        ],
      );
      t.equal(await registry.lastTransition(), 1);
    },
  );

  t.test('it rejects an update that contradicts itself, and only the call that brought it', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a'), entry('b')]);
    const good = firstTurn(2, 'up', NOON, 'b');
    const wrong = [
      { ...firstTurn(1, 'up', NOON), current: record(1, 2, 'up', NOON) },
      { ...firstTurn(1, 'up', NOON), transition: null },
      { ...firstTurn(1, 'up', NOON), current: record(2, 1, 'up', NOON) },
      { ...firstTurn(1, 'up', NOON), current: record(1, 1, 'down', NOON) },
      { ...firstTurn(1, 'up', NOON), incident: incident(2, 'own-2-1') },
    ];
    const answers = await Promise.allSettled([
      ...wrong.map((update) => registry.commitUpdates([firstTurn(1, 'up', NOON), update])),
      registry.commitUpdates([good]),
    ]);
    t.same(
      answers.map(({ status }) => status),
      ['rejected', 'rejected', 'rejected', 'rejected', 'rejected', 'fulfilled'],
    );
    t.match((answers[0] as PromiseRejectedResult).reason, { message: /contradicts itself/ });
    t.match(await registry.loadServices(), [{ current: { seq: 0 } }, { current: { seq: 1 } }]);
    t.match(await registry.transitionsAfter(0, 9), [{ position: 1, slug: 'b' }]);
  });

  t.test('it lets exactly one of several writers make each step', async (t) => {
    const dataDir = t.testdir();
    const writers = [await open(t, dataDir), await open(t, dataDir), await open(t, dataDir)] as const;
    await writers[0].putCatalogue([entry('a')]);
    const STEPS = 30;
    let wins = 0;
    await Promise.all(
      writers.map(async (registry) => {
        let current: CurrentStatus = unknownStatus(1);
        while (current.seq < STEPS) {
          const update = turn(current, current.seq % 2 === 0 ? 'up' : 'down', NOON + current.seq, 'a');
          const [outcome] = await registry.commitUpdates([update]);
          if (outcome?.kind === 'committed') wins++;
          current = outcome?.kind === 'stale' ? outcome.current : update.current;
        }
      }),
    );
    t.equal(wins, STEPS);
    t.same(
      (await writers[1].transitionsAfter(0, 100)).map(({ position, seq }) => [position, seq]),
      Array.from({ length: STEPS }, (_, n) => [n + 1, n + 1]),
    );
  });

  t.test('it reads transitions by position, and those of one service by time', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a'), entry('b')]);
    let [a, b] = [unknownStatus(1), unknownStatus(2)];
    for (let n = 0; n < 4; n++) {
      const to = n % 2 === 0 ? 'up' : 'down';
      const updates = [turn(a, to, NOON + n * 10, 'a'), turn(b, to, NOON + n * 10, 'b')];
      await registry.commitUpdates(updates);
      [a, b] = [updates[0]?.current ?? a, updates[1]?.current ?? b];
    }
    t.same(
      (await registry.transitionsAfter(2, 3)).map(({ position }) => position),
      [3, 4, 5],
    );
    t.same(await registry.transitionsAfter(8, 3), []);
    t.equal(await registry.lastTransition(), 8);
    t.same(
      (await registry.transitionsOf(2, NOON + 10, NOON + 30)).map(({ seq, slug, at }) => [seq, slug, at]),
      [
        [2, 'b', NOON + 10],
        [3, 'b', NOON + 20],
      ],
    );
    t.same(await registry.transitionsOf(3, 0, NOON * 2), []);
  });
}
