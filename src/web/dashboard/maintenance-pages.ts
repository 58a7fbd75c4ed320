/** `/dashboard/maintenances`: maintenance of the account, announced, changed, extended, ended, skipped and withdrawn. */
import {
  announceMaintenance,
  changeMaintenance,
  changeOccurrence,
  withdrawMaintenance,
} from '../../app/owner-maintenances.ts';
import { formatDuration } from '../../domain/durations.ts';
import {
  type Occurrence,
  OWNER_MAINTENANCE_BOUNDS,
  type OwnerMaintenance,
  ownerMaintenanceId,
  readOwnerMaintenanceId,
} from '../../domain/incident/owner-maintenance.ts';
import { wallOf } from '../../domain/incident/recurrence.ts';
import type { Route } from '../../http/route.ts';
import { time } from '../../language/phrase.ts';
import { nextOccurrences } from '../../view/owners-words.ts';
import type { Language } from '../language/language.ts';
import { ownerTextMarkup } from '../parts/owners-words.ts';
import {
  type DashboardSources,
  type FormFields,
  memberOf,
  renameFields,
  revisionIn,
  type ShowPage,
} from './dashboard-forms.ts';
import { type SaidCard, type SaidField, saidPages, subjectsIn } from './said-pages.ts';
import type { Visitor } from './sign-in-pages.ts';

/** Time by which the button extends an occurrence. */
const EXTENSION = '30m';
const EXAMPLE = { zone: 'Europe/Berlin', duration: '90m', rule: 'FREQ=WEEKLY;BYDAY=TU' };
/** The names of fields that differ from those of the document. */
const FIELD_NAMES = { starts_at: 'starts', time_zone: 'zone' };
const { titleCharacters, textCharacters } = OWNER_MAINTENANCE_BOUNDS;

/** The routes. */
export function maintenancePages(show: ShowPage, sources: DashboardSources): Route[] {
  const { registry, siteUrl, now } = sources;
  const context = { registry, siteUrl, now };
  const occurrence = (change: object) => (session: Visitor, fields: FormFields, id: string) =>
    changeOccurrence(context, memberOf(session), id, change, revisionIn(fields));
  const next = async (said: OwnerMaintenance) => (await nextOccurrences(said, now(), 1))[0] ?? null;
  return saidPages<OwnerMaintenance>(show, sources, {
    path: '/dashboard/maintenances',
    missing: 'maintenance_not_found',
    words: ({ texts: { said } }) => ({
      title: said.maintenances,
      lead: said.maintenancesLead,
      none: said.noMaintenances,
      create: said.newMaintenance,
      publish: said.announce,
      remove: said.withdraw,
    }),
    async list(accountId) {
      const all = await registry.ownerMaintenancesOf(accountId);
      const listed = await Promise.all(
        all.map(async (said) => ({
          said,
          startsAt: (await next(said))?.startsAt ?? Number.POSITIVE_INFINITY,
        })),
      );
      return listed.sort((a, b) => a.startsAt - b.startsAt).map(({ said }) => said);
    },
    find: (accountId, id) => registry.findOwnerMaintenance(accountId, readOwnerMaintenanceId(id) ?? 0),
    idOf: ({ id }) => ownerMaintenanceId(id),
    card: async (said, language) => viewMaintenance(said, await next(said), now(), language),
    fields: maintenanceFields,
    async add(session, fields) {
      const { starts_at: start, ...document } = documentIn(fields);
      const given = start === '' ? document : { ...document, starts_at: start };
      return renameFields(await announceMaintenance(context, memberOf(session), given), FIELD_NAMES);
    },
    async save(session, fields, said) {
      const { starts_at: start, ...document } = documentIn(fields);
      // A field has no seconds: a start that nobody touched stays as it is.
      const isKept = start === wallText(said) && document.time_zone === said.timeZone;
      const patch = isKept ? document : { ...document, starts_at: start };
      const id = ownerMaintenanceId(said.id);
      const outcome = await changeMaintenance(context, memberOf(session), id, patch, revisionIn(fields));
      return renameFields(outcome, FIELD_NAMES);
    },
    actions: {
      end: occurrence({ action: 'end' }),
      extend: occurrence({ action: 'extend', by: EXTENSION }),
      skip: occurrence({ action: 'skip' }),
      remove: (session, fields, id) =>
        withdrawMaintenance(context, memberOf(session), id, revisionIn(fields)),
    },
  });
}

/** The document of a form. */
function documentIn(fields: FormFields) {
  const given = (name: string) => fields.get(name)?.trim() ?? '';
  return {
    title: given('title'),
    text: given('text'),
    starts_at: given('starts'),
    duration: given('duration'),
    time_zone: given('zone') || 'UTC',
    recurrence: given('recurrence'),
    ...subjectsIn(fields),
  };
}

/** The start on the wall clock of its time zone, as a field for times takes it. */
function wallText({ startsAt, timeZone }: OwnerMaintenance): string {
  return new Date(wallOf(startsAt, timeZone)).toISOString().slice(0, 16);
}

async function viewMaintenance(
  said: OwnerMaintenance,
  next: Occurrence | null,
  now: number,
  { texts }: Language,
): Promise<SaidCard> {
  const isRunning = next !== null && next.startsAt <= now;
  const facts = [...(said.recurrence === null ? [] : [said.recurrence]), said.timeZone].join(' · ');
  const span = next === null ? [] : [...texts.page.from(time(next.startsAt), time(next.endsAt)), ' · '];
  const running = [
    { action: 'end', text: texts.said.endNow },
    { action: 'extend', text: texts.said.extend },
  ];
  const ahead = said.recurrence !== null && next !== null;
  return {
    title: said.title,
    state: next === null ? texts.said.over : isRunning ? texts.said.runs : texts.said.planned,
    look: 'unknown',
    facts: [...span, facts],
    text: await ownerTextMarkup(said.markdown),
    said: null,
    forms: [],
    buttons: isRunning ? running : ahead ? [{ action: 'skip', text: texts.said.skip }] : [],
  };
}

function maintenanceFields(said: OwnerMaintenance | null, { texts }: Language): readonly SaidField[] {
  const { said: w } = texts;
  return [
    {
      name: 'title',
      label: w.title,
      input: 'text',
      required: true,
      maxLength: titleCharacters,
      value: said?.title ?? '',
    },
    {
      name: 'text',
      label: w.text,
      input: 'area',
      rows: 4,
      maxLength: textCharacters,
      value: said?.markdown ?? '',
    },
    said === null
      ? { name: 'starts', label: w.starts, input: 'time', value: '' }
      : { name: 'starts', label: w.startsFirst, input: 'time', required: true, value: wallText(said) },
    { name: 'zone', label: w.zone, input: 'text', example: EXAMPLE.zone, value: said?.timeZone ?? 'UTC' },
    {
      name: 'duration',
      label: w.duration,
      input: 'text',
      required: true,
      example: EXAMPLE.duration,
      value: said === null ? '1h' : formatDuration(said.durationMs),
    },
    {
      name: 'recurrence',
      label: w.recurrence,
      input: 'text',
      example: EXAMPLE.rule,
      choices: [
        { value: 'FREQ=DAILY', text: w.daily },
        { value: 'FREQ=WEEKLY', text: w.weekly },
        { value: 'FREQ=MONTHLY', text: w.monthly },
      ],
      value: said?.recurrence ?? '',
    },
  ];
}
