/**
 * Reads the results of all nodes for the judge. It acknowledges an entry, and removes it from Redis, once all changes
 * by it are committed. Entries that a former judge did not acknowledge are delivered to the next one before all newer
 * entries.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createCoalescingLoop } from '../../async/coalescing-loop.ts';
import type { Cancel } from '../../clock.ts';
import type { RuledResult } from '../../domain/result.ts';
import { type RedisClient, runScript, runScriptForBytes } from '../../store/status/redis-client.ts';
import {
  openRedisConnection,
  type RedisConnectionState,
  type RedisContext,
} from '../../store/status/redis-connection.ts';
import { correctTimes } from './common-time.ts';
import { decodeResults } from './result-codec.ts';
import { ACKNOWLEDGE, BEGIN, READ, resultKeys, SUPERSEDED } from './result-stream.ts';

/** Options of the reader. */
export interface ResultReaderOptions extends RedisContext {
  /**
   * Takes results of one node. `deliveredAt` is in epoch milliseconds of the common clock. Resolves when all changes by
   * them are committed; false: deliver them again. Must not reject.
   */
  readonly take: (results: readonly RuledResult[], deliveredAt: number) => Promise<boolean>;
  /** False: another process may be the judge by now. The reader then reads nothing. */
  readonly isFresh: () => boolean;
  /** False: results wait in the stream, because they cannot be evaluated yet. Default: always true. */
  readonly mayBegin?: () => boolean;
}

/** Figures of the reader. */
export interface ResultReaderStats {
  /** Results of all nodes that are not acknowledged yet. */
  readonly backlog: number;
  /** Number of times that a shard has moved from one node to another since Redis was last empty. */
  readonly takeovers: number;
  /** Results taken since the start, including those delivered again. */
  readonly taken: number;
  /** Entries refused since the start: unreadable, or of a node whose clock is off by more than a day. */
  readonly refusedEntries: number;
  /** Time since Redis received the oldest results that were read and are not committed, milliseconds; 0: there are none. */
  readonly delayMs: number;
}

/** The reader. */
export interface ResultReader {
  stats(): ResultReaderStats;
  state(): RedisConnectionState;
  /** Stops reading. Acknowledges the entries whose results are committed by now, within at most 1 s. */
  stop(): Promise<void>;
}

/** Interval of reading an empty stream, milliseconds. */
const POLL_MS = 50;
/**
 * Maximum number of entries read at once, up to 4,000 results. They are evaluated in one turn of the event loop, during which
 * the lease is not renewed, so that a judge with little CPU time would be taken for one that hangs.
 */
const MAX_ENTRIES = 8;
/** Maximum number of results that are read and not acknowledged: about two seconds of a large cluster. */
const MAX_IN_FLIGHT = 100_000;
const MAX_ACKNOWLEDGED = 1_000;
const TIMEOUT_MS = 2_000;
const STOP_TIMEOUT_MS = 1_000;
const LOG_PERIOD_MS = 60_000;
const UNREADABLE = 'it sent an answer that cannot be read';

/** An entry of the stream. */
interface Entry {
  readonly id: string;
  readonly head: string;
  readonly numbers: Buffer;
  /** Number of results, as counted by the sender. */
  readonly count: number;
}

