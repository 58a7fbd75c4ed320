/**
 * One connection to Redis that knows whether it works. The client alone cannot tell: a server that hangs keeps its
 * sockets open, and one that was emptied, or lost its memory in a fail-over, answers as before.
 */
import { createListeners } from '../../async/listeners.ts';
import type { Clock } from '../../clock.ts';
import { describeRedis, type RedisAddress } from '../../domain/redis-address.ts';
import type { Log } from '../../log.ts';
import { createRedisClient, type RedisClient } from './redis-client.ts';

/** What a connection needs. */
export interface RedisConnectionOptions {
  readonly address: RedisAddress;
  /** What for, in one word; shown in the log and in `CLIENT LIST`. */
  readonly purpose: string;
  /** Longest time that an answer may take, milliseconds. */
  readonly timeoutMs: number;
  /** True: commands may block, so that none waits for another to be sent together. Default false. */
  readonly blocking?: boolean;
  /** Runs after each dial, before the connection counts as ready; a rejection is tried again. */
  readonly prepare: (client: RedisClient) => Promise<unknown>;
  /** Called every second; a rejection makes the connection be prepared again. */
  readonly probe: (client: RedisClient) => Promise<unknown>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Figures for metrics and `/readyz`. */
export interface RedisConnectionState {
  /** Why it does not work, one line without secrets; null: it works. */
  readonly problem: string | null;
  /** Commands that were not answered in time, or by an error, since the start. */
  readonly commandsFailed: number;
  /** How often it became ready again, the first time not counted. */
  readonly reconnects: number;
}

/** The connection. */
export interface RedisConnection {
  readonly ready: boolean;
  /** Sends commands; rejects with a {@link RedisAway} where the answer is an error, late, or cannot come. */
  ask<T>(work: (client: RedisClient) => Promise<T>, timeoutMs?: number): Promise<T>;
  /** Calls `listener` each time that the connection has become ready. */
  watchReady(listener: () => void): () => void;
  state(): RedisConnectionState;
  close(): void;
}

/** Redis did not do what was asked. The message has no secrets; the client's own errors may have. */
export class RedisAway extends Error {
  readonly code = 'redis_away';
}

const CLOSED = 'the connection was closed';
const CLIENT_PATIENCE_MS = 1_000;
const PROBE_MS = 1_000;
const FIRST_TRY_MS = 20;
const MAX_RETRY_DELAY_MS = 1_000;
/** A connection that worked this long begins anew with short waits. */
const STEADY_MS = 5_000;
/** After so many tries without an answer the connection is dialled anew: another server may be the master by now. */
const TRIES_OF_A_DIAL = 3;

/** Opens a connection; it is ready some time later, or never. */
export function openRedisConnection(options: RedisConnectionOptions): RedisConnection {
  const { address, purpose, timeoutMs, prepare, probe, clock, log } = options;
  const client = createRedisClient(address, {
    name: `upbeat-${purpose}`,
    // Frees what waits; when an answer is late is decided here.
    timeoutMs: timeoutMs + CLIENT_PATIENCE_MS,
    blocking: options.blocking ?? false,
  });
  const where = describeRedis(address);
  const listeners = createListeners<[]>();
  let ready = false;
  let wasReady = false;
  let closed = false;
  let preparing = false;
  let tries = 0;
  let readyMs = 0;
  let problem: string | null = 'it has not answered yet';
  let told = false;
  let commandsFailed = 0;
  let reconnects = 0;
  let cancelTry: (() => void) | null = null;

  /** The connection counts as broken until it was prepared again. */
  function leave(why: string): void {
    if (closed) return;
    if (ready || !told)
      log.warn({ purpose, redis: where, problem: why }, 'Redis is unavailable; reconnecting');
    // Of one fault the first word says most: what follows it is that the connection closed.
    if (ready || !told || why !== CLOSED) problem = why;
    // What works only for moments, such as a cluster without some of its slots, is left alone for longer each time.
    if (ready) tries = clock.monotonic() - readyMs < STEADY_MS ? tries + 1 : 0;
    ready = false;
    told = true;
    tryLater();
  }

  function tryLater(): void {
    if (preparing || cancelTry !== null || closed) return;
    const delayMs = Math.min(FIRST_TRY_MS * 2 ** tries, MAX_RETRY_DELAY_MS);
    cancelTry = clock.after(delayMs, () => {
      cancelTry = null;
      void tryNow();
    });
  }

  async function tryNow(): Promise<void> {
    if (closed || ready || preparing) return;
    if (client.status === 'end') {
      // It has given up, though it was configured to reconnect indefinitely: word of a fail-over that comes while it asks Sentinels
      // for the new master ends it. What comes of the dial is told by its events.
      client.connect().catch(() => {});
      return;
    }
    if (client.status !== 'ready') return;
    preparing = true;
    try {
      await bounded(prepare(client), timeoutMs);
      preparing = false;
      become();
    } catch (error) {
      preparing = false;
      commandsFailed += 1;
      tries += 1;
      if (tries % TRIES_OF_A_DIAL === 0 && !closed) client.disconnect(true);
      leave(explain(error));
    }
  }

  function become(): void {
    if (closed) return;
    ready = true;
    readyMs = clock.monotonic();
    if (wasReady) reconnects += 1;
    log.info({ purpose, redis: where }, wasReady ? 'Redis is available again' : 'Redis is connected');
    wasReady = true;
    problem = null;
    listeners.notify();
  }

  async function ask<T>(work: (client: RedisClient) => Promise<T>, withinMs = timeoutMs): Promise<T> {
    if (!ready) throw new RedisAway(problem ?? 'the connection is closed');
    try {
      return await bounded(work(client), withinMs);
    } catch (error) {
      commandsFailed += 1;
      const why = explain(error);
      leave(why);
      throw new RedisAway(why);
    }
  }

  /** Bounds what the client does not: a cluster's redirections, and commands that may block. */
  function bounded<T>(work: Promise<T>, withinMs: number): Promise<T> {
    return new Promise((resolve, reject) => {
      // Where our own event loop was late, the answer may lie in the socket: it is read before the verdict.
      const cancel = clock.after(withinMs, () =>
        setImmediate(() => reject(new RedisAway(`no answer within ${withinMs} ms`))),
      );
      work.then(resolve, reject).finally(cancel);
    });
  }

  client.on('ready', () => void tryNow());
  client.on('close', () => leave(CLOSED));
  client.on('end', () => leave(CLOSED));
  client.on('error', (error: Error) => leave(explain(error)));
  const stopProbing = clock.every(PROBE_MS, () => {
    if (ready) ask(probe).catch(() => {});
    else tryLater();
  });

  return {
    get ready() {
      return ready;
    },
    ask,
    watchReady(listener) {
      const remove = listeners.add(listener);
      return remove;
    },
    state: () => ({ problem, commandsFailed, reconnects }),
    close() {
      closed = true;
      ready = false;
      problem = 'the connection is closed';
      cancelTry?.();
      stopProbing();
      listeners.clear();
      client.disconnect();
    },
  };
}

/** What an error says, without the command and its arguments, which the client's errors carry beside. */
function explain(error: unknown): string {
  const { message = '', code, lastNodeError } = error as Error & { code?: string; lastNodeError?: Error };
  if (lastNodeError !== undefined && lastNodeError !== null) return explain(lastNodeError);
  if (message === 'Command timed out') return 'no answer in time';
  return message === '' ? (code ?? 'the connection failed') : message;
}
