/**
 * Rate limits by koa-ratelimit. This wrapper adds whole seconds, bounded memory, our problem body, and reading the
 * allowance without a charge. The library counts and decides.
 */
import { createRequire } from 'node:module';
import { BoundedMap, getOrInsert } from '../async/bounded-map.ts';
import type { Clock } from '../clock.ts';
import { createClientCounts } from './client-address.ts';
import { matches } from './conditional.ts';
import { retryLater } from './problem.ts';

/** Maximum number of accounts whose requests are counted; when there are more, the oldest are dropped. */
const MAX_ACCOUNTS = 10_000;

/** The part of koa-ratelimit that is used here; the published types are for an older major version. */
const ratelimit: (options: {
  readonly driver: 'memory';
  /** An object with `get`, `has` and `set` of Map. */
  readonly db: object;
  /** Milliseconds. */
  readonly duration: number;
  readonly max: number;
  /** Prefix of the keys of `db`, followed by a colon and the id. */
  readonly namespace: string;
  readonly id: (context: LimitContext) => string;
  readonly headers: { readonly remaining: string; readonly reset: string; readonly total: string };
  readonly errorMessage: string;
}) => (context: LimitContext, next: () => Promise<void>) => Promise<void> = createRequire(import.meta.url)(
  'koa-ratelimit',
);

/** The allowance of a client in the current window. */
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
  /** Charges a request to a client and returns the allowance after it. */
  charge(client: string): Allowance | Promise<Allowance>;
  /** Returns the allowance without a charge. */
  peek(client: string): Allowance | Promise<Allowance>;
  /** Sets the number of requests per minute. An open window keeps the limit that it started with. */
  setMax(max: number): void;
}

/**
 * Counts a change of an account, by whichever of its keys and sessions it is made. Throws `rate_limited` beyond the limit of the
 * account.
 */
export type ChargeChange = (accountId: number) => Promise<void>;

/** Creates the {@link ChargeChange} over a limiter of accounts. */
export function createChangeCharge(limiter: RateLimiter): ChargeChange {
  return async (accountId) => {
    const { allowed, limit, retryAfterSeconds } = await limiter.charge(String(accountId));
    if (allowed) return;
    const detail = `More than ${limit} changes of an account in a minute, by all of its keys and members. Wait ${retryAfterSeconds} s.`;
    throw retryLater('rate_limited', retryAfterSeconds, detail, { retry_after: retryAfterSeconds });
  };
}

/** Length of a window, milliseconds (contract 8). */
const WINDOW_MS = 60_000;
/** Maximum number of addresses in memory (decisions, Keys and limits). */
const MAX_CLIENTS = 100_000;

/**
 * Creates a {@link RateLimiter} for this process only, with `max` requests per minute and client. Its `peek` is
 * synchronous, and so is its `charge` in an open window, which the library would count alike, at five times the cost.
 * `name` distinguishes limiters that share a memory.
 */
export function createRateLimiter(name: string, max: number, memory: LimitMemory) {
  let limit = max;
  const makeCheck = () => countBy({ driver: 'memory', db: memory, max: limit, namespace: name });
  let check = makeCheck();
  const allowanceOf = (window: Window, allowed: boolean, total: number, remaining: number): Allowance => ({
    allowed,
    limit: total,
    remaining,
    resetAtSeconds: window.resetAtSeconds,
    retryAfterSeconds: memory.secondsLeft(window),
  });
  const peek = (client: string): Allowance => {
    const entry = memory.peek(`${name}:${client}`);
    if (entry === undefined) return allowanceOf(memory.newWindow(), true, limit, limit);
    // The stored number does not include the newest request.
    const remaining = Math.max(0, entry.remaining - 1);
    return allowanceOf(entry, remaining > 0, entry.total, remaining);
  };
  const openWindow = async (client: string): Promise<Allowance> => {
    const context = createContext(client);
    await check(context);
    // Other requests may have been counted since; the library's number is that of this request.
    const { remaining = 0 } = context.figures;
    return { ...peek(client), allowed: context.status !== 429, remaining };
  };
  return {
    peek,
    charge(client: string): Allowance | Promise<Allowance> {
      const entry = memory.peek(`${name}:${client}`);
      if (entry === undefined) return openWindow(client);
      // As the library counts.
      entry.remaining = Math.max(0, entry.remaining - 1);
      return allowanceOf(entry, entry.remaining > 0, entry.total, Math.max(0, entry.remaining - 1));
    },
    setMax(value: number): void {
      if (value === limit) return;
      limit = value;
      check = makeCheck();
    },
  };
}

