/**
 * The stream of results in Redis: its keys, the scripts that change it, and its entries: a line of JSON, and the unchanged numbers of the
 * packed results.
 */

import {
  describeCause,
  FAILURE_CLASSES,
  fromStoredFailure,
  PHASES,
  type StoredFailure,
  toStoredFailure,
} from '../../domain/failure.ts';
import { CLOCK_OFF_MS, isRegionName, MAX_CLOCK_OFFSET_MS } from '../../domain/node.ts';
import type { CheckResult, RuledResult } from '../../domain/result.ts';
import { packResults, STRIDE, unpackResults } from '../../engine/protocol.ts';
import { redisScript } from '../../store/status/redis-client.ts';

/** The keys; their common hash tag keeps them in one slot of a cluster, as scripts need. */
interface ResultKeys {
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

/** Results of one node, in the order in which they were made. */
export interface NodeResults {
  readonly node: string;
  /** The node's wall clock minus the common clock of all nodes, milliseconds. */
  readonly clockOffsetMs: number;
  /** The results, all of one region. */
  readonly region: string;
  readonly results: readonly RuledResult[];
}

/** An entry of the stream. */
export interface EncodedResults {
  /** JSON. */
  readonly head: string;
  readonly numbers: Buffer;
}

/**
 * Versions of the format; a judge refuses others. Form 1 has no flag for `answered`: a result with a status code is one
 * with a response. Results for which that holds are written in form 1, so that a judge of an earlier version reads them.
 */
const FORMS = { statusCode: 1, answered: 2 } as const;

/** The JSON of an entry. An index is the number of a result, from 0. */
interface Head {
  readonly form: number;
  readonly node: string;
  readonly region: string;
  readonly offset: number;
  readonly suspect: readonly number[];
  /** Text for a judge of an earlier version, which may not know the cause. */
  readonly failures: readonly (readonly [index: number, failure: StoredFailure])[];
  readonly words: readonly (readonly [index: number, word: string])[];
}

export function encodeResults({ node, clockOffsetMs, region, results }: NodeResults): EncodedResults {
  const { numbers, failures, words } = packResults(results.map(({ result }) => result));
  const head: Head = {
    form: results.every(({ result }) => isPlain(result)) ? FORMS.statusCode : FORMS.answered,
    node,
    region,
    offset: clockOffsetMs,
    suspect: results.flatMap(({ suspect }, index) => (suspect ? [index] : [])),
    failures: failures.map(([index, failure]) => [index, toStoredFailure(failure)]),
    words,
  };
  return { head: JSON.stringify(head), numbers: Buffer.from(numbers.buffer) };
}

/** Returns true if an earlier version of the program would read the same from the result. */
function isPlain({ answered, statusCode }: CheckResult): boolean {
  return answered === (statusCode !== 0);
}

/** Decodes an entry; null: the entry does not have this format. */
export function decodeResults(head: string, numbers: Uint8Array): NodeResults | null {
  try {
    const { form, node, region, offset, suspect, failures, words } = JSON.parse(head) as Head;
    const isForm = form === FORMS.statusCode || form === FORMS.answered;
    const isHead = isForm && typeof node === 'string' && isRegionName(region);
    if (!isHead || !Number.isFinite(offset)) return null;
    const unpacked = unpackResults({
      numbers: numbersOf(numbers),
      failures: failures.map(([index, failure]) => [index, readFailure(failure)]),
      words: words.map(([index, word]) => [index, String(word)]),
    });
    if (!unpacked.every(isResult)) return null;
    const suspects = new Set(suspect);
    const results = unpacked.map((read, index) => {
      const result = form === FORMS.answered ? read : { ...read, answered: read.statusCode !== 0 };
      return { result, suspect: suspects.has(index), region };
    });
    return { node, clockOffsetMs: offset, region, results };
  } catch {
    // An invalid entry must not block the entries behind it.
    return null;
  }
}

/** Copies the bytes, since numbers must be aligned. Throws if they are not whole results, or not numbers of a result. */
function numbersOf(bytes: Uint8Array): Float64Array<ArrayBuffer> {
  const numbers = new Float64Array(new Uint8Array(bytes).buffer);
  const isNumber = (value: number) => Number.isNaN(value) || Math.abs(value) <= MAX_NUMBER;
  if (numbers.length % STRIDE !== 0 || !numbers.every(isNumber)) throw new Error('malformed results');
  return numbers;
}

/** Parses a failure. Throws if the value is not one. */
function readFailure(stored: StoredFailure): ReturnType<typeof fromStoredFailure> {
  const failure = fromStoredFailure(stored);
  const isKnown = FAILURE_CLASSES.includes(failure.class) && PHASES.includes(failure.phase);
  if (!isKnown || typeof describeCause(failure) !== 'string') throw new Error('it is no failure');
  return failure;
}

/** Returns true if the numbers are in the ranges that the program writes. Others could not be stored. */
function isResult(result: CheckResult): boolean {
  const { serviceId, revision, attempts, startedAt, endedAt, statusCode, loopDelayMs, lostMs } = result;
  const { responseTimeMs, firstFailedAt, certificateExpiresAt, memory } = result;
  return (
    [serviceId, revision, attempts].every((count) => Number.isInteger(count) && count > 0) &&
    [startedAt, endedAt, statusCode].every(Number.isInteger) &&
    [responseTimeMs, firstFailedAt, certificateExpiresAt, memory.askHealthAt].every(isIntegerOrNull) &&
    !Number.isNaN(loopDelayMs) &&
    !Number.isNaN(lostMs)
  );
}

const isIntegerOrNull = (value: number | null) => value === null || Number.isInteger(value);

/** Maximum of any number in a result: the last time of a date, epoch milliseconds (ECMA-262, 21.4.1.1). */
const MAX_NUMBER = 8.64e15;

/**
 * The results with corrected times. An offset below {@link CLOCK_OFF_MS} is not corrected, since it cannot be
 * distinguished from the time that a message takes. Null: the clock is off by more than {@link MAX_CLOCK_OFFSET_MS}.
 */
export function correctTimes({ clockOffsetMs, results }: NodeResults): readonly RuledResult[] | null {
  if (Math.abs(clockOffsetMs) > MAX_CLOCK_OFFSET_MS) return null;
  if (Math.abs(clockOffsetMs) < CLOCK_OFF_MS) return results;
  return results.map((ruled) => ({ ...ruled, result: withOffset(ruled.result, -clockOffsetMs) }));
}

/** Shifts all times of the node's clock. */
function withOffset(result: CheckResult, byMs: number): CheckResult {
  const { startedAt, endedAt, firstFailedAt, memory } = result;
  const { askHealthAt } = memory;
  return {
    ...result,
    startedAt: startedAt + byMs,
    endedAt: endedAt + byMs,
    firstFailedAt: firstFailedAt === null ? null : firstFailedAt + byMs,
    memory: askHealthAt === null ? memory : { ...memory, askHealthAt: askHealthAt + byMs },
  };
}
