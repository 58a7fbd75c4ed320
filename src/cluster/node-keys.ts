/** Keys and scripts of the live nodes in Redis. All of them are in one slot of a cluster. */
import { redisScript } from '../store/status/redis-client.ts';
import { INSTANCE_LENGTH } from './node-record.ts';

/** The keys under a prefix. */
export function nodeKeys(prefix: string) {
  return {
    /** Hash: name → instance and record; `:populated` → since when there is a live node, epoch milliseconds. */
    records: `${prefix}:{nodes}:records`,
    /** Sorted set: name → last renewal, epoch milliseconds by Redis' clock. */
    seen: `${prefix}:{nodes}:seen`,
  };
}

/** A node that has not renewed its entry for this time is removed, milliseconds. */
export const NODE_LIFE_MS = 6_000;

/** Results of {@link RENEW}. */
const RENEWED = 'renewed';
export const TAKEN = 'taken';

const TIME = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local text = function(number) return string.format('%.0f', number) end`;

/** Appends name, value and last renewal of each live node to `answer`. */
const LIST = `
local values = redis.call('HGETALL', KEYS[1])
local value = {}
for at = 1, #values, 2 do value[values[at]] = values[at + 1] end
local live = redis.call('ZRANGEBYSCORE', KEYS[2], text(now - ${NODE_LIFE_MS}), text(now + ${NODE_LIFE_MS}), 'WITHSCORES')
for at = 1, #live, 2 do
  if value[live[at]] then
    for _, part in ipairs({live[at], value[live[at]], live[at + 1]}) do table.insert(answer, part) end
  end
end
return answer`;

/**
 * Renews a node, or registers it. Keys: records, seen. Arguments: name, value, the instance that may be replaced although
 * it is live, or an empty string, and whether to list the live nodes, 1 or 0. Nodes whose last renewal is too old, or in
 * the future since the clock was set, are removed. Returns 'renewed', Redis' time, for how many milliseconds there has
 * been a live node, and the live nodes; or 'taken', Redis' time, and the value and last renewal of the live node that has
 * the name.
 */
export const RENEW = redisScript(`${TIME}
local gone = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', '(' .. text(now - ${NODE_LIFE_MS}))
for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. text(now + ${NODE_LIFE_MS}), '+inf')) do
  table.insert(gone, name)
end
for _, name in ipairs(gone) do
  redis.call('ZREM', KEYS[2], name)
  redis.call('HDEL', KEYS[1], name)
end
local held = redis.call('HGET', KEYS[1], ARGV[1])
local seen = redis.call('ZSCORE', KEYS[2], ARGV[1])
if held and seen and #held > ${INSTANCE_LENGTH} then
  local instance = string.sub(held, 1, ${INSTANCE_LENGTH})
  if instance ~= string.sub(ARGV[2], 1, ${INSTANCE_LENGTH}) and instance ~= ARGV[3] then
    return {'${TAKEN}', text(now), held, seen}
  end
end
local populated = tonumber(redis.call('HGET', KEYS[1], ':populated') or now)
if populated >= now or redis.call('ZCARD', KEYS[2]) == 0 then
  populated = now
  redis.call('HSET', KEYS[1], ':populated', text(now))
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], text(now), ARGV[1])
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ${NODE_LIFE_MS * 10}) end
local answer = {'${RENEWED}', text(now), text(now - populated)}
if ARGV[4] ~= '1' then return answer end
${LIST}`);

/** Lists the live nodes. Keys: records, seen. Returns Redis' time, then name, value and last renewal of each. */
export const READ = redisScript(`${TIME}
local answer = {text(now)}
${LIST}`);
