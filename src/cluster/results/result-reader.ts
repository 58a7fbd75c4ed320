/**
 * Reads the results of all nodes for the judge. It acknowledges an entry, and removes it from Redis, once all changes by it are
 * committed. Entries that a former judge did not acknowledge are delivered to the next one before all newer entries.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createCoalescingLoop } from '../../async/coalescing-loop.ts';
import type { Cancel } from '../../clock.ts';
import type { RuledResult } from '../../domain/result.ts';
import { type RedisClient, runScript, runScriptForBytes } from '../../store/status/redis-client.ts';
import {
  openRedisConnection,
  type RedisConnection,
  type RedisConnectionState,
  type RedisContext,
} from '../../store/status/redis-connection.ts';
import {
  ACKNOWLEDGE,
  BEGIN,
  correctTimes,
  decodeResults,
  READ,
  resultKeys,
  SUPERSEDED,
} from './result-stream.ts';

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

interface Entry {
  readonly id: string;
  readonly head: string;
  readonly numbers: Buffer;
  /** Number of results, as counted by the sender. */
  readonly count: number;
}

/** Starts reading, for the holder of the writer lease. Redis may be unavailable. */
export class ResultReader {
  readonly #take: (results: readonly RuledResult[], deliveredAt: number) => Promise<boolean>;
  readonly #isFresh: () => boolean;
  readonly #mayBegin: () => boolean;
  readonly #clock: ResultReaderOptions['clock'];
  readonly #log: ResultReaderOptions['log'];
  readonly #stream: string;
  readonly #state: string;
  readonly #claims: string;
  #epoch = 0;
  #isSuperseded = false;
  /** Start of the next read: an ID among the entries that are not acknowledged, or `>` for new entries. */
  #cursor = '0';
  /** Result counts of the entries that are being processed, by ID. */
  readonly #inFlight = new Map<string, number>();
  /** Result counts of the entries to acknowledge, by ID. */
  readonly #ended = new Map<string, number>();
  #inFlightResults = 0;
  #counts = { backlog: 0, takeovers: 0 };
  /** Redis' clock minus the monotonic clock at the last read, milliseconds. */
  #redisOffsetMs = 0;
  #taken = 0;
  #refusedEntries = 0;
  #loggedMs = Number.NEGATIVE_INFINITY;
  #isStopped = false;
  #cancelTimer: Cancel | null = null;
  readonly #reading: ReturnType<typeof createCoalescingLoop>;
  readonly #acknowledging: ReturnType<typeof createCoalescingLoop>;
  readonly #connection: RedisConnection;
  readonly state: () => RedisConnectionState;

