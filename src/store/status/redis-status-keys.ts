/** The keys of the status store in Redis, the format of a record, and the scripts that change the store. */
import {
  type CurrentStatus,
  fromStoredCheck,
  fromStoredRegions,
  type StoredCheck,
  type StoredRegions,
  toStoredCheck,
  toStoredRegions,
} from '../../domain/status/current.ts';
import type { ServiceStatus } from '../../domain/status.ts';
import { type HeldRecord, isUnread, type UnreadRecord } from './memory-status-store.ts';
import { redisScript } from './redis-client.ts';

/** The keys; their common hash tag keeps them in one slot of a cluster, as scripts need. */
export interface StatusKeys {
  /** Hash: records by the number of their service. */
  readonly records: string;
  /** Stream of changes. */
  readonly changes: string;
  /** Hash: `epoch`, `count`, `birth`. */
  readonly meta: string;
}

/** A record with the epoch of the writer that stored it; both order it. */
export interface StoredRecord {
  readonly epoch: number;
  readonly record: HeldRecord;
}

interface StoredRecordBody
  extends Omit<CurrentStatus, 'latest' | 'regions' | 'scope'>,
    Partial<StoredRegions> {
  readonly latest: StoredCheck | null;
}

/**
 * Length of the stream; older entries are removed. Redis may keep up to a node of a hundred more. With more than twice as
 * many services, half as many entries as services are kept: a reader that begins reads all records first, and must still
 * find the changes since then.
 */
export const MAX_CHANGES = 10_000;

/** Results of the scripts that are no counts. */
export const EMPTY = -1;
/** There was a writer with a greater epoch. */
export const SUPERSEDED = -2;

export function statusKeys(prefix: string): StatusKeys {
  const base = `${prefix}:{status}`;
  return { records: `${base}:records`, changes: `${base}:changes`, meta: `${base}:meta` };
}

/** A record as Redis keeps it; scripts read the numbers, processes the JSON. */
export function formatRecord(epoch: number, record: CurrentStatus): string {
  const latest = record.latest === null ? null : toStoredCheck(record.latest);
  const body = { ...record, latest, ...toStoredRegions(record) };
  return `${epoch}:${record.seq}:${record.observedAt}:${JSON.stringify(body)}`;
}

/** Formats what a store holds of a service. */
export function formatHeld(epoch: number, record: HeldRecord): string {
  return isUnread(record)
    ? `${epoch}:${record.seq}:${record.observedAt}:${record.json}`
    : formatRecord(epoch, record);
}

