/** A badge that was not drawn before: `node bench/badge.ts`. The fonts are loaded, as in a render thread at work. */
import { drawBadge } from '../src/render/badge.ts';
import { type BenchRow, floor, median, printRows } from './row.ts';

const BADGES = 400;

/** Measures drawing and size. */
export async function run(): Promise<BenchRow[]> {
  const loadedMs = performance.now();
  drawBadge({ name: 'Upbeat', status: 'up', theme: 'light', ageText: null });
  const loadMs = performance.now() - loadedMs;
  const times: number[] = [];
  let largest = 0;
  for (let index = 0; index < BADGES; index++) {
    const before = performance.now();
    const bytes = drawBadge({
      name: `Service ${index.toString(36)} of ${(index * 7_919).toString(36)}`,
      status: (['up', 'slow', 'down', 'unknown'] as const)[index % 4] ?? 'up',
      theme: index % 2 === 0 ? 'light' : 'dark',
      ageText: null,
    });
    times.push(performance.now() - before);
    largest = Math.max(largest, bytes.length);
  }
  const middle = median(times);
  const rows: BenchRow[] = [
    floor('badge: the first one, which loads the fonts', loadMs, 'ms'),
    { name: 'badge: cold', value: middle, unit: 'ms', ratio: null, target: '<= 2.5', reached: middle <= 2.5 },
    {
      name: 'badge: largest',
      value: largest,
      unit: 'bytes',
      ratio: null,
      target: '<= 4096',
      reached: largest <= 4_096,
    },
  ];
  printRows(rows);
  return rows;
}

if (import.meta.main) await run();
