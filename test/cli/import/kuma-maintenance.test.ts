/** Maintenance of Uptime Kuma as that of an account. */
import t from 'tap';
import { readKumaMaintenance } from '../../../src/cli/import/kuma-maintenance.ts';
import type { KumaRow } from '../kuma-databases.ts';

const NOW = Date.parse('2026-11-28T12:00:00Z');

t.test('maintenance keeps its times', async (t) => {
  const at = { timezone: 'Europe/Berlin', start_time: '02:00', end_time: '03:00' };
  const rows: readonly (readonly [row: KumaRow, expected: object | string | RegExp])[] = [
    [
      {
        strategy: 'single',
        timezone: 'UTC',
        start_date: '2026-12-01 22:00:00',
        end_date: '2026-12-02T00:30',
      },
      { starts_at: '2026-12-01T22:00', duration: '150m', time_zone: 'UTC', recurrence: undefined },
    ],
    [
      { strategy: 'single', start_date: '2026-01-01 22:00:00', end_date: '2026-01-02 00:30:00' },
      'it is over',
    ],
    [{ strategy: 'single', start_date: 'soon', end_date: 'later' }, 'its times cannot be read'],
    [{ strategy: 'manual' }, 'a maintenance without an end has no equal here'],
    [{ ...at, active: 0, strategy: 'recurring-weekday', weekdays: '[1]' }, 'it is switched off'],
    [
      { ...at, strategy: 'recurring-interval', interval_day: 3, start_date: '2026-11-01 00:00:00' },
      { starts_at: '2026-11-28T02:00', duration: '60m', recurrence: 'FREQ=DAILY;INTERVAL=3' },
    ],
    [
      { ...at, strategy: 'recurring-day-of-month', days_of_month: '[15,"lastDay1"]' },
      { starts_at: '2026-11-30T02:00', recurrence: 'FREQ=MONTHLY;BYMONTHDAY=-1,15' },
    ],
    [{ ...at, strategy: 'recurring-weekday', weekdays: '[]' }, /recurrence "recurring-weekday" has no equal/],
    [{ ...at, strategy: 'recurring-weekday', weekdays: '[1]', end_date: '2026-11-01' }, 'it is over'],
    [
      { strategy: 'cron', timezone: 'UTC', cron: '30 3 * * 1-5', duration: 1_800 },
      { starts_at: '2026-11-30T03:30', duration: '30m', recurrence: 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR' },
    ],
    [
      { strategy: 'cron', timezone: 'UTC', cron: '0 3 L * *', duration: 600 },
      { starts_at: '2026-11-30T03:00', recurrence: 'FREQ=MONTHLY;BYMONTHDAY=-1' },
    ],
    [
      { strategy: 'cron', timezone: 'UTC', cron: '0 3 * * *', duration: 600 },
      { starts_at: '2026-11-28T03:00', recurrence: 'FREQ=DAILY' },
    ],
    [{ strategy: 'cron', timezone: 'UTC', cron: '*/5 * * * *', duration: 60 }, 'its times cannot be read'],
    [{ strategy: 'cron', timezone: 'UTC', cron: '0 3 1 * 1', duration: 60 }, /"0 3 1 \* 1" has no equal/],
    [
      { ...at, timezone: 'Mars', strategy: 'recurring-weekday', weekdays: '[1]' },
      'its time zone is not known',
    ],
  ];
  for (const [row, expected] of rows) {
    const {
      active = 1,
      start_date,
      end_date,
      start_time,
      end_time,
      interval_day,
      days_of_month,
      ...rest
    } = row;
    const reading = readKumaMaintenance(
      {
        ...{
          title: 'Disks',
          active,
          startDate: start_date,
          endDate: end_date,
          startTime: start_time,
          endTime: end_time,
        },
        ...{ intervalDay: interval_day, daysOfMonth: days_of_month, ...rest },
      },
      'UTC',
      NOW,
    );
    if ('document' in reading) t.match(reading.document, expected, JSON.stringify(row));
    else t.match(reading.problem, expected, JSON.stringify(row));
  }
});
