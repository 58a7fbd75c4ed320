/**
 * Lines on their way to InfluxDB, in order: what cannot be sent goes to the spool, and all that comes later behind it,
 * until the server has taken everything.
 */
import { createBackoff } from '../../../async/retry.ts';
import type { Cancel, Clock } from '../../../clock.ts';
import type { InfluxFault } from './influx-fault.ts';
import type { InfluxLink } from './influx-link.ts';
import type { SendOutcome } from './send-lines.ts';
import type { Spool } from './spool.ts';

/** How the writer is doing. */
export interface InfluxWriterState {
  /** Samples not yet at the server, in memory and in the spool. */
  readonly pending: number;
  readonly spoolBytes: number;
  /** Lines in the spool alone. */
  readonly spooled: number;
  /** Time of the oldest check in the spool, epoch milliseconds; null: no check waits there. */
  readonly missingSince: number | null;
  /** Why the server does not take samples, one line; null: it does. */
  readonly problem: string | null;
  /** The kind of that problem, where the server answered it. */
  readonly fault: InfluxFault | null;
  /** Samples dropped: the spool was full, or the server refused them for good. */
  readonly lost: number;
  /** Why the server refused some for good, the last time; null: it never did. */
  readonly refusal: string | null;
}

/** The writer. */
export interface InfluxWriter {
  /**
   * Takes lines. `rewrites`: a later one may be the same point as an earlier one and is to win, so they are never sent
   * beside each other.
   */
  append(lines: readonly string[], rewrites?: boolean): void;
  /** Resolves when little waits in memory: callers that are faster than the server wait for it. */
  room(): Promise<void>;
  /** Resolves when everything appended before is at the server or in the spool. */
  flush(): Promise<void>;
  state(): InfluxWriterState;
  /** Flushes and ends; the spool stays for the next start. How it was at the end. */
  close(): Promise<InfluxWriterState>;
}

/** Lines of a request. */
const MAX_LINES = 5_000;
/** Full requests at a time: the server stores one while the next one comes in. */
const MAX_IN_FLIGHT = 2;
/** Lines in memory that make those wait who bring more. */
const MAX_IN_MEMORY = 4 * MAX_LINES;
/** Lines in memory where the disk takes none; of more, the oldest are given up. */
const MAX_STUCK = 50_000;
/** Lines gathered for this long go together. */
const GATHER_MS = 250;
const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 30_000;
/** A server that asks for more patience (`Retry-After`) is tried again after this all the same. */
const MAX_RETRY_AFTER_MS = 300_000;
/** Between two batches of the spool: a server that comes back is not run over. */
const SPOOL_PAUSE_MS = 20;

