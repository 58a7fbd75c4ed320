/** When a badge's figure is old, and when it only was not read again yet. */
import t from 'tap';
import { describeUptime } from '../../src/images/badge-text.ts';

const NOW = Date.UTC(2026, 0, 1);
const BUCKET = {
  startAt: NOW - 86_400_000,
  endAt: NOW,
  count: 10,
  upCount: 9,
  slowCount: 0,
  downCount: 1,
  suspectCount: 0,
  uptimeRatio: 0.9,
  meanMs: 100,
  p50Ms: 100,
  p95Ms: 100,
  p99Ms: 100,
};

t.test(
  'it shows an age when the last check is older than two intervals, or the figures were not read',
  async (t) => {
    const table: [lastCheckAgo: number, readAgo: number, staleAfterMs: number, age: string | null][] = [
      [30_000, 10_000, 600_000, null],
      [601_000, 10_000, 600_000, '10 min ago'],
      [1_000, 59_000, 10_000, null],
      [11_000, 1_000, 10_000, '11 s ago'],
      [1_000, 119_000, 10_000, null],
      [1_000, 121_000, 10_000, '2 min ago'],
      [1_000, 599_000, 600_000, null],
      [1_000, 601_000, 600_000, '10 min ago'],
    ];
    for (const [lastCheckAgo, readAgo, staleAfterMs, ageText] of table)
      t.match(
        describeUptime({ bucket: BUCKET, readAt: NOW - readAgo }, '24h', {
          lastCheckAt: NOW - lastCheckAgo,
          staleAfterMs,
          now: NOW,
        }),
        { word: '90% up', ageText, asOf: NOW - Math.max(lastCheckAgo, readAgo) },
        `${lastCheckAgo} ${readAgo} ${staleAfterMs}`,
      );
  },
);
