/**
 * The recurrence of maintenance as the fields of a form and in words. Rules that these cannot express are a field of their
 * own.
 */
import type { Language } from '../language/language.ts';
import type { FormFields } from './dashboard-forms.ts';
import type { PostField } from './post-pages.ts';

/** The ways to recur, as a form offers them. */
const WAYS = ['once', 'daily', 'weekly', 'monthly', 'rule'] as const;
/** Days of the week as iCalendar names them. */
const DAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'] as const;
const LAST_DAY = '-1';
const EXAMPLE = 'FREQ=MONTHLY;BYDAY=2TU';

/** A rule as the fields have it. */
interface ReadRecurrence {
  readonly way: (typeof WAYS)[number];
  readonly days: readonly string[];
  /** Day of the month; empty: that of the start. */
  readonly monthDay: string;
}

function readRecurrence(rule: string | null): ReadRecurrence {
  const none = { days: [], monthDay: '' };
  if (rule === null) return { way: 'once', ...none };
  if (rule === 'FREQ=DAILY') return { way: 'daily', ...none };
  const weekly = /^FREQ=WEEKLY(?:;BYDAY=([A-Z]{2}(?:,[A-Z]{2})*))?$/.exec(rule);
  if (weekly !== null) return { way: 'weekly', days: weekly[1]?.split(',') ?? [], monthDay: '' };
  const monthly = /^FREQ=MONTHLY(?:;BYMONTHDAY=(\d+|-1))?$/.exec(rule);
  if (monthly !== null) return { way: 'monthly', days: [], monthDay: monthly[1] ?? '' };
  return { way: 'rule', ...none };
}

/** The rule that the fields of a form say; empty: it does not recur. */
export function recurrenceIn(fields: FormFields): string {
  const rule = fields.get('recurrence')?.trim() ?? '';
  const days = DAYS.filter((day) => fields.has(`day:${day}`));
  const monthDay = fields.get('month_day') ?? '';
  switch (fields.get('repeats') ?? 'rule') {
    case 'daily':
      return 'FREQ=DAILY';
    case 'weekly':
      return days.length === 0 ? 'FREQ=WEEKLY' : `FREQ=WEEKLY;BYDAY=${days.join(',')}`;
    case 'monthly':
      return monthDay === '' ? 'FREQ=MONTHLY' : `FREQ=MONTHLY;BYMONTHDAY=${monthDay}`;
    case 'rule':
      return rule;
    default:
      return '';
  }
}

/** The fields for a rule; null: it does not recur. */
export function recurrenceFields(
  rule: string | null,
  { texts: { posts: w }, formats }: Language,
): readonly PostField[] {
  const { way, days, monthDay } = readRecurrence(rule);
  const numbers = Array.from({ length: 31 }, (_, index) => String(index + 1));
  return [
    {
      name: 'repeats',
      label: w.repeats,
      input: 'choice',
      choices: WAYS.map((value) => ({ value, text: w.way[value] })),
      value: way,
    },
    {
      name: 'day',
      label: w.onDays,
      input: 'ticks',
      choices: DAYS.map((value, index) => ({ value, text: formats.weekday(index) })),
      value: days.join(','),
      only: 'weekly',
    },
    {
      name: 'month_day',
      label: w.onMonthDay,
      input: 'choice',
      choices: [
        { value: '', text: w.asStart },
        ...numbers.map((value) => ({ value, text: value })),
        { value: LAST_DAY, text: w.lastDayOfMonth },
      ],
      value: monthDay,
      only: 'monthly',
    },
    {
      name: 'recurrence',
      label: w.recurrence,
      input: 'text',
      example: EXAMPLE,
      value: way === 'rule' ? (rule ?? '') : '',
      only: 'rule',
    },
  ];
}

/** A rule in words: `weekly on Tuesday`; one that the fields cannot express as it is. */
export function describeRecurrence(rule: string, { texts: { posts: w }, formats }: Language): string {
  const { way, days, monthDay } = readRecurrence(rule);
  if (way === 'rule') return rule;
  const names = DAYS.flatMap((day, index) => (days.includes(day) ? formats.weekday(index) : []));
  if (way === 'weekly' && names.length > 0) return w.weeklyOn(names.join(', '));
  if (way === 'monthly' && monthDay !== '')
    return w.monthlyOn(monthDay === LAST_DAY ? w.lastDayOfMonth : monthDay);
  return w.way[way];
}
