/**
 * Writes lines to InfluxDB in order. Lines that cannot be sent go to the spool, and all later lines after them, until the
 * server has accepted everything.
 */
import { createBackoff } from '../../../async/retry.ts';
import type { Cancel, Clock } from '../../../clock.ts';
import { messageOf } from '../../../error.ts';
import type { InfluxLink } from './influx-link.ts';
import type { InfluxFault } from './influx-settings.ts';
import type { SendOutcome } from './send-lines.ts';
import type { Spool } from './spool.ts';

/** State of the writer. */
export interface InfluxWriterState {
  /** Samples not yet at the server, in memory and in the spool. */
  readonly pending: number;
  readonly spoolBytes: number;
  /** Lines in the spool alone. */
  readonly spooled: number;
  /** What is kept of a spool that was damaged at the start, a file; null: nothing. */
  readonly damagedSpool: string | null;
  /** Time of the oldest check in the spool, epoch milliseconds; null: no check waits there. */
  readonly missingSince: number | null;
  /** Why the server does not accept samples, one line; null: it does. */
  readonly problem: string | null;
  /** The kind of that problem, if the server reported it. */
  readonly fault: InfluxFault | null;
  /** Samples dropped: the spool was full, or the server refused them permanently. */
  readonly lost: number;
  /** Why the server last refused samples permanently; null: it never did. */
  readonly refusal: string | null;
}

/** Lines of a request. */
const MAX_LINES = 5_000;
/** Full requests in flight: the server stores one while the next one arrives. */
const MAX_IN_FLIGHT = 2;
/** With this many lines in memory, callers of `room` wait. */
const MAX_IN_MEMORY = 4 * MAX_LINES;
/** Maximum number of lines in memory while the disk refuses them; the oldest are dropped. */
const MAX_STUCK = 50_000;
/** Lines are sent together after this time, milliseconds. */
const BATCH_MS = 250;
const FIRST_PAUSE_MS = 1_000;
/** Short, so that everything is stored within 10 s after an outage. */
const MAX_PAUSE_MS = 5_000;
/** Maximum pause that a server can ask for by `Retry-After`, milliseconds. */
const MAX_RETRY_AFTER_MS = 300_000;
/** Between two batches of the spool, milliseconds, so that a server that has just returned is not overloaded. */
const SPOOL_PAUSE_MS = 20;

