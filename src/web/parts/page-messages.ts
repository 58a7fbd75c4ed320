/** What the server sends to the scripts of pages (assets/web). Types alone, so that both sides are checked against them. */
import type { ServiceStatus, Verdict } from '../../domain/status.ts';

/** One event of the stream of an open page, as JSON. Every member may be absent. */
export interface LiveUpdate {
  /** New content of all elements with this `data-live`, escaped. Empty content hides the element. */
  readonly html?: Readonly<Record<string, string>>;
  /** Page names by their present status, for elements with `data-live-status`. */
  readonly statuses?: Readonly<Partial<Record<ServiceStatus, readonly string[]>>>;
  /** The status of every page that `statuses` does not name; absent: those stay as they are. */
  readonly others?: ServiceStatus;
  /** Checks that ended, for parts that are loaded again. */
  readonly checks?: readonly EndedCheck[];
}

/** A check that ended. */
export interface EndedCheck {
  /** Name of the service's page. */
  readonly page: string;
  readonly status: Verdict;
  /** When it began: ISO 8601, UTC. */
  readonly at: string;
}

/** A service in the search index. */
export type SearchRow = readonly [
  name: string,
  domain: string,
  /** Name of the service's page; 0: the dashed domain. */
  page: string | 0,
  category: string,
  status: ServiceStatus,
];

/** What the chart of response times is drawn from: columns of one length. Null where nothing is known. */
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
  /** The range in a sentence, and its figures. */
  readonly label: string;
  /** No bucket has a time. */
  readonly empty: boolean;
}
