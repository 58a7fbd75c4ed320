import fc from 'fast-check';
import t from 'tap';
import { packTargets, unpackTargets } from '../../src/engine/target-packing.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { anyTarget } from './any-target.ts';
import { targetOf } from './attempt.ts';

t.test('targets arrive as they were sent, in their order', async (t) => {
  fc.assert(
    fc.property(fc.array(anyTarget(fc.nat(2 ** 40)), { maxLength: 20 }), (targets) => {
      t.strictSame([...unpackTargets(structuredClone(packTargets(targets)))], targets);
    }),
    { numRuns: propertyRuns(100) },
  );
});

t.test('services that share a check still share it in the thread', async (t) => {
  const [first, other, third] = [targetOf(1), targetOf(2), targetOf(3)];
  const own = { ...other, check: { ...other.check } };
  const shared = [first, own, { ...third, check: first.check }];
  const [a, b, c] = [...unpackTargets(structuredClone(packTargets(shared)))];
  t.equal(a?.check, c?.check);
  t.not(a?.check, b?.check, 'equal, but not shared before either');
});
