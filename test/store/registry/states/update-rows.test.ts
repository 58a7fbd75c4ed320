/** Status updates, each of which is one comparison with what is there. */

import { DAY_MS } from '../../../../src/domain/durations.ts';
import type { FeedIncident } from '../../../../src/domain/incident/feed-entry.ts';
import { type CurrentStatus, unknownStatus } from '../../../../src/domain/status/current.ts';
import type { Registry } from '../../../../src/store/ports/registry.ts';
import type { StatusUpdate } from '../../../../src/store/ports/updates.ts';
import { overBoth } from '../../registry-contract.ts';
import {
  entry,
  firstTurn,
  incident,
  inRegions,
  NOON,
  owned,
  record,
  stay,
  turn,
} from '../../registry-fixtures.ts';

function required<T>(value: T | null): T {
  if (value === null) throw new Error('it is missing');
  return value;
}

const LATER = NOON + 100 * DAY_MS;

async function forgetAll(registry: Registry, before: number) {
  let [incidents, transitions, calls] = [0, 0, 0];
  for (let position: number | null = 0; position !== null; calls++) {
    const forgotten = await registry.forgetOld(before, position);
    incidents += forgotten.incidents;
    transitions += forgotten.transitions;
    position = forgotten.position;
  }
  return { incidents, transitions, calls };
}

async function idsOf(registry: Registry): Promise<string[]> {
  return (await registry.listIncidents({ limit: 50, offset: 0 })).map(({ id }) => id);
}

