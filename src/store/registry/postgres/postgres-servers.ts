/** Connections to the server that takes writes, of those that `storage.postgres.url` names. */
import { Socket } from 'node:net';
import pg from 'pg';
import { type PostgresAddress, urlsOfServers } from '../../../domain/postgres-address.ts';
import { errorCodeOf } from '../../../error.ts';
import { connectionSettings } from './postgres-store.ts';

/** A connection, and how it ends. */
export interface Connection {
  readonly client: pg.Client;
  /** The server's own URL. */
  readonly url: string;
  /** Ends it without the server, which may be silent; its queries reject. */
  destroy(): void;
  /** Says good-bye after the queries in flight, and waits for that at most {@link END_TIMEOUT_MS}. */
  end(): Promise<void>;
}

/** How far a server is in its write-ahead log. Positions are bytes from its beginning. */
export interface ServerPosition {
  readonly isStandby: boolean;
  /** Grows when a standby becomes the primary. */
  readonly timeline: number;
  /** Up to here the log is on the server's disk. */
  readonly position: number;
  /** Up to here it had the log of the former primary; null: it was none of its standbys since its start. */
  readonly takenOver: number | null;
}

/** How long the end of a connection waits for the server, milliseconds. */
const END_TIMEOUT_MS = 1_000;

/** The functions of PostgreSQL here may be called by any user, but not all of them on a standby. */
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

/** Connects to one server. Rejects with the driver's error. */
export async function connectTo(url: string, settings: pg.ClientConfig = {}): Promise<Connection> {
  // Our own socket, since the driver ends none without the server.
  const socket = new Socket();
  const client = new pg.Client({ ...connectionSettings(url), ...settings, stream: () => socket });
  // What ends the connection also fails its queries.
  client.on('error', () => {});
  const destroy = () => void socket.destroy();
  try {
    await client.connect();
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

/** How to look for the primary. */
export interface PrimarySearch {
  readonly settings?: pg.ClientConfig;
  /** A primary of an older timeline was replaced by another server since, and is of no use. Default 0: any. */
  readonly minTimeline?: number;
}

/**
 * Connects to the one server, or to the first that answers as the primary. Rejects with the driver's error; where only
 * standbys and former primaries answer, its code is that of a read-only transaction.
 */
export async function findPrimary(
  url: string,
  { servers, needsPrimary }: Pick<PostgresAddress, 'servers' | 'needsPrimary'>,
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

/** Reads how far a server is. */
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

/** The code of PostgreSQL for a server that takes no writes. */
const READ_ONLY = '25006';

function refuse(message: string): Error {
  return Object.assign(new Error(message), { code: READ_ONLY });
}

/** What a server has said tells more than that another one does not answer. */
function mostTelling(errors: readonly unknown[]): unknown {
  const isRefusal = (error: unknown) => errorCodeOf(error) === READ_ONLY;
  return errors.find((error) => error instanceof pg.DatabaseError) ?? errors.find(isRefusal) ?? errors[0];
}
