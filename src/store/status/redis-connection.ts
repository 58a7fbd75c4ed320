/**
 * One connection to Redis that knows whether it works. The client alone cannot tell: a server that hangs keeps its
 * sockets open, and one that was emptied, or became a replica in a failover, responds as before.
 */
import { createListeners } from '../../async/listeners.ts';
import { createBackoff } from '../../async/retry.ts';
import type { Clock } from '../../clock.ts';
import { describeRedis, type RedisAddress } from '../../domain/store-address.ts';
import { errorCodeOf, messageOf } from '../../error.ts';
import type { Log } from '../../log.ts';
import { createRedisClient, type RedisClient, requireMaster } from './redis-client.ts';

/** The context of every connection to an installation. */
export interface RedisContext {
  readonly address: RedisAddress;
  readonly clock: Clock;
  readonly log: Log;
}

interface RedisConnectionOptions extends RedisContext {
  /** The purpose of the connection, in one word; shown in the log and in `CLIENT LIST`. */
  readonly purpose: string;
  /** Timeout of a command, milliseconds. */
  readonly timeoutMs: number;
  /** True: commands may block, so that they are not sent together. Default false. */
  readonly blocking?: boolean;
  /** Runs after each connect, before the connection is ready; a rejection is retried. */
  readonly prepare: (client: RedisClient) => Promise<unknown>;
  /** Called every second; after a rejection the connection is prepared again. */
  readonly probe: (client: RedisClient) => Promise<unknown>;
}

/** Figures for metrics and `/readyz`. */
export interface RedisConnectionState {
  /** Why it does not work, one line without secrets; null: it works. */
  readonly problem: string | null;
  /** Commands without a response in time, or with an error as response, since the start. */
  readonly commandsFailed: number;
  /** The number of times that it became ready again. */
  readonly reconnects: number;
}

/** Something that works by a connection. */
export interface RedisPart {
  state(): RedisConnectionState;
  close(): void;
}

export interface RedisConnection extends RedisPart {
  readonly ready: boolean;
  /** Runs commands; rejects with a {@link RedisUnavailable} if the response is an error, late or impossible. */
  run<T>(work: (client: RedisClient) => Promise<T>): Promise<T>;
  /** Calls `listener` each time that the connection becomes ready; the returned function removes it. */
  watchReady(listener: () => void): () => void;
}

/** A command failed. The message contains no secrets, unlike those of the client's own errors. */
class RedisUnavailable extends Error {
  readonly code = 'redis_away';
}

const CLOSED = 'the connection was closed';
const CLIENT_GRACE_MS = 1_000;
const PROBE_MS = 1_000;
const FIRST_RETRY_MS = 20;
const MAX_RETRY_DELAY_MS = 1_000;
/** After a connection that worked for this time, pauses are short again. */
const STEADY_MS = 5_000;
/** After this many failed attempts the client connects again, because another server may be the master by now. */
const ATTEMPTS_PER_CONNECT = 3;

