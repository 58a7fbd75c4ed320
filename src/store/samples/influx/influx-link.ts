/** The connection to one server: writes through InfluxData's client, reads by InfluxQL, which InfluxDB has from 1.6 on. */
import { HttpError, InfluxDB } from '@influxdata/influxdb-client';
import { errorCodeOf, messageOf } from '../../../error.ts';
import {
  authorizationOf,
  faultOf,
  InfluxError,
  type InfluxSettings,
  withoutAuthorization,
} from './influx-settings.ts';
import {
  describeRefusal,
  MAX_SHOWN,
  type PostLines,
  type SendOutcome,
  sendLines,
  type WriteRefusal,
} from './send-lines.ts';

export type InfluxRow = readonly (number | string | boolean | null)[];

export interface InfluxTable {
  readonly columns: readonly string[];
  readonly rows: readonly InfluxRow[];
}

export interface InfluxLink {
  /** Sends lines as one request, and in parts if the server refuses some of them. Never rejects. */
  send(lines: readonly string[]): Promise<SendOutcome>;
  /** Runs statements; returns a table for each, null for one without rows. Rejects with {@link InfluxError}. */
  query(statements: readonly string[]): Promise<(InfluxTable | null)[]>;
}

export type InfluxQueries = Pick<InfluxLink, 'query'>;

const TIMEOUT_MS = 10_000;
const GZIP_BYTES = 1_000;

/** Creates a link; nothing is requested yet. A request without a response for `timeoutMs` has failed. */
export function openInfluxLink(settings: InfluxSettings, timeoutMs = TIMEOUT_MS): InfluxLink {
  const { url, bucket } = settings;
  const headers = authorizationOf(settings);
  // InfluxDB compresses a response in so small pieces that it takes ten times as long.
  const queryHeaders = { ...headers, 'accept-encoding': 'identity' };
  const client = new InfluxDB({ url, timeout: timeoutMs, headers });
  const path = writePath(settings);
  const options = {
    method: 'POST',
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    // On one machine, compression costs more than it saves.
    gzipThreshold: isLoopback(url) ? Number.MAX_SAFE_INTEGER : GZIP_BYTES,
  };
  const post: PostLines = async (lines) => {
    try {
      // Below the client's own buffer and retries: lines that could not be sent wait in the spool, in order.
      await client.transport.request(path, lines.join('\n'), options);
      return null;
    } catch (error) {
      const refusal = refusalOf(error);
      return { ...refusal, message: withoutAuthorization(refusal.message, headers) };
    }
  };
  const size = { maxLines: Number.POSITIVE_INFINITY };
  return {
    send: (lines) => sendLines(post, lines, size),
    async query(statements) {
      const body = new URLSearchParams({ db: bucket, epoch: 'ms', q: statements.join(';') });
      const init = { method: 'POST', headers: queryHeaders, body };
      const { status, text } = await fetchText(`${url}/query`, init, timeoutMs);
      if (status >= 300) throw responseError(status, messageIn(text));
      return readTables(text, statements.length);
    },
  };
}

/** Requests an address and reads the response. Rejects with an {@link InfluxError} if no response arrives. */
export async function fetchText(
  url: string,
  init: RequestInit & { readonly headers: Readonly<Record<string, string>> },
  timeoutMs = TIMEOUT_MS,
): Promise<{ readonly status: number; readonly text: string }> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) });
    const { status } = response;
    const text = await response.text();
    return { status, text: status < 300 ? text : withoutAuthorization(text, init.headers) };
  } catch (error) {
    throw responseError(0, reasonOf(error));
  }
}

/** The error for a response that is not success, or for its absence (`status` 0). */
export function responseError(status: number, message: string): InfluxError {
  return new InfluxError(faultOf(status, message), describeRefusal({ status, message }));
}

/** Reads numbers from the rows of a table by column; null: the column is missing, or contains no number. */
export function numberReader({
  columns,
}: InfluxTable): (row: InfluxRow | undefined, column: string) => number | null {
  const places = new Map(columns.map((column, place) => [column, place]));
  return (row, column) => {
    const value = row?.[places.get(column) ?? -1];
    return typeof value === 'number' ? value : null;
  };
}

/** Reads the tag `region` from the rows of a table; null: the point has none. */
export function regionReader({ columns }: InfluxTable): (row: InfluxRow) => string | null {
  const place = columns.indexOf('region');
  return (row) => {
    const value = row[place];
    return typeof value === 'string' && value !== '' ? value : null;
  };
}

function isLoopback(url: string): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname);
}

function writePath({ api, bucket, org }: InfluxSettings): string {
  return api === 'v1'
    ? `/write?${new URLSearchParams({ db: bucket, precision: 'ms' })}`
    : `/api/v2/write?${new URLSearchParams({ org: org ?? '', bucket, precision: 'ms' })}`;
}

function refusalOf(error: unknown): WriteRefusal {
  if (!(error instanceof HttpError)) return { status: 0, message: reasonOf(error), retryAfterMs: null };
  const { statusCode, body, message, headers } = error;
  const seconds = Number(headers?.['retry-after'] ?? Number.NaN);
  return {
    status: statusCode,
    message: body === undefined || body === '' ? message : messageIn(body),
    retryAfterMs: seconds > 0 ? seconds * 1_000 : null,
  };
}

/** The message in a body: InfluxDB 2 has `message`, InfluxDB 1 `error`, others plain text. */
function messageIn(body: string): string {
  try {
    const { message, error } = JSON.parse(body) as { readonly message?: unknown; readonly error?: unknown };
    if (typeof message === 'string') return message;
    return typeof error === 'string' ? error : body;
  } catch {
    return body;
  }
}

interface QueryBody {
  readonly error?: string;
  readonly results?: readonly {
    readonly error?: string;
    readonly series?: readonly {
      readonly columns: readonly string[];
      readonly values?: readonly InfluxRow[];
    }[];
  }[];
}

function readTables(text: string, count: number): (InfluxTable | null)[] {
  let body: QueryBody;
  try {
    body = JSON.parse(text) as QueryBody;
  } catch {
    throw new InfluxError('other', 'InfluxDB answered with something else than JSON');
  }
  const problem = body.error ?? body.results?.find(({ error }) => error !== undefined)?.error;
  if (problem !== undefined)
    throw new InfluxError(faultOf(200, problem), `InfluxDB: ${problem.slice(0, MAX_SHOWN)}`);
  return Array.from({ length: count }, (_, index) => {
    const [series] = body.results?.[index]?.series ?? [];
    return series === undefined ? null : { columns: series.columns, rows: series.values ?? [] };
  });
}

/** Why a request got no response: the code of the system, or a sentence. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : null;
  // The code of a timeout is a number that says nothing.
  return errorCodeOf(cause) ?? errorCodeOf(error) ?? messageOf(error);
}
