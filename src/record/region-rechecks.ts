/**
 * Requests immediate re-checks by other regions of a failure that one region has confirmed and the quorum has not
 * (design, Places). A lost request is harmless, because each region checks the service within its next interval anyway.
 */
import type { Clock } from '../clock.ts';
import type { RegionRules } from '../domain/regional-status.ts';

/** How the verdicts of the regions of a cluster form one status. */
export interface RegionOptions extends RegionRules {
  /** The regions that have a vote now: online, with a live node in the last two intervals. Empty: not known. */
  readonly voting: () => readonly string[];
  /** Minimum time between two requests for the same service, milliseconds. */
  readonly intervalMs: number;
  /** Requests that a region re-checks the services now. */
  readonly requestRechecks: (region: string, serviceIds: readonly number[]) => void;
}

/** Collects the re-check requests to other regions. */
export type RegionRechecks = ReturnType<typeof createRegionRechecks>;

/** Creates an empty collection of re-check requests. */
export function createRegionRechecks(
  { intervalMs, requestRechecks }: Pick<RegionOptions, 'intervalMs' | 'requestRechecks'>,
  clock: Pick<Clock, 'monotonic'>,
) {
  /** Times of the requests of the last interval by service, monotonic milliseconds; oldest first. */
  const askedAt = new Map<number, number>();
  /** Services to request in this iteration of the event loop, by region. */
  let next = new Map<string, number[]>();

  function forgetOld(nowMs: number): void {
    for (const [serviceId, atMs] of askedAt) {
      if (nowMs - atMs < intervalMs) return;
      askedAt.delete(serviceId);
    }
  }

  function send(): void {
    const all = next;
    next = new Map();
    for (const [region, serviceIds] of all) requestRechecks(region, serviceIds);
  }

  return {
    /**
     * Adds a service. Its regions receive the request after this iteration of the event loop, at most once an interval.
     */
    add(serviceId: number, regions: readonly string[]): void {
      const nowMs = clock.monotonic();
      forgetOld(nowMs);
      if (askedAt.has(serviceId)) return;
      askedAt.set(serviceId, nowMs);
      if (next.size === 0) queueMicrotask(send);
      for (const region of regions) {
        const serviceIds = next.get(region) ?? [];
        serviceIds.push(serviceId);
        next.set(region, serviceIds);
      }
    },
  };
}
