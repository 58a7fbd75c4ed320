/**
 * Numbers the changes of statuses for open pages. Each record of a public service that the status store accepts gets the next number, and
 * a page knows the number up to which it is current. Everyone sees the numbers, so the records of all other services do not advance them:
 * they count as after the present one, and a page that connects again may get them twice. Numbers restart with the program, so a position
 * contains the start too.
 */
import { randomUUID } from 'node:crypto';
import { BoundedMap, getOrInsert } from '../../async/bounded-map.ts';
import { IdMap } from '../../async/id-map.ts';
import { createListeners } from '../../async/listeners.ts';
import type { Clock } from '../../clock.ts';
import { formatTime } from '../../domain/durations.ts';
import { audienceOf, type Service } from '../../domain/service.ts';
import { responseTimeOf } from '../../domain/status/agree.ts';
import type { CurrentStatus, StatusHead } from '../../domain/status/current.ts';
import { SERVICE_STATUSES, type ServiceStatus } from '../../domain/status.ts';
import { age, asMarkup, escapeMarkup, type Phrase } from '../../language/phrase.ts';
import type { StatusReads } from '../../store/ports/status.ts';
import type { Unreached } from '../../view/cause-of-down.ts';
import { createStatusWords } from '../../view/service-search.ts';
import type { ShownServices } from '../../view/shown-services.ts';
import { intervalOf, isCheckStale, isStale, type ListenedAt } from '../../view/staleness.ts';
import type { Language } from '../language/language.ts';
import type { LiveUpdate } from '../parts/page-messages.ts';
import { describeVerdict, pillMarkup } from '../parts/verdict.ts';

export type LiveChanges = ReturnType<typeof createLiveChanges>;

interface LiveChangeSources {
  readonly intervalMs: number;
  readonly listenedAt: ListenedAt;
  readonly directory: {
    /** Lists those that are public. */
    all(): readonly Service[];
    /** Lists all; absent: they are public. */
    every?(): readonly Service[];
    /** Finds one of all. */
    byId(id: number): Service | null;
  };
  readonly status: StatusReads;
  readonly clock: Clock;
}

const RATE_SECONDS = 60;
/** Among more services than this, those that are late are counted once in {@link MAX_COUNT_AGE_MS}: a page asks several times. */
const MAX_COUNTED_ANEW = 10_000;
const MAX_COUNT_AGE_MS = 1_000;
/** Maximum number of accounts whose checks of services that are not public are counted. */
const MAX_RATES = 10_000;
const EVERYONE = { accounts: new Set<number>(), hidden: (): readonly Service[] => [] };

/** Creates the numbering, which follows the status store until `close`. */
export function createLiveChanges({ directory, status, intervalMs, listenedAt, clock }: LiveChangeSources) {
  const start = randomUUID().slice(0, 8);
  const statuses = createStatusWords();
  /** The numbers of the newest record, and of the newest change, of services that had one since the start. */
  const checked = new IdMap<number>();
  const changedAt = new IdMap<number>();
  let newestCheckAt: number | null = null;
  // The first reader may come long after the start: the latest checks of the last minute are counted, too.
  const createdAt = clock.now();
  const recent: (readonly [service: Service, ageMs: number])[] = [];
  let oldestMs = 0;
  for (const service of directory.every?.() ?? directory.all()) {
    const head = status.headOf(service.id);
    statuses.set(service.id, head?.status ?? 'unknown');
    const checkedAt = head?.checkedAt ?? null;
    if (checkedAt === null) continue;
    if (audienceOf(service) === '' && checkedAt > (newestCheckAt ?? 0)) newestCheckAt = checkedAt;
    const ageMs = Math.max(0, createdAt - checkedAt);
    if (ageMs >= RATE_SECONDS * 1_000) continue;
    recent.push([service, ageMs]);
    oldestMs = Math.max(oldestMs, ageMs);
  }
  const listeners = createListeners<[head: StatusHead, changed: boolean, audience: string, at: number]>();
  const startedAt = clock.monotonic() - oldestMs;
  const rate = createRate(clock, startedAt);
  /** Of the services that are not public, by their accounts. */
  const rates = new BoundedMap<number, ReturnType<typeof createRate>>(MAX_RATES);
  const rateOf = (service: Service | null) => {
    if (audienceOf(service) === '') return rate;
    const accountId = service?.accountId ?? null;
    return accountId === null ? null : getOrInsert(rates, accountId, () => createRate(clock, startedAt));
  };
  for (const [service, ageMs] of recent) rateOf(service)?.note(ageMs);
  let number = 0;
  let records = 0;

  const unwatch = status.watch((head) => {
    const { serviceId, checkedAt } = head;
    const service = directory.byId(serviceId);
    const audience = audienceOf(service);
    const isForAll = audience === '';
    records += 1;
    if (isForAll) number += 1;
    const at = isForAll ? number : number + 1;
    const changed = (statuses.get(serviceId) ?? 'unknown') !== head.status;
    statuses.set(serviceId, head.status);
    checked.set(serviceId, at);
    if (changed) changedAt.set(serviceId, at);
    // Records that fill a copy at its start are not checks of this minute.
    const isRecent = head.observedAt > clock.now() - RATE_SECONDS * 1_000;
    if (isRecent) rateOf(service)?.note();
    if (isForAll && checkedAt !== null && checkedAt > (newestCheckAt ?? 0)) newestCheckAt = checkedAt;
    listeners.notify(head, changed, audience, at);
  });

  const isLate = (service: Service, now: number): boolean => {
    const head = service.verified && !service.paused ? status.headOf(service.id) : null;
    const ownIntervalMs = intervalOf(service, intervalMs);
    // A service is seen at its latest check or later, so most statuses need not be read.
    if (head === null || !isCheckStale(head.checkedAt, ownIntervalMs, now)) return false;
    const current = status.get(service.id);
    return current !== null && isStale(current, ownIntervalMs, now, listenedAt);
  };
  let kept: { readonly late: number; readonly at: number } | null = null;
  const countLate = (): number => {
    const now = clock.now();
    const services = directory.all();
    const isLarge = services.length > MAX_COUNTED_ANEW;
    if (isLarge && kept !== null && Math.abs(now - kept.at) < MAX_COUNT_AGE_MS) return kept.late;
    let late = 0;
    for (const service of services) if (isLate(service, now)) late++;
    kept = { late, at: now };
    return late;
  };

  return {
    /** The number of records since the start, of all services. */
    get records(): number {
      return records;
    },
    /** The position of a page that is rendered now, for {@link read}; of one that lacks the record with the number `lacks`, before it. */
    position: (lacks = Number.POSITIVE_INFINITY): string => `${start}-${Math.min(number, lacks - 1)}`,
    /** The number in a position; null: the position is of another start of the program. */
    read(position: string): number | null {
      const [of, digits = ''] = position.split('-');
      return of === start && /^\d{1,15}$/.test(digits) ? Math.min(Number(digits), number) : null;
    },
    /** Number of the newest record of a service; 0: none since the start. */
    checkedAt: (serviceId: number): number => checked.get(serviceId) ?? 0,
    /** Services whose status has changed since a number, in any order. */
    changedSince: (from: number): readonly number[] =>
      [...changedAt].filter(([, changed]) => changed > from).map(([id]) => id),
    /**
     * Calls `listener` for each record, with whether it changed the status, who follows the service (`audienceOf`), and its number,
     * until the returned function is called.
     */
    watch: listeners.add,
    /**
     * The state of the monitor, as a reader may know it. `checksPerSecond`: over the last minute, or since the first check if that is shorter.
     * `newestCheckAt`: start of the newest check, epoch milliseconds; null: none was seen. `late`: number of services
     * that were last seen more than two intervals ago, without paused ones and those of unverified domains; with many services it
     * is up to a second old.
     */
    monitor({ accounts, hidden }: Pick<ShownServices, 'accounts' | 'hidden'> = EVERYONE) {
      const own = hidden();
      const now = clock.now();
      return {
        checksPerSecond: [...accounts].reduce(
          (sum, account) => sum + (rates.get(account)?.perSecond() ?? 0),
          rate.perSecond(),
        ),
        newestCheckAt: own.reduce((newest: number | null, { id }) => {
          const checkedAt = status.headOf(id)?.checkedAt ?? null;
          return checkedAt !== null && checkedAt > (newest ?? 0) ? checkedAt : newest;
        }, newestCheckAt),
        late: countLate() + own.filter((service) => isLate(service, now)).length,
      };
    },
    close: unwatch,
  };
}

