/** Finds the server that accepts writes among those in `storage.postgres.url`, and connects to it. */
import { Socket } from 'node:net';
import pg from 'pg';
import { describePostgres, type PostgresAddress, urlsOfServers } from '../../../domain/store-address.ts';
import { errorCodeOf } from '../../../error.ts';
import { READ_ONLY } from './postgres-error.ts';
import { connectionSettings, MAX_IDLE_IN_TRANSACTION_MS, setUpSession } from './postgres-store.ts';

/**
 * The history of the servers that a process has connected to. It detects lost commits: an asynchronous standby may lack the newest
 * confirmed commits when it is promoted, and so may a restored server.
 */
export interface ServerHistory {
  /** The timeline of the newest primary; 0: no connection has been made yet. */
  readonly timeline: number;
  /** Records the position of a newly connected server. Returns an error that describes lost commits; null: none are lost. */
  meet(position: ServerPosition): Error | null;
  note(position: ServerPosition): void;
  /** Records that the server confirmed a commit at this position of its log, bytes. */
  noteCommit(position: number): void;
}

/** A connection, with two ways to close it. */
export interface Connection {
  readonly client: pg.Client;
  /** URL of this server. */
  readonly url: string;
  /** Closes the connection without waiting for the server. Its queries reject. */
  destroy(): void;
  /** Terminates the session after the queries in flight, within at most {@link END_TIMEOUT_MS}. */
  end(): Promise<void>;
}

/** The position of a server in its write-ahead log. Positions are bytes from the beginning of the log. */
export interface ServerPosition {
  readonly isStandby: boolean;
  /** Increases when a standby becomes the primary. */
  readonly timeline: number;
  /** The log is on the server's disk up to this position. */
  readonly position: number;
  /** The server had the log of the former primary up to this position; null: it has not been a standby since its start. */
  readonly takenOver: number | null;
}

/** Maximum time that closing a connection waits for the server, milliseconds. */
const END_TIMEOUT_MS = 1_000;

/** Any user may call these functions of PostgreSQL, but some of them fail on a standby. */
const POSITION = `SELECT pg_is_in_recovery() AS standby,
  CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_walfile_name(pg_current_wal_lsn()) END AS file,
  pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_current_wal_flush_lsn() END, '0/0') AS position,
  pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0') AS replayed`;

interface PositionRow {
  readonly standby: boolean;
  readonly file: string | null;
  readonly position: number | null;
  readonly replayed: number | null;
}

/** Settings of a connection beside those that all have. */
export interface ConnectionSettings extends pg.ClientConfig {
  /** Maximum pause within a transaction, milliseconds; 0: no limit. Default: {@link MAX_IDLE_IN_TRANSACTION_MS}. */
  readonly maxIdleInTransactionMs?: number;
}

/** Connects to one server. Rejects with the driver's error. */
export async function connectTo(url: string, options: ConnectionSettings = {}): Promise<Connection> {
  const { maxIdleInTransactionMs = MAX_IDLE_IN_TRANSACTION_MS, ...settings } = options;
  // The program opens the socket itself, since the driver cannot close a connection without the server.
  const socket = new Socket();
  const client = new pg.Client({ ...connectionSettings(url), ...settings, stream: () => socket });
  // An error of the connection also rejects its queries.
  client.on('error', () => {});
  const destroy = () => void socket.destroy();
  try {
    await client.connect();
    // A query whose response is not awaited any more must not go on in the server.
    await setUpSession(client, maxIdleInTransactionMs, settings.query_timeout);
  } catch (error) {
    destroy();
    throw error;
  }
  return {
    client,
    url,
    destroy,
    async end() {
      const timer = setTimeout(destroy, END_TIMEOUT_MS);
      await client.end().catch(() => {});
      clearTimeout(timer);
    },
  };
}

export interface PrimarySearch {
  readonly settings?: ConnectionSettings;
  /** Minimum timeline. A primary with an older timeline has been replaced by another server and is ignored. Default 0: any. */
  readonly minTimeline?: number;
}

/**
 * Connects to the one server, or to the first that answers as the primary. Rejects with the driver's error; if only
 * standbys and former primaries respond, its code is that of a read-only transaction.
 */
export async function findPrimary(
  url: string,
  { servers, needsPrimary }: PostgresAddress,
  { settings = {}, minTimeline = 0 }: PrimarySearch = {},
): Promise<Connection> {
  const urls = urlsOfServers(url);
  const attempts = urls.map(async (one, index) => {
    const connection = await connectTo(one, settings);
    try {
      const { isStandby, timeline } = await readPosition(connection.client);
      const { host, port } = servers[index] ?? {};
      if (isStandby && needsPrimary) throw refuse(`${host}:${port} is a standby`);
      if (!isStandby && timeline < minTimeline)
        throw refuse(`${host}:${port} is a former primary, which another server has replaced since`);
      return connection;
    } catch (error) {
      connection.destroy();
      throw error;
    }
  });
  try {
    const found = await Promise.any(attempts);
    for (const attempt of attempts)
      attempt.then(
        (other) => (other === found ? undefined : other.end()),
        () => {},
      );
    return found;
  } catch (error) {
    throw mostTelling(error instanceof AggregateError ? error.errors : [error]);
  }
}

export async function readPosition(client: pg.Client): Promise<ServerPosition> {
  const { rows } = await client.query<PositionRow>(POSITION);
  const { standby = false, file = null, position = null, replayed = null } = rows[0] ?? {};
  return {
    isStandby: standby,
    // The name of a file of the log begins with the timeline, in eight hexadecimal digits.
    timeline: Number.parseInt(file?.slice(0, 8) ?? '0', 16),
    position: position ?? 0,
    takenOver: standby ? null : replayed,
  };
}

function refuse(message: string): Error {
  return Object.assign(new Error(message), { code: READ_ONLY });
}

/** An error that a server has returned is more informative than a timeout of another server. */
function mostTelling(errors: readonly unknown[]): unknown {
  const isRefusal = (error: unknown) => errorCodeOf(error) === READ_ONLY;
  return errors.find((error) => error instanceof pg.DatabaseError) ?? errors.find(isRefusal) ?? errors[0];
}

/** Creates an empty history. */
export function createServerHistory(address: PostgresAddress): ServerHistory {
  let timeline = 0;
  let confirmed = 0;
  const noteCommit = (position: number): void => {
    confirmed = Math.max(confirmed, position);
  };
  return {
    get timeline() {
      return timeline;
    },
    meet(found) {
      if (found.isStandby) return null;
      const kept = found.timeline === timeline ? found.position : (found.takenOver ?? 0);
      const isLacking = timeline > 0 && kept < confirmed;
      timeline = found.timeline;
      confirmed = found.position;
      if (!isLacking) return null;
      return new Error(
        `${describePostgres(address)} no longer has the newest commits that it has confirmed, as after the take-over by a standby without them; starting again with what it has`,
      );
    },
    note({ isStandby, position }) {
      if (!isStandby) noteCommit(position);
    },
    noteCommit,
  };
}
