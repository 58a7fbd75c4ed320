/** The entry of a node in Redis: its instance, its state as JSON, the claim of its name, and the keys of them. */
import { formatTime } from '../domain/durations.ts';
import { NODE_ROLES, type NodeRole, type NodeState } from '../domain/node.ts';
import { redisScript } from '../store/status/redis-client.ts';

/** The state of a node, with the identity of its process. */
export interface NodeRecord extends Omit<NodeState, 'lastSeen'> {
  /** Distinguishes the process from later ones on its machine with the same id; null: the system does not provide it. */
  readonly process: string | null;
  /** True: the node is still loading, or stopping. Other nodes do not count it, but its name is taken. */
  readonly starting: boolean;
}

export interface StoredNode {
  /** Random; each start of a process has its own. */
  readonly instance: string;
  /** Null: the node has left, or its record cannot be read. */
  readonly record: NodeRecord | null;
}

/** Length of an instance, a UUID; the scripts cut it off. */
const INSTANCE_LENGTH = 36;

/** The value of a node; `record` null: it has left. */
export function formatNode({ instance, record }: StoredNode): string {
  return instance + (record === null ? '' : JSON.stringify(record));
}

/** Parses a value. Members that an older version does not write get defaults; unknown members of a newer version are ignored. */
export function parseNode(name: string, value: string): StoredNode {
  const instance = value.slice(0, INSTANCE_LENGTH);
  return { instance, record: readRecord(name, value.slice(INSTANCE_LENGTH)) };
}

function readRecord(name: string, text: string): NodeRecord | null {
  const fields = readObject(text);
  if (fields === null) return null;
  const textOf = (key: string) => (typeof fields[key] === 'string' ? fields[key] : '');
  const numberOf = (key: string) => (Number.isFinite(fields[key]) ? Number(fields[key]) : 0);
  const roles: readonly unknown[] = Array.isArray(fields.roles) ? fields.roles : [];
  const online = fields.online !== false;
  return {
    name,
    region: textOf('region'),
    roles: NODE_ROLES.filter((role: NodeRole) => roles.includes(role)),
    version: textOf('version'),
    host: textOf('host'),
    pid: numberOf('pid'),
    process: textOf('process') || null,
    since: numberOf('since'),
    services: numberOf('services'),
    checksPerSecond: numberOf('checksPerSecond'),
    online,
    offlineSince: online ? null : numberOf('offlineSince'),
    reachesRegistry: fields.reachesRegistry !== false,
    checksProblem: textOf('checksProblem') || null,
    clockOffsetMs: numberOf('clockOffsetMs'),
    starting: fields.starting === true,
  };
}

function readObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}

/** Thrown if the name of a node is that of another live process. */
export class NodeNameTaken extends Error {
  readonly code = 'node_name_taken';
}

/** The identity of a process on the machines of a cluster. */
type NodeProcess = Pick<NodeRecord, 'host' | 'pid' | 'process'>;

/** Returns true if a process runs; null: unknown, because the process is on another machine. */
export type IsRunning = (node: NodeProcess) => boolean | null;

export interface NameClaim {
  /** The instance whose entry may be replaced, since its process has ended; an empty string: none. */
  readonly replaces: string;
  /** Reports that another instance has the name. Returns the reason to give up; null: not known yet, try again. */
  noteHolder(value: string, seen: string): NodeNameTaken | null;
  /** Reports that this process has the name. */
  noteHeld(): void;
}

/** Creates the claim to `name`. A holder on another machine is alive if its entry is renewed while this process watches it. */
export function createNameClaim(name: string, isRunning: IsRunning): NameClaim {
  let first: { readonly instance: string; readonly seen: string } | null = null;
  let replaces = '';
  return {
    get replaces() {
      return replaces;
    },
    noteHolder(value, seen) {
      const { instance, record } = parseNode(name, value);
      const runs = record === null ? null : isRunning(record);
      replaces = runs === false ? instance : '';
      const wasRenewed = first?.instance === instance && first.seen !== seen;
      if (first?.instance !== instance) first = { instance, seen };
      return runs === true || (wasRenewed && runs === null) ? nameTaken(name, record) : null;
    },
    noteHeld() {
      first = null;
      replaces = '';
    },
  };
}

function nameTaken(name: string, record: NodeRecord | null): NodeNameTaken {
  const who =
    record === null
      ? 'another process'
      : `process ${record.pid} on ${record.host}, which runs since ${formatTime(record.since)}`;
  return new NodeNameTaken(
    `The node name ${name} is taken by ${who}. Set node.name to a name that no other node has.`,
  );
}

// Keys and scripts of the live nodes in Redis. All of them are in one slot of a cluster.

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
 * Renews a node, or registers it. Keys: records, seen. Arguments: name, value, the instance that may be replaced although it is live,
 * or an empty string, and whether to list the live nodes, 1 or 0. Nodes whose last renewal is too old, or in the future since the
 * clock was set, are removed. Returns 'renewed', Redis' time, for how many milliseconds there has been a live node, and the live
 * nodes; or 'taken', Redis' time, and the value and last renewal of the live node that has the name.
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
