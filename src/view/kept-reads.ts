/**
 * Results of registry reads, kept so that endpoints and pages can respond while the registry's server is unavailable. Such
 * responses have an `Age` (RFC 9111, 5.1).
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../clock.ts';
import { DAY_MS } from '../domain/durations.ts';
import type { HttpRequest, Route } from '../http/route.ts';
import { refusalOf } from '../store/ports/storage-health.ts';

/** Keeps reads, and tells how old they are. */
export interface KeptReads {
  /** Adds `Age` to responses that are made of kept reads. */
  withAge(routes: readonly Route[]): readonly Route[];
  /** Reads what these paths show without parameters, now and every minute: they respond even without an earlier request. */
  keepFresh(routes: readonly Route[], paths: readonly string[]): void;
}

/** Most rows that are kept of all reads together, about 10 MB; of more, the oldest reads are forgotten. */
const MAX_ROWS = 10_000;
const REFRESH_MS = 60_000;
/** A number from here on is a time: two reads that differ by less than a day show the same. */
const FIRST_TIME = Date.UTC(2000, 0);

interface KeptRead {
  readonly value: unknown;
  readonly rows: number;
  /** Monotonic milliseconds. */
  readonly readAtMs: number;
}

/**
 * Makes a registry whose methods of these `names` return what they returned before with the same arguments, while its
 * server is away; a read that was never made is refused. The others stay as they are.
 */
export function keepReads<Store extends object, Name extends keyof Store & string>(
  store: Store,
  names: readonly Name[],
  clock: Pick<Clock, 'monotonic' | 'every'>,
): { readonly store: Store; readonly kept: KeptReads } {
  const reads = new Map<string, KeptRead>();
  /** When the oldest kept read of a request was made, monotonic milliseconds; null: it has used none. */
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
            keep(key, value);
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
        routes.map((route) => ({
          ...route,
          handle: (request) =>
            requests.run({ oldestMs: null }, async () => {
              const answer = await route.handle(request);
              const oldestMs = requests.getStore()?.oldestMs ?? null;
              if (oldestMs === null) return answer;
              const seconds = Math.floor((clock.monotonic() - oldestMs) / 1_000);
              const Age = String(Math.max(seconds, Number(answer.headers.Age ?? 0)));
              return { ...answer, headers: { ...answer.headers, Age } };
            }),
        })),
      keepFresh(routes, paths) {
        const shown = routes.filter(({ path }) => paths.includes(path));
        const read = async () => {
          // While the server is away, nothing is read; a request tells of the fault.
          for (const route of shown) await Promise.resolve(route.handle(PLAIN)).catch(() => {});
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
