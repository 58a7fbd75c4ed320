/**
 * Sends the deliveries of owners' webhooks: signed, by guarded connections, with retries over a day. Due deliveries are
 * in the registry, so that a restart loses none.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { Random } from '../clock.ts';
import { retryAt } from '../domain/delivery-retries.ts';
import { SECOND_MS } from '../domain/durations.ts';
import type { DeliveryProblem } from '../domain/refusal.ts';
import { cloudEventBody, messageId } from '../domain/webhook-event.ts';
import { messageOf } from '../error.ts';
import type { AddressPolicy } from '../outbound/address-guard.ts';
import type { Outbound } from '../outbound/outbound.ts';
import type { WriteCounter } from '../store/ports/storage-health.ts';
import type { DeliveryOutcome, DueDelivery, WebhookStore } from '../store/ports/webhooks.ts';
import { type DeliveryCounter, deliveryEnd, type SenderContext, startOutbox } from './outbox.ts';

const TIMEOUT_MS = 15 * SECOND_MS;
const MAX_RESPONSE_BYTES = 64 * 1024;

export function startWebhookSender(
  options: SenderContext & {
    readonly registry: WebhookStore & Partial<WriteCounter>;
    readonly outbound: Outbound;
    /** Addresses that webhooks may have. */
    readonly policy: AddressPolicy;
    /** The same for those of trusted accounts. Absent: as for all others. */
    readonly trustedPolicy?: AddressPolicy;
    readonly counter: DeliveryCounter;
    /** The source of CloudEvents. */
    readonly siteUrl: string;
    /** As for the channels. */
    readonly sharedNow?: (() => number) | undefined;
    readonly random: Random;
  },
) {
  const { registry, outbound, policy, counter, siteUrl, clock, random } = options;
  const { sharedNow = () => clock.now(), trustedPolicy = policy } = options;

  const deliver = async (delivery: DueDelivery, signal: AbortSignal): Promise<DeliveryOutcome | null> => {
    const { id, message, url, secret, attempts, dueAt: wasDueAt } = delivery;
    const isEvent = delivery.format === 'cloudevents';
    const body = isEvent ? cloudEventBody(delivery, siteUrl) : delivery.body;
    const at = sharedNow();
    let problem: DeliveryProblem;
    try {
      const response = await outbound.request({
        url,
        method: 'POST',
        headers: {
          'content-type': isEvent ? 'application/cloudevents+json' : 'application/json',
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

  return startOutbox({
    ...options,
    due: (now, limit) => registry.dueDeliveries(now, limit),
    isEmpty: async () => !(await registry.hasDeliveries()),
    writes: registry.writes,
    attempt: deliver,
    note: registry.noteDelivery,
    endOf: ({ deliveredAt, dueAt }) => deliveryEnd(deliveredAt !== null, dueAt),
    forget: async (before) => counter.drop(await registry.forgetDeliveries(before)),
    what: 'webhooks',
  });
}

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** Creates a secret: `whsec_` and base64 of 32 random bytes. */
export function createWebhookSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

export function createMessageId(): string {
  return messageId(randomBytes(16));
}

interface SignedMessage {
  readonly id: string;
  /** Epoch milliseconds of the attempt. */
  readonly at: number;
  readonly body: string;
}

/** The three headers by which a receiver verifies sender and time of a message. */
export function signatureHeaders(secret: string, { id, at, body }: SignedMessage): Record<string, string> {
  const timestamp = Math.floor(at / 1_000);
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  const digest = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': `v1,${digest}` };
}
