/** What a received heartbeat means (decisions, Heartbeats). */
import t from 'tap';
import { readTime } from '../../../src/domain/durations.ts';
import type { HeartbeatReport } from '../../../src/domain/heartbeat/heartbeat-body.ts';
import {
  checkedAtOf,
  cutLog,
  hashAddressSecret,
  judgeHeartbeat,
  latestOfBeat,
  latestOfSilence,
  MAX_LOG_LENGTH,
  readAddressSignal,
  readLog,
  readPingText,
  refuseTimestamp,
  responseTimeOf,
  sampleOfLatest,
  silenceOf,
} from '../../../src/domain/heartbeat/heartbeat-rules.ts';
import { NO_TIMING } from '../../../src/domain/result.ts';
import { DEFAULT_CHECK } from '../../../src/domain/service.ts';

const NOW = Date.UTC(2026, 10, 20, 10);

const REPORT = {
  kind: 'beat',
  domain: 'a.example',
  word: 'up',
  reported: 'ok',
  dependencies: null,
  run: null,
} as const;

t.test('it refuses a timestamp over 5 minutes ahead or over 10 minutes behind', async (t) => {
  t.equal(refuseTimestamp(NOW + 300_000, NOW), null);
  t.equal(refuseTimestamp(NOW + 300_001, NOW), 'is more than 5 minutes ahead of our clock');
  t.equal(refuseTimestamp(NOW - 600_000, NOW), null);
  t.equal(refuseTimestamp(NOW - 600_001, NOW), 'is more than 10 minutes behind our clock');
});

t.test('the check time is the earlier of timestamp and arrival', async (t) => {
  t.equal(checkedAtOf({ ...REPORT, timestamp: null }, NOW), NOW);
  t.equal(checkedAtOf({ ...REPORT, timestamp: NOW - 5 }, NOW), NOW - 5);
  t.equal(checkedAtOf({ ...REPORT, timestamp: NOW + 5 }, NOW), NOW);
});

t.test('the response time is the largest latency', async (t) => {
  const dependency = (latencyMs: number | null) => ({ name: 'x', status: 'down', latencyMs }) as const;
  const of = (dependencies: HeartbeatReport['dependencies'], pingMs?: number) =>
    responseTimeOf({ dependencies, ...(pingMs === undefined ? {} : { pingMs }) });
  t.equal(of([dependency(3), dependency(40), dependency(null)]), 40);
  t.equal(of([dependency(0)]), 0);
  t.same([of(null, 12), of([dependency(3)], 12), of([dependency(40)], 12)], [12, 12, 40]);
  for (const none of [null, [], [dependency(null)]]) t.equal(of(none), null);
});

t.test('it lets the word of the owner stand, and only `ok` be slowed by latency', async (t) => {
  const cases = [
    ['up', null, 'up'],
    ['up', 3_000, 'up'],
    ['up', 3_001, 'slow'],
    ['slow', 1, 'slow'],
    ['down', 1, 'down'],
    ['down', 9_000, 'down'],
  ] as const;
  for (const [word, ms, verdict] of cases) t.equal(judgeHeartbeat(word, ms, 3_000), verdict, `${word} ${ms}`);
});

t.test('without a latency it shows 0, and leaves the sample out of percentiles', async (t) => {
  const latest = latestOfBeat({ verdict: 'up', reported: 'OK', responseTimeMs: null, checkedAt: NOW });
  t.strictSame(latest, {
    source: 'heartbeat',
    reported: 'OK',
    failure: null,
    blocked: false,
    timing: NO_TIMING,
    certificateExpiresAt: null,
    status: 'up',
    responseTimeMs: 0,
    statusCode: 200,
    checkedAt: NOW,
  });
  const sample = { serviceId: 7, at: NOW, status: 'up', statusCode: 200, suspect: false } as const;
  t.strictSame(sampleOfLatest(7, latest, null), { ...sample, latencyMs: null });
  t.strictSame(sampleOfLatest(7, latest, 600_000), { ...sample, latencyMs: 65_534 });
});

t.test('a missed heartbeat has no response, and the time of the deadline', async (t) => {
  t.match(latestOfSilence(NOW), {
    status: 'down',
    responseTimeMs: null,
    statusCode: 0,
    checkedAt: NOW,
    source: 'silence',
  });
});

