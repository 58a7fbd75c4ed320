/**
 * Sends the deliveries of owners' webhooks: signed, by guarded connections, with retries over a day. Due deliveries are
 * in the registry, so that a restart loses none.
 */
import type { Clock, Random } from '../clock.ts';
import { retryAt } from '../domain/delivery-retries.ts';
import { SECOND_MS } from '../domain/durations.ts';
import type { DeliveryProblem } from '../domain/refusal.ts';
import { messageOf } from '../error.ts';
import type { Log } from '../log.ts';
import type { AddressPolicy } from '../outbound/address-guard.ts';
import type { Outbound } from '../outbound/outbound.ts';
import type { DeliveryOutcome, DueDelivery, WebhookStore } from '../store/ports/webhooks.ts';
import type { WriteCounter } from '../store/ports/write-counter.ts';
import { type DeliveryCounter, deliveryEnd } from './delivery-counts.ts';
import { startOutbox } from './outbox.ts';
import { signatureHeaders } from './webhook-signature.ts';

/** Options of the sender. */
interface WebhookSenderOptions {
  readonly registry: Pick<
    WebhookStore,
    'dueDeliveries' | 'hasDeliveries' | 'noteDelivery' | 'forgetDeliveries'
  > &
    Partial<WriteCounter>;
  readonly outbound: Pick<Outbound, 'request'>;
  /** Addresses that webhooks may have. */
  readonly policy: AddressPolicy;
  /** The same for those of trusted accounts. Absent: as for all others. */
  readonly trustedPolicy?: AddressPolicy;
  /** The time by which the age of settled deliveries counts, epoch milliseconds. */
  readonly retentionNow: () => Promise<number>;
  readonly counter: Pick<DeliveryCounter, 'note' | 'drop'>;
  readonly clock: Clock;
  /** As for the channels. */
  readonly sharedNow?: (() => number) | undefined;
  readonly random: Random;
  readonly log: Log;
  /** Returns true if this process is the monitor; if not, another one may deliver. */
  readonly isOurs: () => boolean;
}

const TIMEOUT_MS = 15 * SECOND_MS;
const MAX_RESPONSE_BYTES = 64 * 1024;

/** Starts the sender. */
export function startWebhookSender(options: WebhookSenderOptions) {
  const { registry, outbound, policy, retentionNow, counter, clock, random, log, isOurs } = options;
  const { sharedNow = () => clock.now(), trustedPolicy = policy } = options;

  const deliver = async (delivery: DueDelivery, signal: AbortSignal): Promise<DeliveryOutcome | null> => {
    const { id, message, url, secret, body, attempts, dueAt: wasDueAt } = delivery;
    const at = sharedNow();
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
        policy: delivery.isTrusted === true ? trustedPolicy : policy,
        signal,
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
      if (signal.aborted) return null;
      problem = { code: 'text', text: messageOf(error) };
    }
    return { id, wasDueAt, deliveredAt: null, problem, dueAt: retryAt(attempts, clock.now(), random()) };
  };

  const { stop } = startOutbox({
    due: registry.dueDeliveries,
    isEmpty: async () => !(await registry.hasDeliveries()),
    writes: registry.writes,
    attempt: deliver,
    note: registry.noteDelivery,
    endOf: ({ deliveredAt, dueAt }) => deliveryEnd(deliveredAt !== null, dueAt),
    counter,
    forget: async (before) => counter.drop(await registry.forgetDeliveries(before)),
    retentionNow,
    clock,
    log,
    isOurs,
    what: 'webhooks',
  });
  return {
    /** Resolves when the deliveries in flight have ended, or were aborted after 5 s; the next monitor sends those again. */
    stop,
  };
}
