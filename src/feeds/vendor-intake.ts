/**
 * Receives what vendors publish: assigns each entry to the services that it concerns, stores it and updates the cache.
 * A registry that is away for a moment costs nothing: the feed is read anew.
 */
import type { Cancel, Clock } from '../clock.ts';
import type { FeedEntry } from '../domain/feed-entry.ts';
import type { Service } from '../domain/service.ts';
import type { Log } from '../log.ts';
import type { VendorReading, VendorState, VendorStore } from '../store/ports/vendors.ts';
import { type Feed, feedOf, feedsOf } from './feed-kind.ts';
import { createLogBatch } from './log-batch.ts';
import type { FeedNews } from './poller.ts';
import type { VendorStatusCache } from './vendor-status-cache.ts';

/** Options of the intake. */
export interface VendorIntakeOptions {
  readonly registry: Pick<
    VendorStore,
    'putVendorReadings' | 'endOtherFeeds' | 'advanceMaintenances' | 'loadVendorStates'
  >;
  readonly cache: VendorStatusCache;
  readonly clock: Clock;
  readonly log: Log;
  /** Tells the poller which feeds there are. */
  readonly setFeeds: (feeds: readonly Feed[]) => void;
  /** Tells the poller that what it told of a feed got lost. */
  readonly forget: (feedId: string) => void;
  /** Counts polls, for metrics. */
  readonly onPoll: (ok: boolean) => void;
  /** Whether this machine has a connection: while it has none, pages that cannot be read are no news. */
  readonly isOnline?: () => boolean;
  /** Called when the vendor status of a service has changed in the registry; absent: not reported. */
  readonly onChange?: (serviceId: number) => void;
}

