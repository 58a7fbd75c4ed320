/**
 * The connections of a process to PostgreSQL: one listens and monitors the server, one writes, the others read. The
 * listening connection finds the server for all of them. While the server is unavailable, all queries are refused at
 * once.
 */
import type pg from 'pg';
import type { Clock } from '../../../clock.ts';
import type { PostgresAddress } from '../../../domain/postgres-address.ts';
import { errorCodeOf } from '../../../error.ts';
import { isSessionEnd, READ_ONLY } from './postgres-error.ts';
import { type Connection, connectTo, findPrimary, readPosition } from './postgres-servers.ts';
import { CHANNEL, type Runner, type WriteConnection } from './postgres-store.ts';
import { createServerHistory } from './server-history.ts';

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

/** Options of a link. */
export interface LinkOptions {
  readonly url: string;
  readonly address: PostgresAddress;
  readonly clock: Pick<Clock, 'monotonic' | 'every' | 'after'>;
  /**
   * Receives the notifications of other processes' commits, and null after an interruption in which notifications may
   * have been lost.
   */
  readonly onNotice: (notice: string | null) => void;
  /** Called when the server, possibly a new primary, lacks commits that had been confirmed. */
  readonly onLostCommits: (reason: Error) => void;
}

/** The connections. */
export interface PostgresLink {
  readonly readers: Runner;
  /** Runs writes that commit by themselves, over the same connections; unlike a read, none is repeated. */
  readonly unordered: Runner;
  /**
   * Runs single statements at once, over the connection that listens: neither reads nor the transactions of this process and of
   * others delay them.
   */
  readonly urgent: Runner;
  readonly writer: WriteConnection;
  /** Whether notifications of all commits of other processes are received at present. */
  readonly isListening: boolean;
  /** Resolves when the server is reached. Rejects with the driver's error. */
  open(): Promise<void>;
  /** Records that the server confirmed a commit at this position of its log, bytes. */
  noteCommit(position: number): void;
  close(): Promise<void>;
}

