/** `/dashboard/maintenances`: maintenance of the account, announced, changed, extended, ended, skipped and withdrawn. */
import { formatDuration } from '../../domain/durations.ts';
import {
  type Occurrence,
  OWNER_MAINTENANCE_BOUNDS,
  type OwnerMaintenance,
} from '../../domain/incident/owner-maintenance.ts';
import { wallOf } from '../../domain/incident/recurrence.ts';
import type { Route } from '../../http/route.ts';
import { time } from '../../language/phrase.ts';
import { changeOccurrence, maintenanceChanges } from '../../resources/maintenances/maintenances.ts';
import { nextOccurrences } from '../../view/status-page-view.ts';
import type { Language } from '../language/language.ts';
import { postMarkup } from '../parts/incidents.ts';
import { type DashboardSources, type FormFields, type ShowPage, targetIn } from './dashboard-forms.ts';
import { type PostCard, type PostField, postPages } from './post-pages.ts';
import type { Visitor } from './sign-in-pages.ts';

/** Time by which the button extends an occurrence. */
const EXTENSION = '30m';
const EXAMPLE = { zone: 'Europe/Berlin', duration: '90m' };
const { titleCharacters, textCharacters } = OWNER_MAINTENANCE_BOUNDS;

export function maintenancePages(show: ShowPage, sources: DashboardSources): Route[] {
  const { registry, now } = sources;
  const occurrence = (change: object) => (session: Visitor, fields: FormFields, id: string) =>
    changeOccurrence(sources, session, targetIn(id, fields), change);
  const next = async (maintenance: OwnerMaintenance) =>
    (await nextOccurrences(maintenance, now(), 1))[0] ?? null;
  return postPages(show, sources, {
    path: '/dashboard/maintenances',
    ...{ changes: maintenanceChanges, context: sources },
    words: ({ texts: { posts } }) => ({
      title: posts.maintenances,
      lead: posts.maintenancesLead,
      none: posts.noMaintenances,
      create: posts.newMaintenance,
      publish: posts.announce,
      remove: posts.withdraw,
    }),
    async list(accountId) {
      const all = await registry.ownerMaintenancesOf(accountId);
      const listed = await Promise.all(
        all.map(async (maintenance) => ({
          maintenance,
          startsAt: (await next(maintenance))?.startsAt ?? Number.POSITIVE_INFINITY,
        })),
      );
      return listed.sort((a, b) => a.startsAt - b.startsAt).map(({ maintenance }) => maintenance);
    },
    card: async (maintenance, language) =>
      viewMaintenance(maintenance, await next(maintenance), now(), language),
    fields: maintenanceFields,
    documentIn(fields, maintenance) {
      const { starts_at: start, ...document } = readFields(fields);
      // A field has no seconds: a start that nobody touched stays as it is. That of a new one is now if there is none.
      const isKept =
        maintenance === null
          ? start === ''
          : start === wallText(maintenance) && document.time_zone === maintenance.timeZone;
      return isKept ? document : { ...document, starts_at: start };
    },
    fieldNames: { starts_at: 'starts', time_zone: 'zone' },
    actions: {
      end: occurrence({ action: 'end' }),
      extend: occurrence({ action: 'extend', by: EXTENSION }),
      skip: occurrence({ action: 'skip' }),
    },
  });
}

/** The fields of a form by the members of the document. */
function readFields(fields: FormFields) {
  const given = (name: string) => fields.get(name)?.trim() ?? '';
  return {
    title: given('title'),
    text: given('text'),
    starts_at: given('starts'),
    duration: given('duration'),
    time_zone: given('zone') || 'UTC',
    recurrence: recurrenceIn(fields),
  };
}

/** The start on the wall clock of its time zone, as a field for times takes it. */
function wallText({ startsAt, timeZone }: OwnerMaintenance): string {
  return new Date(wallOf(startsAt, timeZone)).toISOString().slice(0, 16);
}

async function viewMaintenance(
  maintenance: OwnerMaintenance,
  next: Occurrence | null,
  now: number,
  language: Language,
): Promise<PostCard> {
  const { texts } = language;
  const isRunning = next !== null && next.startsAt <= now;
  const facts = [
    ...(maintenance.recurrence === null ? [] : [describeRecurrence(maintenance.recurrence, language)]),
    maintenance.timeZone,
  ].join(' · ');
  const span = next === null ? [] : [...texts.page.from(time(next.startsAt), time(next.endsAt)), ' · '];
  const running = [
    { action: 'end', text: texts.posts.endNow },
    { action: 'extend', text: texts.posts.extend },
  ];
  const ahead = maintenance.recurrence !== null && next !== null;
  return {
    title: maintenance.title,
    state: next === null ? texts.posts.over : isRunning ? texts.posts.runs : texts.posts.planned,
    look: 'unknown',
    facts: [...span, facts],
    text: await postMarkup(maintenance.markdown),
    post: null,
    forms: [],
    buttons: isRunning ? running : ahead ? [{ action: 'skip', text: texts.posts.skip }] : [],
  };
}

function maintenanceFields(maintenance: OwnerMaintenance | null, language: Language): readonly PostField[] {
  const { posts: w } = language.texts;
  return [
    {
      name: 'title',
      label: w.title,
      input: 'text',
      required: true,
      maxLength: titleCharacters,
      value: maintenance?.title ?? '',
    },
    {
      name: 'text',
      label: w.text,
      input: 'area',
      rows: 4,
      maxLength: textCharacters,
      value: maintenance?.markdown ?? '',
    },
    maintenance === null
      ? { name: 'starts', label: w.starts, input: 'time', value: '' }
      : { name: 'starts', label: w.startsFirst, input: 'time', required: true, value: wallText(maintenance) },
    {
      name: 'zone',
      label: w.zone,
      input: 'text',
      example: EXAMPLE.zone,
      value: maintenance?.timeZone ?? 'UTC',
    },
    {
      name: 'duration',
      label: w.duration,
      input: 'text',
      required: true,
      example: EXAMPLE.duration,
      value: maintenance === null ? '1h' : formatDuration(maintenance.durationMs),
    },
    ...recurrenceFields(maintenance?.recurrence ?? null, language),
  ];
}

/** The ways to recur, as a form offers them. */
const WAYS = ['once', 'daily', 'weekly', 'monthly', 'rule'] as const;
/** Days of the week as iCalendar names them. */
const DAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'] as const;
const LAST_DAY = '-1';
const RECURRENCE = 'FREQ=MONTHLY;BYDAY=2TU';

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
function recurrenceIn(fields: FormFields): string {
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
function recurrenceFields(
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
      example: RECURRENCE,
      value: way === 'rule' ? (rule ?? '') : '',
      only: 'rule',
    },
  ];
}

/** A rule in words: `weekly on Tuesday`; one that the fields cannot express as it is. */
function describeRecurrence(rule: string, { texts: { posts: w }, formats }: Language): string {
  const { way, days, monthDay } = readRecurrence(rule);
  if (way === 'rule') return rule;
  const names = DAYS.flatMap((day, index) => (days.includes(day) ? formats.weekday(index) : []));
  if (way === 'weekly' && names.length > 0) return w.weeklyOn(names.join(', '));
  if (way === 'monthly' && monthDay !== '')
    return w.monthlyOn(monthDay === LAST_DAY ? w.lastDayOfMonth : monthDay);
  return w.way[way];
}