/** The intake. */
export interface VendorIntake {
  /** Fills the cache and starts reading pages. */
  load(services: Iterable<Service>): Promise<void>;
  /** A service was added, changed or (null) removed. */
  applyChange(serviceId: number, service: Service | null): void;
  take(news: FeedNews): void;
  /** Resolves when everything that was taken is stored. */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

/** Maintenances are looked at no later than this after they are due, and as often where none is known. */
const MAX_POLL_INTERVAL_MS = 60_000;

/** Creates the intake. */
export function createVendorIntake(options: VendorIntakeOptions): VendorIntake {
  const { registry, cache, clock, log, setFeeds, forget, onPoll, onChange, isOnline = () => true } = options;
  const services = new Map<number, Service>();
  const byFeed = new Map<string, Set<number>>();
  const failing = new Set<string>();
  /** Pages that are failing and not yet told of. */
  const untold = new Set<string>();
  const failed = createLogBatch<{ feed: string; problem: string }>(clock, (pages) => {
    if (isOnline()) log.warn(pages, 'status pages cannot be read; their last known incidents are kept');
    // They are told of with the first poll that fails while this machine is online.
    else for (const feedId of untold) failing.delete(feedId);
    untold.clear();
  });
  const readAgain = createLogBatch(clock, (pages) => log.info(pages, 'status pages can be read again'));
  let work: Promise<void> = Promise.resolve();
  let cancelLook: Cancel | null = null;
  let announcing: Cancel | null = null;
  let failedToStore = false;
  let stopped = false;

  const put = (state: VendorState): void => {
    // The answer about a service may come after its removal.
    if (services.has(state.serviceId)) cache.put(state);
    onChange?.(state.serviceId);
  };

  /** One after the other, so that two readings of a feed are stored in their order. */
  const inOrder = (task: () => Promise<void>): void => {
    work = work.then(task).then(
      () => {
        failedToStore = false;
      },
      (error) => {
        // A disk that is full refuses every reading; once is enough to say.
        if (!failedToStore)
          log.error({ error }, 'vendor incidents could not be stored; the pages are read again');
        failedToStore = true;
      },
    );
  };

  const place = (service: Service): void => {
    services.set(service.id, service);
    const feed = feedOf(service.statusPage);
    if (feed === null) return;
    const members = byFeed.get(feed.id) ?? new Set();
    members.add(service.id);
    byFeed.set(feed.id, members);
  };

  const displace = (serviceId: number): Service | undefined => {
    const before = services.get(serviceId);
    const feed = feedOf(before?.statusPage ?? null);
    services.delete(serviceId);
    if (feed === null) return before;
    const members = byFeed.get(feed.id);
    members?.delete(serviceId);
    if (members?.size === 0) byFeed.delete(feed.id);
    return before;
  };

  /** The list of feeds as the poller is told it; a new catalogue comes as a thousand changes, told once. */
  const announce = (): void => {
    announcing ??= clock.after(0, () => {
      announcing = null;
      cache.keepFeeds(new Set(byFeed.keys()));
      for (const feedId of failing) if (!byFeed.has(feedId)) failing.delete(feedId);
      setFeeds(feedsOf(services.values()));
    });
  };

  const look = (): void => {
    cancelLook?.();
    cancelLook = null;
    inOrder(async () => {
      let nextAt: number | null = null;
      try {
        const advanced = await registry.advanceMaintenances(clock.now());
        for (const state of advanced.states) put(state);
        nextAt = advanced.nextAt;
      } finally {
        if (!stopped) {
          const ms =
            nextAt === null ? MAX_POLL_INTERVAL_MS : Math.min(MAX_POLL_INTERVAL_MS, nextAt - clock.now());
          cancelLook?.();
          cancelLook = clock.after(Math.max(0, ms), look);
        }
      }
    });
  };

  const store = async (news: Extract<FeedNews, { kind: 'reading' }>): Promise<void> => {
    const readings = [...(byFeed.get(news.feedId) ?? [])].flatMap((serviceId): VendorReading[] => {
      const service = services.get(serviceId);
      const feed = feedOf(service?.statusPage ?? null);
      if (service === undefined || feed === null) return [];
      const { document, listsOnlyOpen, readAt } = news;
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
          entries: news.entries.filter((entry) => concerns(entry, wanted)),
        },
      ];
    });
    try {
      for (const state of await registry.putVendorReadings(readings)) put(state);
      if (news.entries.some(({ kind }) => kind === 'maintenance')) look();
    } catch (error) {
      forget(news.feedId);
      throw error;
    }
  };

  const notePoll = ({ feedId, at, problem }: Extract<FeedNews, { kind: 'polled' }>): void => {
    if (!byFeed.has(feedId)) return;
    cache.notePoll(feedId, at, problem);
    onPoll(problem === null);
    if (problem !== null && !failing.has(feedId)) {
      if (!isOnline()) return;
      failing.add(feedId);
      untold.add(feedId);
      failed.tell({ feed: feedId, problem });
    } else if (problem === null && failing.delete(feedId)) {
      untold.delete(feedId);
      readAgain.tell({ feed: feedId });
    }
  };

  return {
    async load(list) {
      for (const service of list) place(service);
      for (const state of await registry.loadVendorStates()) {
        if (services.has(state.serviceId)) cache.put(state);
        if (state.open.length + state.maintenances.length > 0) endFormerFeeds(state.serviceId);
      }
      announce();
      look();
    },
    applyChange(serviceId, service) {
      const before = displace(serviceId);
      if (service !== null) place(service);
      else cache.forget(serviceId);
      const changed = feedOf(before?.statusPage ?? null)?.id !== feedOf(service?.statusPage ?? null)?.id;
      const narrowed = String(before?.statusPage?.components) !== String(service?.statusPage?.components);
      if (before !== undefined && changed) endFormerFeeds(serviceId);
      const feed = feedOf(service?.statusPage ?? null);
      // The service may be new to a feed that has nothing new to say.
      if (feed !== null && (changed || narrowed)) forget(feed.id);
      announce();
    },
    take(news) {
      if (stopped) return;
      if (news.kind === 'polled') inOrder(async () => notePoll(news));
      else inOrder(() => store(news));
    },
    async idle() {
      await work;
    },
    async stop() {
      stopped = true;
      cancelLook?.();
      announcing?.();
      await work;
      failed.stop();
      readAgain.stop();
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

/** Whether an entry concerns a service of which the catalogue names these components (null: the whole page). */
function concerns({ components }: FeedEntry, wanted: readonly string[] | null): boolean {
  if (components === null || wanted === null) return true;
  const names = new Set(components.map((name) => name.trim().toLowerCase()));
  return wanted.some((name) => names.has(name.trim().toLowerCase()));
}