/** Creates the link, which is not open yet. */
export function createPostgresLink(options: LinkOptions): PostgresLink {
  const { url, address, clock, onNotice, onLostCommits } = options;
  const history = createServerHistory(address);
  let listener: Connection | null = null;
  let opening: Promise<void> | null = null;
  /** Why the last attempt to reach the server failed; null: it succeeded. */
  let problem: unknown = null;
  let serverUrl = url;
  let isClosed = false;
  let stopPings = (): void => {};
  let cancelRetry = (): void => {};

  const slotOf = (timeoutMs: number) =>
    createSlot(() => connectTo(serverUrl, { pipeline: true, query_timeout: timeoutMs }));
  const writing = slotOf(WRITE_TIMEOUT_MS);
  const reading = Array.from({ length: READERS }, () => slotOf(READ_TIMEOUT_MS));
  const dropAll = (): void => {
    for (const slot of [writing, ...reading]) slot.drop();
  };

  const find = async (): Promise<void> => {
    const found = await findPrimary(url, address, {
      settings: { pipeline: true },
      minTimeline: history.timeline,
    });
    const { client } = found;
    /** Behind the same address is another server. */
    let isOther = false;
    try {
      const position = await readPosition(client);
      isOther = position.timeline !== history.timeline;
      const lostCommits = history.meet(position);
      if (lostCommits !== null) onLostCommits(lostCommits);
      client.on('notification', ({ payload = '' }) => onNotice(payload));
      await client.query(`LISTEN ${CHANNEL}`);
    } catch (error) {
      found.destroy();
      throw error;
    }
    if (found.url !== serverUrl || isOther) dropAll();
    serverUrl = found.url;
    listener = found;
    client.once('end', () => lose(found, null));
    stopPings = watch(found);
    onNotice(null);
  };

  const open = (): Promise<void> => {
    cancelRetry();
    opening ??= find()
      .then(
        () => {
          problem = null;
        },
        (error: unknown) => {
          problem = error;
          retryLater();
          throw error;
        },
      )
      .finally(() => {
        opening = null;
      });
    return opening;
  };

  /**
   * The connection is restored at once, and not by the next query, because commits of other processes must be received.
   */
  const retryLater = (): void => {
    if (!isClosed) cancelRetry = clock.after(RECONNECT_MS, () => void open().catch(() => {}));
  };

  /** `reason`: why the server itself is lost; null: only this connection to it. */
  const lose = (lost: Connection, reason: Error | null): void => {
    if (listener !== lost) return;
    listener = null;
    stopPings();
    lost.destroy();
    if (reason !== null) {
      problem = reason;
      dropAll();
    }
    // The search starts at once, since an administrator may have ended only this session.
    if (!isClosed) open().catch(() => {});
  };

  /** Pings the server every second, because a network that drops packets does not report the end of a connection. */
  const watch = (watched: Connection): (() => void) => {
    let askedAtMs: number | null = null;
    let lastTickMs = clock.monotonic();
    return clock.every(PING_MS, () => {
      const nowMs = clock.monotonic();
      // A response may be unread because this thread was busy.
      const ownDelayMs = nowMs - lastTickMs - PING_MS;
      lastTickMs = nowMs;
      if (askedAtMs !== null) {
        if (ownDelayMs > PING_MS) askedAtMs = nowMs;
        if (nowMs - askedAtMs >= SILENCE_MS) lose(watched, new Error('it does not answer'));
        return;
      }
      askedAtMs = nowMs;
      readPosition(watched.client).then(
        (position) => {
          askedAtMs = null;
          if (position.isStandby && address.needsPrimary) lose(watched, new Error('it is a standby now'));
          else history.note(position);
        },
        () => {},
      );
    });
  };

  /**
   * Waits for the first search, or for one after a session was ended. In all other cases, queries are refused at once.
   */
  const reach = async (): Promise<void> => {
    if (isClosed) throw new Error('Connection terminated');
    if (listener !== null) return;
    if (problem !== null) throw problem;
    await open();
  };

  /** The reading connection with the fewest queries in flight. */
  const chooseReader = async (): Promise<Slot> => {
    const byLoad = [...reading].sort((a, b) => a.inFlight - b.inFlight);
    const idle = byLoad.find((slot) => slot.client !== null && slot.inFlight === 0);
    if (idle !== undefined) return idle;
    const connected = byLoad.find((slot) => slot.client !== null);
    const unconnected = byLoad.find((slot) => slot.client === null);
    if (unconnected === undefined) return connected ?? byLoad[0] ?? writing;
    const opening = unconnected.open();
    if (connected === undefined) {
      await opening;
      return unconnected;
    }
    // To open one takes several round trips, and the server may have reached its limit of connections.
    opening.catch(() => {});
    return connected;
  };

  const close = async (): Promise<void> => {
    isClosed = true;
    cancelRetry();
    stopPings();
    await opening?.catch(() => {});
    const last = listener;
    listener = null;
    await Promise.all([last?.end(), ...[writing, ...reading].map((slot) => slot.end())]);
  };

  return {
    readers: {
      async query(query) {
        for (let attempt = 1; ; attempt++) {
          await reach();
          const slot = await chooseReader();
          try {
            return await slot.run((client) => client.query(query));
          } catch (error) {
            // The session was just ended; a read can be repeated.
            if (attempt > 1 || problem !== null || !isSessionEnd(error)) throw error;
          }
        }
      },
    },
    unordered: {
      async query(query) {
        await reach();
        return await (await chooseReader()).run((client) => client.query(query));
      },
    },
    urgent: {
      async query(query) {
        await reach();
        const used = listener;
        if (used === null) throw new Error('Connection terminated');
        try {
          return await used.client.query(query);
        } catch (error) {
          // A session keeps the read-only mode with which it began.
          if (errorCodeOf(error) === READ_ONLY) lose(used, null);
          throw error;
        }
      },
    },
    writer: {
      async open() {
        await reach();
        return await writing.open();
      },
      get client() {
        return writing.client;
      },
      drop: writing.drop,
    },
    get isListening() {
      return listener !== null;
    },
    open: reach,
    noteCommit: history.noteCommit,
    close,
  };
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