/** Starts reading, for the holder of the writer lease. Redis may be unavailable. */
export function startResultReader(options: ResultReaderOptions): ResultReader {
  const { address, take, isFresh, mayBegin = () => true, clock, log } = options;
  const { stream, state, claims } = resultKeys(address.prefix);
  let epoch = 0;
  let isSuperseded = false;
  /** Start of the next read: an ID among the entries that are not acknowledged, or `>` for new entries. */
  let cursor = '0';
  /** Result counts of the entries that are being processed, by ID. */
  const inFlight = new Map<string, number>();
  /** Result counts of the entries to acknowledge, by ID. */
  const ended = new Map<string, number>();
  let inFlightResults = 0;
  let counts = { backlog: 0, takeovers: 0 };
  /** Redis' clock minus the monotonic clock at the last read, milliseconds. */
  let redisOffsetMs = 0;
  let taken = 0;
  let refusedEntries = 0;
  let loggedMs = Number.NEGATIVE_INFINITY;
  let isStopped = false;
  let cancelTimer: Cancel | null = null;
  const reading = createCoalescingLoop(readAll);
  const acknowledging = createCoalescingLoop(acknowledgeAll);

  const connection = openRedisConnection({
    address,
    purpose: 'judge',
    timeoutMs: TIMEOUT_MS,
    // Responses are read as bytes.
    blocking: true,
    async prepare(client) {
      if (!isFresh()) throw new Error('the lease of the registry was not renewed lately');
      await begin(client);
    },
    probe: (client) => client.exists(state),
    clock,
    log,
  });
  connection.watchReady(() => {
    void reading.run();
    void acknowledging.run();
  });

  /** Begins the epoch of this judge, or learns whether a later judge has begun one. */
  async function begin(client: RedisClient): Promise<void> {
    const begun = await runScript(client, BEGIN, [stream, state, claims], [epoch]);
    if (begun === SUPERSEDED) {
      if (!isSuperseded) log.warn({}, 'another judge reads the results; this one reads no more');
      isSuperseded = true;
      return;
    }
    if (!Number.isSafeInteger(begun) || Number(begun) < 1) throw new Error(UNREADABLE);
    epoch = Number(begun);
    isSuperseded = false;
    // Reads the entries whose delivery was lost with the connection.
    cursor = '0';
  }

  async function readAll(): Promise<void> {
    cancelTimer?.();
    try {
      while (mayRead() && (await readSome()) > 0) await nextTurn();
    } catch {
      // The connection logs it; it goes on when Redis is available again.
    }
    if (!isStopped && connection.ready) cancelTimer = clock.after(POLL_MS, () => void reading.run());
  }

  function mayRead(): boolean {
    if (!connection.ready || isSuperseded || isStopped) return false;
    return isFresh() && mayBegin() && inFlightResults < MAX_IN_FLIGHT;
  }

  /** Reads and processes some entries; returns their number, 0 if there are no more. */
  async function readSome(): Promise<number> {
    const from = cursor;
    const args = [epoch, MAX_ENTRIES, from];
    const answer = await connection.run(async (client) =>
      parseAnswer(await runScriptForBytes(client, READ, [stream, state], args)),
    );
    if (answer === SUPERSEDED) {
      // A judge that stops reading by mistake would leave the results of all nodes unread.
      await connection.run(begin);
      return isSuperseded ? 0 : 1;
    }
    const { deliveredAt, backlog, takeovers, entries } = answer;
    counts = { backlog, takeovers };
    redisOffsetMs = deliveredAt - clock.monotonic();
    // The connection was prepared again meanwhile.
    if (cursor !== from) return 1;
    const isOfFormer = from !== '>';
    if (isOfFormer) cursor = entries.at(-1)?.id ?? '>';
    for (const entry of entries)
      if (!inFlight.has(entry.id) && !ended.has(entry.id)) takeEntry(entry, deliveredAt);
    return isOfFormer ? 1 : entries.length;
  }

  function takeEntry(entry: Entry, deliveredAt: number): void {
    const { id, count } = entry;
    const results = resultsOf(entry);
    if (results === null) {
      refusedEntries += 1;
      acknowledge(id, count);
      return;
    }
    inFlight.set(id, results.length);
    inFlightResults += results.length;
    taken += results.length;
    void take(results, deliveredAt).then((isCommitted) => {
      inFlight.delete(id);
      inFlightResults -= results.length;
      if (isCommitted) acknowledge(id, count);
    });
  }

  /** The results of an entry, with times of the common clock; null: the entry is refused. */
  function resultsOf({ id, head, numbers }: Entry): readonly RuledResult[] | null {
    const decoded = decodeResults(head, numbers);
    if (decoded === null) {
      warn({ id }, 'an entry of the stream of results cannot be read; it is dropped');
      return null;
    }
    const { node, clockOffsetMs } = decoded;
    const corrected = correctTimes(decoded);
    if (corrected === null)
      warn({ node, clockOffsetMs }, 'the clock of a node is off by more than a day; its results are dropped');
    return corrected;
  }

  function warn(fields: object, message: string): void {
    if (clock.monotonic() < loggedMs + LOG_PERIOD_MS) return;
    loggedMs = clock.monotonic();
    log.warn({ event: 'results_unreadable', ...fields, refusedEntries: refusedEntries + 1 }, message);
  }

  function acknowledge(id: string, count: number): void {
    ended.set(id, count);
    void acknowledging.run();
  }

  async function acknowledgeAll(): Promise<void> {
    // Entries that complete in one iteration of the event loop are acknowledged together.
    await nextTurn();
    try {
      while (ended.size > 0 && connection.ready) {
        const some = [...ended].slice(0, MAX_ACKNOWLEDGED);
        await connection.run((client) => runScript(client, ACKNOWLEDGE, [stream, state], some.flat()));
        for (const [id] of some) ended.delete(id);
      }
    } catch {
      // The connection logs it. The results are committed, so it does not matter whether they are acknowledged twice or
      // never.
    }
  }

  /** Entries are taken in the order of their IDs, which begin with the time at which Redis received them. */
  function delayMs(): number {
    const [oldest] = inFlight.keys();
    return oldest === undefined
      ? 0
      : Math.max(0, Math.round(redisOffsetMs + clock.monotonic() - Number.parseInt(oldest, 10)));
  }

  return {
    stats: () => ({ ...counts, taken, refusedEntries, delayMs: delayMs() }),
    state: connection.state,
    async stop() {
      isStopped = true;
      cancelTimer?.();
      await reading.idle();
      const end = new Promise<void>((resolve) => clock.after(STOP_TIMEOUT_MS, resolve));
      await Promise.race([end, acknowledging.run()]);
      connection.close();
    },
  };
}

