/**
 * Ports of the sample store: append-only points, summarised by service and window; and the observations that an external time series
 * stores beside them.
 */

import type { DependencyReport } from '../../domain/heartbeat/heartbeat-body.ts';
import type { Incident } from '../../domain/incident/incident.ts';
import type { Bucket, Sample } from '../../domain/sample.ts';
import type { Service } from '../../domain/service.ts';
import type { Transition } from '../../domain/status/current.ts';
import type { Verdict } from '../../domain/status.ts';

/** Maximum number of buckets in a query. */
export const MAX_BUCKETS = 1_000;

export interface RegionFilter {
  readonly region: string;
  /** Samples without a region count, too: this was the only region when they were taken. */
  readonly takesUnnamed: boolean;
}

/** Buckets of `stepMs` from `from` (inclusive) to `to` (exclusive), epoch milliseconds. */
export interface SampleQuery {
  readonly serviceId: number;
  readonly from: number;
  readonly to: number;
  /**
   * Width of a bucket, milliseconds. Buckets start at `from + n × stepMs`; the last one is cut at `to`. There are at
   * most {@link MAX_BUCKETS}.
   */
  readonly stepMs: number;
  /** Absent: samples of all regions, each counted once. */
  readonly region?: RegionFilter;
}

export interface SampleStoreStats {
  /** Samples accepted since the start. */
  readonly appended: number;
  /** Samples that wait for their commit. */
  readonly pending: number;
  readonly fileBytes: number;
}

/** Why past samples cannot be read now: the store does not respond, or responds with an error. */
export const SAMPLE_READ_ERROR_CODES = ['samples_away', 'samples_refused'] as const;

/** Code of {@link SampleReadError}. */
export type SampleReadErrorCode = (typeof SAMPLE_READ_ERROR_CODES)[number];

/** The store of past samples cannot be read now. The present status does not depend on it. */
export class SampleReadError extends Error {
  readonly code: SampleReadErrorCode;

  constructor(code: SampleReadErrorCode, problem: string) {
    super(problem);
    this.code = code;
  }
}

/**
 * Returns true if `error` is a {@link SampleReadError}. Only the code is tested, since an error from a worker thread has lost
 * its class.
 */
export function isSampleReadError(error: unknown): boolean {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return SAMPLE_READ_ERROR_CODES.some((known) => known === code);
}

export interface SampleReads {
  /**
   * Every bucket of the window in order, empty ones included. Includes all samples that were appended before. Rejects
   * with a {@link SampleReadError} while they cannot be read, and with a RangeError for a window without a bucket, or
   * with more than {@link MAX_BUCKETS}.
   */
  query(query: SampleQuery): Promise<Bucket[]>;
  /**
   * The cells that `cellsOf` of the domain makes of the buckets of each {@link query}, in their order and for less. Absent:
   * the caller makes it of them. Rejects like `query`.
   */
  cells?(queries: readonly SampleQuery[]): Promise<Uint8Array[]>;
  /** Newest samples of a service, newest first, at most `limit` (up to 1,000). Rejects like `query`. */
  newest(serviceId: number, limit: number): Promise<Sample[]>;
  /**
   * The regions of which the service has samples, by name; empty: its samples have no region. It is read from an index,
   * not from the samples. Rejects like `query`.
   */
  regionsOf(serviceId: number): Promise<string[]>;
  /**
   * Samples from this time on may be missing in results, because they wait on disk to be sent; epoch milliseconds,
   * null: none wait. Absent if the store never lets samples wait.
   */
  missingSince?(): number | null;
}

export interface SampleWrites {
  /** Accepts samples; they are on disk within a second. Never throws for a full queue: the promise delays the caller. */
  append(samples: readonly Sample[]): Promise<void>;
}

/** Time series of samples. */
export interface SampleStore extends SampleReads, SampleWrites {
  /** Resolves when everything appended before is on disk. */
  flush(): Promise<void>;
  stats(): SampleStoreStats;
  /** Flushes all samples and closes the store. */
  close(): Promise<void>;
}

/** A stored heartbeat with its own verdict. */
export interface ObservedHeartbeat {
  readonly service: Pick<Service, 'id' | 'slug' | 'category' | 'publicDependencies'>;
  /** The earlier of timestamp and arrival, epoch milliseconds. */
  readonly at: number;
  readonly status: Verdict;
  /** Largest latency reported, whole milliseconds; null: none. */
  readonly responseTimeMs: number | null;
  /** Null: the heartbeat reported no dependencies. */
  readonly dependencies: readonly DependencyReport[] | null;
}

/** Accepts observations without blocking; never throws. An observation that is accepted twice is stored once. */
export interface Observations {
  transition(transition: Transition): void;
  /** Stores every entry of the incident's timeline, including those of earlier calls. */
  incident(incident: Incident): void;
  heartbeat(heartbeat: ObservedHeartbeat): void;
}
