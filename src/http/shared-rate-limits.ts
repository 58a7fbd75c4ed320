/**
 * Rate limits that several processes share by a script in Redis. While the server is unavailable, each process counts its own
 * requests by koa-ratelimit (decisions, Keys and limits).
 */
import type { Clock } from '../clock.ts';
import { type Allowance, type RateLimiter, WINDOW_MS } from './rate-limits.ts';

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

export interface SharedLimitParts {
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
