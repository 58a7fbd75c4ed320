/** The current vendor statuses in memory, for responses with the status of a service and for own incidents. */
import { HOUR_MS } from '../domain/durations.ts';
import { isWithin, type Maintenance } from '../domain/incident/maintenance.ts';
import { type ServiceVendorStatus, worstOf } from '../domain/incident/vendor-incident.ts';
import type { StatusPage } from '../domain/service.ts';
import type { VendorState } from '../store/ports/vendors.ts';
import { feedOf } from './feed-kind.ts';

export interface FeedHealth {
  readonly feedId: string;
  /** Time of the last successful poll, epoch milliseconds; null: there was none. */
  readonly readAt: number | null;
  /** Why the last poll failed, one line; null: it succeeded, or there was none. */
  readonly problem: string | null;
}

export type VendorStatusCache = ReturnType<typeof createVendorStatusCache>;

interface VendorStatusCacheOptions {
  /** Interval of the polls, milliseconds; a status is stale after two of them without a successful poll. */
  readonly intervalMs: number;
  readonly now: () => number;
}

/**
 * For so long after its end, a maintenance is remembered for checks that began within it. Longer than a check lasts and its result
 * is on its way.
 */
const REMEMBERED_MS = HOUR_MS;

interface EndedMaintenance {
  readonly maintenance: Maintenance;
  /** The time at which its end became known, epoch milliseconds. */
  readonly endedAt: number;
}

const NOTHING: VendorState = { serviceId: 0, open: [], lastResolvedAt: null, maintenances: [] };

/** Returns true if a failure at `at` is expected for a maintenance. */
function isExpected(maintenance: Maintenance, at: number): boolean {
  return maintenance.isElsewhere !== true && isWithin(maintenance, at);
}

/** Creates an empty cache. */
export function createVendorStatusCache({ intervalMs, now }: VendorStatusCacheOptions) {
  const states = new Map<number, VendorState>();
  const ended = new Map<number, readonly EndedMaintenance[]>();
  const feeds = new Map<string, FeedHealth>();

  /** Remembers the maintenances of a service that `state` has no more, and forgets those of long ago. */
  const noteEnds = ({ serviceId, maintenances }: VendorState): void => {
    const endedAt = now();
    const goesOn = new Set(
      maintenances.filter(({ reportedState }) => reportedState !== 'done').map(({ id }) => id),
    );
    const over = (states.get(serviceId)?.maintenances ?? [])
      .filter((known) => !goesOn.has(known.id) && known.reportedState !== 'done')
      .map((maintenance) => ({ maintenance, endedAt }));
    // An end in the future was noted before the clock was set back.
    const isYoung = (one: EndedMaintenance) => Math.abs(endedAt - one.endedAt) < REMEMBERED_MS;
    const young = (ended.get(serviceId) ?? []).filter(isYoung);
    if (over.length + young.length === 0) ended.delete(serviceId);
    else ended.set(serviceId, [...young, ...over]);
  };

  const isStale = (readAt: number): boolean => now() - readAt > 2 * intervalMs;

  return {
    put(state: VendorState): void {
      noteEnds(state);
      states.set(state.serviceId, state);
    },
    forget(serviceId: number): void {
      states.delete(serviceId);
      ended.delete(serviceId);
    },
    notePoll(feedId: string, at: number, problem: string | null): void {
      const readAt = problem === null ? at : (feeds.get(feedId)?.readAt ?? null);
      feeds.set(feedId, { feedId, readAt, problem });
    },
    /**
     * The time at which a feed that is stale was last read; null: it is not. One that was never read counts as read at `startedAt`.
     */
    staleSince(feedId: string, startedAt: number): number | null {
      const readAt = feeds.get(feedId)?.readAt ?? startedAt;
      return isStale(readAt) ? readAt : null;
    },
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
        stale: readAt === null || isStale(readAt),
      };
    },
    /** Returns true if maintenance of the service was in progress at `at`, epoch milliseconds: now, or within the last hour. */
    isInMaintenance: (serviceId: number, at: number): boolean =>
      (states.get(serviceId)?.maintenances ?? []).some((maintenance) => isExpected(maintenance, at)) ||
      (ended.get(serviceId) ?? []).some(
        ({ maintenance, endedAt }) => at < endedAt && isExpected(maintenance, at),
      ),
    /** Returns true if maintenance that the owner of the service announced is in progress, so that alerts about it are held. */
    isInOwnersMaintenance: (serviceId: number, at: number): boolean =>
      (states.get(serviceId)?.maintenances ?? []).some(
        (maintenance) => maintenance.ownerId !== undefined && isWithin(maintenance, at),
      ),
    feeds: (): readonly FeedHealth[] => [...feeds.values()],
  };
}
