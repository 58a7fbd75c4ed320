/** Messages between the fleet supervisor (main thread) and an actor host (probe thread). */
import type { MessagePort } from 'node:worker_threads';
import type { CheckTarget } from '../domain/check-target.ts';
import type { AddressRefusal } from '../domain/failure.ts';
import type { PackedResults } from './result-packing.ts';

/** Settings of the engine; all durations in milliseconds. */
export interface EngineSettings {
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** A good answer over this is `slow`. */
  readonly slowOverMs: number;
  readonly confirmAfterMs: readonly number[];
  /** The first checks of all services are spread over this. */
  readonly firstSpreadMs: number;
  /** Open checks per host. */
  readonly concurrency: number;
}

/** From the supervisor to a host. */
export type ToHost =
  /**
   * Check these too, or by a new definition; services without a recent check come within `spreadMs`.
   * `notBefore`: services that must not be checked before a time (epoch milliseconds).
   */
  | {
      readonly type: 'assign';
      readonly services: readonly CheckTarget[];
      readonly spreadMs: number;
      readonly notBefore: readonly (readonly [serviceId: number, at: number])[];
    }
  | { readonly type: 'remove'; readonly serviceIds: readonly number[] }
  /** Check these again soon, spread over `spreadMs` (after the prober was offline). */
  | { readonly type: 'recheck'; readonly serviceIds: readonly number[]; readonly spreadMs: number }
  | { readonly type: 'stop' };

/** Where a name led that may not be probed. */
export interface ForbiddenTarget {
  readonly host: string;
  readonly address: string;
  readonly refusal: AddressRefusal;
}

/** From a host to the supervisor. Every message carries the epoch of the host's life. */
export type FromHost =
  /** `threadId` is Node's number of the worker thread. */
  | { readonly type: 'ready'; readonly epoch: number; readonly threadId: number }
  | { readonly type: 'results'; readonly epoch: number; readonly packed: PackedResults }
  /** A first attempt failed without an HTTP response: time to ask the control targets. Coalesced by the host. */
  | { readonly type: 'doubt'; readonly epoch: number; readonly failedAt: number }
  /** An attempt has been waiting so long that it may become slow: is our connection held up? Coalesced by the host. */
  | { readonly type: 'delay'; readonly epoch: number }
  /** A name led to an address that may not be probed; for the operator's log alone. */
  | { readonly type: 'forbidden'; readonly epoch: number; readonly found: ForbiddenTarget }
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

/** What a host task is started with; crosses the thread boundary. */
export interface HostTask {
  readonly epoch: number;
  /** Of the host's own; transferred. */
  readonly port: MessagePort;
  /** A counter that the host increments several times a second while its event loop turns. */
  readonly beats: SharedArrayBuffer;
  /**
   * What the host has under way: a Float64 for each slot, 1 + the service's number, or 0. Read after its death;
   * absent: nobody will ask.
   */
  readonly inFlight?: SharedArrayBuffer;
  readonly settings: EngineSettings;
  /** Whatever the thread's entry needs to make attempts. */
  readonly prober: unknown;
}
