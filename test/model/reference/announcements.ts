/**
 * The reference implementation's maintenance of owners and vendors, and vendors' incidents. "D" is the section Incidents of the
 * contract's page of decisions, "M" docs/maintenance.md, "F" docs/feeds.md. Times are epoch milliseconds.
 */
import type { Given, Happening, Instant } from '../diary.ts';
import { OPEN_PAGE } from '../world-announcements.ts';
import {
  type Entry,
  endEntry,
  isRunningAt,
  moveMaintenance,
  nextMoveOf,
  readIncident,
  readMaintenance,
} from './entries.ts';
import type { ToldEvent } from './topics.ts';

const DAY_MS = 86_400_000;
/** How long an owner's maintenance may last in all. */
const MAX_LENGTH_MS = 30 * DAY_MS;
/** A list of so many entries may have dropped older ones. */
const LONG_LIST = 10;
/** M: "takes a change into account within ... at most a minute": so often it looks if nothing is due. */
const LOOK_MS = 60_000;

interface Work {
  readonly id: number;
  readonly service: number;
  readonly startsAt: number;
  readonly lastsMs: number;
  readonly daily: boolean;
  /** Ends of single occurrences by their start; null: cancelled. */
  readonly changed: Map<number, number | null>;
  isWithdrawn: boolean;
}

