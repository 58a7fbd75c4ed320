/** When maintenance recurs: rules that are accepted, both changes of summer time, and rules that would run for ever. */
import t from 'tap';
import { occurrencesOf } from '../../../src/domain/incident/owner-maintenance.ts';
import {
  momentOf,
  occurrencesFrom,
  occurs,
  readRule,
  wallOf,
} from '../../../src/domain/incident/recurrence.ts';

const BERLIN = 'Europe/Berlin';
const iso = (times: readonly number[]) => times.map((at) => new Date(at).toISOString().slice(0, 16));
const wall = (text: string, timeZone = BERLIN) => momentOf(Date.parse(`${text}Z`), timeZone);

t.test('it reads rules of iCalendar, at most daily, in one form', async (t) => {
  for (const [text, rule] of [
    ['rrule:freq=weekly;byday=tu', 'FREQ=WEEKLY;BYDAY=TU'],
    [' FREQ=MONTHLY;BYSETPOS=-1;BYDAY=SU,MO ', 'FREQ=MONTHLY;BYDAY=SU,MO;BYSETPOS=-1'],
    ['FREQ=DAILY;UNTIL=20261231T120000Z;INTERVAL=2', 'FREQ=DAILY;INTERVAL=2;UNTIL=20261231T120000Z'],
    ['FREQ=HOURLY', null],
    ['FREQ=DAILY;BYHOUR=1,2', null],
    ['FREQ=DAILY;BYDAY=1MO', null],
    ['FREQ=WEEKLY;BYMONTHDAY=3', null],
    ['FREQ=DAILY;COUNT=2;UNTIL=20261231', null],
    ['FREQ=DAILY;COUNT=1000', null],
    ['FREQ=DAILY;FREQ=WEEKLY', null],
    ['FREQ=DAILY\r\nX:1', null],
    ['BYDAY=MO', null],
    ['', null],
    [`FREQ=DAILY;BYDAY=${'MO,'.repeat(50_000)}MO`, null],
  ] as const)
    t.equal(readRule(text), rule, text.slice(0, 40));
});

t.test('it recurs on the wall clock over both changes of summer time', async (t) => {
  const nightly = { rule: 'FREQ=DAILY', startsAt: wall('2026-03-01T02:30'), timeZone: BERLIN };
  t.same(iso(await occurrencesFrom(nightly, wall('2026-03-28T00:00'), 3)), [
    '2026-03-28T01:30',
    // 02:30 does not exist: it is 03:30 then.
    '2026-03-29T01:30',
    '2026-03-30T00:30',
  ]);
  t.same(iso(await occurrencesFrom(nightly, wall('2026-10-24T00:00'), 3)), [
    '2026-10-24T00:30',
    // 02:30 happens twice: it is the first.
    '2026-10-25T00:30',
    '2026-10-26T01:30',
  ]);
  const until = { ...nightly, rule: 'FREQ=DAILY;UNTIL=20260330T003000Z' };
  t.equal((await occurrencesFrom(until, wall('2026-03-29T00:00'), 9)).length, 2, 'the end is a moment');
  const day = { ...nightly, rule: 'FREQ=WEEKLY;UNTIL=20260315' };
  t.equal((await occurrencesFrom(day, nightly.startsAt, 9)).length, 3, 'or a day, which counts');
  for (const zone of ['UTC', 'Asia/Kathmandu', 'America/St_Johns', 'Pacific/Apia', 'Australia/Lord_Howe'])
    for (const text of ['2026-01-15T02:30', '2026-07-15T23:59'])
      t.equal(wallOf(wall(text, zone), zone), Date.parse(`${text}Z`), `${zone} ${text}`);
});

t.test('a rule that never occurs, or hardly ever, costs milliseconds', async (t) => {
  const rules = {
    'FREQ=MONTHLY;BYMONTHDAY=31;BYMONTH=2': false,
    'FREQ=MONTHLY;BYMONTHDAY=1;BYSETPOS=5': false,
    'FREQ=YEARLY;BYMONTHDAY=30;BYMONTH=2': false,
    'FREQ=YEARLY;INTERVAL=999;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYSETPOS=5': true,
    'FREQ=DAILY;INTERVAL=999;BYMONTH=2': true,
    'FREQ=YEARLY;BYMONTHDAY=29;BYMONTH=2': true,
  };
  for (const [rule, expected] of Object.entries(rules)) {
    const used = process.cpuUsage();
    t.equal(await occurs({ rule, startsAt: wall('2026-03-01T02:30'), timeZone: BERLIN }), expected, rule);
    t.ok(process.cpuUsage(used).user < 3_000_000, 'within seconds on the slowest machine');
  }
});

t.test('others follow one that was extended by weeks', async (t) => {
  const [hour, day] = [3_600_000, 86_400_000];
  const startsAt = Date.UTC(2026, 10, 1, 22);
  const daily = {
    ...{ id: 1, accountId: 1, startsAt, durationMs: hour, timeZone: BERLIN, recurrence: 'FREQ=DAILY' },
    ...{ services: [], pages: [], changes: [{ startsAt, endsAt: startsAt + 30 * day }] },
    ...{ cancelledAt: null, revision: 1, createdAt: startsAt, updatedAt: startsAt },
  };
  for (const days of [31, 100]) {
    const next = startsAt + days * day;
    t.same(
      await occurrencesOf(daily, next - 1, 1),
      [{ startsAt: next, endsAt: next + hour }],
      `${days} days`,
    );
  }
});
