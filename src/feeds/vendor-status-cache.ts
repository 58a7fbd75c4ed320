/** What vendors say now, in this process' memory: read with every single status, and by the judge of own incidents. */
import { isWithin, type Maintenance } from '../domain/maintenance.ts';
import type { StatusPage } from '../domain/service.ts';
import { type VendorWord, worstOf } from '../domain/vendor-word.ts';
import type { VendorState } from '../store/ports/vendors.ts';
import { feedOf } from './feed-kind.ts';

/** How a feed is doing. */
export interface FeedHealth {
  readonly feedId: string;
  /** When it was last read without a problem, epoch milliseconds; null: never. */
  readonly readAt: number | null;
  /** Why the last poll failed, one line; null: it went well, or there was none. */
  readonly problem: string | null;
}

/** The cache. */
export interface VendorStatusCache {
  /** Takes the state of a service over from the registry. */
  put(state: VendorState): void;
  /** Forgets a service that was removed. */
  forget(serviceId: number): void;
  /** Notes how a poll of a feed went. */
  notePoll(feedId: string, at: number, problem: string | null): void;
  /** Forgets the feeds that are not among these. */
  keepFeeds(feedIds: ReadonlySet<string>): void;
  /** The vendor status of a service on `page`; null: no page is read for it. */
  word(serviceId: number, page: StatusPage | null): VendorWord | null;
  isInMaintenance(serviceId: number, at: number): boolean;
  feeds(): readonly FeedHealth[];
}

/** Options of the cache. */
export interface VendorStatusCacheOptions {
  /** A page that was not read for two of these is stale, milliseconds. */
  readonly intervalMs: number;
  readonly now: () => number;
}

const NOTHING: VendorState = { serviceId: 0, open: [], lastResolvedAt: null, maintenances: [] };

/** Creates an empty cache. */
export function createVendorStatusCache({ intervalMs, now }: VendorStatusCacheOptions): VendorStatusCache {
  const states = new Map<number, VendorState>();
  const feeds = new Map<string, FeedHealth>();
  return {
    put: (state) => void states.set(state.serviceId, state),
    forget: (serviceId) => void states.delete(serviceId),
    notePoll(feedId, at, problem) {
      const readAt = problem === null ? at : (feeds.get(feedId)?.readAt ?? null);
      feeds.set(feedId, { feedId, readAt, problem });
    },
    keepFeeds(feedIds) {
      for (const feedId of feeds.keys()) if (!feedIds.has(feedId)) feeds.delete(feedId);
    },
    word(serviceId, page) {
      const feed = feedOf(page);
      if (page === null || feed === null) return null;
      const { open, lastResolvedAt } = states.get(serviceId) ?? NOTHING;
      const worst = worstOf(open);
      const readAt = feeds.get(feed.id)?.readAt ?? null;
      // What is open is known from the registry even before the first read after a start.
      const silent = readAt === null && worst === null;
      return {
        url: page.url,
        kind: page.kind,
        status: silent ? 'unknown' : (worst?.severity ?? 'operational'),
        since: silent ? null : (worst?.startedAt ?? lastResolvedAt),
        incidentId: worst?.id ?? null,
        readAt,
        stale: readAt === null || now() - readAt > 2 * intervalMs,
      };
    },
    isInMaintenance: (serviceId, at) =>
      (states.get(serviceId)?.maintenances ?? []).some((maintenance: Maintenance) =>
        isWithin(maintenance, at),
      ),
    feeds: () => [...feeds.values()],
  };
}
