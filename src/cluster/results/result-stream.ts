/** The stream of results in Redis: its keys, and the scripts that change it. */
import { redisScript } from '../../store/status/redis-client.ts';

/** The keys; their common hash tag keeps them in one slot of a cluster, as scripts need. */
export interface ResultKeys {
  /** Stream: entries with the fields `head`, `numbers` and `count`. */
  readonly stream: string;
  /** Hash: `judge`, the epoch of the judge; `waiting`, results in the stream; `takeovers`. */
  readonly state: string;
  /** Hash: `region/shard` → `generation:claim:node` of the newest claim. */
  readonly claims: string;
}

export function resultKeys(prefix: string): ResultKeys {
  const base = `${prefix}:{results}`;
  return { stream: `${base}:stream`, state: `${base}:state`, claims: `${base}:claims` };
}

/** All judges read as one consumer, so that each receives the entries that its predecessor has not acknowledged. */
const GROUP = 'judges';
const CONSUMER = 'judge';

/** Maximum number of results in the stream, about 160 MB. Further results wait in their nodes. */
export const MAX_STREAM_RESULTS = 1_000_000;

export const FULL = -1;
/** A later judge has started. */
export const SUPERSEDED = -2;

/**
 * Records claims of a node, and appends results unless one of their claims is older than the newest claim of its shard.
 * Keys: stream, state, claims. Arguments: node, head (empty: no results), numbers, count, then `region/shard`,
 * generation and claim of each shard. Returns the shards with older claims, or FULL.
 */
export const APPEND = redisScript(`
local refused = {}
for at = 5, #ARGV, 3 do
  local generation, claim = tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  local known = redis.call('HGET', KEYS[3], ARGV[at])
  local newest, number, holder = string.match(known or '0:0:' .. ARGV[1], '^(%d+):(%d+):(.*)$')
  newest, number = tonumber(newest), tonumber(number)
  if generation < newest or (generation == newest and claim < number) then
    refused[#refused + 1] = ARGV[at]
  elseif generation > newest or claim > number then
    redis.call('HSET', KEYS[3], ARGV[at], ARGV[at + 1] .. ':' .. ARGV[at + 2] .. ':' .. ARGV[1])
    if holder ~= ARGV[1] then redis.call('HINCRBY', KEYS[2], 'takeovers', 1) end
  end
end
if ARGV[2] == '' or #refused > 0 then return refused end
if tonumber(redis.call('HGET', KEYS[2], 'waiting') or '0') >= ${MAX_STREAM_RESULTS} then return ${FULL} end
redis.call('XADD', KEYS[1], '*', 'head', ARGV[2], 'numbers', ARGV[3], 'count', ARGV[4])
redis.call('HINCRBY', KEYS[2], 'waiting', ARGV[4])
return refused
`);

/**
 * Starts or confirms the epoch of a judge, and creates the consumer group. A new judge clears the claims, because its
 * registry may be a restored backup, in which claims have smaller numbers. Keys: stream, state, claims. Arguments: own
 * epoch (0: none yet). Returns the judge's epoch, or SUPERSEDED.
 */
export const BEGIN = redisScript(`
local stored = tonumber(redis.call('HGET', KEYS[2], 'judge') or '0')
local own = tonumber(ARGV[1])
if stored > own and own > 0 then return ${SUPERSEDED} end
if own == 0 then
  own = stored + 1
  redis.call('DEL', KEYS[3])
end
redis.call('HSET', KEYS[2], 'judge', own)
local made = redis.pcall('XGROUP', 'CREATE', KEYS[1], '${GROUP}', '0', 'MKSTREAM')
if made.err and not string.find(made.err, 'BUSYGROUP') then return made end
return own
`);

/**
 * Reads entries for the judge. Keys: stream, state. Arguments: epoch, how many entries, and `>` for new entries, or the
 * ID after which unacknowledged entries are read. Returns the time in epoch milliseconds, `waiting`, `takeovers` and
 * the response of XREADGROUP; or SUPERSEDED. Fails if Redis was emptied.
 */
export const READ = redisScript(`
local epoch = tonumber(redis.call('HGET', KEYS[2], 'judge') or '0')
if epoch > tonumber(ARGV[1]) then return ${SUPERSEDED} end
if epoch < tonumber(ARGV[1]) then return redis.error_reply('it was emptied') end
local time = redis.call('TIME')
local counts = redis.call('HMGET', KEYS[2], 'waiting', 'takeovers')
local read = redis.call('XREADGROUP', 'GROUP', '${GROUP}', '${CONSUMER}', 'COUNT', ARGV[2], 'STREAMS', KEYS[1], ARGV[3])
return { time[1] * 1000 + math.floor(time[2] / 1000), tonumber(counts[1] or '0'), tonumber(counts[2] or '0'), read }
`);

/** Acknowledges entries and deletes them. Keys: stream, state. Arguments: id and `count` of each. */
export const ACKNOWLEDGE = redisScript(`
local waiting = tonumber(redis.call('HGET', KEYS[2], 'waiting') or '0')
for at = 1, #ARGV, 2 do
  redis.call('XACK', KEYS[1], '${GROUP}', ARGV[at])
  if redis.call('XDEL', KEYS[1], ARGV[at]) == 1 then waiting = waiting - tonumber(ARGV[at + 1]) end
end
-- Entries that others have added or deleted were not counted.
if redis.call('XLEN', KEYS[1]) == 0 then waiting = 0 end
redis.call('HSET', KEYS[2], 'waiting', math.max(0, waiting))
return waiting
`);
