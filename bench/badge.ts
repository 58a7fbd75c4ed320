/** Drawing of a new badge: `node bench/badge.ts`. The fonts are loaded, as in a running render thread. */
import { drawBadge } from '../src/render/badge.ts';
import { atMost, type BenchRow, floor, median, printRows } from './row.ts';

const BADGES = 400;

/** Measures time and size. */
export async function run(): Promise<readonly BenchRow[]> {
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
  return printRows([
    floor('badge: the first one, which loads the fonts', loadMs, 'ms'),
    atMost('badge: cold', median(times), 'ms', 2.5),
    atMost('badge: largest', largest, 'bytes', 4_096),
  ]);
}

if (import.meta.main) await run();
