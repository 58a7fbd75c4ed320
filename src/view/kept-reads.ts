/**
 * A cache of registry reads, so that endpoints and pages can respond while the registry's server is unavailable. Such
 * responses have an `Age` (RFC 9111, 5.1).
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../clock.ts';
import { DAY_MS } from '../domain/durations.ts';
import { type HttpRequest, type Route, wrapReads } from '../http/route.ts';
import { refusalOf } from '../store/ports/storage-health.ts';

export interface KeptReads {
  /** Adds `Age` to responses that use cached reads. */
  withAge(routes: readonly Route[]): readonly Route[];
  /**
   * Makes the reads of the routes of these paths now and every minute, so that they can respond even without an earlier
   * request.
   */
  keepFresh(routes: readonly Route[], paths: readonly string[]): void;
}

/** Maximum number of rows of all cached reads, about 10 MB; when there are more, the oldest reads are dropped. */
const MAX_ROWS = 10_000;
const REFRESH_MS = 60_000;
/** Numbers from here on are times. Reads whose times are on the same day count as the same read. */
const FIRST_TIME = Date.UTC(2000, 0);

interface KeptRead {
  readonly value: unknown;
  readonly rows: number;
  /** Monotonic milliseconds. */
  readonly readAtMs: number;
}

/**
 * Wraps a registry. While its server is unavailable, the methods in `names` return their last result for the same
 * arguments, or throw if there is none. The other methods are unchanged.
 */
export function keepReads<Store extends object, Name extends keyof Store & string>(
  store: Store,
  names: readonly Name[],
  clock: Clock,
): { readonly store: Store; readonly kept: KeptReads } {
  const reads = new Map<string, KeptRead>();
  /** Time of the oldest cached read that a request used, monotonic milliseconds; null: it used none. */
  const requests = new AsyncLocalStorage<{ oldestMs: number | null }>();
  let rows = 0;

  const forget = (key: string): void => {
    rows -= reads.get(key)?.rows ?? 0;
    reads.delete(key);
  };
  const keep = (key: string, value: unknown): void => {
    forget(key);
    const read = { value, rows: Array.isArray(value) ? value.length + 1 : 1, readAtMs: clock.monotonic() };
    reads.set(key, read);
    rows += read.rows;
    for (const oldest of reads.keys()) {
      if (rows <= MAX_ROWS) break;
      forget(oldest);
    }
  };
  const recall = (key: string, error: unknown): unknown => {
    const read = refusalOf(error) === null ? undefined : reads.get(key);
    if (read === undefined) throw error;
    const request = requests.getStore();
    if (request !== undefined)
      request.oldestMs = Math.min(request.oldestMs ?? Number.POSITIVE_INFINITY, read.readAtMs);
    return read.value;
  };

  const withReads = Object.fromEntries(
    names.map((name) => {
      const read = store[name];
      if (typeof read !== 'function') throw new TypeError(`${name} is no method`);
      return [
        name,
        async (...args: unknown[]) => {
          const key = `${name} ${JSON.stringify(args, (_, value) => byDay(value))}`;
          try {
            const value: unknown = await read.apply(store, args);
            // Reads of what does not exist would push out others.
            if (value === null) forget(key);
            else keep(key, value);
            return value;
          } catch (error) {
            return recall(key, error);
          }
        },
      ];
    }),
  );

  return {
    store: { ...store, ...withReads },
    kept: {
      withAge: (routes) =>
        wrapReads(
          routes,
          (read) => (request) =>
            requests.run({ oldestMs: null }, async () => {
              const answer = await read(request);
              const oldestMs = requests.getStore()?.oldestMs ?? null;
              if (oldestMs === null) return answer;
              const seconds = Math.floor((clock.monotonic() - oldestMs) / 1_000);
              const Age = String(Math.max(seconds, Number(answer.headers.Age ?? 0)));
              return { ...answer, headers: { ...answer.headers, Age } };
            }),
        ),
      keepFresh(routes, paths) {
        const shown = routes.filter(({ path }) => paths.includes(path));
        const read = async () => {
          // Errors are ignored here, because a request reports them.
          for (const { readAhead, handle } of shown)
            await Promise.resolve(readAhead === undefined ? handle?.(PLAIN) : readAhead()).catch(() => {});
        };
        void read();
        clock.every(REFRESH_MS, () => void read());
      },
    },
  };
}

const PLAIN: HttpRequest = { method: 'GET', params: {}, query: '', headers: {}, client: '' };

function byDay(value: unknown): unknown {
  return typeof value === 'number' && value > FIRST_TIME ? Math.floor(value / DAY_MS) : value;
}
