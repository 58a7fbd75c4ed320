import fc from 'fast-check';
import t from 'tap';
import type { CheckTarget } from '../../../src/domain/check-target.ts';
import { TargetTable } from '../../../src/engine/fleet/target-table.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { anyMemory, anyTarget, anyTime } from '../any-target.ts';

const serviceId = fc.oneof(fc.nat(5), fc.integer({ min: 508, max: 516 }), fc.nat(2 ** 40));
const target = anyTarget(serviceId);
const step = fc.oneof(
  fc.tuple(fc.constant('set' as const), target),
  fc.tuple(fc.constant('delete' as const), serviceId),
  fc.tuple(fc.constant('check' as const), serviceId, anyTime),
  fc.tuple(fc.constant('learn' as const), serviceId, anyMemory),
);

t.test('it behaves as a map of targets', async (t) => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const table = new TargetTable();
      const model = new Map<number, CheckTarget>();
      for (const [kind, first, second] of steps) {
        if (kind === 'set') {
          table.set(first);
          model.set(first.serviceId, first);
          continue;
        }
        const known = model.get(first);
        if (kind === 'delete') t.equal(table.delete(first), model.delete(first));
        else if (kind === 'check') {
          t.equal(table.setLastChecked(first, second), known !== undefined);
          if (known !== undefined) model.set(first, { ...known, lastCheckedAt: second });
        } else {
          t.equal(table.setMemory(first, second), known !== undefined);
          if (known !== undefined) model.set(first, { ...known, memory: second });
        }
        t.strictSame(table.get(first), model.get(first));
        t.equal(table.revisionOf(first), model.get(first)?.revision);
      }
      const sorted = [...model].sort(([a], [b]) => a - b);
      t.equal(table.size, model.size);
      t.strictSame(
        [...table.keys()].map((id) => [id, table.get(id)]),
        sorted,
      );
      t.strictSame(
        [...table.checks()],
        sorted.map(([, { check }]) => check),
      );
    }),
    { numRuns: propertyRuns(50) },
  );
});

t.test('it refuses numbers that are no ids', async (t) => {
  const [one] = fc.sample(target, 1);
  for (const wrong of [-1, 0.5, Number.NaN, 2 ** 53])
    t.throws(() => one && new TargetTable().set({ ...one, serviceId: wrong }), RangeError, `${wrong}`);
});
