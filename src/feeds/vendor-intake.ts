/**
 * Receives the entries of vendors' feeds: assigns each entry to the services that it concerns, stores it and updates the
 * cache. If the registry is unavailable, the feed is read again.
 */
import { getOrInsert } from '../async/bounded-map.ts';
import { IdMap } from '../async/id-map.ts';
import { inParts, runInParts } from '../async/in-parts.ts';
import type { Cancel, Clock } from '../clock.ts';
import type { FeedEntry } from '../domain/incident/feed-entry.ts';
import type { Service } from '../domain/service.ts';
import type { Log } from '../log.ts';
import type { VendorReading, VendorState, VendorStore } from '../store/ports/vendors.ts';
import { feedOf, feedsOf } from './feed-kind.ts';
import type { FeedEvent, Poller } from './poller.ts';
import type { VendorStatusCache } from './vendor-status-cache.ts';

/** Options of the intake; `setFeeds` and `forget` are those of the poller. */
interface VendorIntakeOptions extends Pick<Poller, 'setFeeds' | 'forget'> {
  readonly registry: VendorStore;
  readonly cache: VendorStatusCache;
  readonly clock: Clock;
  readonly log: Log;
  /** Counts polls, for metrics. */
  readonly onPoll: (ok: boolean) => void;
  /** Returns true if this machine is online. While it is offline, pages that cannot be read are not logged. Default: always. */
  readonly isOnline?: () => boolean;
  /** Called when the vendor status of a service has changed in the registry. */
  readonly onChange?: (serviceId: number) => void;
}

/** Maximum time between two updates of the states of maintenances. */
const MAX_ADVANCE_INTERVAL_MS = 60_000;

/** Services of one write: a hundred thousand may have the same page, and all other calls of the registry wait for a write. */
const READINGS_PER_CALL = 500;

export class VendorIntake {
  readonly #registry: VendorIntakeOptions['registry'];
  readonly #cache: VendorStatusCache;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #setFeeds: VendorIntakeOptions['setFeeds'];
  readonly #forget: VendorIntakeOptions['forget'];
  readonly #onPoll: (ok: boolean) => void;
  readonly #onChange: ((serviceId: number) => void) | undefined;
  readonly #isOnline: () => boolean;
  readonly #services = new IdMap<Service>();
  readonly #byFeed = new Map<string, Set<number>>();
  readonly #failing = new Set<string>();
  /** Pages that are failing and not yet logged. */
  readonly #unlogged = new Set<string>();
  /** Since when pages cannot be read, of those whose time is stored, by feed. */
  readonly #unread = new Map<string, number>();
  readonly #startedAt: number;
  readonly #failed: ReturnType<typeof createLogBatch>;
  readonly #readAgain: ReturnType<typeof createLogBatch>;
  #work: Promise<void> = Promise.resolve();
  #cancelAdvance: Cancel | null = null;
  #cancelPass: Cancel | null = null;
  #failedToStore = false;
  #isAdvanceDue = false;
  #stopped = false;

