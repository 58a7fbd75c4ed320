/** Messages between the fleet supervisor (main thread) and an actor host (probe thread). */
import type { MessagePort } from 'node:worker_threads';
import type { CheckTarget } from '../domain/check-target.ts';
import type { AddressRefusal } from '../domain/failure.ts';
import type { PackedResults } from './result-packing.ts';

/** Settings of the engine; all durations in milliseconds. */
export interface EngineSettings {
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** A good response that takes longer is `slow`. */
  readonly slowOverMs: number;
  readonly confirmAfterMs: readonly number[];
  /** The first checks of all services are spread over this. */
  readonly firstSpreadMs: number;
  /** Maximum number of attempts in flight per host. */
  readonly concurrency: number;
}

/** From the supervisor to a host. */
export type ToHost =
  /**
   * Adds services or changes their definitions; those without a recent check are due within `spreadMs`.
   * `notBefore`: services that must not be checked before a time (epoch milliseconds).
   */
  | {
      readonly type: 'assign';
      readonly services: readonly CheckTarget[];
      readonly spreadMs: number;
      readonly notBefore: readonly (readonly [serviceId: number, at: number])[];
    }
  | { readonly type: 'remove'; readonly serviceIds: readonly number[] }
  /** Checks services again, spread over `spreadMs` (after the prober was offline). */
  | { readonly type: 'recheck'; readonly serviceIds: readonly number[]; readonly spreadMs: number }
  | { readonly type: 'stop' };

/** A name that resolves to an address that may not be probed. */
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
  /** A first attempt failed without an HTTP response, so that the control targets are requested. Coalesced by the host. */
  | { readonly type: 'doubt'; readonly epoch: number; readonly failedAt: number }
  /** An attempt has waited so long that it may become slow, perhaps by a delay of our connection. Coalesced by the host. */
  | { readonly type: 'delay'; readonly epoch: number }
  /** A name resolves to an address that may not be probed; for the operator's log only. */
  | { readonly type: 'forbidden'; readonly epoch: number; readonly found: ForbiddenTarget }
  | { readonly type: 'report'; readonly epoch: number; readonly report: HostReport }
  | { readonly type: 'stopped'; readonly epoch: number };

/** State of a host, sent once a second. */
export interface HostReport {
  readonly services: number;
  readonly openChecks: number;
  /** Checks completed since the start of the host. */
  readonly checksDone: number;
  /** Delays of checks against their due times in the last second, milliseconds: median, 99th percentile and maximum. */
  readonly startDelayMs: { readonly p50: number; readonly p99: number; readonly max: number };
  /** Longest delay of the thread's event loop in the last second, milliseconds. */
  readonly loopDelayMs: number;
  readonly heapBytes: number;
  readonly externalBytes: number;
}

/** The arguments of a host; they cross the thread boundary. */
export interface HostTask {
  readonly epoch: number;
  /** The host's end of the channel; transferred. */
  readonly port: MessagePort;
  /** A counter that the host increments in every tick while its event loop turns. */
  readonly loopTicks: SharedArrayBuffer;
  /**
   * The attempts in flight: a Float64 for each slot, 1 + the number of the service, or 0. The supervisor reads it after a
   * crash; absent: it does not.
   */
  readonly inFlight?: SharedArrayBuffer;
  readonly settings: EngineSettings;
  /** The settings that the thread's entry needs to make attempts. */
  readonly prober: unknown;
}
