/** Services with their states, as nodes read them. */

import { SHARDS } from '../../../../src/domain/node.ts';
import { NO_MEMORY } from '../../../../src/domain/result.ts';
import { overBoth } from '../../registry-contract.ts';
import { entry, firstTurn, NOON } from '../../registry-fixtures.ts';

overBoth(async (t, open) => {
  t.test('it loads what checks need to know, of the services of some shards', async (t) => {
    const registry = await open(t);
    const count = SHARDS + 6;
    await registry.putCatalogue([
      ...Array.from({ length: count - 3 }, (_, index) => entry(`s${index + 1}`)),
      entry('paused', { paused: true }),
      entry('silent', { check: { ...entry('a').check, kind: 'heartbeat' } }),
      entry('last'),
      entry('elsewhere', { check: { ...entry('a').check, regions: ['ap', 'us'] } }),
    ]);
    const shards = [1, 3, 4, 5, 6];
    const turn = firstTurn(1, 'up', NOON);
    await registry.commitUpdates([{ ...turn, memory: { ...NO_MEMORY, needsGet: true } }]);
    const targets = await registry.loadTargets(shards, 'eu');
    t.same(
      targets.map(({ serviceId }) => serviceId),
      [1, 3, 4, 5, 6, SHARDS + 1, SHARDS + 3, SHARDS + 6],
    );
    t.strictSame(targets[0], {
      serviceId: 1,
      revision: 1,
      domain: entry('s1').domain,
      origin: 'catalogue',
      accountId: null,
      check: entry('s1').check,
      memory: { ...NO_MEMORY, needsGet: true },
      lastCheckedAt: turn.current.latest?.checkedAt ?? 0,
    });
    t.equal(targets[1]?.lastCheckedAt, null);
    t.same(await registry.loadTargets([], 'eu'), []);
    const ids = [SHARDS + 3, 1, SHARDS + 4, SHARDS + 5, SHARDS + 7, 9_999];
    t.same(await registry.targetsOf(ids, 'eu'), [
      targets[0],
      targets.find(({ serviceId }) => serviceId === SHARDS + 3),
    ]);
    t.same(await registry.targetsOf([], 'eu'), []);
    const idsOf7From = async (region: string) =>
      (await registry.loadTargets([7], region)).map(({ serviceId }) => serviceId);
    t.same(await Promise.all(['eu', 'us'].map(idsOf7From)), [[7], [7, SHARDS + 7]], 'each region its own');
  });

  t.test('a new interval keeps what checks have learned, and another address does not', async (t) => {
    const registry = await open(t);
    const { check } = entry('a');
    await registry.putCatalogue([entry('a')]);
    const memory = { ...NO_MEMORY, needsGet: true };
    await registry.commitUpdates([{ ...firstTurn(1, 'up', NOON), memory }]);
    const memoryWith = async (change: Partial<typeof check>) => {
      await registry.putCatalogue([entry('a', { check: { ...check, ...change } })]);
      return (await registry.loadServices())[0]?.memory;
    };
    t.same(await memoryWith({ intervalMs: 30_000, timeoutMs: 1_000, regions: ['eu'] }), memory);
    t.same(await memoryWith({ url: 'https://a.com/other' }), NO_MEMORY);
  });

  t.test('it returns when a region has last checked a service', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('s1')]);
    const turn = firstTurn(1, 'up', NOON);
    const { latest } = turn.current;
    if (latest === null) throw new Error('no check');
    const regions = [
      {
        region: 'eu',
        check: { ...latest, checkedAt: NOON - 5_000 },
        since: NOON,
        observedAt: NOON,
        votes: true,
      },
      { region: 'us', check: latest, since: NOON, observedAt: NOON, votes: true },
    ];
    await registry.commitUpdates([
      { ...turn, current: { ...turn.current, regions, scope: null }, memory: null },
    ]);
    const lastIn = async (region: string) => (await registry.loadTargets([1], region))[0]?.lastCheckedAt;
    t.same(await Promise.all(['eu', 'us', 'asia'].map(lastIn)), [NOON - 5_000, latest.checkedAt, null]);
  });
});