interface Window {
  /** End by the monotonic clock, milliseconds; neither sleep nor a change of the wall clock affects it. */
  readonly endsAt: number;
  /** End as sent to clients, Unix seconds, rounded up. */
  readonly resetAtSeconds: number;
}

interface LibraryEntry {
  readonly id: string;
  /** Unix seconds by the library's clock, which starts at the wall time and is then monotonic. */
  readonly reset: number;
  remaining: number;
  readonly total: number;
}

type LimitEntry = LibraryEntry & Window;

/** The part of a Koa context that the library uses. */
interface LimitContext {
  readonly client: string;
  figures: { remaining?: number; reset?: number; total?: number };
  readonly state: object;
  status: number;
  body: unknown;
  set(name: object | string, value?: unknown): void;
}

/** Creates a context in which the library stores its result. */
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

/** Creates a counter by the library over `db`; it stores its result in the {@link LimitContext}. */
function countBy(
  options: Pick<Parameters<typeof ratelimit>[0], 'driver' | 'db' | 'max' | 'namespace'>,
): (context: LimitContext) => Promise<void> {
  const check = ratelimit({
    ...options,
    duration: WINDOW_MS,
    id: ({ client }) => client,
    headers: { remaining: 'remaining', reset: 'reset', total: 'total' },
    errorMessage: 'limited',
  });
  // The pipeline continues the request, so the next middleware does nothing.
  return (context) => check(context, () => Promise.resolve());
}

