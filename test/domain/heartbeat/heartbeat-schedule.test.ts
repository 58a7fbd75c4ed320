/** Schedules of heartbeats: which run is awaited when, also where the clocks change. */
import t from 'tap';
import { awaitedRun, longestGap, readSchedule } from '../../../src/domain/heartbeat/heartbeat-schedule.ts';

const at = (time: string) => Date.parse(`${time}Z`);
const iso = (time: number) => new Date(time).toISOString().slice(0, 16);

t.test('it reads five fields and nicknames in any time zone, and refuses the rest', async (t) => {
  const read = (cron: string, timezone = 'UTC') => {
    const reading = readSchedule(cron, timezone);
    return reading.ok ? reading.schedule : reading.problem;
  };
  t.same(read(' 0\t3 *  * MON '), { cron: '0 3 * * MON', timezone: 'UTC' });
  t.same(read('@hourly', 'america/new_york'), { cron: '@hourly', timezone: 'America/New_York' });
  for (const cron of [
    '',
    '* * * *',
    '* * * * * *',
    '60 * * * *',
    '? * * * *',
    'a b c d e',
    `${'1,'.repeat(60)}1 * * * *`,
  ])
    t.equal(read(cron), 'cron', cron.slice(0, 20));
  t.equal(read('0 0 30 2 *'), 'never');
  for (const zone of ['', 'Mars', 'Europe/Berlin; x']) t.equal(read('@daily', zone), 'timezone', zone);
});

t.test('it awaits the next run in the time zone, once a day where the clocks change', async (t) => {
  const berlin = { cron: '30 2 * * *', timezone: 'Europe/Berlin' };
  const cases: readonly (readonly [from: string, run: string])[] = [
    ['2026-01-10T00:00', '2026-01-10T01:30'],
    ['2026-03-28T12:00', '2026-03-29T01:00'],
    ['2026-03-29T12:00', '2026-03-30T00:30'],
    ['2026-10-24T12:00', '2026-10-25T00:30'],
    ['2026-10-25T00:31', '2026-10-26T01:30'],
  ];
  for (const [from, run] of cases) t.equal(iso(awaitedRun(berlin, at(from))), run, from);
  const twice = { ...berlin, cron: '15,45 2 * * *' };
  t.equal(iso(awaitedRun(twice, at('2026-03-28T12:00'))), '2026-03-30T00:15', 'none of several in the gap');
  const hourly = { ...berlin, cron: '30 * * * *' };
  t.equal(iso(awaitedRun(hourly, at('2026-10-25T00:31'))), '2026-10-25T01:30', 'every hour, in both');
});

t.test('a heartbeat shortly before a run counts for that run', async (t) => {
  const daily = { cron: '0 3 * * *', timezone: 'UTC' };
  t.equal(iso(awaitedRun(daily, at('2026-01-10T02:58:59'))), '2026-01-10T03:00');
  t.equal(iso(awaitedRun(daily, at('2026-01-10T02:59'))), '2026-01-11T03:00');
  const everyMinute = { cron: '* * * * *', timezone: 'UTC' };
  t.equal(iso(awaitedRun(everyMinute, at('2026-01-10T02:58:44'))), '2026-01-10T02:59');
  t.equal(iso(awaitedRun(everyMinute, at('2026-01-10T02:58:45'))), '2026-01-10T03:00');
});

t.test('the longest gap includes weekends', async (t) => {
  const days = (cron: string) => longestGap({ cron, timezone: 'UTC' }) / 86_400_000;
  t.equal(days('@daily'), 1);
  t.equal(days('0 9 * * 1-5'), 3);
  t.equal(days('0 0 1 * *'), 31);
});