t.test('the silence is period plus grace, or the setting', async (t) => {
  const silence = (check: object) => silenceOf({ ...DEFAULT_CHECK, ...check }, 600_000, Date.UTC(2026, 0, 1));
  t.equal(silence({}), 600_000);
  t.equal(silence({ graceMs: 5 }), 600_005);
  t.equal(silence({ periodMs: 60_000, graceMs: 5 }), 60_005);
  t.equal(silence({ periodMs: 60_000 }), 60_000);
  const schedule = { cron: '30 3 * * *', timezone: 'UTC' };
  t.equal(silence({ schedule, graceMs: 5 }), 3.5 * 3_600_000 + 5, 'the time until the next run');
});

t.test('it parses times of RFC 3339, and nothing else', async (t) => {
  const good: readonly [string, number][] = [
    ['2026-11-20T10:00:00.000Z', NOW],
    ['2026-11-20t10:00:00z', NOW],
    ['2026-11-20T10:00:00.1234567Z', NOW + 123],
    ['2026-11-20T10:00:00.5+00:00', NOW + 500],
    ['2026-11-20T12:30:00+02:30', NOW],
    ['2026-11-20T08:00:00-02:00', NOW],
    ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
    ['0001-01-01T00:00:00Z', -62_135_596_800_000],
  ];
  for (const [text, at] of good) t.equal(readTime(text), at, text);
  const bad = [
    '',
    '2026-11-20',
    '2026-11-20T10:00:00',
    '2026-11-20T10:00Z',
    '2026-11-20 10:00:00Z',
    '2026-02-30T10:00:00Z',
    '2025-02-29T10:00:00Z',
    '2026-13-01T10:00:00Z',
    '2026-00-01T10:00:00Z',
    '2026-11-20T24:00:00Z',
    '2026-11-20T10:60:00Z',
    '2026-11-20T10:00:60Z',
    '2026-11-20T10:00:00+24:00',
    '+02026-11-20T10:00:00Z',
    '1763632800000',
    'Fri, 20 Nov 2026 10:00:00 GMT',
    ' 2026-11-20T10:00:00Z',
    '2026-11-20T10:00:00Z\n',
  ];
  for (const text of bad) t.equal(readTime(text), null, JSON.stringify(text));
});

t.test('it reads the part after the secret, and refuses any other', async (t) => {
  t.same(readAddressSignal(''), { kind: 'beat' });
  t.same(readAddressSignal('0'), { kind: 'beat' });
  for (const kind of ['start', 'log'] as const) t.same(readAddressSignal(kind), { kind });
  t.same(readAddressSignal('fail'), { kind: 'fail', exitCode: null });
  t.same(readAddressSignal('7'), { kind: 'fail', exitCode: 7 });
  t.same(readAddressSignal('-1'), { kind: 'fail', exitCode: -1 });
  for (const part of ['01', '+1', '1.5', 'Start', 'ok', '99999999999', ' 1', '1/2'])
    t.equal(readAddressSignal(part), null, part);
});

t.test('a log is text without what no text has, and says where a part is missing', async (t) => {
  const utf8 = (text: string) => readLog(Buffer.from(text), true);
  t.equal(utf8(' \n '), null);
  t.equal(utf8(' a\0b\n'), 'a\uFFFDb');
  t.equal(readLog(Buffer.from([0x61, 0xff]), true), 'a\uFFFD');
  t.equal(readLog(Buffer.from('\uFEFFKüche', 'utf16le'), true), 'Küche', 'as PowerShell writes it');
  t.equal(cutLog('x'.repeat(MAX_LOG_LENGTH)), 'x'.repeat(MAX_LOG_LENGTH));
  for (const cut of [cutLog('x'.repeat(MAX_LOG_LENGTH + 1)), cutLog('x', false)]) {
    t.match(cut, /x\n\[cut\]$/);
    t.ok((cut?.length ?? 0) <= MAX_LOG_LENGTH);
  }
  t.ok(cutLog('😀'.repeat(MAX_LOG_LENGTH))?.isWellFormed(), 'no half of a character');
});

t.test('it reads a ping in milliseconds, and stores no secret', async (t) => {
  t.same(['12.6', '0', '-1', 'fast', '', '1e99'].map(readPingText).slice(0, 5), [13, 0, null, null, null]);
  t.ok(Number.isFinite(readPingText('1e99')), 'bounded');
  t.match(hashAddressSecret('secret'), /^[0-9a-f]{64}$/);
});
