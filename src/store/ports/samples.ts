/** Port of the sample store: append-only points, summarised by service and window. */
import type { Bucket, Sample } from '../../domain/sample.ts';

/** Most buckets that a query may ask for. */
export const MAX_BUCKETS = 1_000;

/** Buckets of `stepMs` from `from` (inclusive) to `to` (exclusive), epoch milliseconds. */
export interface SampleQuery {
  readonly serviceId: number;
  readonly from: number;
  readonly to: number;
  /** Width of a bucket; buckets start at `from + n × stepMs`; the last one is cut at `to`. At most {@link MAX_BUCKETS}. */
  readonly stepMs: number;
}

/** Figures of the store for metrics. */
export interface SampleStoreStats {
  /** Samples taken since start. */
  readonly appended: number;
  /** Samples that wait for their commit. */
  readonly pending: number;
  readonly fileBytes: number;
}

/** Why past samples cannot be read now: the store does not answer, or it answers with an error. */
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
 * Whether `error` says that past samples cannot be read now. It looks at the code alone: an error from a worker thread
 * has lost its class.
 */
export function isSampleReadError(error: unknown): boolean {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return SAMPLE_READ_ERROR_CODES.some((known) => known === code);
}

/** Time series of samples. */
export interface SampleStore {
  /** Takes samples; they are on disk within a second. Never throws for a full queue: it slows the caller down by the promise. */
  append(samples: readonly Sample[]): Promise<void>;
  /**
   * Every bucket of the window in order, empty ones included. Sees all samples that were appended before. Rejects with a
   * {@link SampleReadError} while they cannot be read, and with a RangeError for a window without a bucket, or with more
   * than {@link MAX_BUCKETS}.
   */
  query(query: SampleQuery): Promise<Bucket[]>;
  /** Newest samples of a service, newest first, at most `limit` (up to 1,000). Rejects like `query`. */
  newest(serviceId: number, limit: number): Promise<Sample[]>;
  /** Resolves when everything appended before is on disk. */
  flush(): Promise<void>;
  stats(): SampleStoreStats;
  /**
   * Samples taken from this time on may be missing from answers, since they wait on disk to be sent; epoch
   * milliseconds, null: none wait. Absent where no sample ever waits.
   */
  missingSince?(): number | null;
  /** Flushes and ends. */
  close(): Promise<void>;
}
