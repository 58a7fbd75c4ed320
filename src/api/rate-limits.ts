/** Request limits by address and by key, on koa-ratelimit (contract, part 8; decisions, Keys and limits). */
import ratelimit, { type RateLimitContext } from 'koa-ratelimit';
import type { Clock } from '../clock.ts';
import { RateStore, type Standing } from './rate-store.ts';

/** What is counted apart: API endpoints, pictures, and pages with what they load. */
export type Bucket = 'api' | 'pictures' | 'pages';

/** Who is counted: an address, or a key by its number. */
export interface Caller {
  readonly kind: 'address' | 'key';
  readonly id: string;
}

/** Requests a minute. */
export interface RateSettings {
  readonly anonymousPerMinute: number;
  readonly authenticatedPerMinute: number;
  /** For pages and what they load; generous. */
  readonly pagesPerMinute: number;
}

/** Whether a request may pass, and how its caller stands after it. */
export interface Ruling extends Standing {
  readonly limited: boolean;
}

/** The limits of one process. */
export interface RateLimits {
  /** Counts a request. */
  take(bucket: Bucket, caller: Caller): Promise<Ruling>;
  /** Counts a request without waiting; null: the limit is reached, and nothing was changed. */
  takeNow(bucket: Bucket, caller: Caller): Standing | null;
  /** How a caller stands, without counting. */
  peek(bucket: Bucket, caller: Caller): Standing;
  /** Takes new limits; windows that are open keep theirs. */
  setLimits(settings: RateSettings): void;
}

const WINDOW_MS = 60_000;

/** Addresses, and keys, remembered at a time (decisions, Keys and limits). */
const CAPACITY = 100_000;

interface Question extends RateLimitContext {
  readonly key: string;
}

type Limiter = (question: Question, next: () => Promise<void>) => Promise<void>;

/** Makes the limits. `capacity` is for tests. */
export function createRateLimits(clock: Clock, settings: RateSettings, capacity = CAPACITY): RateLimits {
  const stores = {
    address: new RateStore({ clock, windowMs: WINDOW_MS, capacity }),
    key: new RateStore({ clock, windowMs: WINDOW_MS, capacity }),
  };
  let current = settings;
  // The package's `max` is fixed for each instance, so there is one for each limit.
  let limiters = new Map<string, Limiter>();

  const limitOf = (bucket: Bucket, kind: Caller['kind']) => {
    if (bucket === 'pages') return current.pagesPerMinute;
    return kind === 'key' ? current.authenticatedPerMinute : current.anonymousPerMinute;
  };

  const limiterOf = (bucket: Bucket, kind: Caller['kind']): Limiter => {
    const name = `${bucket} ${kind}`;
    const known = limiters.get(name);
    if (known !== undefined) return known;
    const made = ratelimit<Question>({
      driver: 'memory',
      db: stores[kind],
      duration: WINDOW_MS,
      max: limitOf(bucket, kind),
      namespace: bucket,
      id: ({ key }) => key,
    });
    limiters.set(name, made);
    return made;
  };

  return {
    async take(bucket, caller) {
      const question = new EmptyContext(caller.id);
      let passed = false;
      // An empty `next`: the package only counts. What it says to clients is not in our form.
      await limiterOf(bucket, caller.kind)(question, async () => {
        passed = true;
      });
      const standing = stores[caller.kind].standing(`${bucket}:${caller.id}`, limitOf(bucket, caller.kind));
      // Others may have been counted meanwhile; the package's own count is this request's.
      return { ...standing, remaining: question.remaining, limited: !passed };
    },
    takeNow: (bucket, { kind, id }) => stores[kind].take(`${bucket}:${id}`, limitOf(bucket, kind)),
    peek: (bucket, { kind, id }) => stores[kind].standing(`${bucket}:${id}`, limitOf(bucket, kind)),
    setLimits(next) {
      current = next;
      limiters = new Map();
    },
  };
}

/** The headers that say how a caller stands (contract, part 8). */
export function limitHeaders({ limit, remaining, resetSeconds }: Standing): Record<string, string> {
  return {
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': String(remaining),
    'X-RateLimit-Reset': String(resetSeconds),
  };
}

/** Whole seconds for `Retry-After`, at least 1. */
export function retryAfterSeconds({ leftMs }: Standing): number {
  return Math.max(1, Math.ceil(leftMs / 1000));
}

/** As much of a Koa context as the package writes to, so that nothing of it reaches the client. */
class EmptyContext implements Question {
  readonly key: string;
  status = 404;
  body: unknown = undefined;
  state = {};
  remaining = 0;

  constructor(key: string) {
    this.key = key;
  }

  set(headers: string | Readonly<Record<string, unknown>>): void {
    if (typeof headers === 'object') this.remaining = Number(headers['X-RateLimit-Remaining']);
  }
}
