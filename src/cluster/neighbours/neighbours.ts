/** The services of a node and its neighbours to each other: failures are confirmed by another node of the region. */
import type { Cancel, Clock } from '../../clock.ts';
import { type CheckTarget, type CheckTiming, timingOf } from '../../domain/check-target.ts';
import type { CheckResult, RuledResult } from '../../domain/result.ts';
import { judgeAttempt } from '../../domain/status/judge.ts';
import type { Fleet } from '../../engine/fleet/fleet.ts';
import type { Log } from '../../log.ts';
import {
  type Answer,
  formatAnswer,
  formatQuestion,
  MAX_ASKED,
  neighbourChannels,
  type Question,
  readAnswer,
  readQuestion,
} from './neighbour-messages.ts';

/** Both sides of a node. */
export function createNeighbours(
  options: Omit<FailureConfirmationOptions, 'ask'> &
    Omit<SecondLooksOptions, 'answer' | 'clock'> & {
      /** Prefix of the channels in Redis. */
      readonly prefix: string;
      /** This node. */
      readonly name: string;
      readonly region: string;
      readonly publish: (channel: string, text: string) => void;
      readonly onResults: (results: readonly RuledResult[]) => void;
      readonly log: Log;
    },
) {
  const { prefix, name, region, publish } = options;
  const confirmation = new FailureConfirmation({
    ...options,
    ask: (neighbour, question) =>
      publish(neighbourChannels(prefix, neighbour).questions, formatQuestion({ from: name, ...question })),
  });
  const looks = new SecondLooks({
    ...options,
    answer: (neighbour, answer) =>
      publish(neighbourChannels(prefix, neighbour).answers, formatAnswer(answer, name, region)),
  });
  const own = neighbourChannels(prefix, name);
  return {
    confirmation,
    looks,
    /** The receivers of the messages of each channel of this node. */
    handlers: new Map([
      [
        own.questions,
        (text: string) => {
          const question = readQuestion(text);
          if (question !== null) void looks.take(question);
        },
      ],
      [
        own.answers,
        (text: string) => {
          const answer = readAnswer(text);
          if (answer !== null) confirmation.takeAnswer(answer);
        },
      ],
    ]),
  };
}

// Second looks: single attempts for a neighbour at services that this node does not check. They run in the fleet as all checks do,
// so that the bounds of accounts and addresses count them.

interface SecondLooksOptions {
  /** The services with these ids, as they are checked from the region of this node. */
  readonly targetsOf: (serviceIds: readonly number[]) => Promise<readonly CheckTarget[]>;
  /** Returns true if the service belongs to this node, which then checks it anyway. */
  readonly isOwn: (serviceId: number) => boolean;
  readonly fleet: Pick<Fleet, 'apply' | 'checkOnce' | 'targetOf'>;
  /** Sends an answer; it may get lost. */
  readonly answer: (neighbour: string, answer: Answer) => void;
  /** The settings of checks. */
  readonly usual: CheckTiming;
  readonly clock: Clock;
}

/** Maximum number of looks at a time; further ones are refused. */
export const MAX_LOOKS = 500;

class SecondLooks {
  readonly #options: SecondLooksOptions;
  /** The question about each service. */
  readonly #open = new Map<number, Question>();
  readonly #timers = new Set<Cancel>();

  constructor(options: SecondLooksOptions) {
    this.#options = options;
  }

  async take(question: Question): Promise<void> {
    const { isOwn, targetsOf, fleet, usual, clock } = this.#options;
    const taken: number[] = [];
    for (const serviceId of new Set(question.serviceIds)) {
      if (this.#open.size >= MAX_LOOKS || this.#open.has(serviceId) || isOwn(serviceId)) continue;
      this.#open.set(serviceId, question);
      taken.push(serviceId);
    }
    const isTaken = (serviceId: number) => this.#open.get(serviceId) === question;
    // The neighbour no longer waits by then.
    const cancel = clock.after(ANSWER_TIMEOUT_MS, () => {
      this.#timers.delete(cancel);
      for (const serviceId of taken.filter(isTaken)) this.#end(serviceId);
    });
    this.#timers.add(cancel);
    const targets = taken.length === 0 ? [] : await targetsOf(taken).catch(() => []);
    const looks = targets.filter(({ serviceId }) => isTaken(serviceId));
    fleet.checkOnce(looks.map((target) => lookAt(target, usual)));
    const found = new Set(looks.map(({ serviceId }) => serviceId));
    const unknown = question.serviceIds.filter((serviceId) => !found.has(serviceId));
    for (const serviceId of unknown.filter(isTaken)) this.#end(serviceId);
    if (unknown.length > 0) this.#answer(question, { results: [], unknown });
  }

  /** Takes results of the fleet, answers those of looks and returns all others. */
  takeResults(results: readonly CheckResult[]): readonly CheckResult[] {
    if (!results.some(isLook)) return results;
    const answers = new Map<Question, CheckResult[]>();
    for (const result of results.filter(isLook)) {
      const question = this.#open.get(result.serviceId);
      if (question === undefined) continue;
      this.#end(result.serviceId);
      const own = answers.get(question) ?? [];
      own.push({ ...result, revision: -result.revision });
      answers.set(question, own);
    }
    for (const [question, own] of answers) this.#answer(question, { results: own, unknown: [] });
    return results.filter((result) => !isLook(result));
  }

  /** Ends the looks at services that belong to this node now. */
  endOwn(): void {
    for (const serviceId of [...this.#open.keys()]) if (this.#options.isOwn(serviceId)) this.#end(serviceId);
  }

  /** Ends all looks. */
  stop(): void {
    for (const cancel of this.#timers) cancel();
    for (const serviceId of [...this.#open.keys()]) this.#end(serviceId);
  }

  #end(serviceId: number): void {
    const { fleet } = this.#options;
    this.#open.delete(serviceId);
    if ((fleet.targetOf(serviceId)?.revision ?? 0) < 0) fleet.apply({ serviceId, target: null });
  }

  #answer({ from, number }: Question, answer: Omit<Answer, 'number'>): void {
    this.#options.answer(from, { number, ...answer });
  }
}

/**
 * A target for a single attempt, always by GET, as re-checks are. Its revision is negative, so that its result is never taken for
 * that of a check, and the service itself replaces it.
 */
function lookAt(target: CheckTarget, usual: CheckTiming): CheckTarget {
  const { check, revision, memory } = target;
  const timeoutMs = Math.min(timingOf(check, usual).timeoutMs, ANSWER_TIMEOUT_MS);
  return {
    ...target,
    revision: -revision,
    check: { ...check, timeoutMs, confirmAfterMs: [] },
    memory: { ...memory, needsGet: true },
    lastCheckedAt: null,
  };
}

function isLook({ revision }: CheckResult): boolean {
  return revision < 0;
}

// Asks a neighbour, another node of the region, about each failure of this node before it counts: a node that alone does not reach
// a service must not make its region fail. Where the neighbour gets a good response, its result counts in place of the failure. In
// all other cases the failure counts, at the latest after {@link ANSWER_TIMEOUT_MS}.

interface FailureConfirmationOptions {
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
class FailureConfirmation {
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