/** Makes a writer, and begins with what an earlier run left in the spool. */
export function createInfluxWriter(link: Pick<InfluxLink, 'send'>, spool: Spool, clock: Clock): InfluxWriter {
  let gathered: string[] = [];
  /** So many of those gathered first may be rewrites. */
  let rewriting = 0;
  /** Requests on their way, oldest first; each is done when it and all before it have been dealt with. */
  const underway: { readonly done: Promise<void>; readonly lines: number }[] = [];
  let cancelGather: Cancel | null = null;
  let cancelPump: Cancel | null = null;
  let problem: string | null = null;
  let fault: InfluxFault | null = null;
  let refused = 0;
  let refusal: string | null = null;
  const backoff = createBackoff(FIRST_WAIT_MS, MAX_WAIT_MS);
  let closed = false;
  /** The server is away and the disk takes nothing: lines wait in memory. */
  let stuck = false;
  const roomSeekers: (() => void)[] = [];

  /** Lines in memory, those on their way included. */
  const inMemory = (): number => underway.reduce((sum, { lines }) => sum + lines, gathered.length);

  /** Callers never wait for a disk, though. */
  const makeRoom = (): void => {
    if (inMemory() < MAX_IN_MEMORY || stuck) for (const resolve of roomSeekers.splice(0)) resolve();
  };

  /** Sends or spools what is gathered. */
  const ship = async (): Promise<void> => {
    cancelGather?.();
    cancelGather = null;
    while (gathered.length > 0 && !stuck) {
      if (underway.length > 0 && !mayGoBeside()) {
        await underway[0]?.done;
        continue;
      }
      const lines = take();
      if (spool.samples > 0) keep(lines);
      else begin(lines, lines.length, (outcome) => settle(outcome, lines));
    }
    makeRoom();
    boundGathered();
  };

  /** Only a full request goes beside another, and none with a point that another may bring too. */
  const mayGoBeside = (): boolean =>
    underway.length < MAX_IN_FLIGHT && gathered.length >= MAX_LINES && rewriting === 0 && spool.samples === 0;

  const take = (): string[] => {
    const lines = gathered.slice(0, MAX_LINES);
    gathered = gathered.slice(MAX_LINES);
    rewriting = Math.min(gathered.length, Math.max(0, rewriting - lines.length));
    return lines;
  };

  /** Sets a request on its way; `count` of its lines are in memory alone. Its outcome is dealt with in its turn. */
  const begin = (
    lines: readonly string[],
    count: number,
    deal: (outcome: SendOutcome) => void,
  ): Promise<void> => {
    const sent = link.send(lines);
    const before = underway.at(-1)?.done;
    const run = async (): Promise<void> => {
      const outcome = await sent;
      await before;
      underway.shift();
      deal(outcome);
      makeRoom();
    };
    const done = run();
    underway.push({ done, lines: count });
    return done;
  };

  const settle = (outcome: SendOutcome, lines: readonly string[]): void => {
    note(outcome, lines.length);
    if (outcome.rest.length === 0) return;
    keep(outcome.rest);
    pumpAfter(waitFor(outcome));
  };

  const waitFor = ({ retryAfterMs }: SendOutcome): number =>
    Math.max(backoff.pauseMs, Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS));

  /** Puts lines on disk; where that is not possible they stay in memory, before all others. */
  const keep = (lines: readonly string[]): void => {
    try {
      spool.put(lines);
    } catch (error) {
      problem = `samples cannot be kept on disk: ${(error as Error).message}`;
      fault = null;
      gathered = [...lines, ...gathered];
      rewriting += lines.length;
      stuck = true;
      if (cancelPump === null) pumpAfter(backoff.pauseMs);
    }
  };

  const boundGathered = (): void => {
    const excess = gathered.length - MAX_STUCK;
    if (!stuck || excess <= 0) return;
    refused += excess;
    gathered = gathered.slice(excess);
  };

  const note = (
    { rest, dropped, problem: found, fault: kind, refusal: reason }: SendOutcome,
    count: number,
  ) => {
    refused += dropped;
    if (reason !== null && dropped > 0) refusal = reason;
    // Where it takes some, it is the points that are wrong, and nothing is the matter with the server.
    problem = found ?? (dropped === count && rest.length === 0 ? reason : null);
    fault = kind;
  };

  const pumpAfter = (ms: number): void => {
    cancelPump?.();
    cancelPump = closed
      ? null
      : clock.after(ms, () => {
          pump().catch((error: Error) => {
            problem = `the spool cannot be read: ${error.message}`;
            fault = null;
            pumpAfter(MAX_WAIT_MS);
          });
        });
  };

  /** One batch of the spool, and the next one after a pause; what no disk took comes after them. */
  const pump = async (): Promise<void> => {
    cancelPump = null;
    while (underway.length > 0) await underway[0]?.done;
    if (closed) return;
    const batch = spool.first(MAX_LINES);
    if (batch === null) {
      stuck = false;
      await ship();
      return;
    }
    await begin(batch.lines, 0, (outcome) => {
      const { rest } = outcome;
      note(outcome, batch.lines.length);
      const isBetter = rest.length < batch.lines.length;
      if (isBetter) spool.remove(batch, rest);
      if (rest.length > 0 && !isBetter) backoff.next();
      else backoff.reset();
      pumpAfter(rest.length === 0 ? SPOOL_PAUSE_MS : waitFor(outcome));
    });
    // There may be room on the disk again.
    if (!stuck) return;
    stuck = false;
    await ship();
  };

  const state = (): InfluxWriterState => ({
    pending: inMemory() + spool.samples,
    spoolBytes: spool.bytes,
    spooled: spool.samples,
    missingSince: spool.oldestCheckAt(),
    problem,
    fault,
    lost: refused + spool.dropped,
    refusal,
  });

  const flush = async (): Promise<void> => {
    await ship();
    await Promise.all(underway.map(({ done }) => done));
  };

  pumpAfter(0);
  return {
    append(lines, rewrites = false) {
      for (const line of lines) gathered.push(line);
      if (rewrites) rewriting = gathered.length;
      if (gathered.length >= MAX_LINES) void ship();
      else cancelGather ??= clock.after(GATHER_MS, () => void ship());
    },
    room: () =>
      inMemory() < MAX_IN_MEMORY || stuck
        ? Promise.resolve()
        : new Promise<void>((resolve) => roomSeekers.push(resolve)),
    flush,
    state,
    async close() {
      await flush();
      closed = true;
      cancelPump?.();
      cancelGather?.();
      while (underway.length > 0) await underway[0]?.done;
      // What neither the server nor the disk took ends here.
      refused += gathered.length;
      gathered = [];
      const last = state();
      spool.close();
      return last;
    },
  };
}
