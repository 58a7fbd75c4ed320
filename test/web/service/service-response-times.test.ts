/** Response times and the phases of a check, as drawings and in words. */
import t from 'tap';
import { NO_TIMING } from '../../../src/domain/result.ts';
import type { Bucket } from '../../../src/domain/sample.ts';
import type { LatestCheck } from '../../../src/domain/status/current.ts';
import { time, timeToSecond } from '../../../src/language/phrase.ts';
import { LANGUAGES } from '../../../src/web/language/language.ts';
import {
  drawingOf,
  responseTimesOf,
  timeRows,
  waterfallOf,
} from '../../../src/web/service/service-response-times.ts';
import { check, NOW } from '../../site/site-world.ts';

const { en, de } = LANGUAGES;
const HOUR = 3_600_000;

function bucket(hour: number, p50Ms: number | null, more: Partial<Bucket> = {}): Bucket {
  const startAt = NOW - (4 - hour) * HOUR;
  const count = p50Ms === null ? 0 : 12;
  return {
    startAt,
    endAt: startAt + HOUR,
    count,
    upCount: count,
    slowCount: 0,
    downCount: 0,
    suspectCount: 0,
    uptimeRatio: count === 0 ? null : 1,
    meanMs: p50Ms,
    p50Ms,
    p95Ms: p50Ms === null ? null : p50Ms * 2,
    p99Ms: p50Ms === null ? null : p50Ms * 4,
    ...more,
  };
}

const WINDOW = { from: NOW - 4 * HOUR, to: NOW, stepMs: HOUR };
const BUCKETS = [
  bucket(0, 50),
  bucket(1, null, { suspectCount: 12 }),
  bucket(2, 40, { downCount: 3, upCount: 9 }),
  bucket(3, 25),
];

t.test('it hands out columns of one length, with null where nothing is known', async (t) => {
  const start = (NOW - 4 * HOUR) / 1_000;
  t.same(responseTimesOf('24h', { buckets: BUCKETS, since: null }, en), {
    range: '24h',
    at: [start, start + 3_600, start + 7_200, start + 10_800],
    p50: [50, null, 40, 25],
    p95: [100, null, 80, 50],
    p99: [200, null, 160, 100],
    failed: [0, null, 0.25, 0],
    label: 'Response time, 24 hours: at most 200 ms',
    empty: false,
  });
  const { label, empty } = responseTimesOf('1y', { buckets: [bucket(0, null)], since: null }, de);
  t.same({ label, empty }, { label: 'In diesem Zeitraum gibt es keine Antwortzeiten.', empty: true });
});

t.test(
  'it draws lines with gaps where nothing is known, a lone point as a dot, failures at the foot',
  async (t) => {
    t.same(drawingOf(BUCKETS, WINDOW, en), {
      width: 1_000,
      height: 200,
      highest: '200 ms',
      middle: '100 ms',
      lines: [
        { name: 'p50', path: 'M125 150h0M625 160L875 175' },
        { name: 'p95', path: 'M125 100h0M625 120L875 150' },
        { name: 'p99', path: 'M125 0h0M625 40L875 100' },
      ],
      failures: [{ x: 500, width: 250 }],
    });
    t.equal(drawingOf([bucket(0, null)], WINDOW, en), null);
    t.equal(drawingOf([], WINDOW, en), null);
  },
);

t.test('it takes a scale that can be read', async (t) => {
  const table: readonly [p99: number, scale: string][] = [
    [0, '1 ms'],
    [7, '10 ms'],
    [11, '20 ms'],
    [210, '250 ms'],
    [1_000, '1,000 ms'],
    [1_001, '2,000 ms'],
    [65_534, '100,000 ms'],
  ];
  for (const [p99Ms, scale] of table)
    t.equal(drawingOf([bucket(0, 1, { p99Ms })], WINDOW, en)?.highest, scale);
});

