/**
 * Asks other regions at once about failures that one region has confirmed and the quorum has not (design, Places). A question
 * that is lost costs nothing: each region checks the service at its next turn anyway.
 */
import type { Clock } from '../clock.ts';
import type { RegionRules } from '../domain/regional-status.ts';

/** How the regions of a cluster make one status. */
export interface RegionOptions extends RegionRules {
  /** The regions that have a vote now: online, with a live node within two intervals. Empty: not known. */
  readonly voting: () => readonly string[];
  /** A service is asked about once within this time, milliseconds. */
  readonly intervalMs: number;
  /** Asks a region to check the services now. */
  readonly ask: (region: string, serviceIds: readonly number[]) => void;
}

/** Questions to other regions. */
export type RegionAsks = ReturnType<typeof createRegionAsks>;

/** Makes the questions. */
export function createRegionAsks(
  { intervalMs, ask }: Pick<RegionOptions, 'intervalMs' | 'ask'>,
  clock: Pick<Clock, 'monotonic'>,
) {
  /** When services were asked about within the last interval, monotonic milliseconds; oldest first. */
  const askedAt = new Map<number, number>();
  /** Questions of this turn of the event loop, by region. */
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
    for (const [region, serviceIds] of all) ask(region, serviceIds);
  }

  return {
    /** Asks the regions about the service after this turn of the event loop, at most once an interval. */
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
