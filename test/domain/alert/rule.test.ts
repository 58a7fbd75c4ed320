/** Quiet hours by the clock on the wall. */
import t from 'tap';
import { quietUntil } from '../../../src/domain/alert/rule.ts';

/** Minutes after midnight of a time such as `22:30`. */
function minutes(time: string): number {
  const [hour, minute] = time.split(':').map(Number);
  return (hour ?? 0) * 60 + (minute ?? 0);
}

t.test('they end when the clock shows a time outside of them', async (t) => {
  const table: readonly [name: string, zone: string, from: string, to: string, at: string, until: string][] =
    [
      ['before them', 'UTC', '13:00', '15:00', '2026-01-05T12:59:59Z', '2026-01-05T12:59:59Z'],
      ['at their start', 'UTC', '13:00', '15:00', '2026-01-05T13:00:00Z', '2026-01-05T15:00:00Z'],
      ['within a minute of them', 'UTC', '13:00', '15:00', '2026-01-05T13:30:30.5Z', '2026-01-05T15:00:00Z'],
      ['at their end', 'UTC', '13:00', '15:00', '2026-01-05T15:00:00Z', '2026-01-05T15:00:00Z'],
      [
        'past midnight, in the evening',
        'Europe/Berlin',
        '22:00',
        '07:00',
        '2026-01-05T22:00:00Z',
        '2026-01-06T06:00:00Z',
      ],
      [
        'past midnight, in the morning',
        'Europe/Berlin',
        '22:00',
        '07:00',
        '2026-01-05T03:00:00Z',
        '2026-01-05T06:00:00Z',
      ],
      [
        'past midnight, by day',
        'Europe/Berlin',
        '22:00',
        '07:00',
        '2026-01-05T20:59:00Z',
        '2026-01-05T20:59:00Z',
      ],
      ['half an hour off', 'Asia/Kolkata', '22:00', '07:00', '2026-01-05T18:00:00Z', '2026-01-06T01:30:00Z'],
      ['all day', 'UTC', '08:00', '08:00', '2026-01-05T09:00:00Z', '2026-01-06T08:00:00Z'],
      ['all day, at the end', 'UTC', '08:00', '08:00', '2026-01-05T08:00:00Z', '2026-01-06T08:00:00Z'],
      ['all day, before the end', 'UTC', '08:00', '08:00', '2026-01-05T07:59:59Z', '2026-01-05T08:00:00Z'],
      // Berlin's clocks go from 02:00 to 03:00 at 01:00 UTC on 29 March 2026, and from 03:00 to 02:00 at 01:00 UTC on 25 October.
      [
        'over the start of summer time',
        'Europe/Berlin',
        '22:00',
        '07:00',
        '2026-03-28T22:00:00Z',
        '2026-03-29T05:00:00Z',
      ],
      [
        'an end that spring leaves out',
        'Europe/Berlin',
        '22:00',
        '02:30',
        '2026-03-28T22:00:00Z',
        '2026-03-29T01:00:00Z',
      ],
      [
        'a day whose end spring leaves out',
        'Europe/Berlin',
        '02:30',
        '02:30',
        '2026-03-28T12:00:00Z',
        '2026-03-29T01:00:00Z',
      ],
      [
        'hours that spring leaves out',
        'Europe/Berlin',
        '02:10',
        '02:50',
        '2026-03-29T01:00:00Z',
        '2026-03-29T01:00:00Z',
      ],
      [
        'over the end of summer time',
        'Europe/Berlin',
        '22:00',
        '07:00',
        '2026-10-24T21:00:00Z',
        '2026-10-25T06:00:00Z',
      ],
      [
        'an end that comes twice, before the first',
        'Europe/Berlin',
        '22:00',
        '02:30',
        '2026-10-24T21:00:00Z',
        '2026-10-25T00:30:00Z',
      ],
      ['between the two', 'Europe/Berlin', '22:00', '02:30', '2026-10-25T00:45:00Z', '2026-10-25T00:45:00Z'],
      [
        'an hour that comes twice',
        'Europe/Berlin',
        '22:00',
        '02:30',
        '2026-10-25T01:05:00Z',
        '2026-10-25T01:30:00Z',
      ],
      [
        'an end before the hour comes again',
        'Europe/Berlin',
        '02:00',
        '03:00',
        '2026-10-25T00:10:00Z',
        '2026-10-25T02:00:00Z',
      ],
      [
        'half an hour of summer time',
        'Australia/Lord_Howe',
        '22:00',
        '02:15',
        '2026-10-03T12:00:00Z',
        '2026-10-03T15:30:00Z',
      ],
      [
        'south of the equator',
        'America/Santiago',
        '21:00',
        '06:00',
        '2026-04-05T00:30:00Z',
        '2026-04-05T10:00:00Z',
      ],
    ];
  for (const [name, timeZone, from, to, at, until] of table) {
    const quiet = { from: minutes(from), to: minutes(to), timeZone, except: [] };
    t.equal(new Date(quietUntil(quiet, Date.parse(at))).toISOString(), new Date(until).toISOString(), name);
  }
});

t.test('an end is found as by looking at the clock every minute', async (t) => {
  const zones = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Casablanca', 'UTC'];
  const days = ['2026-03-08', '2026-03-29', '2026-10-25', '2026-11-01', '2026-10-04', '2026-07-01'];
  const hours = [
    ['22:00', '07:00'],
    ['01:30', '02:15'],
    ['02:00', '03:00'],
    ['00:00', '23:59'],
  ] as const;
  for (const timeZone of zones) {
    const format = new Intl.DateTimeFormat('en-GB', { timeZone, timeStyle: 'short' });
    for (const day of days) {
      for (const [from, to] of hours) {
        for (const hour of ['00:07', '01:15', '02:31', '23:00']) {
          const at = Date.parse(`${day}T${hour}:00Z`);
          let end = at;
          const isQuiet = (shown: string) =>
            from < to ? shown >= from && shown < to : shown >= from || shown < to;
          while (isQuiet(format.format(end))) end += 60_000;
          const quiet = { from: minutes(from), to: minutes(to), timeZone, except: [] };
          if (quietUntil(quiet, at) !== end) t.fail(`${timeZone} ${day} ${hour} ${from}-${to}`);
        }
      }
    }
  }
});
