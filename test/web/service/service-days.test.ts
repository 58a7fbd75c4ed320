/** Days of a service: what is said of them, how they are drawn, and the windows they come from. */
import fc from 'fast-check';
import t from 'tap';
import { type Bucket, dayKindOf, uptimeOf } from '../../../src/domain/sample.ts';
import { closeUp, daysUntil, lastDay, RANGE_NAMES, windowOf } from '../../../src/view/time-ranges.ts';
import { LANGUAGES } from '../../../src/web/language/language.ts';
import {
  barsOf,
  calendarOf,
  dayRows,
  describeDay,
  downMsOf,
  firstKnownDay,
  monthRows,
} from '../../../src/web/service/service-days.ts';

const { en, de } = LANGUAGES;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const INTERVAL = 5 * MINUTE;
/** A Friday. */
const TODAY = Date.UTC(2026, 10, 20);

function day(more: Partial<Bucket> = {}): Bucket {
  const startAt = more.startAt ?? TODAY;
  return {
    startAt,
    endAt: startAt + DAY,
    count: 288,
    upCount: 288,
    slowCount: 0,
    downCount: 0,
    suspectCount: 0,
    uptimeRatio: 1,
    meanMs: 100,
    p50Ms: 100,
    p95Ms: 150,
    p99Ms: 200,
    ...more,
  };
}

const EMPTY = {
  count: 0,
  upCount: 0,
  uptimeRatio: null,
  meanMs: null,
  p50Ms: null,
  p95Ms: null,
  p99Ms: null,
};

t.test('it shows what kind of day it was, in both languages', async (t) => {
  const table: readonly [Partial<Bucket>, string, string, string][] = [
    [{}, 'up', '2026-11-20: 100% up', '2026-11-20: 100 % erreichbar'],
    [{ slowCount: 14 }, 'up', '2026-11-20: 100% up', '2026-11-20: 100 % erreichbar'],
    [
      { slowCount: 15 },
      'slow',
      '2026-11-20: 100% up, 5.2% of the responses slow',
      '2026-11-20: 100 % erreichbar, 5,2 % der Antworten langsam',
    ],
    [
      { downCount: 2 },
      'down',
      '2026-11-20: 99.3% up, down for 10 min',
      '2026-11-20: 99,3 % erreichbar, 10 Min. gestört',
    ],
    [
      { count: 12, downCount: 12 },
      'down',
      '2026-11-20: 0% up, down for 1 hr',
      '2026-11-20: 0 % erreichbar, 1 Std. gestört',
    ],
    [EMPTY, 'none', '2026-11-20: no checks', '2026-11-20: keine Prüfungen'],
    [
      { ...EMPTY, suspectCount: 3 },
      'suspect',
      '2026-11-20: our own connection was down',
      '2026-11-20: unsere eigene Verbindung war unterbrochen',
    ],
  ];
  for (const [more, kind, english, german] of table) {
    t.equal(dayKindOf(day(more)), kind);
    t.equal(describeDay(day(more), INTERVAL, en).replaceAll(/\u00a0/g, ' '), english);
    t.equal(describeDay(day(more), INTERVAL, de).replaceAll(/\u00a0/g, ' '), german);
  }
});

t.test('it never finds more time down than was watched, and never none where a check failed', async (t) => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 2_000 }),
      fc.integer({ min: 0, max: 2_000 }),
      fc.integer({ min: 1_000, max: DAY }),
      (some, more, intervalMs) => {
        const count = some + more;
        const downMs = downMsOf(day({ count, downCount: some }), intervalMs);
        return downMs >= 0 && downMs <= Math.min(DAY, count * intervalMs) && downMs > 0 === some > 0;
      },
    ),
  );
  t.pass();
});

t.test('it rounds no outage away', async (t) => {
  t.equal(uptimeOf([]), null);
  t.equal(uptimeOf([day(EMPTY)]), null);
  t.equal(uptimeOf([day({ downCount: 288 }), day()]), 0.5);
  t.equal(en.formats.percent(uptimeOf([day({ count: 1_000_000, downCount: 1 })]) ?? 0), '99.99%');
});

