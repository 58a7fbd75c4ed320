/**
 * The connections of a process to PostgreSQL: one listens and monitors the server, one writes, the others read. The listening
 * connection finds the server for all of them. While the server is unavailable, all queries are refused at once.
 */
import type pg from 'pg';
import type { Clock } from '../../../clock.ts';
import type { PostgresAddress } from '../../../domain/store-address.ts';
import { errorCodeOf } from '../../../error.ts';
import { isSessionEnd, READ_ONLY } from './postgres-error.ts';
import {
  type Connection,
  connectTo,
  createServerHistory,
  findPrimary,
  readPosition,
  type ServerHistory,
} from './postgres-servers.ts';
import { CHANNEL, type Runner, type WriteConnection } from './postgres-store.ts';

/** Number of reading connections. */
const READERS = 3;
/** Pause between two attempts to find a lost server, milliseconds. */
const RECONNECT_MS = 500;
const PING_MS = 1_000;
/** A server without a response to pings for this time counts as lost, with all its connections, milliseconds. */
const SILENCE_MS = 2_500;
/** Timeout of a write, after which its connection counts as lost, milliseconds. */
const WRITE_TIMEOUT_MS = 10_000;
/** Timeout of a read, milliseconds; long, since a start reads all services. */
const READ_TIMEOUT_MS = 60_000;

/** The connections. A new link is not open yet. */
export class PostgresLink {
  readonly #url: string;
  readonly #address: PostgresAddress;
  readonly #clock: Clock;
  readonly #onNotice: (notice: string | null) => void;
  readonly #onLostCommits: (reason: Error) => void;
  readonly #history: ServerHistory;
  #listener: Connection | null = null;
  #opening: Promise<void> | null = null;
  /** Why the last attempt to reach the server failed; null: it succeeded. */
  #problem: unknown = null;
  #serverUrl: string;
  #isClosed = false;
  #stopPings = (): void => {};
  #cancelRetry = (): void => {};
  readonly #writing: Slot;
  readonly #reading: Slot[];
  readonly readers: Runner;
  /** Runs writes that commit by themselves, over the same connections; unlike a read, none is repeated. */
  readonly unordered: Runner;
  /**
   * Runs single statements at once, over the connection that listens: neither reads nor the transactions of this process and of
   * others delay them.
   */
  readonly urgent: Runner;
  readonly writer: WriteConnection;
  /** Records that the server confirmed a commit at this position of its log, bytes. */
  readonly noteCommit: (position: number) => void;

