/** The current vendor statuses in memory, for responses with the status of a service and for own incidents. */

import { isWithin } from '../domain/maintenance.ts';
import type { StatusPage } from '../domain/service.ts';
import { type ServiceVendorStatus, worstOf } from '../domain/vendor-status.ts';
import type { VendorState } from '../store/ports/vendors.ts';
import { feedOf } from './feed-kind.ts';

/** The health of a feed. */
export interface FeedHealth {
  readonly feedId: string;
  /** Time of the last successful poll, epoch milliseconds; null: there was none. */
  readonly readAt: number | null;
  /** Why the last poll failed, one line; null: it succeeded, or there was none. */
  readonly problem: string | null;
}

/** The cache. */
export type VendorStatusCache = ReturnType<typeof createVendorStatusCache>;

/** Options of the cache. */
interface VendorStatusCacheOptions {
  /** Interval of the polls, milliseconds; a status is stale after two of them without a successful poll. */
  readonly intervalMs: number;
  readonly now: () => number;
}

const NOTHING: VendorState = { serviceId: 0, open: [], lastResolvedAt: null, maintenances: [] };

/** Creates an empty cache. */
export function createVendorStatusCache({ intervalMs, now }: VendorStatusCacheOptions) {
  const states = new Map<number, VendorState>();
  const feeds = new Map<string, FeedHealth>();
  return {
    put: (state: VendorState): void => void states.set(state.serviceId, state),
    /** Removes a service. */
    forget: (serviceId: number): void => void states.delete(serviceId),
    /** Notes the outcome of a poll. */
    notePoll(feedId: string, at: number, problem: string | null): void {
      const readAt = problem === null ? at : (feeds.get(feedId)?.readAt ?? null);
      feeds.set(feedId, { feedId, readAt, problem });
    },
    /** Removes all other feeds. */
    keepFeeds(feedIds: ReadonlySet<string>): void {
      for (const feedId of feeds.keys()) if (!feedIds.has(feedId)) feeds.delete(feedId);
    },
    /** The vendor status of a service; null: its page has no feed. */
    statusOf(serviceId: number, page: StatusPage | null): ServiceVendorStatus | null {
      const feed = feedOf(page);
      if (page === null || feed === null) return null;
      const { open, lastResolvedAt } = states.get(serviceId) ?? NOTHING;
      const worst = worstOf(open);
      const readAt = feeds.get(feed.id)?.readAt ?? null;
      // Open incidents are known from the registry before the first poll after a start.
      const isUnknown = readAt === null && worst === null;
      return {
        url: page.url,
        kind: page.kind,
        status: isUnknown ? 'unknown' : (worst?.severity ?? 'operational'),
        since: isUnknown ? null : (worst?.startedAt ?? lastResolvedAt),
        incidentId: worst?.id ?? null,
        readAt,
        stale: readAt === null || now() - readAt > 2 * intervalMs,
      };
    },
    isInMaintenance: (serviceId: number, at: number): boolean =>
      (states.get(serviceId)?.maintenances ?? []).some((maintenance) => isWithin(maintenance, at)),
    /** Whether maintenance that the owner of the service announced is in progress, so that alerts about it are held. */
    isInOwnersMaintenance: (serviceId: number, at: number): boolean =>
      (states.get(serviceId)?.maintenances ?? []).some(
        (maintenance) => maintenance.ownerId !== undefined && isWithin(maintenance, at),
      ),
    feeds: (): readonly FeedHealth[] => [...feeds.values()],
  };
}
