/**
 * The offline rule of a probing node. Each node watches its own connection, by its own control targets, before it sends
 * its results to the judge.
 */
import { createListeners } from '../async/listeners.ts';
import type { CheckResult, RuledResult } from '../domain/result.ts';
import type { ProberState } from '../record/connection-watch.ts';
import { type ConnectivityOptions, createConnectivity } from '../record/connectivity.ts';

/** Creates the station. The node counts as online until a watch finds it offline. */
export function createStation(
  options: Omit<ConnectivityOptions, 'onChange'> & {
    readonly region: string;
    /** Services affected by an outage of this node are checked again within this time, milliseconds. */
    readonly firstSpreadMs: number;
    /** Receives results in the order in which they were ruled on. */
    readonly onRuled: (results: readonly RuledResult[]) => void;
    /** Called with the services to check again, spread over `spreadMs`. */
    readonly onRecheck: (serviceIds: readonly number[], spreadMs: number) => void;
  },
) {
  const { clock, region, firstSpreadMs, onRuled, onRecheck } = options;
  const connectivity = createConnectivity({ ...options, onChange });
  const listeners = createListeners<[state: ProberState]>();
  let wasOnline = true;
  let isStopped = false;

  function onChange(): void {
    if (isStopped) return;
    const decided = connectivity.takeDecided();
    pass(decided.map(({ result, trust }) => ({ result, suspect: trust === 'suspect', region })));
    if (wasOnline === connectivity.online) return;
    wasOnline = connectivity.online;
    listeners.notify(connectivity.state());
  }

  function pass(ruled: readonly RuledResult[]): void {
    if (ruled.length > 0) onRuled(ruled);
    const affected = isStopped ? [] : connectivity.takeAffected();
    if (affected.length > 0) onRecheck(affected, firstSpreadMs);
  }

  return {
    /** Takes results of the fleet in the order of their arrival. */
    takeResults(results: readonly CheckResult[]): void {
      if (isStopped) return;
      const toMonotonic = clock.monotonic() - clock.now();
      const ruled: RuledResult[] = [];
      for (const result of results) {
        const trust = connectivity.rule(result, toMonotonic);
        if (trust !== 'held') ruled.push({ result, suspect: trust === 'suspect', region });
      }
      pass(ruled);
    },
    /** An attempt failed at `failedAt`, epoch milliseconds, without an HTTP response; queries the control targets. */
    noteDoubt: connectivity.noteDoubt,
    /** An attempt has been waiting so long for its response that the response may be slow; queries the control targets. */
    noteDelay: connectivity.noteDelay,
    /**
     * Forgets a service that was removed or moved to another node. This node does not check it again. What is held of one that has
     * changed goes on: the judge knows whether the check is another one.
     */
    forget: connectivity.forget,
    /** This node's own connection. */
    prober: connectivity.state,
    /** Calls `listener` when this node goes offline or online. */
    watchProber: listeners.add,
    /** Passes the held results on as suspect, and accepts no more results. */
    stop(): void {
      if (isStopped) return;
      isStopped = true;
      connectivity.stop();
      pass(connectivity.takeHeld().map((result) => ({ result, suspect: true, region })));
    },
  };
}

/** A region's shift: region k of R, by name, checks k × interval / R later. 0 for a region that is not among them. */
export function phaseShiftOf(region: string, regions: readonly string[], intervalMs: number): number {
  const rank = [...regions].sort().indexOf(region);
  return rank <= 0 ? 0 : Math.round((rank * intervalMs) / regions.length) % intervalMs;
}

/** Maximum change of the shift within an interval. After a larger step, a service could wait longer than an interval. */
const MAX_STEP = 1 / 8;

/**
 * The shift one interval after it was `shiftMs`, on its way to `targetMs`. It only decreases, modulo the interval, so
 * that the time between two checks of a service never grows.
 */
export function stepPhaseShift(shiftMs: number, targetMs: number, intervalMs: number): number {
  const wayMs = (((shiftMs - targetMs) % intervalMs) + intervalMs) % intervalMs;
  const stepMs = Math.min(wayMs, Math.floor(intervalMs * MAX_STEP));
  return (shiftMs - stepMs + intervalMs) % intervalMs;
}