  constructor(options: VendorIntakeOptions) {
    const { clock, log, isOnline = () => true } = options;
    this.#registry = options.registry;
    this.#cache = options.cache;
    this.#clock = clock;
    this.#startedAt = clock.now();
    this.#log = log;
    this.#setFeeds = options.setFeeds;
    this.#forget = options.forget;
    this.#onPoll = options.onPoll;
    this.#onChange = options.onChange;
    this.#isOnline = isOnline;
    this.#failed = createLogBatch<{ feed: string; problem: string }>(clock, (pages) => {
      if (isOnline()) log.warn(pages, 'status pages cannot be read; their last known incidents are kept');
      // They are logged with the first poll that fails while this machine is online.
      else for (const feedId of this.#unlogged) this.#failing.delete(feedId);
      this.#unlogged.clear();
    });
    this.#readAgain = createLogBatch(clock, (pages) => log.info(pages, 'status pages can be read again'));
  }

  /**
   * Fills the cache with the states of existing services, so that their checks can be evaluated before a long list is loaded.
   * Optional.
   */
  fill(states: readonly VendorState[], isKnown: (serviceId: number) => boolean): void {
    for (const state of states) if (isKnown(state.serviceId)) this.#cache.put(state);
  }

  /** Takes the services, fills the cache and starts polling. */
  async load(list: Iterable<Service>): Promise<void> {
    await runInParts(inParts(list, (service) => this.#add(service)));
    for (const state of await this.#registry.loadVendorStates()) {
      if (this.#services.has(state.serviceId)) this.#cache.put(state);
      if (state.open.length + state.maintenances.length > 0) this.#endFormerFeeds(state.serviceId);
    }
    for (const { feed, from, to } of await this.#registry.unreadTimesSince(this.#clock.now()))
      if (to === null) this.#unread.set(feed, from);
    this.#passFeeds();
    this.#advance();
  }

  /** A service was added, changed or (null) removed. */
  applyChange(serviceId: number, service: Service | null): void {
    const before = this.#remove(serviceId);
    // Its definition is the same: its owner has announced or changed maintenance.
    if (service !== null && before?.revision === service.revision) this.#isAdvanceDue = true;
    if (service !== null) this.#add(service);
    else this.#cache.forget(serviceId);
    const changed = feedOf(before?.statusPage ?? null)?.id !== feedOf(service?.statusPage ?? null)?.id;
    const narrowed = String(before?.statusPage?.components) !== String(service?.statusPage?.components);
    if (before !== undefined && changed) this.#endFormerFeeds(serviceId);
    const feed = feedOf(service?.statusPage ?? null);
    // The feed may not have changed since before it concerned this service.
    if (feed !== null && (changed || narrowed)) this.#forget(feed.id);
    this.#passFeeds();
  }

  take(event: FeedEvent): void {
    if (this.#stopped) return;
    if (event.kind === 'polled') this.#inOrder(() => this.#notePoll(event));
    else this.#inOrder(() => this.#store(event));
  }

  /** Resolves when all events are stored. */
  idle(): Promise<void> {
    return this.#work;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelAdvance?.();
    this.#cancelPass?.();
    await this.#work;
    this.#failed.flush();
    this.#readAgain.flush();
  }

  #put(state: VendorState): void {
    // The state of a service may arrive after its removal.
    if (this.#services.has(state.serviceId)) this.#cache.put(state);
    this.#onChange?.(state.serviceId);
  }

  /** Runs tasks one after the other, so that the readings of a feed are stored in order. */
  #inOrder(task: () => Promise<void>): void {
    this.#work = this.#work.then(task).then(
      () => {
        this.#failedToStore = false;
      },
      (error) => {
        // A full disk refuses every reading; the first one is logged.
        if (!this.#failedToStore)
          this.#log.error({ error }, 'vendor incidents could not be stored; the pages are read again');
        this.#failedToStore = true;
      },
    );
  }

  #add(service: Service): void {
    this.#services.set(service.id, service);
    const feed = feedOf(service.statusPage);
    if (feed === null) return;
    getOrInsert(this.#byFeed, feed.id, () => new Set()).add(service.id);
  }

  #remove(serviceId: number): Service | undefined {
    const before = this.#services.get(serviceId);
    const feed = feedOf(before?.statusPage ?? null);
    this.#services.delete(serviceId);
    if (feed === null) return before;
    const members = this.#byFeed.get(feed.id);
    members?.delete(serviceId);
    if (members?.size === 0) this.#byFeed.delete(feed.id);
    return before;
  }

  /** Passes the list of feeds to the poller, once for all changes of a new catalogue. */
  #passFeeds(): void {
    this.#cancelPass ??= this.#clock.after(0, () => {
      this.#cancelPass = null;
      if (this.#isAdvanceDue) this.#advance();
      this.#isAdvanceDue = false;
      this.#cache.keepFeeds(new Set(this.#byFeed.keys()));
      for (const feedId of this.#failing) if (!this.#byFeed.has(feedId)) this.#failing.delete(feedId);
      this.#setFeeds(feedsOf(this.#services.values()));
    });
  }

  /** Updates the states of maintenances that begin or end, now and when the next one is due. */
  #advance(): void {
    this.#cancelAdvance?.();
    this.#cancelAdvance = null;
    this.#inOrder(async () => {
      let nextAt: number | null = null;
      try {
        const advanced = await this.#registry.advanceMaintenances(this.#clock.now());
        for (const state of advanced.states) this.#put(state);
        nextAt = advanced.nextAt;
      } finally {
        if (!this.#stopped) {
          const dueMs = nextAt === null ? MAX_ADVANCE_INTERVAL_MS : nextAt - this.#clock.now();
          this.#cancelAdvance?.();
          this.#cancelAdvance = this.#clock.after(Math.max(0, Math.min(MAX_ADVANCE_INTERVAL_MS, dueMs)), () =>
            this.#advance(),
          );
        }
      }
    });
  }

  async #store(event: Extract<FeedEvent, { kind: 'reading' }>): Promise<void> {
    const { feedId, document, listsOnlyOpen, readAt } = event;
    const isAlone = this.#byFeed.get(feedId)?.size === 1;
    const readings = [...(this.#byFeed.get(feedId) ?? [])].flatMap((serviceId): VendorReading[] => {
      const service = this.#services.get(serviceId);
      const feed = feedOf(service?.statusPage ?? null);
      if (service === undefined || feed === null) return [];
      const wanted = service.statusPage?.components ?? null;
      return [
        {
          serviceId,
          slug: service.slug,
          feed: feed.id,
          kind: feed.kind,
          document,
          listsOnlyOpen,
          readAt,
          entries: entriesFor(event.entries, wanted, isAlone),
        },
      ];
    });
    try {
      for (let at = 0; at < readings.length; at += READINGS_PER_CALL)
        for (const state of await this.#registry.putVendorReadings(
          readings.slice(at, at + READINGS_PER_CALL),
        ))
          this.#put(state);
      if (event.entries.some(({ kind }) => kind === 'maintenance')) this.#advance();
    } catch (error) {
      this.#forget(feedId);
      throw error;
    }
  }

  async #notePoll(event: Extract<FeedEvent, { kind: 'polled' }>): Promise<void> {
    const { feedId, at, problem } = event;
    if (!this.#byFeed.has(feedId)) return;
    this.#cache.notePoll(feedId, at, problem);
    this.#onPoll(problem === null);
    this.#logPoll(event);
    const since = this.#unread.get(feedId) ?? null;
    if (problem === null && since !== null) {
      // The clock may have been set back since.
      await this.#registry.putUnreadTime({ feed: feedId, from: since, to: Math.max(since, at) });
      this.#unread.delete(feedId);
    } else if (problem !== null && since === null) {
      const from = this.#cache.staleSince(feedId, this.#startedAt);
      if (from === null) return;
      await this.#registry.putUnreadTime({ feed: feedId, from, to: null });
      this.#unread.set(feedId, from);
    }
  }

  #logPoll({ feedId, problem }: Extract<FeedEvent, { kind: 'polled' }>): void {
    if (problem !== null && !this.#failing.has(feedId)) {
      if (!this.#isOnline()) return;
      this.#failing.add(feedId);
      this.#unlogged.add(feedId);
      this.#failed.add({ feed: feedId, problem });
    } else if (problem === null && this.#failing.delete(feedId)) {
      this.#unlogged.delete(feedId);
      this.#readAgain.add({ feed: feedId });
    }
  }

  #endFormerFeeds(serviceId: number): void {
    this.#inOrder(async () => {
      const feed = feedOf(this.#services.get(serviceId)?.statusPage ?? null);
      const state = await this.#registry.endOtherFeeds(serviceId, feed?.id ?? null, this.#clock.now());
      if (state !== null) this.#put(state);
    });
  }
}