t.test('it says in rows what the drawings say, newest first, from the first check on', async (t) => {
  const days = [
    day({ ...EMPTY, startAt: TODAY - 21 * DAY }),
    day({ startAt: TODAY - 20 * DAY, slowCount: 100 }),
    day({ ...EMPTY, startAt: TODAY - DAY, suspectCount: 9 }),
    day({ startAt: TODAY, count: 120, upCount: 119, downCount: 1 }),
  ];
  t.same(dayRows(days, INTERVAL, en), [
    { date: '2026-11-20', uptime: '99.16%', down: '5 min', checks: '120', label: 'down at times' },
    { date: '2026-11-19', uptime: null, down: null, checks: '0', label: 'our own connection was down' },
    { date: '2026-10-31', uptime: '100%', down: null, checks: '288', label: 'slow at times' },
  ]);
  t.same(monthRows(days, INTERVAL, en), [
    { date: '2026-11', uptime: '99.16%', down: '5 min', checks: '120', label: 'down at times' },
    { date: '2026-10', uptime: '100%', down: null, checks: '288', label: 'slow at times' },
  ]);
  t.same(dayRows([day(EMPTY)], INTERVAL, en), []);
  const behind = new Map([[TODAY - DAY, 'not reachable, because of Router']]);
  t.match(dayRows(days, INTERVAL, en, behind)[1], { label: 'not reachable, because of Router' });
  t.match(monthRows(days, INTERVAL, en, behind)[0], { label: 'down at times' });
  t.match(monthRows(days.slice(2, 3), INTERVAL, en, behind), [{ label: 'not reachable, because of Router' }]);
  t.match(barsOf(days, INTERVAL, en, behind).bars[2], {
    label: '2026-11-19: not reachable, because of Router',
  });
});

t.test(
  'it draws bars of which an outage takes its share, and at least so much that it is seen',
  async (t) => {
    const days = [
      day({ startAt: TODAY - 4 * DAY, ...EMPTY }),
      day({ startAt: TODAY - 3 * DAY, ...EMPTY, suspectCount: 1 }),
      day({ startAt: TODAY - 2 * DAY, downCount: 1 }),
      day({ startAt: TODAY - DAY, downCount: 287 }),
      day({ startAt: TODAY }),
    ];
    const { bars, ...box } = barsOf(days, INTERVAL, en);
    t.same(box, { width: 52, height: 40, barWidth: 8 });
    t.same(
      bars.map(({ x, parts }) => ({ x, parts })),
      [
        { x: 0, parts: [{ kind: 'none', y: 35, height: 5 }] },
        { x: 11, parts: [{ kind: 'suspect', y: 20, height: 20 }] },
        {
          x: 22,
          parts: [
            { kind: 'down', y: 0, height: 10 },
            { kind: 'up', y: 11, height: 29 },
          ],
        },
        { x: 33, parts: [{ kind: 'down', y: 0, height: 40 }] },
        { x: 44, parts: [{ kind: 'up', y: 0, height: 40 }] },
      ],
    );
    t.equal(bars[2]?.label, '2026-11-18: 99.65% up, down for 5 min');
  },
);

t.test('it draws a calendar of weeks from Monday down, with the months above', async (t) => {
  const first = Date.UTC(2026, 9, 28);
  const days = Array.from({ length: 24 }, (_, index) => day({ startAt: first + index * DAY }));
  const { cells, ...box } = calendarOf(days, INTERVAL, en);
  // 28 October 2026 is a Wednesday, 1 November a Sunday: the first week that begins in November is the second one.
  t.same(box, { width: 49, height: 88, columns: 4, offset: 2, months: [{ x: 13, name: 'Nov' }] });
  t.same(
    [cells[0], cells[4], cells[5], cells[23]].map((cell) => [cell?.x, cell?.y]),
    [
      [0, 26],
      [0, 78],
      [13, 0],
      [39, 52],
    ],
  );
});

