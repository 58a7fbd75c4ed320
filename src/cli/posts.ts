/** `upbeat maintenances` and `upbeat incidents`: what accounts announce and post, without a browser. */

import { systemClock } from '../clock.ts';
import { formatDuration, formatTime } from '../domain/durations.ts';
import { occurrencesOf } from '../domain/incident/owner-maintenance.ts';
import {
  updateIncident as addUpdate,
  incidentChanges,
  viewIncident,
} from '../resources/incidents/incidents.ts';
import { anyRevision } from '../resources/kit/create-changes.ts';
import type { NamedSubjects } from '../resources/kit/posts.ts';
import {
  changeOccurrence,
  maintenanceChanges,
  viewMaintenance,
} from '../resources/maintenances/maintenances.ts';
import type { Registry } from '../store/ports/registry.ts';
import { type AccountChoice, findAccount, readAccountChoice } from './accounts.ts';
import { type CommonOptions, filterRows, type ListOptions, NOTHING_MATCHES } from './command.ts';
import { withRegistry } from './open-stores.ts';
import { resultOf } from './outcome.ts';
import { type OutputRow, printJson, printRows } from './output.ts';

type AccountOptions = CommonOptions & AccountChoice;

interface SubjectOptions {
  /** Slugs or domains. */
  readonly service?: readonly string[];
  /** Slugs. */
  readonly page?: readonly string[];
}

/** Options of `incidents update` and `incidents resolve`. */
export interface UpdateIncidentOptions extends AccountOptions {
  readonly text: string;
  readonly status?: string;
}

/** Occurrences that `--json` prints of each maintenance. */
const OCCURRENCES_PRINTED = 5;

/** Prints the maintenance of an account that is planned or runs, and that is over and not withdrawn. */
export async function listMaintenances(
  options: AccountOptions & ListOptions & { readonly state?: readonly string[] },
): Promise<void> {
  const all = await withAccount(options, async ({ principal, ...context }) => {
    const listed = await maintenanceChanges.list(context, principal.accountId);
    return await Promise.all(
      listed.map(async ({ entity, document }) => {
        const now = context.now();
        const next = await occurrencesOf(entity, now, OCCURRENCES_PRINTED);
        const [{ startsAt, endsAt } = { startsAt: entity.startsAt, endsAt: null }] = next;
        const row = {
          id: maintenanceChanges.keyOf(entity),
          title: entity.title,
          state: endsAt === null ? 'over' : startsAt <= now ? 'running' : 'planned',
          starts: formatTime(startsAt),
          duration: formatDuration(endsAt === null ? entity.durationMs : endsAt - startsAt),
          recurrence: entity.recurrence,
          about: aboutOf(document),
        };
        return { row, view: viewMaintenance(entity, document, next, now) };
      }),
    );
  });
  const advice =
    'Announce some: upbeat maintenances add --account NAME --title TITLE --duration 1h --service DOMAIN';
  printViews(all, options, `There is no maintenance. ${advice}`);
}

/** Announces a maintenance; prints its ID, or its properties as JSON. */
export async function addMaintenance(
  options: AccountOptions &
    SubjectOptions & {
      readonly title: string;
      readonly text?: string;
      readonly startsAt?: string;
      readonly duration: string;
      readonly timezone?: string;
      readonly recurrence?: string;
    },
): Promise<void> {
  const { title, text, duration, recurrence, startsAt, timezone, json = false } = options;
  const document = given({
    ...{ title, text, duration, recurrence, starts_at: startsAt, time_zone: timezone },
    ...subjectsIn(options),
  });
  const view = await withAccount(options, async ({ principal, ...context }) => {
    const made = resultOf(await maintenanceChanges.add(context, principal, document));
    const definition = await maintenanceChanges.documentOf(context, made);
    const next = await occurrencesOf(made, context.now(), OCCURRENCES_PRINTED);
    return viewMaintenance(made, definition, next, context.now());
  });
  if (json) printJson(view);
  else console.log(view.id);
}

