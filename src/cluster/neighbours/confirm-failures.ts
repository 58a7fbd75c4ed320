/**
 * Asks a neighbour, another node of the region, about each failure of this node before it counts: a node that alone
 * does not reach a service must not make its region fail. Where the neighbour gets a good response, its result counts in place
 * of the failure. In all other cases the failure counts, at the latest after {@link ANSWER_TIMEOUT_MS}.
 */
import type { Cancel, Clock } from '../../clock.ts';
import type { CheckResult, RuledResult } from '../../domain/result.ts';
import { judgeAttempt } from '../../domain/status/judge.ts';
import type { Log } from '../../log.ts';
import { type Answer, MAX_ASKED, type Question } from './neighbour-messages.ts';

/** Options of {@link FailureConfirmation}. */
export interface FailureConfirmationOptions {
  /** Names of the nodes that can be asked now. */
  readonly neighbours: () => readonly string[];
  /** Sends a question; it may get lost. */
  readonly ask: (neighbour: string, question: Omit<Question, 'from'>) => void;
  /** Receives the results of each service in the order in which they were made. */
  readonly onResults: (results: readonly RuledResult[]) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** A question that a neighbour has. */
interface Asked {
  readonly neighbour: string;
  /** Failures without an answer, by service. */
  readonly failures: Map<number, RuledResult>;
  readonly cancel: Cancel;
}

/**
 * A neighbour that has not answered by then is of another version, cut off, overloaded, or waits for the service too,
 * milliseconds. With the usual re-checks an alert about a service that refuses is sent within 15 s all the same.
 */
export const ANSWER_TIMEOUT_MS = 3_000;
/** Minimum time between two warnings, milliseconds. */
const WARN_PAUSE_MS = 60_000;

/** The failures of a node that wait for a neighbour. */
export class FailureConfirmation {
  readonly #options: FailureConfirmationOptions;
  readonly #asked = new Map<number, Asked>();
  /** The number of the question about a service. */
  readonly #questionOf = new Map<number, number>();
  #questions = 0;
  #contradicted = 0;
  #warnedMs = Number.NEGATIVE_INFINITY;
  #stopped = false;

  constructor(options: FailureConfirmationOptions) {
    this.#options = options;
  }

  /** Failures that a neighbour has contradicted since the start. */
  get contradicted(): number {
    return this.#contradicted;
  }

  /** Takes results of this node. All but failures are passed on at once. */
  take(results: readonly RuledResult[]): void {
    const neighbour = results.some(isFailure) ? this.#chooseNeighbour() : undefined;
    const passed: RuledResult[] = [];
    const failures = new Map<number, RuledResult>();
    for (const one of results) {
      const { serviceId } = one.result;
      // A newer result is never overtaken by the one before it.
      const before = this.#remove(serviceId) ?? failures.get(serviceId);
      if (before !== undefined) passed.push(before);
      failures.delete(serviceId);
      const isAsked = neighbour !== undefined && this.#questionOf.size + failures.size < MAX_ASKED;
      if (isAsked && isFailure(one)) failures.set(serviceId, one);
      else passed.push(one);
    }
    if (neighbour !== undefined && failures.size > 0) this.#ask(neighbour, failures);
    this.#pass(passed);
  }

  /** Takes a neighbour's answer. */
  takeAnswer({ number, results, unknown }: Answer): void {
    const neighbour = this.#asked.get(number)?.neighbour;
    const passed: RuledResult[] = [];
    for (const answer of results) {
      const failure = this.#failureOf(answer.serviceId, number);
      // A changed check is another one.
      if (failure === undefined || failure.result.revision !== answer.revision) continue;
      this.#remove(answer.serviceId);
      // A bot wall or 429 in front of the service says nothing about it.
      const isContradicted = answer.suspect === null && !answer.blocked && !isDown(answer);
      if (isContradicted) this.#note(answer.serviceId, neighbour ?? '');
      passed.push(isContradicted ? replace(failure, answer) : failure);
    }
    for (const serviceId of unknown) {
      const failure = this.#failureOf(serviceId, number);
      if (failure === undefined) continue;
      this.#remove(serviceId);
      passed.push(failure);
    }
    this.#pass(passed);
  }

  /** Drops the failure of a service that this node no longer checks. */
  forget(serviceId: number): void {
    this.#remove(serviceId);
  }

  /** Passes on all failures that wait, and asks no more. */
  stop(): void {
    this.#stopped = true;
    for (const number of [...this.#asked.keys()]) this.#giveUp(number);
  }

  /** Each in turn; undefined: there is none. */
  #chooseNeighbour(): string | undefined {
    const names = this.#stopped ? [] : this.#options.neighbours();
    return names[this.#questions % Math.max(1, names.length)];
  }

  #ask(neighbour: string, failures: Map<number, RuledResult>): void {
    const number = ++this.#questions;
    const cancel = this.#options.clock.after(ANSWER_TIMEOUT_MS, () => this.#giveUp(number));
    this.#asked.set(number, { neighbour, failures, cancel });
    for (const serviceId of failures.keys()) this.#questionOf.set(serviceId, number);
    this.#options.ask(neighbour, { number, serviceIds: [...failures.keys()] });
  }

  #failureOf(serviceId: number, number: number): RuledResult | undefined {
    return this.#asked.get(number)?.failures.get(serviceId);
  }

  /** Removes the failure of a service that waits, and returns it. */
  #remove(serviceId: number): RuledResult | undefined {
    const number = this.#questionOf.get(serviceId);
    const asked = number === undefined ? undefined : this.#asked.get(number);
    if (number === undefined || asked === undefined) return undefined;
    const failure = asked.failures.get(serviceId);
    this.#questionOf.delete(serviceId);
    asked.failures.delete(serviceId);
    if (asked.failures.size === 0) {
      asked.cancel();
      this.#asked.delete(number);
    }
    return failure;
  }

  #giveUp(number: number): void {
    const failures = [...(this.#asked.get(number)?.failures.values() ?? [])];
    for (const { result } of failures) this.#remove(result.serviceId);
    this.#pass(failures);
  }

  #pass(results: readonly RuledResult[]): void {
    if (results.length > 0) this.#options.onResults(results);
  }

  #note(serviceId: number, neighbour: string): void {
    const { clock, log } = this.#options;
    this.#contradicted++;
    if (clock.monotonic() - this.#warnedMs < WARN_PAUSE_MS) return;
    this.#warnedMs = clock.monotonic();
    log.warn(
      { serviceId, neighbour, contradicted: this.#contradicted },
      'this node does not reach a service that a neighbour reaches; the result of the neighbour counts',
    );
  }
}

function isFailure({ result, suspect }: RuledResult): boolean {
  return !suspect && isDown(result);
}

function isDown(result: CheckResult): boolean {
  return judgeAttempt(result, Number.POSITIVE_INFINITY) === 'down';
}

/**
 * The neighbour's result in place of a failure. It was made just after the failure and counts from then on, by the clock of this
 * node, and with what this node has learned of the service.
 */
function replace({ result, region }: RuledResult, answer: CheckResult): RuledResult {
  const { startedAt, endedAt, memory } = result;
  return { region, suspect: false, result: { ...answer, startedAt, endedAt, memory } };
}
