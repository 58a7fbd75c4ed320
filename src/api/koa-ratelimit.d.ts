/** The part of koa-ratelimit 6 that is used here; the package brings no types. */
declare module 'koa-ratelimit' {
  /** What it touches of a Koa context. */
  export interface RateLimitContext {
    status: number;
    body: unknown;
    state: object;
    set(headers: Readonly<Record<string, unknown>>): void;
    set(name: string, value: unknown): void;
  }

  /** The memory driver's entry. */
  export interface MemoryEntry {
    id: string;
    /** Seconds of the driver's own clock. */
    reset: number;
    /** Requests left before the one that created or read the entry was counted. */
    remaining: number;
    total: number;
  }

  export interface MemoryOptions<Context extends RateLimitContext> {
    driver: 'memory';
    db: Map<string, MemoryEntry>;
    /** Milliseconds. */
    duration: number;
    max: number;
    namespace: string;
    id(context: Context): string;
  }

  export default function ratelimit<Context extends RateLimitContext>(
    options: MemoryOptions<Context>,
  ): (context: Context, next: () => Promise<void>) => Promise<void>;
}
