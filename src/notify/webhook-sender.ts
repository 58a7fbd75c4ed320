/**
 * Sends the deliveries of owners' webhooks: signed, by guarded connections, with retries over a day. Due deliveries are
 * in the registry, so that a restart loses none.
 */
import { createCoalescingLoop } from '../async/coalescing-loop.ts';
import type { Cancel, Clock, Random } from '../clock.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../domain/durations.ts';
import type { DeliveryProblem } from '../domain/refusal.ts';
import { messageOf } from '../error.ts';
import type { Log } from '../log.ts';
import type { AddressPolicy } from '../outbound/address-guard.ts';
import type { Outbound } from '../outbound/outbound.ts';
import type { DeliveryOutcome, DueDelivery, WebhookStore } from '../store/ports/webhooks.ts';
import { signatureHeaders } from './webhook-signature.ts';

/** Options of the sender. */
interface WebhookSenderOptions {
  readonly registry: Pick<WebhookStore, 'dueDeliveries' | 'noteDelivery' | 'forgetDeliveries'>;
  readonly outbound: Pick<Outbound, 'request'>;
  /** Addresses that webhooks may have. */
  readonly policy: AddressPolicy;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Whether this process is the monitor; if not, another one may deliver. */
  readonly isOurs: () => boolean;
}

/** Delays after the failed attempts, over a day in total. */
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
const MAX_RESPONSE_BYTES = 64 * 1024;
/** Maximum number of deliveries in flight. The registry limits those of one account, so that none can take all. */
const MAX_IN_FLIGHT = 64;
/** Maximum time that receivers delay the end of the program. */
const STOP_TIMEOUT_MS = 5 * SECOND_MS;
/** Completed deliveries are shown for this time. */
const KEPT_MS = 30 * DAY_MS;
const JITTER = 0.1;

/** Starts the sender. */
export function startWebhookSender(options: WebhookSenderOptions) {
  const { registry, outbound, policy, clock, random, log, isOurs } = options;
  const end = new AbortController();
  /** Deliveries in flight by id; they are still due in the registry. */
  const inFlight = new Map<number, Promise<void>>();
  /** Outcomes that could not be stored yet, by the id of the delivery. */
  const unstored = new Map<number, DeliveryOutcome>();
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

  /** Stores the outcomes that could not be stored before; false: that fails again. */
  const storeAgain = async (): Promise<boolean> => {
    for (const [id, outcome] of unstored) {
      try {
        await registry.noteDelivery(outcome);
      } catch {
        return false;
      }
      unstored.delete(id);
    }
    return true;
  };

  const begin = async (): Promise<void> => {
    // A delivery whose outcome is not stored would be sent again.
    if (!(await storeAgain())) return;
    if (clock.monotonic() - tidiedAt > HOUR_MS) {
      tidiedAt = clock.monotonic();
      await registry.forgetDeliveries(clock.now() - KEPT_MS);
    }
    if (inFlight.size >= MAX_IN_FLIGHT) return;
    const due = await registry.dueDeliveries(clock.now(), MAX_IN_FLIGHT + inFlight.size);
    if (stopped || !isOurs()) return;
    for (const delivery of due) {
      if (inFlight.size >= MAX_IN_FLIGHT) return;
      if (!inFlight.has(delivery.id)) inFlight.set(delivery.id, settle(delivery));
    }
  };

  /** Sends a delivery and stores its outcome. Does not reject: an outcome is stored before the next delivery. */
  const settle = async (delivery: DueDelivery): Promise<void> => {
    const { id } = delivery;
    const outcome = await deliver(delivery);
    try {
      if (outcome !== null) await registry.noteDelivery(outcome);
    } catch (error) {
      if (unstored.size === 0) log.error({ error }, 'the outcome of a webhook delivery could not be stored');
      if (outcome !== null) unstored.set(id, outcome);
      inFlight.delete(id);
      return;
    }
    inFlight.delete(id);
    // The next delivery need not wait for slow receivers of others.
    poll();
  };

  /** Null: it was aborted. */
  const deliver = async (delivery: DueDelivery): Promise<DeliveryOutcome | null> => {
    const { id, message, url, secret, body, attempts, dueAt: wasDueAt } = delivery;
    const at = clock.now();
    let problem: DeliveryProblem;
    try {
      const response = await outbound.request({
        url,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...signatureHeaders(secret, { id: message, at, body }),
        },
        body,
        timeoutMs: TIMEOUT_MS,
        maxBodyBytes: MAX_RESPONSE_BYTES,
        policy,
        signal: end.signal,
      });
      if (response.status >= 200 && response.status < 300)
        return { id, wasDueAt, deliveredAt: clock.now(), problem: null, dueAt: null };
      // Redirects are not followed: the owner configures the new URL.
      problem =
        response.fault === null
          ? { code: 'status', statusCode: response.status }
          : { code: 'failed', failure: response.fault.failure };
      // Gone: the receiver wants no more deliveries of this message (Standard Webhooks).
      if (response.status === 410) return { id, wasDueAt, deliveredAt: null, problem, dueAt: null };
    } catch (error) {
      if (end.signal.aborted) return null;
      problem = { code: 'text', text: messageOf(error) };
    }
    const wait = RETRY_AFTER_MS[attempts];
    const dueAt = wait === undefined ? null : clock.now() + Math.round(wait * (1 + JITTER * random()));
    return { id, wasDueAt, deliveredAt: null, problem, dueAt };
  };

  const cancel: Cancel = clock.every(POLL_INTERVAL_MS, poll);
  poll();
  return {
    /** Resolves when the deliveries in flight have ended, or were aborted after 5 s; the next monitor sends those again. */
    async stop(): Promise<void> {
      stopped = true;
      cancel();
      const cancelEnd = clock.after(STOP_TIMEOUT_MS, () => end.abort());
      await polling.idle();
      await Promise.all(inFlight.values());
      cancelEnd();
    },
  };
}