/** The entries that concern a service with these components. `isAlone`: no other service has the page. */
function entriesFor(
  entries: readonly FeedEntry[],
  wanted: readonly string[] | null,
  isAlone: boolean,
): FeedEntry[] {
  return entries
    .filter((entry) => concerns(entry, wanted))
    .map((entry) => {
      // Maintenance of some parts of a page is not that of the whole, nor is that of a page of many services theirs.
      const isOwn = wanted === null ? isAlone && entry.components === null : entry.components !== null;
      return entry.kind === 'incident' || isOwn ? entry : { ...entry, isElsewhere: true };
    });
}

/** Returns true if an entry concerns a service with these components in the catalogue; null: the service is the whole page. */
function concerns(entry: FeedEntry, wanted: readonly string[] | null): boolean {
  const { components } = entry;
  if (wanted === null) return true;
  if (components === null) return entry.kind !== 'incident' || entry.isOfWholePage !== true;
  const names = new Set(components.map((name) => name.trim().toLowerCase()));
  return wanted.some((name) => names.has(name.trim().toLowerCase()));
}

/** Time from the first page of a log line to the line. */
const BATCH_MS = 5_000;
/** Maximum number of pages in a line. */
const MAX_PAGES = 5;

/**
 * Creates a batch of one log line for an event that happens to many pages at once, such as while the machine is offline. It
 * calls `write` 5 s after its first page, with the first 5 pages and the number of all others.
 */
export function createLogBatch<T>(
  clock: Clock,
  write: (batch: { readonly pages: readonly T[]; readonly more: number }) => void,
) {
  let pages: T[] = [];
  let count = 0;
  let cancel: Cancel | null = null;
  const flush = (): void => {
    cancel?.();
    cancel = null;
    if (count > 0) write({ pages, more: count - pages.length });
    pages = [];
    count = 0;
  };
  return {
    add(page: T): void {
      count++;
      if (pages.length < MAX_PAGES) pages.push(page);
      cancel ??= clock.after(BATCH_MS, flush);
    },
    /** Writes the collected pages at once. */
    flush,
  };
}