t.test('it gives every day a place of its own within the box', async (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 30_000 }), fc.integer({ min: 1, max: 400 }), (start, length) => {
      const days = Array.from({ length }, (_, index) => day({ startAt: (start + index) * DAY }));
      const { cells, width, height } = calendarOf(days, INTERVAL, en);
      const places = new Set(cells.map(({ x, y }) => `${x} ${y}`));
      return places.size === length && cells.every(({ x, y }) => x + 10 <= width && y + 10 <= height);
    }),
    { numRuns: 30 },
  );
  t.pass();
});

t.test('it knows the windows of all ranges', async (t) => {
  const now = Date.UTC(2026, 10, 20, 10, 7, 30);
  const at = (text: string) => Date.parse(`${text}Z`);
  t.same(Object.fromEntries(RANGE_NAMES.map((name) => [name, windowOf(name, now)])), {
    '24h': { from: at('2026-11-19T10:15:00'), to: now, stepMs: 15 * MINUTE },
    '7d': { from: at('2026-11-13T11:00:00'), to: now, stepMs: HOUR },
    '30d': { from: at('2026-10-21T12:00:00'), to: now, stepMs: 6 * HOUR },
    '90d': { from: at('2026-08-22T12:00:00'), to: now, stepMs: 12 * HOUR },
    '1y': { from: at('2025-11-20T00:00:00'), to: now, stepMs: 2 * DAY },
  });
  t.same(daysUntil(now, 365), { from: at('2025-11-21T00:00:00'), to: now, stepMs: DAY });
  t.same(lastDay(now), { from: now - DAY, to: now, stepMs: DAY });
});

t.test('it asks for windows that a store takes, at any time', async (t) => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1_700_000_000_000, max: 2_500_000_000_000 }),
      fc.constantFrom(...RANGE_NAMES),
      (now, name) => {
        const { from, to, stepMs } = windowOf(name, now);
        const buckets = Math.ceil((to - from) / stepMs);
        return from < to && to - now <= 1 && buckets > 90 && buckets <= 200 && from % stepMs === 0;
      },
    ),
  );
  t.pass();
});

t.test(
  'the axis of response times begins with the first known one, in finer steps for a new service',
  async (t) => {
    const now = Date.UTC(2026, 10, 20, 10, 7, 30);
    const whole = windowOf('24h', now);
    const known = (from: number) =>
      Array.from({ length: 96 }, (_, index) =>
        day({ startAt: whole.from + index * whole.stepMs, ...(index < from ? EMPTY : {}) }),
      );
    const startOf = (index: number) => whole.from + index * whole.stepMs;
    const table: readonly [first: number, intervalMs: number, window: object | null][] = [
      [0, 5 * MINUTE, null],
      [1, 5 * MINUTE, { from: startOf(1), to: now, stepMs: 15 * MINUTE }],
      [30, 5 * MINUTE, { from: startOf(30), to: now, stepMs: 15 * MINUTE }],
      [63, 5 * MINUTE, { from: startOf(63), to: now, stepMs: 5 * MINUTE }],
      [64, 5 * MINUTE, { from: startOf(64), to: now, stepMs: 5 * MINUTE }],
      [95, 5 * MINUTE, { from: startOf(95), to: now, stepMs: 5 * MINUTE }],
      [95, 1_000, { from: startOf(95), to: now, stepMs: 5_000 }],
      [95, HOUR, { from: startOf(95), to: now, stepMs: 15 * MINUTE }],
      [96, MINUTE, null],
    ];
    for (const [first, intervalMs, window] of table)
      t.same(closeUp(whole, known(first), intervalMs), window, `from bucket ${first} on`);
    t.equal(closeUp(whole, [], MINUTE), null);
  },
);

t.test('it finds the first known day, unless that is where the window begins', async () => {
  const [empty, suspect, full] = [day(EMPTY), day({ ...EMPTY, suspectCount: 3 }), day()];
  t.equal(firstKnownDay([empty, empty, full, empty, full]), full);
  t.equal(firstKnownDay([empty, suspect, full]), suspect, 'who looked in vain has looked');
  t.equal(firstKnownDay([full, empty, full]), null);
  t.equal(firstKnownDay([empty, empty]), null);
  t.equal(firstKnownDay([]), null);
});