/** Streams with their entries, as XREADGROUP returns them; null: there are none. */
type ReadAnswer =
  | readonly (readonly [
      stream: Buffer,
      entries: readonly (readonly [id: Buffer, fields: readonly Buffer[] | null])[],
    ])[]
  | null;

/**
 * Parses what READ returned. Throws for anything else, such as the answer to another command: the connection is then prepared again, and
 * entries that were delivered by it are read once more.
 */
function parseAnswer(answer: unknown) {
  if (answer === SUPERSEDED) return SUPERSEDED;
  if (!Array.isArray(answer) || !answer.slice(0, 3).every(Number.isSafeInteger)) throw new Error(UNREADABLE);
  const [deliveredAt, backlog, takeovers, read] = answer as [number, number, number, ReadAnswer];
  return { deliveredAt, backlog, takeovers, entries: (read?.[0]?.[1] ?? []).map(readEntry) };
}

/** Parses an entry. A deleted entry has no fields and is refused as unreadable. */
function readEntry([id, fields]: readonly [id: Buffer, fields: readonly Buffer[] | null]): Entry {
  const values = new Map<string, Buffer>();
  for (let at = 0; at + 1 < (fields?.length ?? 0); at += 2)
    values.set(String(fields?.[at]), fields?.[at + 1] ?? NO_BYTES);
  const count = Number(values.get('count') ?? 0);
  return {
    id: String(id),
    head: String(values.get('head') ?? ''),
    numbers: values.get('numbers') ?? NO_BYTES,
    count: Number.isSafeInteger(count) ? count : 0,
  };
}

const NO_BYTES = Buffer.alloc(0);
