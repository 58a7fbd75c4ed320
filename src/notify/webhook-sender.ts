/**
 * Delivers what the registry has for owners' webhooks: signed, guarded like every connection that an owner chose, and
 * tried again over a day. What is due stands in the registry, so that a restart forgets nothing.
 */

import { createCoalescingLoop } from '../async/coalescing-loop.ts';
import type { Cancel, Clock, Random } from '../clock.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../domain/durations.ts';
import type { DeliveryProblem } from '../domain/refusal.ts';
import type { Log } from '../log.ts';
import type { AddressPolicy } from '../outbound/address-guard.ts';
import type { Outbound } from '../outbound/outbound.ts';
import type { DeliveryOutcome, DueDelivery, WebhookStore } from '../store/ports/webhooks.ts';
import { signatureHeaders } from './webhook-signature.ts';

/** What the sender needs. */
export interface WebhookSenderOptions {
  readonly registry: Pick<WebhookStore, 'dueDeliveries' | 'noteDelivery' | 'forgetDeliveries'>;
  readonly outbound: Pick<Outbound, 'request'>;
  /** What may be dialled for an owner. */
  readonly policy: AddressPolicy;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** False: another process may deliver by now, and this one leaves it to it. */
  readonly isOurs: () => boolean;
}

/** A sender at work. */
export interface WebhookSender {
  /**
   * Resolves when what is under way has ended, or was broken off after 5 s: it stays due then, under its identifier,
   * for whoever delivers next.
   */
  stop(): Promise<void>;
}

/** Waits after each failed attempt; with the first one at once that is over a day. */
export const RETRY_AFTER_MS: readonly number[] = [
  5 * SECOND_MS,
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
  16 * HOUR_MS,
];
const POLL_INTERVAL_MS = SECOND_MS;
const TIMEOUT_MS = 15 * SECOND_MS;
const MAX_ANSWER_BYTES = 64 * 1024;
/** The registry names few of one account at a time, so that no account's receivers can fill these places alone. */
const AT_A_TIME = 64;
/** A receiver that hangs holds up the end of the program no longer. */
const STOP_TIMEOUT_MS = 5 * SECOND_MS;
/** Settled deliveries are shown for so long. */
const KEPT_MS = 30 * DAY_MS;
const JITTER = 0.1;

/** Starts the sender. */
export function startWebhookSender(options: WebhookSenderOptions): WebhookSender {
  const { registry, outbound, policy, clock, random, log, isOurs } = options;
  const end = new AbortController();
  /** What is being delivered, by the numbers of the deliveries; the registry still counts it as due. */
  const underWay = new Map<number, Promise<void>>();
  /** What came of deliveries and is not written down yet, by their numbers. */
  const unwritten = new Map<number, DeliveryOutcome>();
  let failing = false;
  let stopped = false;
  let tidiedAt = Number.NEGATIVE_INFINITY;

  const polling = createCoalescingLoop(async () => {
    if (stopped || !isOurs()) return;
    try {
      await begin();
      failing = false;
    } catch (error) {
      if (!failing) log.error({ error }, 'webhooks could not be delivered');
      failing = true;
    }
  });
  const poll = (): void => {
    if (!stopped && isOurs()) void polling.run();
  };

  /** Writes down what could not be written before; false: that does not work yet. */
  const noteAgain = async (): Promise<boolean> => {
    for (const [id, outcome] of unwritten) {
      try {
        await registry.noteDelivery(outcome);
      } catch {
        return false;
      }
      unwritten.delete(id);
    }
    return true;
  };

  const begin = async (): Promise<void> => {
    // What cannot be written down would be delivered again and again.
    if (!(await noteAgain())) return;
    if (clock.monotonic() - tidiedAt > HOUR_MS) {
      tidiedAt = clock.monotonic();
      await registry.forgetDeliveries(clock.now() - KEPT_MS);
    }
    if (underWay.size >= AT_A_TIME) return;
    const due = await registry.dueDeliveries(clock.now(), AT_A_TIME + underWay.size);
    if (stopped || !isOurs()) return;
    for (const delivery of due) {
      if (underWay.size >= AT_A_TIME) return;
      if (!underWay.has(delivery.id)) underWay.set(delivery.id, settle(delivery));
    }
  };

  /** Never rejects: what cannot be written down is written before anything else is delivered. */
  const settle = async (delivery: DueDelivery): Promise<void> => {
    const { id } = delivery;
    const outcome = await deliver(delivery);
    try {
      if (outcome !== null) await registry.noteDelivery(outcome);
    } catch (error) {
      if (unwritten.size === 0) log.error({ error }, 'the outcome of a webhook delivery could not be stored');
      if (outcome !== null) unwritten.set(id, outcome);
      underWay.delete(id);
      return;
    }
    underWay.delete(id);
    // Its slot is free, even while other deliveries wait for a slow receiver.
    poll();
  };

  /** Null: it was broken off. */
  const deliver = async (delivery: DueDelivery): Promise<DeliveryOutcome | null> => {
    const { id, message, url, secret, body, attempts, dueAt: wasDueAt } = delivery;
    const at = clock.now();
    let problem: DeliveryProblem;
    try {
      const answer = await outbound.request({
        url,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...signatureHeaders(secret, { id: message, at, body }),
        },
        body,
        timeoutMs: TIMEOUT_MS,
        maxBodyBytes: MAX_ANSWER_BYTES,
        policy,
        signal: end.signal,
      });
      if (answer.status >= 200 && answer.status < 300)
        return { id, wasDueAt, deliveredAt: clock.now(), problem: null, dueAt: null };
      // Redirects are not followed: the owner configures the new URL.
      problem =
        answer.fault === null
          ? { code: 'status', statusCode: answer.status }
          : { code: 'failed', failure: answer.fault.failure };
      // Gone: the receiver wants no more of this (Standard Webhooks).
      if (answer.status === 410) return { id, wasDueAt, deliveredAt: null, problem, dueAt: null };
    } catch (error) {
      if (end.signal.aborted) return null;
      problem = { code: 'text', text: (error as Error).message };
    }
    const wait = RETRY_AFTER_MS[attempts];
    const dueAt = wait === undefined ? null : clock.now() + Math.round(wait * (1 + JITTER * random()));
    return { id, wasDueAt, deliveredAt: null, problem, dueAt };
  };

  const cancel: Cancel = clock.every(POLL_INTERVAL_MS, poll);
  poll();
  return {
    async stop() {
      stopped = true;
      cancel();
      const cancelEnd = clock.after(STOP_TIMEOUT_MS, () => end.abort());
      await polling.idle();
      await Promise.all(underWay.values());
      cancelEnd();
    },
  };
}