/** Creates a counter per second over the last minute; `startedAt`: since when it counts, monotonic milliseconds. */
function createRate(clock: Clock, startedAt: number) {
  const counts = new Array<number>(RATE_SECONDS).fill(0);
  let second = 0;
  const advance = () => {
    const now = Math.floor((clock.monotonic() - startedAt) / 1_000);
    for (let step = Math.min(now - second, RATE_SECONDS); step > 0; step--)
      counts[(now - step + 1) % RATE_SECONDS] = 0;
    second = now;
    return now % RATE_SECONDS;
  };
  return {
    /** Counts a check of so long ago, milliseconds, within the last minute and after the start. */
    note(ageMs = 0) {
      const place = (advance() + RATE_SECONDS - Math.floor(ageMs / 1_000)) % RATE_SECONDS;
      counts[place] = (counts[place] ?? 0) + 1;
    },
    perSecond() {
      advance();
      const seconds = Math.min(RATE_SECONDS, Math.max(1, second + 1));
      return counts.reduce((sum, count) => sum + count, 0) / seconds;
    },
  };
}

/** The update of a service's page after a check. */
export function serviceUpdate(
  page: string,
  { current, unreached }: { readonly current: CurrentStatus; readonly unreached: Unreached | null },
  language: Language,
  now: number,
): LiveUpdate {
  const { status, latest } = current;
  const { texts, formats } = language;
  const markup = (phrase: Phrase) => asMarkup(phrase, formats, now);
  const html: Record<string, string> = {
    [`pill:${page}`]: pillMarkup(status, texts.status[status]),
    [`said:${page}`]: markup(describeVerdict(current, language, unreached)),
  };
  if (latest === null) return { html, statuses: { [status]: [page] } };
  html[`checked:${page}`] = markup([age(latest.checkedAt)]);
  const took = responseTimeOf(current);
  html[`took:${page}`] = took === null ? '–' : escapeMarkup(formats.milliseconds(took));
  html[`code:${page}`] = latest.statusCode === 0 ? '–' : `HTTP ${latest.statusCode}`;
  return {
    html,
    statuses: { [status]: [page] },
    checks: [{ page, status: latest.status, at: formatTime(latest.checkedAt) }],
  };
}

export function joinUpdates(all: readonly LiveUpdate[]): LiveUpdate {
  const statuses: Partial<Record<ServiceStatus, string[]>> = {};
  for (const status of SERVICE_STATUSES) {
    const pages = all.flatMap((update) => update.statuses?.[status] ?? []);
    if (pages.length > 0) statuses[status] = pages;
  }
  return {
    html: Object.assign({}, ...all.map(({ html }) => html)),
    statuses,
    checks: all.flatMap(({ checks = [] }) => checks),
  };
}
