import fc from 'fast-check';
import t from 'tap';
import { phaseShiftOf, stepPhaseShift } from '../../src/cluster/phase-shift.ts';
import { propertyRuns } from '../support/property-runs.ts';

const INTERVAL = 300_000;

t.test('it spreads the regions evenly over the interval, by name', async (t) => {
  const regions = ['us', 'asia', 'eu'];
  t.same(
    ['asia', 'eu', 'us', 'mars'].map((region) => phaseShiftOf(region, regions, INTERVAL)),
    [0, 100_000, 200_000, 0],
  );
  t.equal(phaseShiftOf('local', ['local'], INTERVAL), 0);
  t.equal(phaseShiftOf('local', [], INTERVAL), 0);
});

t.test('it moves backwards by at most an eighth of the interval, and arrives', async () => {
  const shift = fc.nat(INTERVAL - 1);
  fc.assert(
    fc.property(shift, shift, (from, to) => {
      let at = from;
      for (let intervals = 0; at !== to; intervals++) {
        if (intervals > 8) throw new Error('it does not arrive');
        const next = stepPhaseShift(at, to, INTERVAL);
        const backMs = (at - next + INTERVAL) % INTERVAL;
        if (backMs === 0 || backMs > INTERVAL / 8) throw new Error(`a step of ${backMs} ms`);
        at = next;
      }
      if (stepPhaseShift(at, to, INTERVAL) !== to) throw new Error('it does not stay');
    }),
    { numRuns: propertyRuns(200) },
  );
});
