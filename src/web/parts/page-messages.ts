/**
 * Types of the data that the server sends to the scripts of pages (assets/web). Both sides are checked against them.
 */
import type { ServiceStatus, Verdict } from '../../domain/status.ts';

/** One event of the stream of an open page, as JSON. Every member may be absent. */
export interface LiveUpdate {
  /** New content of all elements with this `data-live`, escaped. Empty content hides the element. */
  readonly html?: Readonly<Record<string, string>>;
  /** Page names by their current status, for elements with `data-live-status`. */
  readonly statuses?: Readonly<Partial<Record<ServiceStatus, readonly string[]>>>;
  /** The status of every page that is not in `statuses`; absent: these are unchanged. */
  readonly others?: ServiceStatus;
  /** Ended checks, for parts that the page reloads. */
  readonly checks?: readonly EndedCheck[];
}

interface EndedCheck {
  /** Name of the service's page. */
  readonly page: string;
  readonly status: Verdict;
  /** The beginning: ISO 8601, UTC. */
  readonly at: string;
}

export type SearchRow = readonly [
  name: string,
  domain: string,
  /** Name of the service's page; 0: the dashed domain. */
  page: string | 0,
  category: string,
  status: ServiceStatus,
];

/** The data of the chart of response times: columns of equal length. Null: no value is known. */
export interface ResponseTimes {
  /** Name of the range, as `?range=` takes it. */
  readonly range: string;
  /** Starts of the buckets, whole seconds of Unix time. */
  readonly at: readonly number[];
  readonly p50: readonly (number | null)[];
  readonly p95: readonly (number | null)[];
  readonly p99: readonly (number | null)[];
  /** Share of failed checks, 0 to 1; null: no checks. */
  readonly failed: readonly (number | null)[];
  /** The range and its figures in a sentence. */
  readonly label: string;
  /** True if no bucket has a response time. */
  readonly empty: boolean;
}
