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
  readonly registry: Pick<
    VendorStore,
    'putVendorReadings' | 'endOtherFeeds' | 'advanceMaintenances' | 'loadVendorStates'
  >;
  readonly cache: VendorStatusCache;
  readonly clock: Clock;
  readonly log: Log;
  /** Counts polls, for metrics. */
  readonly onPoll: (ok: boolean) => void;
  /** Whether this machine is online. While it is offline, pages that cannot be read are not logged. Default: always. */
  readonly isOnline?: () => boolean;
  /** Called when the vendor status of a service has changed in the registry. */
  readonly onChange?: (serviceId: number) => void;
}

/** Maximum time between two updates of the states of maintenances. */
const MAX_ADVANCE_INTERVAL_MS = 60_000;

/** Services of one write: a hundred thousand may have the same page, and all other calls of the registry wait for a write. */
const READINGS_PER_CALL = 500;

/** Creates the intake. */
export function createVendorIntake(options: VendorIntakeOptions) {
  const { registry, cache, clock, log, setFeeds, forget, onPoll, onChange, isOnline = () => true } = options;
  const services = new IdMap<Service>();
  const byFeed = new Map<string, Set<number>>();
  const failing = new Set<string>();
  /** Pages that are failing and not yet logged. */
  const unlogged = new Set<string>();
  const failed = createLogBatch<{ feed: string; problem: string }>(clock, (pages) => {
    if (isOnline()) log.warn(pages, 'status pages cannot be read; their last known incidents are kept');
    // They are logged with the first poll that fails while this machine is online.
    else for (const feedId of unlogged) failing.delete(feedId);
    unlogged.clear();
  });
  const readAgain = createLogBatch(clock, (pages) => log.info(pages, 'status pages can be read again'));
  let work: Promise<void> = Promise.resolve();
  let cancelAdvance: Cancel | null = null;
  let cancelPass: Cancel | null = null;
  let failedToStore = false;
  let isAdvanceDue = false;
  let stopped = false;

  const put = (state: VendorState): void => {
    // The state of a service may arrive after its removal.
    if (services.has(state.serviceId)) cache.put(state);
    onChange?.(state.serviceId);
  };

  /** Runs tasks one after the other, so that the readings of a feed are stored in order. */
  const inOrder = (task: () => Promise<void>): void => {
    work = work.then(task).then(
      () => {
        failedToStore = false;
      },
      (error) => {
        // A full disk refuses every reading; the first one is logged.
        if (!failedToStore)
          log.error({ error }, 'vendor incidents could not be stored; the pages are read again');
        failedToStore = true;
      },
    );
  };

  const add = (service: Service): void => {
    services.set(service.id, service);
    const feed = feedOf(service.statusPage);
    if (feed === null) return;
    getOrInsert(byFeed, feed.id, () => new Set()).add(service.id);
  };

  const remove = (serviceId: number): Service | undefined => {
    const before = services.get(serviceId);
    const feed = feedOf(before?.statusPage ?? null);
    services.delete(serviceId);
    if (feed === null) return before;
    const members = byFeed.get(feed.id);
    members?.delete(serviceId);
    if (members?.size === 0) byFeed.delete(feed.id);
    return before;
  };

  /** Passes the list of feeds to the poller, once for all changes of a new catalogue. */
  const passFeeds = (): void => {
    cancelPass ??= clock.after(0, () => {
      cancelPass = null;
      if (isAdvanceDue) advance();
      isAdvanceDue = false;
      cache.keepFeeds(new Set(byFeed.keys()));
      for (const feedId of failing) if (!byFeed.has(feedId)) failing.delete(feedId);
      setFeeds(feedsOf(services.values()));
    });
  };

  /** Updates the states of maintenances that begin or end, now and when the next one is due. */
  const advance = (): void => {
    cancelAdvance?.();
    cancelAdvance = null;
    inOrder(async () => {
      let nextAt: number | null = null;
      try {
        const advanced = await registry.advanceMaintenances(clock.now());
        for (const state of advanced.states) put(state);
        nextAt = advanced.nextAt;
      } finally {
        if (!stopped) {
          const dueMs = nextAt === null ? MAX_ADVANCE_INTERVAL_MS : nextAt - clock.now();
          cancelAdvance?.();
          cancelAdvance = clock.after(Math.max(0, Math.min(MAX_ADVANCE_INTERVAL_MS, dueMs)), advance);
        }
      }
    });
  };

  const store = async (event: Extract<FeedEvent, { kind: 'reading' }>): Promise<void> => {
    const { feedId, document, listsOnlyOpen, readAt } = event;
    const isAlone = byFeed.get(feedId)?.size === 1;
    const readings = [...(byFeed.get(feedId) ?? [])].flatMap((serviceId): VendorReading[] => {
      const service = services.get(serviceId);
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
        for (const state of await registry.putVendorReadings(readings.slice(at, at + READINGS_PER_CALL)))
          put(state);
      if (event.entries.some(({ kind }) => kind === 'maintenance')) advance();
    } catch (error) {
      forget(feedId);
      throw error;
    }
  };

  const notePoll = ({ feedId, at, problem }: Extract<FeedEvent, { kind: 'polled' }>): void => {
    if (!byFeed.has(feedId)) return;
    cache.notePoll(feedId, at, problem);
    onPoll(problem === null);
    if (problem !== null && !failing.has(feedId)) {
      if (!isOnline()) return;
      failing.add(feedId);
      unlogged.add(feedId);
      failed.add({ feed: feedId, problem });
    } else if (problem === null && failing.delete(feedId)) {
      unlogged.delete(feedId);
      readAgain.add({ feed: feedId });
    }
  };

  return {
    /**
     * Fills the cache with the states of existing services, so that their checks can be evaluated before a long list is loaded.
     * Optional.
     */
    fill(states: readonly VendorState[], isKnown: (serviceId: number) => boolean): void {
      for (const state of states) if (isKnown(state.serviceId)) cache.put(state);
    },
    /** Takes the services, fills the cache and starts polling. */
    async load(list: Iterable<Service>): Promise<void> {
      await runInParts(inParts(list, add));
      for (const state of await registry.loadVendorStates()) {
        if (services.has(state.serviceId)) cache.put(state);
        if (state.open.length + state.maintenances.length > 0) endFormerFeeds(state.serviceId);
      }
      passFeeds();
      advance();
    },
    /** A service was added, changed or (null) removed. */
    applyChange(serviceId: number, service: Service | null): void {
      const before = remove(serviceId);
      // Its definition is the same: its owner has announced or changed maintenance.
      if (service !== null && before?.revision === service.revision) isAdvanceDue = true;
      if (service !== null) add(service);
      else cache.forget(serviceId);
      const changed = feedOf(before?.statusPage ?? null)?.id !== feedOf(service?.statusPage ?? null)?.id;
      const narrowed = String(before?.statusPage?.components) !== String(service?.statusPage?.components);
      if (before !== undefined && changed) endFormerFeeds(serviceId);
      const feed = feedOf(service?.statusPage ?? null);
      // The feed may not have changed since before it concerned this service.
      if (feed !== null && (changed || narrowed)) forget(feed.id);
      passFeeds();
    },
    take(event: FeedEvent): void {
      if (stopped) return;
      if (event.kind === 'polled') inOrder(async () => notePoll(event));
      else inOrder(() => store(event));
    },
    /** Resolves when all events are stored. */
    idle: (): Promise<void> => work,
    async stop(): Promise<void> {
      stopped = true;
      cancelAdvance?.();
      cancelPass?.();
      await work;
      failed.flush();
      readAgain.flush();
    },
  };

  function endFormerFeeds(serviceId: number): void {
    inOrder(async () => {
      const feed = feedOf(services.get(serviceId)?.statusPage ?? null);
      const state = await registry.endOtherFeeds(serviceId, feed?.id ?? null, clock.now());
      if (state !== null) put(state);
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

/** Whether an entry concerns a service with these components in the catalogue; null: the service is the whole page. */
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
  clock: Pick<Clock, 'after'>,
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
