/**
 * Whether a service has to be requested by GET, learned by comparing the responses to both (decisions, Root check). What is known
 * for certain is in the probe memory; doubts and the times of new trials are kept by the thread.
 */
import { BoundedMap } from '../async/bounded-map.ts';
import { HOUR_MS } from '../domain/durations.ts';
import type { ProbeMemory } from '../domain/result.ts';
import type { AcceptRule } from '../domain/service.ts';
import type { WebResponse } from '../outbound/send-request.ts';
import { isBlocked, judgeRoot } from './response-rules.ts';

/** Time between trials of HEAD for a service that is requested by GET, milliseconds. */
const HEAD_TRIAL_MS = HOUR_MS;
/** How often in a row GET must do better than HEAD, where HEAD has done as well before. */
const MIN_DOUBTS = 2;
/** Maximum number of services of a thread with doubts, and with trials. */
const MAX_SERVICES = 100_000;

type Answer = Pick<WebResponse, 'statusCode' | 'headers' | 'fault'>;

/** What a thread has learned of the HEAD of its services. */
export interface HeadSupport {
  /** Returns the memory after a response to HEAD decided alone. */
  answered(serviceId: number, memory: ProbeMemory): ProbeMemory;
  /** Returns the memory after GET did better than HEAD. */
  outdone(serviceId: number, memory: ProbeMemory): ProbeMemory;
  /** Whether to try HEAD again for a service that is requested by GET. `now`: monotonic milliseconds. */
  isTrialDue(serviceId: number, now: number): boolean;
}

/** Creates the memory of a thread. */
export function createHeadSupport(): HeadSupport {
  const doubts = new BoundedMap<number, number>(MAX_SERVICES);
  const trials = new BoundedMap<number, number>(MAX_SERVICES);
  return {
    answered(serviceId, memory) {
      doubts.delete(serviceId);
      trials.delete(serviceId);
      return memory.headSeen && !memory.needsGet ? memory : { ...memory, headSeen: true, needsGet: false };
    },
    outdone(serviceId, memory) {
      const count = (doubts.get(serviceId) ?? 0) + 1;
      const certain = !memory.headSeen || count >= MIN_DOUBTS;
      if (certain) doubts.delete(serviceId);
      else doubts.set(serviceId, count);
      return certain && !memory.needsGet ? { ...memory, needsGet: true } : memory;
    },
    isTrialDue(serviceId, now) {
      const dueAt = trials.get(serviceId);
      if (dueAt !== undefined && now < dueAt) return false;
      trials.set(serviceId, now + HEAD_TRIAL_MS);
      return dueAt !== undefined;
    },
  };
}

/** Whether one response is better than the other. The order: good, blocked or another 4xx, an error, no response. */
export function isBetter(one: Answer, other: Answer, accept: readonly AcceptRule[] | null): boolean {
  return rankOf(one, accept) < rankOf(other, accept);
}

function rankOf(answer: Answer, accept: readonly AcceptRule[] | null): number {
  if (answer.fault !== null) return 3;
  if (judgeRoot(answer, accept) !== null) return 2;
  return isBlocked(answer) || answer.statusCode >= 400 ? 1 : 0;
}