overBoth(async (t, open) => {
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
        [3, 'b', NOON + 20],
        [2, 'b', NOON + 10],
      ],
    );
    t.same(await registry.transitionsOf(3, 0, NOON * 2), []);
  });

  t.test('it knows the newest observation of all services', async (t) => {
    const registry = await open(t);
    t.equal(await registry.newestObservation(), null);
    await registry.putCatalogue([entry('a'), entry('b')]);
    t.equal(await registry.newestObservation(), null, 'of services that were never checked');
    await registry.commitUpdates([
      turn(unknownStatus(1), 'up', NOON + 7),
      turn(unknownStatus(2), 'up', NOON + 5),
    ]);
    t.equal(await registry.newestObservation(), NOON + 7);
  });

  t.test('it deletes old transitions, but never the latest one of a service', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a'), entry('b')]);
    let before = unknownStatus(1);
    for (const [index, to] of (['up', 'down', 'up', 'slow'] as const).entries()) {
      const update = turn(before, to, NOON + index * DAY_MS);
      await registry.commitUpdates([update]);
      before = update.current;
    }
    await registry.commitUpdates([turn(unknownStatus(2), 'up', NOON)]);
    const newest = await registry.lastTransition();

    t.strictSame(await forgetAll(registry, NOON + 1), { incidents: 0, transitions: 0, calls: 1 });
    t.match(await forgetAll(registry, NOON + 2 * DAY_MS), { incidents: 0, transitions: 2 });
    const kept = async () =>
      (await registry.transitionsAfter(0, 100)).map(({ serviceId, to, seq }) => [serviceId, to, seq]);
    t.strictSame(await kept(), [
      [1, 'up', 3],
      [1, 'slow', 4],
      [2, 'up', 1],
    ]);
    t.match(await forgetAll(registry, LATER), { transitions: 1 });
    t.strictSame(await kept(), [
      [1, 'slow', 4],
      [2, 'up', 1],
    ]);
    t.equal(await registry.lastTransition(), newest, 'readers of the feed keep their place');
    const more = turn(before, 'up', LATER);
    t.match(await registry.commitUpdates([more]), [{ kind: 'committed', transition: { seq: 5 } }]);
  });

  t.test('it deletes some at a time, until none is left', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a')]);
    let before = unknownStatus(1);
    for (let part = 0; part < 3; part++) {
      const updates = Array.from({ length: 500 }, (_, index) => {
        const at = NOON + part * 500 + index;
        const update = turn(before, index % 2 === 0 ? 'down' : 'up', at);
        before = update.current;
        const own = incident(1, `own-${at}`, { status: 'resolved', startedAt: at, resolvedAt: at });
        return { ...update, incident: own };
      });
      await registry.commitUpdates(updates);
    }
    const { incidents, transitions, calls } = await forgetAll(registry, LATER);
    t.strictSame([incidents, transitions], [1_500, 1_499]);
    t.ok(calls >= 2, 'no call deletes everything');
    t.strictSame(await idsOf(registry), []);
  });

  t.test('it deletes incidents that were resolved long ago, also of removed services', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a'), entry('b')]);
    const start = unknownStatus(1);
    const old = { startedAt: NOON - 9, status: 'resolved' } as const;
    await registry.commitUpdates([
      { ...stay(start, NOON), incident: incident(1, 'old', { ...old, resolvedAt: NOON - 1 }) },
      { ...stay(start, NOON), incident: incident(1, 'long', { ...old, resolvedAt: NOON }) },
      { ...stay(start, NOON), incident: incident(1, 'open', { startedAt: NOON - 9 * DAY_MS }) },
      {
        ...stay(unknownStatus(2), NOON),
        incident: incident(2, 'of-removed', { ...old, resolvedAt: NOON - 1 }),
      },
    ]);
    await registry.putCatalogue([entry('a')]);
    t.match(await forgetAll(registry, NOON), { incidents: 2 });
    t.strictSame(await idsOf(registry), ['long', 'open'], 'its end counts, not its start');
    t.equal(await registry.findIncident('old'), null);
    t.match(await forgetAll(registry, LATER), { incidents: 1 });
    t.strictSame(await idsOf(registry), ['open'], 'what is not resolved stays for ever');
  });

  t.test('what a vendor goes on listing does not come back', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a')]);
    const listed: FeedIncident = {
      kind: 'incident',
      key: 'k1',
      title: 'API errors',
      sourceUrl: 'https://status.example/incidents/k1',
      components: null,
      severity: 'major',
      status: 'resolved',
      startedAt: NOON,
      resolvedAt: NOON + 60_000,
      updates: [],
    };
    const read = (readAt: number, change: Partial<FeedIncident> = {}) =>
      registry.putVendorReadings([
        {
          ...{ serviceId: 1, slug: 'a', feed: 'statuspage https://status.example', kind: 'statuspage' },
          ...{ document: 'incidents', listsOnlyOpen: false, readAt, entries: [{ ...listed, ...change }] },
        },
      ]);
    await read(NOON + 120_000);
    t.equal((await idsOf(registry)).length, 1);
    t.match(await forgetAll(registry, LATER), { incidents: 1 });
    t.strictSame(await read(LATER), [], 'nothing has changed');
    t.strictSame(await idsOf(registry), []);
    await read(LATER + 1, { status: 'investigating', resolvedAt: null });
    t.equal((await idsOf(registry)).length, 1, 'unless the vendor opens it again');
  });

  t.test('an incident that an owner wrote ends with its rows in the lists of services', async (t) => {
    const registry = await open(t);
    const { id: accountId } = await registry.ensureAccount('Ann', NOON);
    const service = await registry.addService(owned('ann.example', accountId));
    const said = {
      ...{ accountId, title: 'Late', severity: 'major' as const, services: [service.id], pages: [] },
      ...{ updates: [], siteUrl: 'https://upbeat.example', now: NOON },
    } as const;
    const over = { status: 'resolved', startedAt: NOON, resolvedAt: NOON + 1 } as const;
    const old = await registry.addOwnerIncident({ ...said, ...over });
    const running = { status: 'investigating', startedAt: NOON, resolvedAt: null } as const;
    const open_ = await registry.addOwnerIncident({ ...said, ...running });
    t.equal((await registry.listIncidents({ limit: 9, offset: 0 })).length, 2);
    await forgetAll(registry, LATER);
    t.equal(await registry.findOwnerIncident(accountId, old.id), null);
    t.strictSame(
      (await registry.ownerIncidentsOf(accountId)).map(({ id }) => id),
      [open_.id],
    );
    t.equal((await registry.listIncidents({ limit: 9, offset: 0 })).length, 1);
  });
});
