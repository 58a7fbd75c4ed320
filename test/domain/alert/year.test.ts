/** Days of the demonstration's fleet through the decisions of alerts. `npm run soak -- alerts-year` lets years pass. */
import t from 'tap';
import { propertyRuns } from '../../support/property-runs.ts';
import { runAlertYear } from './year/alert-year.ts';

t.test('it misses no alert, tells none twice, and none for an outage of the prober', async (t) => {
  for (let seed = 1; seed <= propertyRuns(3); seed += 1) {
    // One engine is killed, one is away for hours, one is neither.
    const options = {
      days: 8,
      seed,
      rules: 8,
      killed: seed % 3 === 0 ? 0.05 : 0,
      away: seed % 3 === 1 ? 0.05 : 0,
      acknowledged: 0.1,
    };
    const { faults, ...report } = runAlertYear(options);
    t.same(faults, [], `seed ${seed}: ${JSON.stringify(report)}`);
    t.ok(
      report.sayings > 50 && report.unseen > 50,
      'there is something to tell, and something to keep quiet about',
    );
  }
});