t.test('it says the same in rows, without times of which nothing is known', async (t) => {
  t.same(timeRows(BUCKETS, en), [
    {
      time: [time(Date.parse('2026-11-20T09:00:00Z'))],
      p50: '25 ms',
      p95: '50 ms',
      p99: '100 ms',
      failed: null,
    },
    {
      time: [time(Date.parse('2026-11-20T08:00:00Z'))],
      p50: '40 ms',
      p95: '80 ms',
      p99: '160 ms',
      failed: '25%',
    },
    {
      time: [time(Date.parse('2026-11-20T06:00:00Z'))],
      p50: '50 ms',
      p95: '100 ms',
      p99: '200 ms',
      failed: null,
    },
  ]);
  t.same(timeRows([bucket(0, 1, { startAt: NOW + 5_000 })], en)[0]?.time, [timeToSecond(NOW + 5_000)]);
  // A time in which every check failed without an answer is known, and has no response times.
  t.same(timeRows([bucket(0, null, { count: 2, downCount: 2 })], en), [
    { time: [time(Date.parse('2026-11-20T06:00:00Z'))], p50: null, p95: null, p99: null, failed: '100%' },
  ]);
});

const TIMING = { dnsMs: 10, connectMs: 30, tlsMs: 60, firstByteMs: 100, totalMs: 200 };
const checked = (more: Partial<LatestCheck>) => check(NOW, more);

t.test('it shows the phases one after the other, without those that did not happen', async (t) => {
  t.same(waterfallOf(checked({ timing: { ...TIMING, dnsMs: null, tlsMs: null, totalMs: 130 } }), en), {
    width: 1_000,
    rows: [
      { kind: 'connect', name: 'TCP connection', ms: '30 ms', bar: { x: 0, width: 230.8 }, failure: null },
      {
        kind: 'first_byte',
        name: 'Waiting for the response',
        ms: '100 ms',
        bar: { x: 230.8, width: 769.2 },
        failure: null,
      },
    ],
    total: '130 ms',
    label: 'Phases of the last check, 130 ms in total',
  });
});

t.test('it has a row for what redirects took', async (t) => {
  const rows = waterfallOf(checked({ timing: { ...TIMING, totalMs: 400 } }), de)?.rows ?? [];
  t.same(
    rows.map(({ kind, bar }) => [kind, bar]),
    [
      ['dns', { x: 0, width: 25 }],
      ['connect', { x: 25, width: 75 }],
      ['tls', { x: 100, width: 150 }],
      ['first_byte', { x: 250, width: 250 }],
      ['other', { x: 500, width: 500 }],
    ],
  );
});

t.test('it says in which phase a check failed, and has no time for it: null, never 0', async (t) => {
  const failure = { class: 'refused', phase: 'connect', cause: { code: 'connection_refused' } } as const;
  const timing = { ...NO_TIMING, dnsMs: 4 };
  t.same(waterfallOf(checked({ status: 'down', failure, timing }), en)?.rows, [
    { kind: 'dns', name: 'DNS lookup', ms: '4 ms', bar: { x: 0, width: 1_000 }, failure: null },
    {
      kind: 'connect',
      name: 'TCP connection',
      ms: null,
      bar: null,
      failure: 'the connection was refused',
    },
  ]);
  const timeOut = { class: 'timeout', phase: 'dns', cause: { code: 'text', text: '' } } as const;
  t.same(waterfallOf(checked({ status: 'down', failure: timeOut, timing: NO_TIMING }), en), {
    width: 1_000,
    rows: [{ kind: 'dns', name: 'DNS lookup', ms: null, bar: null, failure: 'it does not answer' }],
    total: null,
    label: 'Last check, phase by phase',
  });
  const silent = {
    class: 'timeout',
    phase: 'first_byte',
    cause: { code: 'timeout', phase: 'first_byte', timeoutMs: 10_000 },
  } as const;
  const untilThen = { ...TIMING, firstByteMs: null, totalMs: null };
  t.match(waterfallOf(checked({ status: 'down', failure: silent, timing: untilThen }), en), {
    rows: [{ ms: '10 ms' }, { ms: '30 ms' }, { ms: '60 ms' }, { ms: null, failure: 'no answer within 10 s' }],
    total: null,
    label: 'Last check, phase by phase',
  });
});

t.test('it has nothing to show where there was no request', async (t) => {
  t.equal(waterfallOf(null, en), null);
  t.equal(waterfallOf(checked({ source: 'heartbeat' }), en), null);
  t.equal(waterfallOf(checked({ source: 'silence', status: 'down' }), en), null);
  t.equal(waterfallOf(checked({ timing: NO_TIMING }), en), null);
});