/** The epoch, seq and time before the JSON of a record. */
const FRAME = /^(\d+):\d+:\d+:(?=\{)/;
/** The start of the JSON, as {@link formatRecord} formats it. */
const HEAD =
  /^\{"serviceId":(\d+),"seq":(\d+),"observedAt":(\d+),"status":"(up|slow|unknown)","since":(?:\d+|null),"latest":(?:null|\{"status":"(?:up|slow)","responseTimeMs":(?:\d+|null),"statusCode":\d+,"checkedAt":(\d+),)/;
/** Texts that only a record with a scope or a failing region contains: no quotation mark in a text of JSON stands alone. */
const IN_TROUBLE = ['"scope":"', '"status":"down"'];

/**
 * Reads what {@link formatRecord} formatted; null: it is something else. A record that fails nowhere stays as it is
 * until somebody reads it.
 */
export function receiveRecord(text: string): StoredRecord | null {
  const [frame = '', epoch] = FRAME.exec(text) ?? [];
  if (epoch === undefined) return null;
  const json = text.slice(frame.length);
  const head = IN_TROUBLE.some((part) => json.includes(part)) ? null : HEAD.exec(json);
  const record = head === null ? parseBody(json) : new ReceivedRecord(json, head);
  return record === null ? null : { epoch: Number(epoch), record };
}

/** A record whose JSON was not parsed yet. */
class ReceivedRecord implements UnreadRecord {
  readonly serviceId: number;
  readonly seq: number;
  readonly observedAt: number;
  readonly status: ServiceStatus;
  readonly checkedAt: number | null;
  readonly json: string;

  constructor(json: string, [, id, seq, observedAt, status, checkedAt]: RegExpExecArray) {
    this.serviceId = Number(id);
    this.seq = Number(seq);
    this.observedAt = Number(observedAt);
    this.status = status as ServiceStatus;
    this.checkedAt = checkedAt === undefined ? null : Number(checkedAt);
    this.json = json;
  }

  read(): CurrentStatus | null {
    return parseBody(this.json);
  }
}

function parseBody(json: string): CurrentStatus | null {
  try {
    const { regions, scope = null, ...record } = JSON.parse(json) as StoredRecordBody;
    const latest = record.latest === null ? null : fromStoredCheck(record.latest);
    const places = regions === undefined ? {} : fromStoredRegions({ regions, scope }, latest);
    return { ...record, latest, ...places };
  } catch {
    return null;
  }
}

/**
 * Starts or confirms the epoch of a writer. Keys: meta. Arguments: own epoch (0: none yet), a random id for a new
 * store. Returns the writer's epoch, or SUPERSEDED.
 */
export const BEGIN = redisScript(`
redis.call('HSETNX', KEYS[1], 'birth', ARGV[2])
local stored = tonumber(redis.call('HGET', KEYS[1], 'epoch') or '0')
local own = tonumber(ARGV[1])
if own == 0 then own = stored + 1 elseif stored > own then return ${SUPERSEDED} end
redis.call('HSET', KEYS[1], 'epoch', own)
return own
`);

/** The start of changing scripts: the writer's epoch must be that of the store. */
const ONLY_IN_EPOCH = `
local own = tonumber(ARGV[1])
local stored = tonumber(redis.call('HGET', KEYS[3], 'epoch') or '0')
if stored > own then return ${SUPERSEDED} end
if stored < own then return ${EMPTY} end
local kept = math.max(${MAX_CHANGES}, math.floor(redis.call('HLEN', KEYS[1]) / 2))
local counted = tonumber(redis.call('HGET', KEYS[3], 'count') or '0')
local count = counted
local function note(id, record)
  count = count + 1
  redis.call('XADD', KEYS[2], 'MAXLEN', '~', kept, '*', 'count', count, 'id', id, 'record', record)
end
local function endNotes()
  if count > counted then redis.call('HSET', KEYS[3], 'count', count) end
end
`;

/**
 * Stores each record that is newer by (seq, observedAt), or replaces one of an older epoch. Keys: records,
 * changes, meta. Arguments: epoch, then id, seq, observedAt and text of each. Returns the number of stored records.
 */
export const PUT = redisScript(`${ONLY_IN_EPOCH}
local taken = 0
for at = 2, #ARGV, 4 do
  local id, seq, time = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  local known = redis.call('HGET', KEYS[1], id)
  local newer, told = true, false
  if known then
    local epoch, knownSeq, knownTime = string.match(known, '^(%d+):(%d+):(%d+):')
    epoch, knownSeq, knownTime = tonumber(epoch), tonumber(knownSeq), tonumber(knownTime)
    if epoch == own then newer = seq > knownSeq or (seq == knownSeq and time > knownTime) end
    told = seq == knownSeq and time == knownTime
  end
  if newer then
    redis.call('HSET', KEYS[1], id, ARGV[at + 3])
    if not told then note(id, ARGV[at + 3]) end
    taken = taken + 1
  end
end
endNotes()
return taken
`);

/** Removes services. Keys: records, changes, meta. Arguments: epoch, then ids. Returns the number of removed records. */
export const REMOVE = redisScript(`${ONLY_IN_EPOCH}
local removed = 0
for at = 2, #ARGV do
  if redis.call('HDEL', KEYS[1], ARGV[at]) == 1 then
    note(ARGV[at], '')
    removed = removed + 1
  end
end
endNotes()
return removed
`);