/**
 * The memory of limiters: at most `clientsKept` windows. Windows that have ended are dropped first, then the oldest.
 *
 * The library changes an entry after `get` has returned it, so that concurrent requests would share a number; `get`
 * therefore stores and returns a copy. Our clock determines when a window ends, not the library's.
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
    // New windows are added at the end. All have the same length, so the first one in the map ends first.
    super.delete(key);
    this.#sweep();
    return super.set(key, { ...entry, reset: Number.POSITIVE_INFINITY, ...this.newWindow() });
  }

  /** The entry of a window that has not ended, not copied. */
  peek(key: string): LimitEntry | undefined {
    const entry = super.get(key);
    return entry === undefined || entry.endsAt <= this.#clock.monotonic() ? undefined : entry;
  }

  /** Creates a window that begins now. */
  newWindow(): Window {
    return {
      endsAt: this.#clock.monotonic() + WINDOW_MS,
      resetAtSeconds: Math.ceil((this.#clock.now() + WINDOW_MS) / 1_000),
    };
  }

  /** Whole seconds until the end of a window, at least 1. */
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

/** Creates the counter of a process. It throws `rate_limited` beyond `perMinute` of an account. */
export function createHandCharge<What extends string>(
  perMinute: Readonly<Record<What, number>>,
  clock: Clock,
): (what: What, accountId: number) => Promise<void> {
  const memory = new LimitMemory(clock, MAX_ACCOUNTS);
  const limiters = new Map<What, RateLimiter>();
  return async (what, accountId) => {
    const limiter = getOrInsert(limiters, what, () =>
      createRateLimiter(`by-hand-${what}`, perMinute[what], memory),
    );
    const { allowed, limit, retryAfterSeconds } = await limiter.charge(String(accountId));
    if (allowed) return;
    const detail = `At most ${limit} a minute can be sent by hand. Wait ${retryAfterSeconds} s.`;
    throw retryLater('rate_limited', retryAfterSeconds, detail, { retry_after: retryAfterSeconds });
  };
}

/** Maximum number of stored targets, at most 500 bytes each; when there are more, that whose tag was stored first is dropped. */
const MAX_TARGETS = 20_000;
/** Maximum length of a stored target. Longer ones are possible, because unknown query parameters are ignored. */
const MAX_TARGET_LENGTH = 400;

/**
 * Requests for pictures that are handled before they are charged. A 304 for a picture is not charged (decisions, Keys
 * and limits), but the picture must be drawn to compare its tag. So the number of concurrent uncharged requests of a
 * client is limited to the number of its remaining requests. Beyond it, only a tag that was sent for the same target is
 * compared.
 */
export function createUnchargedRequests() {
  const sent = new BoundedMap<string, string>(MAX_TARGETS);
  const inFlight = createClientCounts();
  return {
    /** Stores the tag that was sent for a target (path and query). */
    note(target: string, etag: string): void {
      if (target.length <= MAX_TARGET_LENGTH && sent.get(target) !== etag) sent.set(target, etag);
    },
    /**
     * Returns true if `If-None-Match` contains the last tag that was sent for the target, so that the picture is probably
     * cached.
     */
    isKnown(target: string, ifNoneMatch: string): boolean {
      const etag = sent.get(target);
      return etag !== undefined && ifNoneMatch.trim() !== '*' && matches(ifNoneMatch, etag);
    },
    /** Calls `find`. Returns null if the payer already has `remaining` calls in flight. */
    async attempt<Found>(
      payer: string,
      remaining: number,
      find: () => Promise<Found>,
    ): Promise<Found | null> {
      if (inFlight.of(payer) >= remaining) return null;
      inFlight.add(payer);
      try {
        return await find();
      } finally {
        inFlight.remove(payer);
      }
    },
  };
}

/** The Redis server that counts requests. */
export interface LimitServer {
  /** False: the server is unavailable and gets no commands. */
  readonly ready: boolean;
  /**
   * Runs a script for one key; rejects soon if the server does not respond. Concurrent calls may be batched: the script
   * then gets several keys, followed by the arguments of each key, and returns a result for each.
   */
  evaluate(script: string, key: string, args: readonly (string | number)[]): Promise<unknown>;
}

interface SharedLimitParts {
  readonly server: LimitServer;
  /** Counts while the server is unavailable. */
  readonly local: RateLimiter;
  readonly clock: Clock;
}

/**
 * Counts in fixed windows, as the memory does. The script of koa-ratelimit's driver stores the time of every request
 * by the clock of each process: a sliding limit, a hundred bytes per request, and different counts if clocks differ.
 * Arguments of each key: length of a window in milliseconds, limit, `1` to read without a charge. Returns the remaining
 * requests before this one, milliseconds until the end of the window, and the limit with which the window began.
 */
const LIMIT_SCRIPT = `
local answers = {}
for index, key in ipairs(KEYS) do
  local at = index * 3 - 2
  local length, limit, peek = tonumber(ARGV[at]), tonumber(ARGV[at + 1]), ARGV[at + 2] == '1'
  local found = redis.call('HMGET', key, 'used', 'limit')
  local used, left = tonumber(found[1]), redis.call('PTTL', key)
  if used and left > 0 then
    limit = tonumber(found[2])
    if not peek and used < limit then redis.call('HINCRBY', key, 'used', 1) end
    answers[index] = { limit - used, left, limit }
  else
    if not peek then
      redis.call('HSET', key, 'used', 1, 'limit', limit)
      redis.call('PEXPIRE', key, length)
    end
    answers[index] = { limit, length, limit }
  end
end
return answers
`;

/** Creates a limiter of `max` requests per minute and client. `name` distinguishes limiters of one server. */
export function createSharedRateLimiter(
  name: string,
  max: number,
  { server, local, clock }: SharedLimitParts,
): RateLimiter {
  let limit = max;
  const allowance = (allowed: boolean, remaining: number, leftMs: number, total: number): Allowance => ({
    allowed,
    limit: total,
    remaining,
    resetAtSeconds: Math.ceil((clock.now() + leftMs) / 1_000),
    retryAfterSeconds: Math.max(1, Math.ceil(leftMs / 1_000)),
  });
  const ask = (client: string, peek: '0' | '1') =>
    server.evaluate(LIMIT_SCRIPT, `${name}:${client}`, [WINDOW_MS, limit, peek]) as Promise<
      readonly number[]
    >;
  return {
    async charge(client) {
      if (!server.ready) return await local.charge(client);
      try {
        const [before = limit, leftMs = WINDOW_MS, total = limit] = await ask(client, '0');
        return allowance(before > 0, Math.max(0, before - 1), leftMs, total);
      } catch {
        return await local.charge(client);
      }
    },
    async peek(client) {
      if (!server.ready) return await local.peek(client);
      try {
        const [remaining = limit, leftMs = WINDOW_MS, total = limit] = await ask(client, '1');
        return allowance(remaining > 0, remaining, leftMs, total);
      } catch {
        return await local.peek(client);
      }
    },
    setMax(value) {
      local.setMax(value);
      limit = value;
    },
  };
}