/** Makes an empty list. `tell`: takes what alerts are decided from. */
export function createReferenceAnnouncements(
  { services, startAt }: Pick<Given, 'services' | 'startAt'>,
  tell: (event: ToldEvent) => void,
) {
  const works = new Map<number, Work>();
  /** By the ID of the incident. */
  const entries = new Map<string, Entry>();
  /** The present entry of each key of a page, by service. */
  const present = new Map<string, Entry>();
  const faults: string[] = [];
  let lookByMs = Number.POSITIVE_INFINITY;

  const isRemoved = ({ service }: Entry): boolean => services[service - 1]?.state === 'removed';

  /** The occurrence that runs or comes next, and the one after it. */
  function occurrencesOf(work: Work, now: number): { readonly startsAt: number; readonly endsAt: number }[] {
    if (work.isWithdrawn) return [];
    const found: { startsAt: number; endsAt: number }[] = [];
    for (let day = 0; found.length < 2 && day < (work.daily ? 1_000 : 1); day++) {
      const startsAt = work.startsAt + day * DAY_MS;
      const changed = work.changed.get(startsAt);
      const endsAt = changed === undefined ? startsAt + work.lastsMs : changed;
      if (endsAt !== null && endsAt > now) found.push({ startsAt, endsAt });
    }
    return found;
  }

  function plan(work: Work, now: number, isLook: boolean): void {
    const occurrences = occurrencesOf(work, now);
    const [first] = occurrences;
    const wanted = new Map(
      occurrences.map((one) => [`owner-m${work.id}-${Math.round(one.startsAt / 1_000)}`, one]),
    );
    for (const [id, entry] of entries) {
      if (entry.work !== work.id || entry.phase === 'over') continue;
      const one = wanted.get(id);
      wanted.delete(id);
      if (one !== undefined) entry.endsAt = one.endsAt;
      else if ((entry.endsAt ?? now) > now) {
        // M: "withdraws it; one that runs ends now". One that had not begun leaves no incident.
        entry.endsAt = entry.phase === 'planned' && entry.startsAt >= now ? entry.startsAt - 1 : now;
        entry.state = 'done';
      } else continue;
      entry.dueAt = isLook ? nextMoveOf(entry, now) : now;
    }
    for (const [id, one] of wanted) {
      const before = entries.get(id);
      const entry: Entry = {
        ...{
          id,
          service: work.service,
          work: work.id,
          kind: 'maintenance' as const,
          title: `work ${work.id}`,
        },
        ...{ ...one, state: 'planned', phase: 'planned', dueAt: now, isOpen: true, written: [] },
        incident: before?.incident ?? null,
      };
      if (isLook) entry.dueAt = nextMoveOf(entry, now);
      entries.set(id, entry);
      // The later occurrences of a recurring one are not told again.
      if (!isLook && one.startsAt === first?.startsAt) tellPhase(entry, null, now);
    }
  }

  function change(work: Work, what: string, byMs: number, now: number): void {
    const ahead = occurrencesOf(work, now);
    const next = ahead.find(({ startsAt }) => startsAt > now);
    const running = ahead.find(({ startsAt }) => startsAt <= now);
    if (what === 'withdraw' || (what === 'skip' && next !== undefined && !work.daily))
      work.isWithdrawn = true;
    else if (what === 'skip' && next !== undefined) work.changed.set(next.startsAt, null);
    else if (what === 'end' && running !== undefined) work.changed.set(running.startsAt, now);
    else if (what === 'extend' && running !== undefined) {
      const endsAt = running.endsAt + byMs;
      if (endsAt - running.startsAt > MAX_LENGTH_MS) return;
      work.changed.set(running.startsAt, endsAt);
    } else return;
    plan(work, now, false);
  }

  function tellEntry(entry: Entry, phase: Entry['phase'] | null, status: string | null, now: number): void {
    if (entry.kind === 'maintenance') tellPhase(entry, phase, now);
    else tellStatus(entry, status);
  }

  /** Alerts know of each phase of a maintenance; of one that was over when it was first seen, of none. */
  function tellPhase(
    { id, service, work, title, phase, startsAt }: Entry,
    before: Entry['phase'] | null,
    now: number,
  ) {
    if (phase === before || (before === null && phase === 'over')) return;
    const at = phase === 'running' ? Math.min(startsAt, now) : now;
    const what = `${work === null ? title : id} ${phase === 'over' ? 'ended' : phase}`;
    const by = work === null ? 'vendor' : 'owner';
    tell({ service, kind: 'maintenance', what, at, recordedAt: now, id, by, startsAt });
  }

  /** They know of a vendor's incident that is new and not over, and of each change of its status. */
  function tellStatus({ id, service, title, incident }: Entry, before: string | null): void {
    if (incident === null || incident.status === before) return;
    const { severity, status, startedAt, resolvedAt, updates } = incident;
    if (before === null && status === 'resolved') return;
    const at = before === null ? startedAt : (resolvedAt ?? updates.at(-1)?.at ?? startedAt);
    const what = `${title} ${severity} ${status}`;
    tell({
      service,
      kind: 'incident',
      what,
      at,
      recordedAt: null,
      id,
      by: 'vendor',
      isFirst: before === null,
    });
  }

  /** F: "An entry becomes one incident for each service that it concerns." */
  function read(
    { page, listed }: Extract<Happening, { readonly what: 'page' }>,
    service: number,
    components: readonly string[] | null,
    now: number,
  ): void {
    const concerning = listed.filter(
      ({ component }) => component === null || components === null || components.includes(component),
    );
    for (const one of concerning) {
      const place = `${page} ${service} ${one.key}`;
      let entry = present.get(place);
      // An entry without a time of its own that is listed again after its end is another incident.
      const isNew =
        entry === undefined ||
        (!entry.isOpen && one.kind === 'incident' && one.startedAt === null && one.status !== 'resolved');
      if (entry === undefined || isNew) {
        const id = `${one.key} ${service}${entry === undefined ? '' : ` ${now}`}`;
        entry = {
          ...{ id, service, work: null, kind: one.kind, title: one.key, startsAt: 0, endsAt: null },
          ...{ state: 'planned', phase: 'planned', dueAt: null, isOpen: true, written: [], incident: null },
        };
        entries.set(id, entry);
        present.set(place, entry);
      }
      const phase = isNew ? null : entry.phase;
      const status = entry.incident?.status ?? null;
      if (one.kind === 'incident') readIncident(entry, one, startAt, now);
      else readMaintenance(entry, one, startAt, now);
      // D: "the service (its `statusPage.components`, or the whole page where the page is the service's alone)".
      const isAlone =
        services.filter((other) => other.page === page && other.state !== 'removed').length === 1;
      entry.isElsewhere = components === null ? !isAlone || one.component !== null : one.component === null;
      tellEntry(entry, phase, status, now);
    }
    // F: "An entry that its document no longer lists ends at that reading ... If a long list of newer entries may have pushed it out, it
    // stays open for up to 30 days."
    const starts = concerning.map((one) => {
      const listedMs = one.kind === 'incident' ? one.startedAt : one.startsAt;
      return listedMs === null ? now : startAt + listedMs;
    });
    const mayBePushedOut = ({ incident, startsAt }: Entry) => {
      const startedAt = incident?.startedAt ?? startsAt;
      const isLong = page !== OPEN_PAGE && starts.length >= LONG_LIST;
      return isLong && starts.every((at) => at > startedAt) && now - startedAt <= 30 * DAY_MS;
    };
    for (const [place, entry] of present)
      if (
        place.startsWith(`${page} ${service} `) &&
        entry.isOpen &&
        !mayBePushedOut(entry) &&
        !concerning.some((one) => place === `${page} ${service} ${one.key}`)
      ) {
        finish(entry, now);
      }
  }

  function finish(entry: Entry, now: number): void {
    const { phase, incident } = entry;
    endEntry(entry, now);
    tellEntry(entry, phase, incident?.status ?? null, now);
  }

  return {
    /** The owner announces maintenance. */
    announce(made: Extract<Happening, { readonly what: 'work' }>): void {
      const { work: id, service, startsAt, lastsMs, daily, wall } = made;
      // A start that is past is now.
      const work: Work = {
        ...{ id, service, startsAt: Math.max(startsAt, wall), lastsMs, daily },
        ...{ changed: new Map(), isWithdrawn: false },
      };
      works.set(id, work);
      plan(work, wall, false);
    },
    change({
      work: id,
      change: what,
      byMs,
      wall,
    }: Extract<Happening, { readonly what: 'work-change' }>): void {
      const work = works.get(id);
      if (work !== undefined && !work.isWithdrawn) change(work, what, byMs, wall);
    },
    /** A service is about to be removed: what its vendor's page lists no longer concerns it, and ends. */
    leave(service: number, now: number): void {
      for (const entry of present.values()) if (entry.service === service && entry.isOpen) finish(entry, now);
    },
    /** A page was read. */
    read(reading: Extract<Happening, { readonly what: 'page' }>): void {
      for (const { id, page, components, state } of services)
        if (page === reading.page && state !== 'removed') read(reading, id, components, reading.wall);
    },
    /** M: "The monitor begins and ends maintenance by the clock": what is due at a look moves. */
    look({ ms, wall }: Instant, stoodUntilMs: number): void {
      if (ms > Math.max(lookByMs, stoodUntilMs))
        faults.push(`maintenance was looked at by ${ms}, not ${lookByMs}`);
      const planned = new Set<number>();
      for (const entry of entries.values()) {
        if (entry.dueAt === null || entry.dueAt > wall || isRemoved(entry)) continue;
        const before = entry.phase;
        moveMaintenance(entry, wall);
        tellPhase(entry, before, wall);
        if (entry.work !== null) planned.add(entry.work);
      }
      for (const id of planned) {
        const work = works.get(id);
        if (work !== undefined) plan(work, wall, true);
      }
      const left = [...entries.values()].filter((entry) => !isRemoved(entry));
      const due = Math.min(...left.map(({ dueAt }) => dueAt ?? Number.POSITIVE_INFINITY));
      lookByMs = ms + Math.max(0, Math.min(LOOK_MS, due - wall));
    },
    /** When the next look is due, monotonic milliseconds. */
    lookByMs: () => lookByMs,
    /** D: "Within a vendor's maintenance"; M: "incidents of checks have the severity `maintenance`" in that of an owner, too. */
    isMaintained: (service: number, at: number): boolean =>
      [...entries.values()].some(
        (one) =>
          one.service === service &&
          one.kind === 'maintenance' &&
          one.isElsewhere !== true &&
          (one.phase === 'over' ? hadBegun(one, at) : isWithin(one, at)),
      ),
    /** Whether maintenance of its owner runs. */
    isWorkedOn: (service: number): boolean =>
      [...entries.values()].some(
        (one) => one.service === service && one.work !== null && one.phase === 'running',
      ),
    /** All incidents. */
    all: () =>
      [...entries.values()].flatMap(({ id, service, work, title, kind, incident }) =>
        incident === null ? [] : [{ id, service, isVendor: work === null, title, kind, ...incident }],
      ),
    faults: (endMs: number): readonly string[] =>
      lookByMs < endMs ? [...faults, `maintenance was not looked at by ${lookByMs}`] : faults,
  };
}

/** Whether a maintenance that is over was in progress: a check that began then counts as one within it. */
function hadBegun({ incident, startsAt, ranUntil = 0 }: Entry, at: number): boolean {
  return at >= (incident?.startedAt ?? startsAt) && at < ranUntil;
}

function isWithin(entry: Entry, at: number): boolean {
  if (!isRunningAt(entry, at)) return false;
  // One that its vendor has begun earlier runs already.
  return at >= entry.startsAt || (entry.state === 'running' && entry.phase === 'running');
}