/** Opens a connection; it becomes ready later, or never. */
export function openRedisConnection(options: RedisConnectionOptions): RedisConnection {
  const { address, purpose, timeoutMs, prepare, probe, clock, log } = options;
  const client = createRedisClient(address, {
    name: `upbeat-${purpose}`,
    // Only frees pending commands; timeouts are enforced here.
    timeoutMs: timeoutMs + CLIENT_GRACE_MS,
    blocking: options.blocking ?? false,
  });
  const where = describeRedis(address);
  const listeners = createListeners<[]>();
  const backoff = createBackoff(FIRST_RETRY_MS, MAX_RETRY_DELAY_MS);
  let ready = false;
  let wasReady = false;
  let closed = false;
  let preparing = false;
  let attempts = 0;
  let readyMs = 0;
  let problem: string | null = 'it has not answered yet';
  let logged = false;
  let commandsFailed = 0;
  let reconnects = 0;
  let cancelRetry: (() => void) | null = null;

  /** Marks the connection as broken until it is prepared again. */
  function disconnect(why: string): void {
    if (closed) return;
    if (ready || !logged)
      log.warn({ purpose, redis: where, problem: why }, 'Redis is unavailable; reconnecting');
    // The first error of a fault says most; the close of the connection follows it.
    if (ready || !logged || why !== CLOSED) problem = why;
    // A connection that works only for moments, such as to a cluster without some of its slots, gets longer pauses.
    if (ready && clock.monotonic() - readyMs < STEADY_MS) noteFailure();
    else if (ready) {
      attempts = 0;
      backoff.reset();
    }
    ready = false;
    logged = true;
    retryLater();
  }

  function noteFailure(): void {
    attempts += 1;
    backoff.next();
  }

  function retryLater(): void {
    if (preparing || cancelRetry !== null || closed) return;
    cancelRetry = clock.after(backoff.pauseMs, () => {
      cancelRetry = null;
      void prepareNow();
    });
  }

  async function prepareNow(): Promise<void> {
    if (closed || ready || preparing) return;
    if (client.status === 'end') {
      // The client can stop although it is configured to reconnect indefinitely: news of a failover that arrives while it
      // asks Sentinels for the new master ends it. Its events report the outcome.
      client.connect().catch(() => {});
      return;
    }
    if (client.status !== 'ready') return;
    preparing = true;
    try {
      // One after the other, so that an answer that is lost or odd belongs to one command.
      await bounded(requireMaster(client, address).then(() => prepare(client)));
      preparing = false;
      becomeReady();
    } catch (error) {
      preparing = false;
      commandsFailed += 1;
      noteFailure();
      if (attempts % ATTEMPTS_PER_CONNECT === 0 && !closed) client.disconnect(true);
      disconnect(explain(error));
    }
  }

  function becomeReady(): void {
    if (closed) return;
    ready = true;
    readyMs = clock.monotonic();
    if (wasReady) reconnects += 1;
    log.info({ purpose, redis: where }, wasReady ? 'Redis is available again' : 'Redis is connected');
    wasReady = true;
    problem = null;
    listeners.notify();
  }

  async function run<T>(work: (client: RedisClient) => Promise<T>): Promise<T> {
    if (!ready) throw new RedisUnavailable(problem ?? 'the connection is closed');
    try {
      return await bounded(work(client));
    } catch (error) {
      commandsFailed += 1;
      const why = explain(error);
      disconnect(why);
      throw new RedisUnavailable(why);
    }
  }

  /** Limits what the client does not: a cluster's redirections, and commands that may block. */
  function bounded<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      // If our own event loop was late, the response may be in the socket; it is read first.
      const cancel = clock.after(timeoutMs, () =>
        setImmediate(() => reject(new RedisUnavailable(`no answer within ${timeoutMs} ms`))),
      );
      work.then(resolve, reject).finally(cancel);
    });
  }

  client.on('ready', () => void prepareNow());
  client.on('close', () => disconnect(CLOSED));
  client.on('end', () => disconnect(CLOSED));
  client.on('error', (error: Error) => disconnect(explain(error)));
  const stopProbing = clock.every(PROBE_MS, () => {
    if (ready) run((it) => Promise.all([requireMaster(it, address), probe(it)])).catch(() => {});
    else retryLater();
  });

  return {
    get ready() {
      return ready;
    },
    run,
    watchReady: listeners.add,
    state: () => ({ problem, commandsFailed, reconnects }),
    close() {
      closed = true;
      ready = false;
      problem = 'the connection is closed';
      cancelRetry?.();
      stopProbing();
      listeners.clear();
      client.disconnect();
    },
  };
}

/** The message of an error, without the command and its arguments, which the client's errors have as properties. */
function explain(error: unknown): string {
  if (error instanceof Error && 'lastNodeError' in error && error.lastNodeError instanceof Error)
    return explain(error.lastNodeError);
  const message = messageOf(error);
  if (message === 'Command timed out') return 'no answer in time';
  return message === '' ? (errorCodeOf(error) ?? 'the connection failed') : message;
}
