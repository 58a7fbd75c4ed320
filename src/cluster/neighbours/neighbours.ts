/** The services of a node and its neighbours to each other: failures are confirmed by another node of the region. */

import type { Cancel, Clock } from '../../clock.ts';
import type { CheckTarget } from '../../domain/check-target.ts';
import { type CheckTiming, timingOf } from '../../domain/check-timing.ts';
import type { CheckResult, RuledResult } from '../../domain/result.ts';
import type { Fleet } from '../../engine/fleet/fleet.ts';
import type { Log } from '../../log.ts';
import {
  ANSWER_TIMEOUT_MS,
  FailureConfirmation,
  type FailureConfirmationOptions,
} from './confirm-failures.ts';
import {
  type Answer,
  formatAnswer,
  formatQuestion,
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

/** Options of {@link SecondLooks}. */
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

/** The looks in progress. */
class SecondLooks {
  readonly #options: SecondLooksOptions;
  /** The question about each service. */
  readonly #open = new Map<number, Question>();
  readonly #timers = new Set<Cancel>();

  constructor(options: SecondLooksOptions) {
    this.#options = options;
  }

  /** Takes a question of a neighbour. */
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
