/** One server: writing through its client, reading by InfluxQL, which every InfluxDB from 1.6 on answers. */
import { HttpError, InfluxDB } from '@influxdata/influxdb-client';
import { faultOf, InfluxError } from './influx-fault.ts';
import { authorizationOf, type InfluxSettings } from './influx-settings.ts';
import { type PostLines, type SendOutcome, sendLines } from './send-lines.ts';
import type { WriteRefusal } from './write-answer.ts';

/** A table of an answer. */
export interface InfluxTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (number | string | boolean | null)[])[];
}

/** A link to a server. */
export interface InfluxLink {
  /** Sends lines as one request, and in parts where the server refuses some of them. Never rejects. */
  send(lines: readonly string[]): Promise<SendOutcome>;
  /** Runs statements; a table each, null where one has no rows. Rejects with {@link InfluxError}. */
  query(statements: readonly string[]): Promise<(InfluxTable | null)[]>;
  close(): Promise<void>;
}

const TIMEOUT_MS = 10_000;
const GZIP_BYTES = 1_000;
const MAX_SHOWN = 300;
/** Opens a link; nothing is asked of the server yet. A request that gets no answer for `timeoutMs` has failed. */
export function openInfluxLink(settings: InfluxSettings, timeoutMs = TIMEOUT_MS): InfluxLink {
  const { url, bucket } = settings;
  const headers = authorizationOf(settings);
  // InfluxDB packs an answer in so small pieces that it takes ten times as long.
  const asking = { ...headers, 'accept-encoding': 'identity' };
  const client = new InfluxDB({ url, timeout: timeoutMs, headers });
  const path = writePath(settings);
  const options = {
    method: 'POST',
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    // On one machine, packing costs more than what it saves.
    gzipThreshold: isLoopback(url) ? Number.MAX_SAFE_INTEGER : GZIP_BYTES,
  };
  const post: PostLines = async (lines) => {
    try {
      // Below the client's own buffer and retries: what could not be sent waits in the spool, in order.
      await client.transport.request(path, lines.join('\n'), options);
      return null;
    } catch (error) {
      return refusalOf(error);
    }
  };
  const size = { maxLines: Number.POSITIVE_INFINITY };
  return {
    send: (lines) => sendLines(post, lines, size),
    async query(statements) {
      const body = new URLSearchParams({ db: bucket, epoch: 'ms', q: statements.join(';') });
      const signal = AbortSignal.timeout(timeoutMs);
      let text: string;
      let status: number;
      try {
        const response = await fetch(`${url}/query`, { method: 'POST', headers: asking, body, signal });
        status = response.status;
        text = await response.text();
      } catch (error) {
        throw new InfluxError('unreachable', `InfluxDB does not answer: ${reasonOf(error)}`);
      }
      if (status >= 300) {
        const message = messageOf(text);
        const problem = `InfluxDB answered with HTTP ${status}: ${message.slice(0, MAX_SHOWN)}`;
        throw new InfluxError(faultOf(status, message), problem);
      }
      return readAnswer(text, statements.length);
    },
    async close() {},
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
    message: body === undefined || body === '' ? message : messageOf(body),
    retryAfterMs: seconds > 0 ? seconds * 1_000 : null,
  };
}

/** What a body says: InfluxDB 2 has `message`, InfluxDB 1 `error`, others plain text. */
function messageOf(body: string): string {
  try {
    const { message, error } = JSON.parse(body) as { readonly message?: unknown; readonly error?: unknown };
    if (typeof message === 'string') return message;
    return typeof error === 'string' ? error : body;
  } catch {
    return body;
  }
}

interface RawAnswer {
  readonly error?: string;
  readonly results?: readonly {
    readonly error?: string;
    readonly series?: readonly {
      readonly columns: readonly string[];
      readonly values?: InfluxTable['rows'];
    }[];
  }[];
}

function readAnswer(text: string, count: number): (InfluxTable | null)[] {
  let answer: RawAnswer;
  try {
    answer = JSON.parse(text) as RawAnswer;
  } catch {
    throw new InfluxError('other', 'InfluxDB answered with something else than JSON');
  }
  const problem = answer.error ?? answer.results?.find(({ error }) => error !== undefined)?.error;
  if (problem !== undefined)
    throw new InfluxError(faultOf(200, problem), `InfluxDB: ${problem.slice(0, MAX_SHOWN)}`);
  return Array.from({ length: count }, (_, index) => {
    const [series] = answer.results?.[index]?.series ?? [];
    return series === undefined ? null : { columns: series.columns, rows: series.values ?? [] };
  });
}

/** Why a request found no answer: the code of the system, or a sentence. */
export function reasonOf(error: unknown): string {
  const { cause, message, code } = error as Error & { code?: unknown };
  const codes = [(cause as { code?: unknown } | undefined)?.code, code];
  // The code of a timeout is a number that says nothing.
  return codes.find((one) => typeof one === 'string') ?? message;
}
