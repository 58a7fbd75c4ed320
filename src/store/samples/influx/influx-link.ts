/** One server: writing through its client, reading by InfluxQL, which every InfluxDB from 1.6 on answers. */
import { HttpError, InfluxDB } from '@influxdata/influxdb-client';
import { SampleReadError } from '../../ports/samples.ts';
import { authorizationOf, type InfluxSettings } from './influx-settings.ts';

/** What came of sending lines. */
export type SendOutcome =
  | { readonly kind: 'stored' }
  /** The server is away or refuses for now: to be tried again. */
  | { readonly kind: 'away'; readonly problem: string }
  /** The server will never take so many of them; the others it has stored. */
  | { readonly kind: 'refused'; readonly problem: string; readonly dropped: number };

/** A table of an answer. */
export interface InfluxTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (number | string | boolean | null)[])[];
}

/** A link to a server. */
export interface InfluxLink {
  /** Sends lines as one request. Never rejects. */
  send(lines: readonly string[]): Promise<SendOutcome>;
  /** Runs statements; a table each, null where one has no rows. Rejects with {@link InfluxError}. */
  query(statements: readonly string[]): Promise<(InfluxTable | null)[]>;
  close(): Promise<void>;
}

/** An error of the link. */
export class InfluxError extends SampleReadError {}

const TIMEOUT_MS = 10_000;
const GZIP_BYTES = 1_000;
/** InfluxDB 1 answers 400 for points that it drops, InfluxDB 2 422; both 413 for too many. */
const REFUSALS = [400, 413, 422];

/** Opens a link; nothing is asked of the server yet. A request that gets no answer for `timeoutMs` has failed. */
export function openInfluxLink(settings: InfluxSettings, timeoutMs = TIMEOUT_MS): InfluxLink {
  const { url, bucket } = settings;
  const headers = authorizationOf(settings);
  const client = new InfluxDB({ url, timeout: timeoutMs, headers });
  const path = writePath(settings);
  const options = {
    method: 'POST',
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    // On one machine, packing costs more than what it saves.
    gzipThreshold: isLoopback(url) ? Number.MAX_SAFE_INTEGER : GZIP_BYTES,
  };
  return {
    async send(lines) {
      try {
        // Below the client's own buffer and retries: what could not be sent waits in the spool, in order.
        await client.transport.request(path, lines.join('\n'), options);
        return { kind: 'stored' };
      } catch (error) {
        return outcomeOf(error, lines.length);
      }
    },
    async query(statements) {
      const body = new URLSearchParams({ db: bucket, epoch: 'ms', q: statements.join(';') });
      let response: Response;
      try {
        response = await fetch(`${url}/query`, {
          method: 'POST',
          headers,
          body,
          signal: AbortSignal.timeout(timeoutMs),
        });
      } catch (error) {
        throw new InfluxError('samples_away', `InfluxDB does not answer: ${reasonOf(error)}`);
      }
      const text = await response.text();
      if (!response.ok) {
        const code = response.status >= 500 || response.status === 429 ? 'samples_away' : 'samples_refused';
        throw new InfluxError(code, `InfluxDB answered with HTTP ${response.status}: ${text.slice(0, 200)}`);
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

function outcomeOf(error: unknown, count: number): SendOutcome {
  const status = error instanceof HttpError ? error.statusCode : 0;
  const problem =
    status === 0
      ? `InfluxDB does not answer: ${reasonOf(error)}`
      : `InfluxDB answered with HTTP ${status}: ${(error as Error).message.slice(0, 200)}`;
  // These speak of the lines; anything else may pass, or can be mended by the operator.
  if (!REFUSALS.includes(status)) return { kind: 'away', problem };
  // Of points that are older than its retention, the server drops those alone and says how many.
  const told = Number(/dropped=(\d+)/.exec(problem)?.[1] ?? 0);
  return { kind: 'refused', problem, dropped: told > 0 ? Math.min(told, count) : count };
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
    throw new InfluxError('samples_refused', 'InfluxDB answered with something else than JSON');
  }
  const problem = answer.error ?? answer.results?.find(({ error }) => error !== undefined)?.error;
  if (problem !== undefined) throw new InfluxError('samples_refused', `InfluxDB: ${problem.slice(0, 200)}`);
  return Array.from({ length: count }, (_, index) => {
    const [series] = answer.results?.[index]?.series ?? [];
    return series === undefined ? null : { columns: series.columns, rows: series.values ?? [] };
  });
}

/** Why a request found no answer: the code of the system, or a sentence. */
export function reasonOf(error: unknown): string {
  const { cause, message, code } = error as Error & { code?: string };
  return (cause as { code?: string } | undefined)?.code ?? code ?? message;
}
