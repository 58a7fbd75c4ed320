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

export interface InfluxWriterState {
  /** Samples not yet at the server, in memory and in the spool. */
  readonly pending: number;
  readonly spoolBytes: number;
  /** Lines in the spool alone. */
  readonly spooled: number;
  /** The file that is kept of a spool that was damaged at the start; null: none. */
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
export class InfluxWriter {
  readonly #link: InfluxLink;
  readonly #spool: Spool;
  readonly #clock: Clock;
  #buffered: string[] = [];
  /** This many lines at the start of the buffer may be rewrites. */
  #rewriting = 0;
  /** Requests, oldest first; each is done when its outcome and those of all before it are handled. */
  readonly #inFlight: { readonly done: Promise<void>; readonly lines: number }[] = [];
  #cancelSend: Cancel | null = null;
  #cancelDrain: Cancel | null = null;
  #problem: string | null = null;
  #fault: InfluxFault | null = null;
  #refused = 0;
  #refusal: string | null = null;
  readonly #backoff = createBackoff(FIRST_PAUSE_MS, MAX_PAUSE_MS);
  #closed = false;
  /** The server is unavailable and the disk refuses writes: lines wait in memory. */
  #isStuck = false;
  #room = Promise.withResolvers<void>();

  constructor(link: InfluxLink, spool: Spool, clock: Clock) {
    this.#link = link;
    this.#spool = spool;
    this.#clock = clock;
    this.#drainSpoolAfter(0);
  }

  /** Takes lines. `rewrites`: a later line may replace the point of an earlier one, so they are never sent in parallel. */
  append(lines: readonly string[], rewrites = false): void {
    for (const line of lines) this.#buffered.push(line);
    if (rewrites) this.#rewriting = this.#buffered.length;
    if (this.#buffered.length >= MAX_LINES) void this.#sendBuffered();
    else this.#cancelSend ??= this.#clock.after(BATCH_MS, () => void this.#sendBuffered());
  }

  /** Resolves when few lines are in memory: callers that are faster than the server wait for it. */
  room(): Promise<void> {
    return this.#hasRoom() ? Promise.resolve() : this.#room.promise;
  }

  /** Resolves when everything appended before is at the server or in the spool. */
  async flush(): Promise<void> {
    await this.#sendBuffered();
    await Promise.all(this.#inFlight.map(({ done }) => done));
  }

  state(): InfluxWriterState {
    return {
      pending: this.#inMemory() + this.#spool.samples,
      spoolBytes: this.#spool.bytes,
      spooled: this.#spool.samples,
      damagedSpool: this.#spool.damaged(),
      missingSince: this.#spool.oldestCheckAt(),
      problem: this.#problem,
      fault: this.#fault,
      lost: this.#refused + this.#spool.dropped,
      refusal: this.#refusal,
    };
  }

  /** Flushes and ends; the spool stays for the next start. Returns the last state. */
  async close(): Promise<InfluxWriterState> {
    await this.flush();
    this.#closed = true;
    this.#cancelDrain?.();
    this.#cancelSend?.();
    while (this.#inFlight.length > 0) await this.#inFlight[0]?.done;
    // Lines that neither the server nor the disk accepted are lost.
    this.#refused += this.#buffered.length;
    this.#buffered = [];
    const last = this.state();
    this.#spool.close();
    return last;
  }

  /** Lines in memory, including those in flight. */
  #inMemory(): number {
    return this.#inFlight.reduce((sum, { lines }) => sum + lines, this.#buffered.length);
  }

  /** Callers never wait for a disk. */
  #hasRoom(): boolean {
    return this.#inMemory() < MAX_IN_MEMORY || this.#isStuck;
  }

  #makeRoom(): void {
    if (!this.#hasRoom()) return;
    this.#room.resolve();
    this.#room = Promise.withResolvers();
  }

  async #sendBuffered(): Promise<void> {
    this.#cancelSend?.();
    this.#cancelSend = null;
    while (this.#buffered.length > 0 && !this.#isStuck) {
      if (this.#inFlight.length > 0 && !this.#maySendInParallel()) {
        await this.#inFlight[0]?.done;
        continue;
      }
      const lines = this.#take();
      if (this.#spool.samples > 0) this.#addToSpool(lines);
      else this.#begin(lines, lines.length, (outcome) => this.#settle(outcome, lines));
    }
    this.#makeRoom();
    this.#boundBuffer();
  }

  /** Only full requests are sent in parallel, and none with a point that another may contain too. */
  #maySendInParallel(): boolean {
    return (
      this.#inFlight.length < MAX_IN_FLIGHT &&
      this.#buffered.length >= MAX_LINES &&
      this.#rewriting === 0 &&
      this.#spool.samples === 0
    );
  }

