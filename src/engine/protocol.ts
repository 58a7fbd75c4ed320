/** Messages between the fleet supervisor (main thread) and an actor host (probe thread). */
import type { CheckTarget } from '../domain/check-target.ts';
import type { CheckResult } from '../domain/result.ts';

/** Settings of the engine; all durations in milliseconds. */
export interface EngineSettings {
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly confirmAfterMs: readonly number[];
  readonly firstSpreadMs: number;
  /** Open checks per host. */
  readonly concurrency: number;
}

/** From the supervisor to a host. */
export type ToHost =
  | { readonly type: 'assign'; readonly services: readonly CheckTarget[] }
  | { readonly type: 'remove'; readonly serviceIds: readonly number[] }
  /** Check these again soon, spread over `spreadMs` (after the prober was offline). */
  | { readonly type: 'recheck'; readonly serviceIds: readonly number[]; readonly spreadMs: number }
  | { readonly type: 'stop' };

/** From a host to the supervisor. Every message carries the epoch of the host's life. */
export type FromHost =
  | { readonly type: 'ready'; readonly epoch: number }
  | { readonly type: 'results'; readonly epoch: number; readonly results: readonly CheckResult[] }
  /** A first attempt failed without an HTTP response: time to ask the control targets. Coalesced by the host. */
  | { readonly type: 'doubt'; readonly epoch: number; readonly failedAt: number }
  | { readonly type: 'beat'; readonly epoch: number; readonly report: HostReport }
  | { readonly type: 'stopped'; readonly epoch: number };

/** How a host is doing, sent once a second. */
export interface HostReport {
  readonly services: number;
  readonly openChecks: number;
  /** Checks ended since the host began. */
  readonly checksDone: number;
  /** How late checks began in the last second against their due time, milliseconds: median, 99th percentile and worst. */
  readonly startDelayMs: { readonly p50: number; readonly p99: number; readonly max: number };
  /** Worst delay of the thread's event loop in the last second, milliseconds. */
  readonly loopDelayMs: number;
  readonly heapBytes: number;
  readonly externalBytes: number;
}