  constructor(options: {
    readonly url: string;
    readonly address: PostgresAddress;
    readonly clock: Clock;
    /**
     * Receives the notifications of other processes' commits, and null after an interruption in which notifications may
     * have been lost.
     */
    readonly onNotice: (notice: string | null) => void;
    /** Called when the server, possibly a new primary, lacks commits that had been confirmed. */
    readonly onLostCommits: (reason: Error) => void;
  }) {
    const { url, address } = options;
    this.#url = url;
    this.#address = address;
    this.#clock = options.clock;
    this.#onNotice = options.onNotice;
    this.#onLostCommits = options.onLostCommits;
    this.#history = createServerHistory(address);
    this.#serverUrl = url;
    const writing = this.#slotOf(WRITE_TIMEOUT_MS);
    this.#writing = writing;
    this.#reading = Array.from({ length: READERS }, () => this.#slotOf(READ_TIMEOUT_MS));
    this.readers = {
      query: async (query) => {
        for (let attempt = 1; ; attempt++) {
          await this.open();
          const slot = await this.#chooseReader();
          try {
            return await slot.run((client) => client.query(query));
          } catch (error) {
            // The session was just ended; a read can be repeated.
            if (attempt > 1 || this.#problem !== null || !isSessionEnd(error)) throw error;
          }
        }
      },
    };
    this.unordered = {
      query: async (query) => {
        await this.open();
        return await (await this.#chooseReader()).run((client) => client.query(query));
      },
    };
    this.urgent = {
      query: async (query) => {
        await this.open();
        const used = this.#listener;
        if (used === null) throw new Error('Connection terminated');
        try {
          return await used.client.query(query);
        } catch (error) {
          // A session keeps the read-only mode with which it began.
          if (errorCodeOf(error) === READ_ONLY) this.#lose(used, null);
          throw error;
        }
      },
    };
    this.writer = {
      open: async () => {
        await this.open();
        return await writing.open();
      },
      get client() {
        return writing.client;
      },
      drop: writing.drop,
    };
    this.noteCommit = this.#history.noteCommit;
  }

  /** True if notifications of all commits of other processes are received at present. */
  get isListening(): boolean {
    return this.#listener !== null;
  }

  /** Waits for the first search, or for one after a session was ended. In all other cases, queries are refused at once. */
  async open(): Promise<void> {
    if (this.#isClosed) throw new Error('Connection terminated');
    if (this.#listener !== null) return;
    if (this.#problem !== null) throw this.#problem;
    await this.#open();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelRetry();
    this.#stopPings();
    await this.#opening?.catch(() => {});
    const last = this.#listener;
    this.#listener = null;
    await Promise.all([last?.end(), ...[this.#writing, ...this.#reading].map((slot) => slot.end())]);
  }

  #slotOf(timeoutMs: number) {
    return createSlot(() => connectTo(this.#serverUrl, { pipeline: true, query_timeout: timeoutMs }));
  }

  #dropAll(): void {
    for (const slot of [this.#writing, ...this.#reading]) slot.drop();
  }

  async #find(): Promise<void> {
    const found = await findPrimary(this.#url, this.#address, {
      settings: { pipeline: true },
      minTimeline: this.#history.timeline,
    });
    const { client } = found;
    /** Behind the same address is another server. */
    let isOther = false;
    try {
      const position = await readPosition(client);
      isOther = position.timeline !== this.#history.timeline;
      const lostCommits = this.#history.meet(position);
      if (lostCommits !== null) this.#onLostCommits(lostCommits);
      client.on('notification', ({ payload = '' }) => this.#onNotice(payload));
      await client.query(`LISTEN ${CHANNEL}`);
    } catch (error) {
      found.destroy();
      throw error;
    }
    if (found.url !== this.#serverUrl || isOther) this.#dropAll();
    this.#serverUrl = found.url;
    this.#listener = found;
    client.once('end', () => this.#lose(found, null));
    this.#stopPings = this.#watch(found);
    this.#onNotice(null);
  }

  #open(): Promise<void> {
    this.#cancelRetry();
    this.#opening ??= this.#find()
      .then(
        () => {
          this.#problem = null;
        },
        (error: unknown) => {
          this.#problem = error;
          this.#retryLater();
          throw error;
        },
      )
      .finally(() => {
        this.#opening = null;
      });
    return this.#opening;
  }

  /** The connection is restored at once, and not by the next query, because commits of other processes must be received. */
  #retryLater(): void {
    if (!this.#isClosed)
      this.#cancelRetry = this.#clock.after(RECONNECT_MS, () => void this.#open().catch(() => {}));
  }

  /** `reason`: why the server itself is lost; null: only this connection to it. */
  #lose(lost: Connection, reason: Error | null): void {
    if (this.#listener !== lost) return;
    this.#listener = null;
    this.#stopPings();
    lost.destroy();
    if (reason !== null) {
      this.#problem = reason;
      this.#dropAll();
    }
    // The search starts at once, since an administrator may have ended only this session.
    if (!this.#isClosed) this.#open().catch(() => {});
  }

  /** Pings the server every second, because a network that drops packets does not report the end of a connection. */
  #watch(watched: Connection): () => void {
    let askedAtMs: number | null = null;
    let lastTickMs = this.#clock.monotonic();
    return this.#clock.every(PING_MS, () => {
      const nowMs = this.#clock.monotonic();
      // A response may be unread because this thread was busy.
      const ownDelayMs = nowMs - lastTickMs - PING_MS;
      lastTickMs = nowMs;
      if (askedAtMs !== null) {
        if (ownDelayMs > PING_MS) askedAtMs = nowMs;
        if (nowMs - askedAtMs >= SILENCE_MS) this.#lose(watched, new Error('it does not answer'));
        return;
      }
      askedAtMs = nowMs;
      readPosition(watched.client).then(
        (position) => {
          askedAtMs = null;
          if (position.isStandby && this.#address.needsPrimary)
            this.#lose(watched, new Error('it is a standby now'));
          else this.#history.note(position);
        },
        () => {},
      );
    });
  }

  /** The reading connection with the fewest queries in flight. */
  async #chooseReader(): Promise<Slot> {
    const byLoad = [...this.#reading].sort((a, b) => a.inFlight - b.inFlight);
    const idle = byLoad.find((slot) => slot.client !== null && slot.inFlight === 0);
    if (idle !== undefined) return idle;
    const connected = byLoad.find((slot) => slot.client !== null);
    const unconnected = byLoad.find((slot) => slot.client === null);
    if (unconnected === undefined) return connected ?? byLoad[0] ?? this.#writing;
    const opening = unconnected.open();
    if (connected === undefined) {
      await opening;
      return unconnected;
    }
    // To open one takes several round trips, and the server may have reached its limit of connections.
    opening.catch(() => {});
    return connected;
  }
}

/** A slot for one connection, which is opened on demand. */
interface Slot {
  /** Null: the connection is lost or was never opened. */
  readonly client: pg.Client | null;
  /** Number of queries in flight. */
  readonly inFlight: number;
  open(): Promise<pg.Client>;
  run<T>(work: (client: pg.Client) => Promise<T>): Promise<T>;
  /** Closes the connection without waiting for the server. */
  drop(): void;
  end(): Promise<void>;
}

function createSlot(connect: () => Promise<Connection>): Slot {
  let current: Connection | null = null;
  let opening: Promise<pg.Client> | null = null;
  /** Increases when a connection is dropped, so that one that is still being opened is discarded. */
  let generation = 0;
  let inFlight = 0;

  const make = async (): Promise<pg.Client> => {
    const mine = generation;
    const made = await connect();
    if (mine !== generation) {
      made.destroy();
      throw new Error('Connection terminated');
    }
    made.client.once('end', () => {
      if (current === made) current = null;
    });
    made.client.on('error', () => {
      if (current === made) current = null;
      made.destroy();
    });
    current = made;
    return made.client;
  };
  const open = async (): Promise<pg.Client> => {
    if (current !== null) return current.client;
    if (opening === null) {
      const made = make().finally(() => {
        if (opening === made) opening = null;
      });
      opening = made;
    }
    return await opening;
  };

  return {
    get client() {
      return current?.client ?? null;
    },
    get inFlight() {
      return inFlight;
    },
    open,
    async run(work) {
      inFlight += 1;
      try {
        return await work(await open());
      } finally {
        inFlight -= 1;
      }
    },
    drop() {
      generation += 1;
      opening = null;
      current?.destroy();
      current = null;
    },
    async end() {
      generation += 1;
      await opening?.catch(() => {});
      const last = current;
      current = null;
      await last?.end();
    },
  };
}
