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
  /** Flushes and ends; the spool stays for the next start. */
  close(): Promise<void>;
}

/** Lines of a request. */
const MOST_LINES = 5_000;
/** Lines in memory that make those wait who bring more. */
const MOST_GATHERED = 4 * MOST_LINES;
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
  const roomSeekers: (() => void)[] = [];

  /** Sends or spools what is gathered; one request at a time. */
  const ship = async (): Promise<void> => {
    while (sending !== null) await sending;
    cancelGather?.();
    cancelGather = null;
    while (gathered.length > 0) {
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
  };

  const keep = async (lines: readonly string[]): Promise<void> => {
    try {
      spool.put(lines);
    } catch (error) {
      problem = `samples cannot be kept on disk: ${(error as Error).message}`;
      refused += lines.length;
    }
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
    cancelPump = closed ? null : clock.after(ms, () => void pump());
  };

  /** One batch of the spool, and the next one after a pause. */
  const pump = async (): Promise<void> => {
    cancelPump = null;
    while (sending !== null) await sending;
    const batch = spool.first();
    if (batch === null || closed) return;
    sending = (async () => {
      const outcome = await link.send(batch.lines);
      if (outcome.kind === 'away') {
        problem = outcome.problem;
        waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2);
        pumpAfter(waitMs);
        return;
      }
      waitMs = FIRST_WAIT_MS;
      note(outcome, batch.lines.length);
      spool.remove(batch.seq);
      pumpAfter(SPOOL_PAUSE_MS);
    })();
    try {
      await sending;
    } finally {
      sending = null;
    }
  };

  pumpAfter(0);
  return {
    append(lines) {
      for (const line of lines) gathered.push(line);
      if (gathered.length >= MOST_LINES) void ship();
      else cancelGather ??= clock.after(GATHER_MS, () => void ship());
    },
    room: () =>
      gathered.length < MOST_GATHERED
        ? Promise.resolve()
        : new Promise<void>((resolve) => roomSeekers.push(resolve)),
    flush: ship,
    state: () => ({
      pending: gathered.length + spool.samples,
      spoolBytes: spool.bytes,
      problem,
      lost: refused + spool.dropped,
      refusal,
    }),
    async close() {
      await ship();
      closed = true;
      cancelPump?.();
      cancelGather?.();
      while (sending !== null) await sending;
      spool.close();
    },
  };
}
