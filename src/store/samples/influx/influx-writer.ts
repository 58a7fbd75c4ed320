/**
 * Lines on their way to InfluxDB, in order: what cannot be sent goes to the spool, and all that comes later behind it,
 * until the server has taken everything.
 */
import type { Cancel, Clock } from '../../../clock.ts';
import type { InfluxLink, SendOutcome } from './influx-link.ts';
import type { Spool } from './spool.ts';

/** How the writer is doing. */
export interface InfluxWriterState {
  /** Samples not yet at the server, in memory and in the spool. */
  readonly pending: number;
  readonly spoolBytes: number;
  /** Why the server does not take samples, one line; null: it does. */
  readonly problem: string | null;
  /** Samples dropped: the spool was full, or the server refused them for good. */
  readonly lost: number;
  /** Why the server refused some for good, the last time; null: it never did. */
  readonly refusal: string | null;
}

/** The writer. */
export interface InfluxWriter {
  append(lines: readonly string[]): void;
  /** Resolves when little waits in memory: whoever is faster than the server waits for it. */
  room(): Promise<void>;
  /** Resolves when everything appended before is at the server or in the spool. */
  flush(): Promise<void>;
  state(): InfluxWriterState;
  /** Flushes and ends; the spool stays for the next start. How it was at the end. */
  close(): Promise<InfluxWriterState>;
}

/** Lines of a request. */
const MOST_LINES = 5_000;
/** Lines in memory that make those wait who bring more. */
const MOST_GATHERED = 4 * MOST_LINES;
/** Lines in memory where the disk takes none; of more, the oldest are given up. */
const MOST_STUCK = 50_000;
/** Lines gathered for this long go together. */
const GATHER_MS = 250;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
/** Between two batches of the spool: a server that comes back is not run over. */
const SPOOL_PAUSE_MS = 20;

/** Makes a writer, and begins with what an earlier run left in the spool. */
export function createInfluxWriter(link: Pick<InfluxLink, 'send'>, spool: Spool, clock: Clock): InfluxWriter {
  let gathered: string[] = [];
  let sending: Promise<void> | null = null;
  let cancelGather: Cancel | null = null;
  let cancelPump: Cancel | null = null;
  let problem: string | null = null;
  let refused = 0;
  let refusal: string | null = null;
  let waitMs = FIRST_WAIT_MS;
  let closed = false;
  /** The server is away and the disk takes nothing: lines wait in memory. */
  let stuck = false;
  const roomSeekers: (() => void)[] = [];

  /** Sends or spools what is gathered; one request at a time. */
  const ship = async (): Promise<void> => {
    while (sending !== null) await sending;
    cancelGather?.();
    cancelGather = null;
    while (gathered.length > 0 && !stuck) {
      const lines = gathered.slice(0, MOST_LINES);
      gathered = gathered.slice(MOST_LINES);
      if (gathered.length < MOST_GATHERED) for (const resolve of roomSeekers.splice(0)) resolve();
      sending = spool.samples > 0 ? keep(lines) : send(lines);
      try {
        await sending;
      } finally {
        sending = null;
      }
    }
    // Nobody is to wait for a disk.
    if (stuck) for (const resolve of roomSeekers.splice(0)) resolve();
    boundGathered();
  };

  /** Puts lines on disk; where that is not possible they stay in memory, before all others. */
  const keep = async (lines: readonly string[]): Promise<void> => {
    try {
      spool.put(lines);
    } catch (error) {
      problem = `samples cannot be kept on disk: ${(error as Error).message}`;
      gathered = [...lines, ...gathered];
      stuck = true;
      if (cancelPump === null) pumpAfter(waitMs);
    }
  };

  const boundGathered = (): void => {
    const excess = gathered.length - MOST_STUCK;
    if (!stuck || excess <= 0) return;
    refused += excess;
    gathered = gathered.slice(excess);
  };

  const send = async (lines: readonly string[]): Promise<void> => {
    const outcome = await link.send(lines);
    if (outcome.kind === 'away') {
      problem = outcome.problem;
      await keep(lines);
      pumpAfter(waitMs);
    } else {
      note(outcome, lines.length);
    }
  };

  const note = (outcome: Exclude<SendOutcome, { kind: 'away' }>, count: number): void => {
    const dropped = outcome.kind === 'refused' ? outcome.dropped : 0;
    refused += dropped;
    if (outcome.kind === 'refused') refusal = outcome.problem;
    // Where it takes some, it is the points that are wrong, and nothing is the matter with the server.
    problem = outcome.kind === 'refused' && dropped === count ? outcome.problem : null;
  };

  const pumpAfter = (ms: number): void => {
    cancelPump?.();
    cancelPump = closed
      ? null
      : clock.after(ms, () => {
          pump().catch((error: Error) => {
            problem = `the spool cannot be read: ${error.message}`;
            pumpAfter(LONGEST_WAIT_MS);
          });
        });
  };

  /** One batch of the spool, and the next one after a pause; what no disk took comes after them. */
  const pump = async (): Promise<void> => {
    cancelPump = null;
    while (sending !== null) await sending;
    if (closed) return;
    const batch = spool.first();
    if (batch === null) {
      stuck = false;
      await ship();
      return;
    }
    sending = (async () => {
      const outcome = await link.send(batch.lines);
      if (outcome.kind === 'away') {
        problem = outcome.problem;
        waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2);
      } else {
        waitMs = FIRST_WAIT_MS;
        note(outcome, batch.lines.length);
        spool.removeFirst();
      }
      pumpAfter(outcome.kind === 'away' ? waitMs : SPOOL_PAUSE_MS);
    })();
    try {
      await sending;
    } finally {
      sending = null;
    }
    // There may be room on the disk again.
    if (!stuck) return;
    stuck = false;
    await ship();
  };

  const state = (): InfluxWriterState => ({
    pending: gathered.length + spool.samples,
    spoolBytes: spool.bytes,
    problem,
    lost: refused + spool.dropped,
    refusal,
  });

  pumpAfter(0);
  return {
    append(lines) {
      for (const line of lines) gathered.push(line);
      if (gathered.length >= MOST_LINES) void ship();
      else cancelGather ??= clock.after(GATHER_MS, () => void ship());
    },
    room: () =>
      gathered.length < MOST_GATHERED || stuck
        ? Promise.resolve()
        : new Promise<void>((resolve) => roomSeekers.push(resolve)),
    flush: ship,
    state,
    async close() {
      await ship();
      closed = true;
      cancelPump?.();
      cancelGather?.();
      while (sending !== null) await sending;
      // What neither the server nor the disk took ends here.
      refused += gathered.length;
      gathered = [];
      const last = state();
      spool.close();
      return last;
    },
  };
}
