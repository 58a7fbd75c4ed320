/** The histogram of requests, compared with that of the library. */
import { Histogram, Registry } from 'prom-client';
import t from 'tap';
import { addRequestDurations } from '../../src/metrics/request-durations.ts';

const OPTIONS = { name: 'seconds', help: 'Durations.', buckets: [0.001, 0.25, 1] };

t.test('it writes what the histogram of the library writes', async (t) => {
  const [ours, theirs] = [new Registry(), new Registry()];
  const note = addRequestDurations(ours, OPTIONS);
  const histogram = new Histogram({ ...OPTIONS, labelNames: ['route'], registers: [theirs] });
  t.equal(await ours.metrics(), await theirs.metrics(), 'before the first request');
  for (const [route, seconds] of [
    ['/b', 0.001],
    ['/a/:slug', 0.0011],
    ['/b', 0],
    ['/b', 0.3],
    ['/a/:slug', 1],
    ['/b', 60],
  ] as const) {
    note(route, seconds);
    histogram.observe({ route }, seconds);
  }
  t.equal(await ours.metrics(), await theirs.metrics());
  t.match(await ours.metrics(), 'seconds_bucket{le="0.25",route="/b"} 2');
});

t.test('it is empty after the registry was reset', async (t) => {
  const registry = new Registry();
  const note = addRequestDurations(registry, OPTIONS);
  note('/a', 1);
  registry.resetMetrics();
  t.notMatch(await registry.metrics(), 'route=');
});
