/** The memory of the rate limits: bounded, swept, and safe for requests that are counted at the same moment. */
import type { MemoryEntry } from 'koa-ratelimit';
import type { Clock } from '../clock.ts';

/** One window of one caller. */
export interface RateWindow extends MemoryEntry {
  /** End by the monotonic clock, milliseconds: neither sleep nor a corrected wall clock shortens or stretches it. */
  readonly endsAt: number;
  /** End as the client is told, whole Unix seconds, rounded up. */
  readonly resetSeconds: number;
}

/** How a caller stands. */
export interface Standing {
  readonly limit: number;
  readonly remaining: number;
  /** Whole Unix seconds, rounded up. */
  readonly resetSeconds: number;
  /** Milliseconds to the end of the window. */
  readonly leftMs: number;
}

/** What a store needs. */
export interface RateStoreOptions {
  readonly clock: Clock;
  /** Length of every window, milliseconds. */
  readonly windowMs: number;
  /** Windows remembered at a time; the oldest go first. */
  readonly capacity: number;
}

/**
 * The `db` of koa-ratelimit's memory driver. That driver changes the entry that it gets, waits, and reads it again:
 * with one entry for all, requests of the same moment would each see the last one's count. So every reader gets, and
 * leaves behind, a copy of its own.
 */
export class RateStore extends Map<string, RateWindow> {
  readonly #options: RateStoreOptions;

  constructor(options: RateStoreOptions) {
    super();
    this.#options = options;
  }

  override get(key: string): RateWindow | undefined {
    const found = this.#current(key);
    if (found === undefined) return undefined;
    const copy = { ...found };
    super.set(key, copy);
    return copy;
  }

  override set(key: string, entry: MemoryEntry): this {
    const { clock, windowMs } = this.#options;
    this.#sweep();
    // The driver's clock is not ours: its entries never end by themselves, only by `endsAt`.
    return super.set(key, {
      id: entry.id,
      reset: Number.POSITIVE_INFINITY,
      remaining: entry.remaining,
      total: entry.total,
      endsAt: clock.monotonic() + windowMs,
      resetSeconds: Math.ceil((clock.now() + windowMs) / 1000),
    });
  }

  /** Counts a request at once, by the driver's own rule; null: the limit is reached, and nothing was changed. */
  take(key: string, limit: number): Standing | null {
    const found = this.#current(key);
    if (found === undefined) {
      this.set(key, { id: key, reset: 0, remaining: limit, total: limit });
      return this.standing(key, limit);
    }
    if (found.remaining <= 1) return null;
    const next: RateWindow = {
      id: found.id,
      reset: found.reset,
      remaining: found.remaining - 1,
      total: found.total,
      endsAt: found.endsAt,
      resetSeconds: found.resetSeconds,
    };
    super.set(key, next);
    return this.#standingOf(next);
  }

  /** How a caller stands, without counting anything. */
  standing(key: string, limit: number): Standing {
    const found = this.#current(key);
    if (found !== undefined) return this.#standingOf(found);
    const { clock, windowMs } = this.#options;
    return {
      limit,
      remaining: limit,
      resetSeconds: Math.ceil((clock.now() + windowMs) / 1000),
      leftMs: windowMs,
    };
  }

  #standingOf({ total, remaining, resetSeconds, endsAt }: RateWindow): Standing {
    return {
      limit: total,
      // The driver creates an entry with the full count and counts its first request nowhere.
      remaining: Math.max(0, remaining - 1),
      resetSeconds,
      leftMs: endsAt - this.#options.clock.monotonic(),
    };
  }

  #current(key: string): RateWindow | undefined {
    const found = super.get(key);
    if (found === undefined || this.#options.clock.monotonic() < found.endsAt) return found;
    super.delete(key);
    return undefined;
  }

  /** Windows are equally long, so the order of insertion is the order of their ends. */
  #sweep(): void {
    const { clock, capacity } = this.#options;
    const now = clock.monotonic();
    for (const [key, { endsAt }] of this) {
      if (endsAt > now && this.size < capacity) return;
      super.delete(key);
    }
  }
}
