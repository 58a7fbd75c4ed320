/** The connection that writes and hears of the commits of other processes. It is made anew where it is lost. */
import pg from 'pg';
import { CHANNEL, connectionSettings, type WriteConnection } from './postgres-store.ts';

/** Pause before a lost connection is made again, milliseconds. */
const RECONNECT_MS = 500;
/** A server that answers no statement for this long is taken for lost, milliseconds. */
const STATEMENT_TIMEOUT_MS = 10_000;

/** The connection. */
export interface KeptConnection extends WriteConnection {
  close(): Promise<void>;
}

/**
 * Makes the connection, at first not open. `onNotice` receives what other processes send with their commits, and null
 * after a time in which nothing could be heard.
 */
export function keepConnection(url: string, onNotice: (notice: string | null) => void): KeptConnection {
  let client: pg.Client | null = null;
  let opening: Promise<pg.Client> | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;

  const connect = async (): Promise<pg.Client> => {
    if (timer !== null) clearTimeout(timer);
    const made = new pg.Client({
      ...connectionSettings(url),
      pipeline: true,
      query_timeout: STATEMENT_TIMEOUT_MS,
    });
    const lose = () => {
      if (client !== made) return;
      client = null;
      retryLater();
    };
    made.on('error', lose);
    made.on('end', lose);
    made.on('notification', ({ payload = '' }) => onNotice(payload));
    try {
      await made.connect();
      await made.query(`LISTEN ${CHANNEL}`);
    } catch (error) {
      void made.end().catch(() => {});
      throw error;
    }
    client = made;
    onNotice(null);
    return made;
  };

  const open = async (): Promise<pg.Client> => {
    if (client !== null) return client;
    opening ??= connect().finally(() => {
      opening = null;
    });
    return await opening;
  };

  /** Not only for the next write: what others commit must be heard. */
  const retryLater = (): void => {
    if (isClosed) return;
    timer = setTimeout(() => {
      open().catch(retryLater);
    }, RECONNECT_MS);
  };

  return {
    open,
    get client() {
      return client;
    },
    async close() {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      await opening?.catch(() => {});
      const last = client;
      client = null;
      await last?.end().catch(() => {});
    },
  };
}
