/** Signatures of webhooks by Standard Webhooks (standardwebhooks.com). */
import { createHmac, randomBytes } from 'node:crypto';
import { messageId } from '../domain/webhook-event.ts';

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** Creates a secret: `whsec_` and base64 of 32 random bytes. */
export function createWebhookSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** Creates an identifier of a message. */
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
