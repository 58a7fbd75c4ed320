/**
 * Request limits by koa-ratelimit, with what it lacks: whole seconds, a bounded memory, our problem body, and a look
 * without a charge. The library decides and counts; this file only stands around it.
 */
import ratelimit from 'koa-ratelimit';

/** What a client has left. */
export interface Allowance {
  /** False: the request is over the limit. */
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Unix seconds at which the window ends, rounded up. */
  readonly resetAtSeconds: number;
}

/** Counts requests of clients. */
export interface RateLimiter {
  /** Charges a request to a client. */
  charge(client: string): Promise<Allowance>;
  /** What the client has left, without a charge. */
  look(client: string): Allowance;
  /** Requests a minute; may be changed while running, which begins every client's window anew. */
  setMax(max: number): void;
}

const WINDOW_MS = 60_000;
/** At most so many addresses are remembered in a process (decisions). */
const CLIENTS_KEPT = 100_000;

/** Makes a limiter of `max` requests a minute for each client, in the process's own memory. */
export function createRateLimiter(max: number, now: () => number): RateLimiter {
  const entries = new LimitMap(now);
  let limit = max;
  const makeCheck = () =>
    ratelimit({
      driver: 'memory',
      db: entries,
      duration: WINDOW_MS,
      max: limit,
      id: (context) => (context as LimitContext).client,
      headers: { remaining: 'remaining', reset: 'reset', total: 'total' },
      errorMessage: 'limited',
    });
  let check = makeCheck();
  return {
    async charge(client) {
      const context = createContext(client);
      await check(context, pass);
      const { remaining = 0, reset = 0 } = context.figures;
      return { allowed: context.status !== 429, limit, remaining, resetAtSeconds: Math.ceil(reset) };
    },
    look(client) {
      const entry = entries.peek(`limit:${client}`);
      if (entry === undefined) {
        return {
          allowed: true,
          limit,
          remaining: limit,
          resetAtSeconds: Math.ceil((now() + WINDOW_MS) / 1_000),
        };
      }
      // The stored figure is what was left before the newest request was taken off.
      const remaining = Math.max(0, entry.remaining - 1);
      return { allowed: remaining > 0, limit, remaining, resetAtSeconds: Math.ceil(entry.reset) };
    },
    setMax(value) {
      if (value === limit) return;
      limit = value;
      entries.clear();
      check = makeCheck();
    },
  };
}

interface LimitEntry {
  readonly id: string;
  /** Unix seconds with a fraction. */
  readonly reset: number;
  remaining: number;
  readonly total: number;
}

/** The part of a Koa context that the library touches. */
interface LimitContext {
  readonly client: string;
  figures: { remaining?: number; reset?: number };
  readonly state: object;
  status: number;
  body: unknown;
  set(name: object | string, value?: unknown): void;
}

function createContext(client: string): LimitContext {
  return {
    client,
    figures: {},
    state: {},
    status: 200,
    body: null,
    set(name) {
      if (typeof name === 'object') this.figures = name;
    },
  };
}

const pass = () => Promise.resolve();

/**
 * The library hands its entries out and changes them later, so that requests of one moment would share a figure: `get`
 * therefore stores and returns a copy. The map is bounded: expired clients go first, then the oldest.
 */
class LimitMap extends Map<string, LimitEntry> {
  readonly #now: () => number;

  constructor(now: () => number) {
    super();
    this.#now = now;
  }

  override get(key: string): LimitEntry | undefined {
    const entry = super.get(key);
    if (entry === undefined) return undefined;
    const copy = { ...entry };
    super.set(key, copy);
    return copy;
  }

  override set(key: string, entry: LimitEntry): this {
    // A new window goes to the end, so that the first in the map is the one that ends first.
    super.delete(key);
    if (this.size >= CLIENTS_KEPT) this.#makeRoom();
    return super.set(key, entry);
  }

  /** The entry of a window that has not ended, untouched. */
  peek(key: string): LimitEntry | undefined {
    const entry = super.get(key);
    return entry === undefined || entry.reset * 1_000 < this.#now() ? undefined : entry;
  }

  #makeRoom(): void {
    const nowSeconds = this.#now() / 1_000;
    for (const [key, entry] of this) {
      if (entry.reset >= nowSeconds && this.size < CLIENTS_KEPT) return;
      super.delete(key);
    }
  }
}
