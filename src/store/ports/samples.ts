/** Port of the sample store: append-only points, summarised by service and window. */
import type { Bucket, Sample } from '../../domain/sample.ts';

/** Buckets of `stepMs` from `from` (inclusive) to `to` (exclusive), epoch milliseconds. */
export interface SampleQuery {
  readonly serviceId: number;
  readonly from: number;
  readonly to: number;
  /** Width of a bucket; buckets start at `from + n × stepMs`; the last one is cut at `to`. At most 1,000 buckets. */
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

/** Time series of samples. */
export interface SampleStore {
  /** Takes samples; they are on disk within a second. Never throws for a full queue: it slows the caller down by the promise. */
  append(samples: readonly Sample[]): Promise<void>;
  /** Every bucket of the window in order, empty ones included. Sees all samples that were appended before. */
  query(query: SampleQuery): Promise<Bucket[]>;
  /** Newest samples of a service, newest first, at most `limit` (up to 1,000). */
  newest(serviceId: number, limit: number): Promise<Sample[]>;
  /** Resolves when everything appended before is on disk. */
  flush(): Promise<void>;
  stats(): SampleStoreStats;
  /** Flushes and ends. */
  close(): Promise<void>;
}
