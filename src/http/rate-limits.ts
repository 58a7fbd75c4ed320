/**
 * Rate limits by koa-ratelimit, with what it lacks: whole seconds, bounded memory, our problem body, and reading what is
 * left without a charge. The library decides and counts; this file wraps it.
 */
import { createRequire } from 'node:module';
import type { Clock } from '../clock.ts';

/** The part of koa-ratelimit that is used here; its published types are of an older major version. */
const ratelimit: (options: {
  readonly driver: 'memory' | 'redis';
  /** `memory`: a Map, as far as get, has and set. `redis`: what has the command `ratelimiter`. */
  readonly db: object;
  /** Milliseconds. */
  readonly duration: number;
  readonly max: number;
  /** Stands before the id and a colon in the keys of `db`. */
  readonly namespace: string;
  readonly id: (context: LimitContext) => string;
  readonly headers: { readonly remaining: string; readonly reset: string; readonly total: string };
  readonly errorMessage: string;
}) => (context: LimitContext, next: () => Promise<void>) => Promise<void> = createRequire(import.meta.url)(
  'koa-ratelimit',
);

/** What a client has left. */
export interface Allowance {
  /** False: the request is over the limit. */
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Unix seconds at which the window ends, rounded up. */
  readonly resetAtSeconds: number;
  /** Whole seconds until then, at least 1. */
  readonly retryAfterSeconds: number;
}

/** Counts the requests of clients. */
export interface RateLimiter {
  /** Charges a request to a client. */
  charge(client: string): Promise<Allowance>;
  /** What the client has left, without a charge. */
  peek(client: string): Allowance | Promise<Allowance>;
  /** Requests a minute; may be changed while running. A window that is open keeps the limit it began with. */
  setMax(max: number): void;
}

/** Length of a window, milliseconds (contract 8). */
export const WINDOW_MS = 60_000;
/** Addresses that a process remembers (decisions, Keys and limits). */
const MAX_CLIENTS = 100_000;

/**
 * Makes a {@link RateLimiter} of this process alone, of `max` requests a minute for each client. What is left can be read
 * synchronously. `name` distinguishes limiters of one memory.
 */
export function createRateLimiter(name: string, max: number, memory: LimitMemory) {
  let limit = max;
  const makeCheck = () => countBy({ driver: 'memory', db: memory, max: limit, namespace: name });
  let check = makeCheck();
  const peek = (client: string): Allowance => {
    const entry = memory.peek(`${name}:${client}`);
    const window = entry ?? memory.newWindow();
    const times = { resetAtSeconds: window.resetAtSeconds, retryAfterSeconds: memory.secondsLeft(window) };
    if (entry === undefined) return { allowed: true, limit, remaining: limit, ...times };
    // The stored figure is what was left before the newest request was taken off.
    const remaining = Math.max(0, entry.remaining - 1);
    return { allowed: remaining > 0, limit: entry.total, remaining, ...times };
  };
  return {
    peek,
    async charge(client: string): Promise<Allowance> {
      const context = createContext(client);
      await check(context);
      // Other requests may have been counted since: the library's figure is that of this request.
      const { remaining = 0 } = context.figures;
      return { ...peek(client), allowed: context.status !== 429, remaining };
    },
    setMax(value: number): void {
      if (value === limit) return;
      limit = value;
      check = makeCheck();
    },
  };
}

interface Window {
  /** End by the monotonic clock, milliseconds: neither sleep nor a corrected wall clock moves it. */
  readonly endsAt: number;
  /** End as sent to clients, Unix seconds, rounded up. */
  readonly resetAtSeconds: number;
}

interface LibraryEntry {
  readonly id: string;
  /** Unix seconds by the library's clock, which runs on from the wall time at its start. */
  readonly reset: number;
  remaining: number;
  readonly total: number;
}

type LimitEntry = LibraryEntry & Window;

/** The part of a Koa context that the library touches. */
export interface LimitContext {
  readonly client: string;
  figures: { remaining?: number; reset?: number; total?: number };
  readonly state: object;
  status: number;
  body: unknown;
  set(name: object | string, value?: unknown): void;
}

/** A context in which the library leaves its figures. */
export function createContext(client: string): LimitContext {
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

/** The library over a database of its own, in our windows; its figures are left in the {@link LimitContext}. */
export function countBy(
  options: Pick<Parameters<typeof ratelimit>[0], 'driver' | 'db' | 'max' | 'namespace'>,
): (context: LimitContext) => Promise<void> {
  const check = ratelimit({
    ...options,
    duration: WINDOW_MS,
    id: ({ client }) => client,
    headers: { remaining: 'remaining', reset: 'reset', total: 'total' },
    errorMessage: 'limited',
  });
  // The request goes on elsewhere.
  return (context) => check(context, () => Promise.resolve());
}

/**
 * A memory for limiters. `clientsKept` windows are remembered; of more, the oldest are forgotten.
 *
 * The library hands its entries out and changes them later, so that requests of one moment would share a figure: `get`
 * therefore stores and returns a copy. When a window ends is decided here, by our clock. The map is bounded: windows
 * that have ended go first, then the oldest.
 */
export class LimitMemory extends Map<string, LimitEntry> {
  readonly #clock: Clock;
  readonly #clientsKept: number;

  constructor(clock: Clock, clientsKept = MAX_CLIENTS) {
    super();
    this.#clock = clock;
    this.#clientsKept = clientsKept;
  }

  override get(key: string): LimitEntry | undefined {
    const entry = this.peek(key);
    if (entry === undefined) {
      // The library calls `has` next.
      super.delete(key);
      return undefined;
    }
    const copy = { ...entry };
    super.set(key, copy);
    return copy;
  }

  override set(key: string, entry: LibraryEntry): this {
    // A new window goes to the end; all are equally long, so that the first in the map is the one that ends first.
    super.delete(key);
    this.#sweep();
    return super.set(key, { ...entry, reset: Number.POSITIVE_INFINITY, ...this.newWindow() });
  }

  /** The entry of a window that has not ended, untouched. */
  peek(key: string): LimitEntry | undefined {
    const entry = super.get(key);
    return entry === undefined || entry.endsAt <= this.#clock.monotonic() ? undefined : entry;
  }

  /** A window that begins now. */
  newWindow(): Window {
    return {
      endsAt: this.#clock.monotonic() + WINDOW_MS,
      resetAtSeconds: Math.ceil((this.#clock.now() + WINDOW_MS) / 1_000),
    };
  }

  /** Whole seconds to the end of a window, at least 1. */
  secondsLeft({ endsAt }: Window): number {
    return Math.max(1, Math.ceil((endsAt - this.#clock.monotonic()) / 1_000));
  }

  #sweep(): void {
    const now = this.#clock.monotonic();
    for (const [key, { endsAt }] of this) {
      if (endsAt > now && this.size < this.#clientsKept) return;
      super.delete(key);
    }
  }
}