  #take(): string[] {
    const lines = this.#buffered.slice(0, MAX_LINES);
    this.#buffered = this.#buffered.slice(MAX_LINES);
    this.#rewriting = Math.min(this.#buffered.length, Math.max(0, this.#rewriting - lines.length));
    return lines;
  }

  /** Sends a request, of whose lines `count` are in memory only. Outcomes are handled in the order of the requests. */
  #begin(lines: readonly string[], count: number, handle: (outcome: SendOutcome) => void): Promise<void> {
    const sent = this.#link.send(lines);
    const before = this.#inFlight.at(-1)?.done;
    const run = async (): Promise<void> => {
      const outcome = await sent;
      await before;
      this.#inFlight.shift();
      handle(outcome);
      this.#makeRoom();
    };
    const done = run();
    this.#inFlight.push({ done, lines: count });
    return done;
  }

  #settle(outcome: SendOutcome, lines: readonly string[]): void {
    this.#note(outcome, lines.length);
    if (outcome.unsent.length === 0) return;
    this.#addToSpool(outcome.unsent);
    this.#drainSpoolAfter(this.#pauseAfter(outcome));
  }

  #pauseAfter({ retryAfterMs }: SendOutcome): number {
    return Math.max(this.#backoff.pauseMs, Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS));
  }

  /** Writes lines to the spool; if that fails, they stay in memory before all others. */
  #addToSpool(lines: readonly string[]): void {
    try {
      this.#spool.put(lines);
    } catch (error) {
      this.#problem = `samples cannot be kept on disk: ${messageOf(error)}`;
      this.#fault = null;
      this.#buffered = [...lines, ...this.#buffered];
      this.#rewriting += lines.length;
      this.#isStuck = true;
      if (this.#cancelDrain === null) this.#drainSpoolAfter(this.#backoff.pauseMs);
    }
  }

  #boundBuffer(): void {
    const excess = this.#buffered.length - MAX_STUCK;
    if (!this.#isStuck || excess <= 0) return;
    this.#refused += excess;
    this.#buffered = this.#buffered.slice(excess);
  }

  #note({ unsent, dropped, problem: found, fault: kind, refusal: reason }: SendOutcome, count: number) {
    this.#refused += dropped;
    if (reason !== null && dropped > 0) this.#refusal = reason;
    // If it accepts some, the points are wrong, not the server.
    this.#problem = found ?? (dropped === count && unsent.length === 0 ? reason : null);
    this.#fault = kind;
  }

  #drainSpoolAfter(ms: number): void {
    this.#cancelDrain?.();
    this.#cancelDrain = this.#closed
      ? null
      : this.#clock.after(ms, () => {
          this.#drainSpool().catch((error: Error) => {
            this.#problem = `the spool cannot be read: ${error.message}`;
            this.#fault = null;
            this.#drainSpoolAfter(MAX_PAUSE_MS);
          });
        });
  }

  /** Sends a batch of the spool, the next one after a pause, and then the lines that the disk refused. */
  async #drainSpool(): Promise<void> {
    this.#cancelDrain = null;
    while (this.#inFlight.length > 0) await this.#inFlight[0]?.done;
    if (this.#closed) return;
    const batch = this.#spool.first(MAX_LINES);
    if (batch === null) {
      this.#isStuck = false;
      await this.#sendBuffered();
      return;
    }
    await this.#begin(batch.lines, 0, (outcome) => {
      const { unsent } = outcome;
      this.#note(outcome, batch.lines.length);
      const hasProgress = unsent.length < batch.lines.length;
      if (hasProgress) this.#spool.remove(batch, unsent);
      if (unsent.length > 0 && !hasProgress) this.#backoff.next();
      else this.#backoff.reset();
      this.#drainSpoolAfter(unsent.length === 0 ? SPOOL_PAUSE_MS : this.#pauseAfter(outcome));
    });
    // The disk may have space again.
    if (!this.#isStuck) return;
    this.#isStuck = false;
    await this.#sendBuffered();
  }
}
