/** Updates that only refresh records. */
import { unknownStatus } from '../../../../src/domain/status/current.ts';
import { overBoth } from '../../registry-contract.ts';
import { entry, firstTurn, inRegions, NOON, stay, turn } from '../../registry-fixtures.ts';

overBoth(async (t, open) => {
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
});
