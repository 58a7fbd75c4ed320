/** The part of koa-ratelimit's surface that is used here; its published types are of an older major version. */
declare module 'koa-ratelimit' {
  /** Options of the memory driver. */
  interface RateLimitOptions {
    readonly driver: 'memory' | 'redis';
    /** `memory`: a Map, as far as get, has and set. `redis`: what has the command `ratelimiter`. */
    readonly db: object;
    /** Milliseconds. */
    readonly duration: number;
    readonly max: number;
    /** Stands before the id and a colon in the keys of `db`. */
    readonly namespace: string;
    readonly id: (context: object) => string;
    readonly headers: { readonly remaining: string; readonly reset: string; readonly total: string };
    readonly errorMessage: string;
  }
  export default function ratelimit(
    options: RateLimitOptions,
  ): (context: object, next: () => Promise<void>) => Promise<void>;
}