/** Creates a writer, which begins with what an earlier run left in the spool. */
export function createInfluxWriter(link: Pick<InfluxLink, 'send'>, spool: Spool, clock: Clock) {
  let buffered: string[] = [];
  /** This many lines at the start of the buffer may be rewrites. */
  let rewriting = 0;
  /** Requests, oldest first; each is done when its outcome and those of all before it are handled. */
  const inFlight: { readonly done: Promise<void>; readonly lines: number }[] = [];
  let cancelSend: Cancel | null = null;
  let cancelDrain: Cancel | null = null;
  let problem: string | null = null;
  let fault: InfluxFault | null = null;
  let refused = 0;
  let refusal: string | null = null;
  const backoff = createBackoff(FIRST_PAUSE_MS, MAX_PAUSE_MS);
  let closed = false;
  /** The server is unavailable and the disk refuses writes: lines wait in memory. */
  let isStuck = false;
  let room = Promise.withResolvers<void>();

  /** Lines in memory, including those in flight. */
  const inMemory = (): number => inFlight.reduce((sum, { lines }) => sum + lines, buffered.length);

  /** Callers never wait for a disk. */
  const hasRoom = (): boolean => inMemory() < MAX_IN_MEMORY || isStuck;

  const makeRoom = (): void => {
    if (!hasRoom()) return;
    room.resolve();
    room = Promise.withResolvers();
  };

  /** Sends or spools the buffer. */
  const sendBuffered = async (): Promise<void> => {
    cancelSend?.();
    cancelSend = null;
    while (buffered.length > 0 && !isStuck) {
      if (inFlight.length > 0 && !maySendInParallel()) {
        await inFlight[0]?.done;
        continue;
      }
      const lines = take();
      if (spool.samples > 0) addToSpool(lines);
      else begin(lines, lines.length, (outcome) => settle(outcome, lines));
    }
    makeRoom();
    boundBuffer();
  };

  /** Only full requests are sent in parallel, and none with a point that another may contain too. */
  const maySendInParallel = (): boolean =>
    inFlight.length < MAX_IN_FLIGHT && buffered.length >= MAX_LINES && rewriting === 0 && spool.samples === 0;

  const take = (): string[] => {
    const lines = buffered.slice(0, MAX_LINES);
    buffered = buffered.slice(MAX_LINES);
    rewriting = Math.min(buffered.length, Math.max(0, rewriting - lines.length));
    return lines;
  };

  /** Sends a request, of whose lines `count` are in memory only. Outcomes are handled in the order of the requests. */
  const begin = (
    lines: readonly string[],
    count: number,
    handle: (outcome: SendOutcome) => void,
  ): Promise<void> => {
    const sent = link.send(lines);
    const before = inFlight.at(-1)?.done;
    const run = async (): Promise<void> => {
      const outcome = await sent;
      await before;
      inFlight.shift();
      handle(outcome);
      makeRoom();
    };
    const done = run();
    inFlight.push({ done, lines: count });
    return done;
  };

  const settle = (outcome: SendOutcome, lines: readonly string[]): void => {
    note(outcome, lines.length);
    if (outcome.unsent.length === 0) return;
    addToSpool(outcome.unsent);
    drainSpoolAfter(pauseAfter(outcome));
  };

  const pauseAfter = ({ retryAfterMs }: SendOutcome): number =>
    Math.max(backoff.pauseMs, Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS));

  /** Writes lines to the spool; if that fails, they stay in memory before all others. */
  const addToSpool = (lines: readonly string[]): void => {
    try {
      spool.put(lines);
    } catch (error) {
      problem = `samples cannot be kept on disk: ${messageOf(error)}`;
      fault = null;
      buffered = [...lines, ...buffered];
      rewriting += lines.length;
      isStuck = true;
      if (cancelDrain === null) drainSpoolAfter(backoff.pauseMs);
    }
  };

  const boundBuffer = (): void => {
    const excess = buffered.length - MAX_STUCK;
    if (!isStuck || excess <= 0) return;
    refused += excess;
    buffered = buffered.slice(excess);
  };

  const note = (
    { unsent, dropped, problem: found, fault: kind, refusal: reason }: SendOutcome,
    count: number,
  ) => {
    refused += dropped;
    if (reason !== null && dropped > 0) refusal = reason;
    // If it accepts some, the points are wrong, not the server.
    problem = found ?? (dropped === count && unsent.length === 0 ? reason : null);
    fault = kind;
  };

  const drainSpoolAfter = (ms: number): void => {
    cancelDrain?.();
    cancelDrain = closed
      ? null
      : clock.after(ms, () => {
          drainSpool().catch((error: Error) => {
            problem = `the spool cannot be read: ${error.message}`;
            fault = null;
            drainSpoolAfter(MAX_PAUSE_MS);
          });
        });
  };

  /** Sends a batch of the spool, the next one after a pause, and then the lines that the disk refused. */
  const drainSpool = async (): Promise<void> => {
    cancelDrain = null;
    while (inFlight.length > 0) await inFlight[0]?.done;
    if (closed) return;
    const batch = spool.first(MAX_LINES);
    if (batch === null) {
      isStuck = false;
      await sendBuffered();
      return;
    }
    await begin(batch.lines, 0, (outcome) => {
      const { unsent } = outcome;
      note(outcome, batch.lines.length);
      const hasProgress = unsent.length < batch.lines.length;
      if (hasProgress) spool.remove(batch, unsent);
      if (unsent.length > 0 && !hasProgress) backoff.next();
      else backoff.reset();
      drainSpoolAfter(unsent.length === 0 ? SPOOL_PAUSE_MS : pauseAfter(outcome));
    });
    // The disk may have space again.
    if (!isStuck) return;
    isStuck = false;
    await sendBuffered();
  };

  const state = (): InfluxWriterState => ({
    pending: inMemory() + spool.samples,
    spoolBytes: spool.bytes,
    spooled: spool.samples,
    damagedSpool: spool.damaged(),
    missingSince: spool.oldestCheckAt(),
    problem,
    fault,
    lost: refused + spool.dropped,
    refusal,
  });

  const flush = async (): Promise<void> => {
    await sendBuffered();
    await Promise.all(inFlight.map(({ done }) => done));
  };

  drainSpoolAfter(0);
  return {
    /**
     * Takes lines. `rewrites`: a later line may replace the point of an earlier one, so they are never sent in parallel.
     */
    append(lines: readonly string[], rewrites = false): void {
      for (const line of lines) buffered.push(line);
      if (rewrites) rewriting = buffered.length;
      if (buffered.length >= MAX_LINES) void sendBuffered();
      else cancelSend ??= clock.after(BATCH_MS, () => void sendBuffered());
    },
    /** Resolves when few lines are in memory: callers that are faster than the server wait for it. */
    room: (): Promise<void> => (hasRoom() ? Promise.resolve() : room.promise),
    /** Resolves when everything appended before is at the server or in the spool. */
    flush,
    state,
    /** Flushes and ends; the spool stays for the next start. Returns the last state. */
    async close(): Promise<InfluxWriterState> {
      await flush();
      closed = true;
      cancelDrain?.();
      cancelSend?.();
      while (inFlight.length > 0) await inFlight[0]?.done;
      // Lines that neither the server nor the disk accepted are lost.
      refused += buffered.length;
      buffered = [];
      const last = state();
      spool.close();
      return last;
    },
  };
}
