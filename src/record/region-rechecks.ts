/**
 * Requests immediate re-checks by other regions of a failure that one region has confirmed and the quorum has not
 * (design, Places). A lost request is harmless, because each region checks the service within its next interval anyway.
 */
import type { Clock } from '../clock.ts';
import type { RegionRules } from '../domain/status/regional-status.ts';

/** The rules that join the verdicts of a cluster's regions into one status. */
export interface RegionOptions extends Pick<RegionRules, 'quorum'> {
  /**
   * The regions that have a vote now on services with an interval, milliseconds: online, with a live node in the last two
   * intervals. Empty: not known.
   */
  readonly voting: (intervalMs: number) => readonly string[];
  /** Requests that a region re-checks the services now. */
  readonly requestRechecks: (region: string, serviceIds: readonly number[]) => void;
}

/** The interval at which services that may be requested again are forgotten, milliseconds. */
const CLEAN_PERIOD_MS = 60_000;

/** Collects the re-check requests to other regions. */
export type RegionRechecks = ReturnType<typeof createRegionRechecks>;

/** Creates an empty collection of re-check requests. */
export function createRegionRechecks(
  { requestRechecks }: Pick<RegionOptions, 'requestRechecks'>,
  clock: Clock,
) {
  /** Until when a service is not requested again, monotonic milliseconds. */
  const quietUntil = new Map<number, number>();
  let nextCleanMs = 0;
  /** Services to request in this iteration of the event loop, by region. */
  let next = new Map<string, number[]>();

  function forgetOld(nowMs: number): void {
    if (nowMs < nextCleanMs) return;
    nextCleanMs = nowMs + CLEAN_PERIOD_MS;
    for (const [serviceId, untilMs] of quietUntil) if (untilMs <= nowMs) quietUntil.delete(serviceId);
  }

  function send(): void {
    const all = next;
    next = new Map();
    for (const [region, serviceIds] of all) requestRechecks(region, serviceIds);
  }

  return {
    /**
     * Adds a service. Its regions receive the request after this iteration of the event loop, at most once within
     * `intervalMs`, the interval of the service.
     */
    add(serviceId: number, regions: readonly string[], intervalMs: number): void {
      const nowMs = clock.monotonic();
      forgetOld(nowMs);
      if ((quietUntil.get(serviceId) ?? nowMs) > nowMs) return;
      quietUntil.set(serviceId, nowMs + intervalMs);
      if (next.size === 0) queueMicrotask(send);
      for (const region of regions) {
        const serviceIds = next.get(region) ?? [];
        serviceIds.push(serviceId);
        next.set(region, serviceIds);
      }
    },
  };
}