/** Ends the occurrence of a maintenance that runs. */
export async function endMaintenance(id: string, options: AccountOptions): Promise<void> {
  await withAccount(options, async ({ principal, ...context }) =>
    resultOf(await changeOccurrence(context, principal, anyRevision(id), { action: 'end' })),
  );
}

/** Withdraws a maintenance; one that runs ends. */
export async function removeMaintenance(id: string, options: AccountOptions): Promise<void> {
  await withAccount(options, async ({ principal, ...context }) =>
    resultOf(await maintenanceChanges.remove(context, principal, anyRevision(id))),
  );
}

/** Prints the incidents that an account has written, newest first. */
export async function listOwnerIncidents(
  options: AccountOptions & ListOptions & { readonly status?: readonly string[] },
): Promise<void> {
  const all = await withAccount(options, async ({ principal, ...context }) =>
    (await incidentChanges.list(context, principal.accountId)).map(({ entity, document }) => ({
      row: {
        id: incidentChanges.keyOf(entity),
        title: entity.title,
        severity: entity.severity,
        status: entity.status,
        started: formatTime(entity.startedAt),
        updates: entity.updates.length + (entity.earlier ?? 0),
        about: aboutOf(document),
      },
      view: viewIncident(entity, document),
    })),
  );
  const advice = 'Write one: upbeat incidents open --account NAME --title TITLE --text TEXT --service DOMAIN';
  printViews(all, options, `There are no incidents. ${advice}`);
}

/** Opens an incident; prints its ID, or its properties as JSON. */
export async function openIncident(
  options: AccountOptions &
    SubjectOptions & {
      readonly title: string;
      readonly text: string;
      readonly severity?: string;
      readonly status?: string;
      readonly startedAt?: string;
    },
): Promise<void> {
  const { title, text, severity, status, startedAt, json = false } = options;
  const document = given({ title, text, severity, status, started_at: startedAt, ...subjectsIn(options) });
  const view = await withAccount(options, async ({ principal, ...context }) => {
    const made = resultOf(await incidentChanges.add(context, principal, document));
    return viewIncident(made, await incidentChanges.documentOf(context, made));
  });
  if (json) printJson(view);
  else console.log(view.id);
}

export async function updateIncident(id: string, options: UpdateIncidentOptions): Promise<void> {
  const { text, status } = options;
  await withAccount(options, async ({ principal, ...context }) =>
    resultOf(await addUpdate(context, principal, anyRevision(id), given({ text, status }))),
  );
}

export async function resolveIncident(id: string, options: UpdateIncidentOptions): Promise<void> {
  await updateIncident(id, { ...options, status: 'resolved' });
}

async function withAccount<T>(
  options: AccountOptions,
  run: (context: {
    readonly registry: Registry;
    readonly siteUrl: string;
    readonly now: () => number;
    readonly principal: { readonly role: 'operator'; readonly accountId: number };
  }) => Promise<T>,
): Promise<T> {
  const choice = readAccountChoice(options);
  return await withRegistry(options.config, async (registry, { http }) => {
    const { id: accountId } = await findAccount(registry, choice);
    return await run({
      registry,
      siteUrl: http.siteUrl.replace(/\/+$/, ''),
      now: systemClock.now,
      principal: { role: 'operator', accountId },
    });
  });
}

function subjectsIn({ service = [], page = [] }: SubjectOptions) {
  return { services: service, pages: page };
}

function given(members: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function aboutOf({ services = [], pages = [] }: Partial<NamedSubjects>): string {
  return [...services, ...pages.map((slug) => `/p/${slug}`)].join(', ');
}

/** Prints the rows that the filters leave: as a table, or their views as JSON. */
function printViews(
  all: readonly { readonly row: OutputRow; readonly view: unknown }[],
  {
    json = false,
    q,
    status,
    state,
  }: ListOptions & { readonly status?: readonly string[]; readonly state?: readonly string[] },
  empty: string,
): void {
  const shown = all.filter(({ row }) => filterRows([row], { q, status, state }, ['title']).length > 0);
  if (json) printJson(shown.map(({ view }) => view));
  else {
    const rows = shown.map(({ row }) => row);
    printRows(rows, false, all.length === 0 ? empty : NOTHING_MATCHES);
  }
}
