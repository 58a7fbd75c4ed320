/** Ticks of axes, and the spans of windows. */
import fc from 'fast-check';
import t from 'tap';
import { describeWindow, PICTURE_WINDOWS, spanOf, stepsOf } from '../../src/domain/picture.ts';
import { latencyTicks, timeTicks } from '../../src/render/chart-plot.ts';

const NOW = Date.UTC(2026, 10, 21, 9, 7);

t.test('it ends each window with the step that is running, at whole steps of UTC', (t) => {
  const shown = PICTURE_WINDOWS.map((window) => {
    const span = spanOf(window, NOW);
    return [
      describeWindow(window),
      new Date(span.from).toISOString().slice(0, 16),
      new Date(span.to).toISOString().slice(0, 16),
      stepsOf(span),
    ];
  });
  t.same(shown, [
    ['last 24 hours', '2026-11-20T09:15', '2026-11-21T09:15', 96],
    ['last 7 days', '2026-11-14T10:00', '2026-11-21T10:00', 168],
    ['last 30 days', '2026-10-22T12:00', '2026-11-21T12:00', 120],
    ['last 90 days', '2026-08-24T00:00', '2026-11-22T00:00', 90],
    ['last year', '2025-11-22T00:00', '2026-11-22T00:00', 365],
  ]);
  const onStep = spanOf('24h', Date.UTC(2026, 10, 21, 9, 15));
  t.equal(new Date(onStep.to).toISOString(), '2026-11-21T09:30:00.000Z');
  t.end();
});

t.test('it puts response times at round numbers in one unit', (t) => {
  const table: readonly [number, readonly string[]][] = [
    [0, ['0 ms', '1 ms']],
    [3, ['0 ms', '1 ms', '2 ms', '3 ms']],
    [180, ['0 ms', '50 ms', '100 ms', '150 ms', '200 ms']],
    [400, ['0 ms', '100 ms', '200 ms', '300 ms', '400 ms']],
    [1_900, ['0 s', '0.5 s', '1 s', '1.5 s', '2 s']],
    [9_000, ['0 s', '2.5 s', '5 s', '7.5 s', '10 s']],
    [65_534, ['0 s', '20 s', '40 s', '60 s', '80 s']],
  ];
  for (const [highest, labels] of table)
    t.same(
      latencyTicks(highest, 4).map(({ label }) => label),
      labels,
      `${highest} ms`,
    );
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 70_000 }), (highest) => {
      const ticks = latencyTicks(highest, 4);
      const last = ticks.at(-1)?.value ?? 0;
      return ticks[0]?.value === 0 && last >= highest && ticks.length <= 5;
    }),
  );
  t.end();
});

t.test('it puts times at hours, days and months', (t) => {
  const labels = PICTURE_WINDOWS.map((window) => timeTicks(spanOf(window, NOW), 9).map(({ label }) => label));
  t.same(labels, [
    ['12:00', '15:00', '18:00', '21:00', 'Nov 21', '03:00', '06:00', '09:00'],
    ['Nov 15', 'Nov 16', 'Nov 17', 'Nov 18', 'Nov 19', 'Nov 20', 'Nov 21'],
    ['Oct 24', 'Oct 29', 'Nov 3', 'Nov 8', 'Nov 13', 'Nov 18'],
    ['Aug 27', 'Sep 10', 'Sep 24', 'Oct 8', 'Oct 22', 'Nov 5', 'Nov 19'],
    ['2026', 'Mar', 'May', 'Jul', 'Sep', 'Nov'],
  ]);
  t.end();
});