  constructor(options: ResultReaderOptions) {
    const { address, isFresh, clock, log } = options;
    this.#take = options.take;
    this.#isFresh = isFresh;
    this.#mayBegin = options.mayBegin ?? (() => true);
    this.#clock = clock;
    this.#log = log;
    const { stream, state, claims } = resultKeys(address.prefix);
    this.#stream = stream;
    this.#state = state;
    this.#claims = claims;
    this.#reading = createCoalescingLoop(() => this.#readAll());
    this.#acknowledging = createCoalescingLoop(() => this.#acknowledgeAll());
    this.#connection = openRedisConnection({
      address,
      purpose: 'judge',
      timeoutMs: TIMEOUT_MS,
      // Responses are read as bytes.
      blocking: true,
      prepare: async (client) => {
        if (!isFresh()) throw new Error('the lease of the registry was not renewed lately');
        await this.#begin(client);
      },
      probe: (client) => client.exists(state),
      clock,
      log,
    });
    this.#connection.watchReady(() => {
      void this.#reading.run();
      void this.#acknowledging.run();
    });
    this.state = this.#connection.state;
  }

  stats(): ResultReaderStats {
    return {
      ...this.#counts,
      taken: this.#taken,
      refusedEntries: this.#refusedEntries,
      delayMs: this.#delayMs(),
    };
  }

  /** Stops reading. Acknowledges the entries whose results are committed by now, within at most 1 s. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelTimer?.();
    await this.#reading.idle();
    const end = new Promise<void>((resolve) => this.#clock.after(STOP_TIMEOUT_MS, resolve));
    await Promise.race([end, this.#acknowledging.run()]);
    this.#connection.close();
  }

  /** Begins the epoch of this judge, or learns whether a later judge has begun one. */
  async #begin(client: RedisClient): Promise<void> {
    const begun = await runScript(client, BEGIN, [this.#stream, this.#state, this.#claims], [this.#epoch]);
    if (begun === SUPERSEDED) {
      if (!this.#isSuperseded) this.#log.warn({}, 'another judge reads the results; this one reads no more');
      this.#isSuperseded = true;
      return;
    }
    if (!Number.isSafeInteger(begun) || Number(begun) < 1) throw new Error(UNREADABLE);
    this.#epoch = Number(begun);
    this.#isSuperseded = false;
    // Reads the entries whose delivery was lost with the connection.
    this.#cursor = '0';
  }

  async #readAll(): Promise<void> {
    this.#cancelTimer?.();
    try {
      while (this.#mayRead() && (await this.#readSome()) > 0) await nextTurn();
    } catch {
      // The connection logs it; it goes on when Redis is available again.
    }
    if (!this.#isStopped && this.#connection.ready)
      this.#cancelTimer = this.#clock.after(POLL_MS, () => void this.#reading.run());
  }

  #mayRead(): boolean {
    if (!this.#connection.ready || this.#isSuperseded || this.#isStopped) return false;
    return this.#isFresh() && this.#mayBegin() && this.#inFlightResults < MAX_IN_FLIGHT;
  }

  /** Reads and processes some entries; returns their number, 0 if there are no more. */
  async #readSome(): Promise<number> {
    const from = this.#cursor;
    const args = [this.#epoch, MAX_ENTRIES, from];
    const answer = await this.#connection.run(async (client) =>
      parseAnswer(await runScriptForBytes(client, READ, [this.#stream, this.#state], args)),
    );
    if (answer === SUPERSEDED) {
      // A judge that stops reading by mistake would leave the results of all nodes unread.
      await this.#connection.run((client) => this.#begin(client));
      return this.#isSuperseded ? 0 : 1;
    }
    const { deliveredAt, backlog, takeovers, entries } = answer;
    this.#counts = { backlog, takeovers };
    this.#redisOffsetMs = deliveredAt - this.#clock.monotonic();
    // The connection was prepared again meanwhile.
    if (this.#cursor !== from) return 1;
    const isOfFormer = from !== '>';
    if (isOfFormer) this.#cursor = entries.at(-1)?.id ?? '>';
    for (const entry of entries)
      if (!this.#inFlight.has(entry.id) && !this.#ended.has(entry.id)) this.#takeEntry(entry, deliveredAt);
    return isOfFormer ? 1 : entries.length;
  }

  #takeEntry(entry: Entry, deliveredAt: number): void {
    const { id, count } = entry;
    const results = this.#resultsOf(entry);
    if (results === null) {
      this.#refusedEntries += 1;
      this.#acknowledge(id, count);
      return;
    }
    this.#inFlight.set(id, results.length);
    this.#inFlightResults += results.length;
    this.#taken += results.length;
    void this.#take(results, deliveredAt).then((isCommitted) => {
      this.#inFlight.delete(id);
      this.#inFlightResults -= results.length;
      if (isCommitted) this.#acknowledge(id, count);
    });
  }

  /** The results of an entry, with times of the common clock; null: the entry is refused. */
  #resultsOf({ id, head, numbers }: Entry): readonly RuledResult[] | null {
    const decoded = decodeResults(head, numbers);
    if (decoded === null) {
      this.#warn({ id }, 'an entry of the stream of results cannot be read; it is dropped');
      return null;
    }
    const { node, clockOffsetMs } = decoded;
    const corrected = correctTimes(decoded);
    if (corrected === null)
      this.#warn(
        { node, clockOffsetMs },
        'the clock of a node is off by more than a day; its results are dropped',
      );
    return corrected;
  }

  #warn(fields: object, message: string): void {
    if (this.#clock.monotonic() < this.#loggedMs + LOG_PERIOD_MS) return;
    this.#loggedMs = this.#clock.monotonic();
    this.#log.warn(
      { event: 'results_unreadable', ...fields, refusedEntries: this.#refusedEntries + 1 },
      message,
    );
  }

  #acknowledge(id: string, count: number): void {
    this.#ended.set(id, count);
    void this.#acknowledging.run();
  }

  async #acknowledgeAll(): Promise<void> {
    // Entries that complete in one iteration of the event loop are acknowledged together.
    await nextTurn();
    try {
      while (this.#ended.size > 0 && this.#connection.ready) {
        const some = [...this.#ended].slice(0, MAX_ACKNOWLEDGED);
        await this.#connection.run((client) =>
          runScript(client, ACKNOWLEDGE, [this.#stream, this.#state], some.flat()),
        );
        for (const [id] of some) this.#ended.delete(id);
      }
    } catch {
      // The connection logs it. The results are committed, so it does not matter whether they are acknowledged twice or never.
    }
  }

  /** Entries are taken in the order of their IDs, which begin with the time at which Redis received them. */
  #delayMs(): number {
    const [oldest] = this.#inFlight.keys();
    return oldest === undefined
      ? 0
      : Math.max(0, Math.round(this.#redisOffsetMs + this.#clock.monotonic() - Number.parseInt(oldest, 10)));
  }
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
