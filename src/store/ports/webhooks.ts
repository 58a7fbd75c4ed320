/** Port of the registry: webhooks of owners, and the deliveries to them. */
import type { DeliveryProblem } from '../../domain/refusal.ts';
import type { WebhookFormat } from '../../domain/webhook-event.ts';

/** Maximum number of webhooks of one account. */
export const MAX_WEBHOOKS = 10;

/** An address that receives the events of an account's services. */
export interface Webhook {
  readonly id: number;
  readonly accountId: number;
  readonly url: string;
  /** The secret that signs every delivery: `whsec_` and base64 of 24 to 64 bytes. Never logged. */
  readonly secret: string;
  readonly createdAt: number;
  /** Absent: `json`. */
  readonly format?: WebhookFormat;
}

/** One event for one webhook, pending or settled. */
export interface Delivery {
  readonly id: number;
  /** Identifier of the message; the same in all attempts and replays, so that the receiver can recognize duplicates. */
  readonly message: string;
  readonly webhookId: number;
  /** The type of a webhook event, such as `service.status_changed`. */
  readonly type: string;
  /** JSON, as it is sent. */
  readonly body: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Time of the next attempt, epoch milliseconds; null: none. */
  readonly dueAt: number | null;
  readonly attempts: number;
  /** Null: not delivered yet. */
  readonly deliveredAt: number | null;
  /** Why the last attempt failed; null: it succeeded, or there was none. */
  readonly problem: DeliveryProblem | null;
}

/** A due delivery with the address and the secret of its webhook. */
export interface DueDelivery extends Delivery {
  readonly url: string;
  readonly secret: string;
  /** The format of its webhook. Absent: `json`. */
  readonly format?: WebhookFormat;
  /** Its account is trusted now. Absent: it is not. */
  readonly isTrusted?: boolean;
}

export interface DeliveryOutcome {
  readonly id: number;
  /** The due time of the attempt. If the delivery was replayed meanwhile, the outcome changes nothing. */
  readonly wasDueAt: number | null;
  /** Null: the attempt failed. */
  readonly deliveredAt: number | null;
  readonly problem: DeliveryProblem | null;
  /** Time of the next attempt, epoch milliseconds; null: none. */
  readonly dueAt: number | null;
}

/** Webhooks and their deliveries. The transaction that writes a transition or an incident also writes its deliveries. */
export interface WebhookStore {
  /** Adds a webhook. Rejects with `account_limit` if the account has {@link MAX_WEBHOOKS}. */
  addWebhook(webhook: Omit<Webhook, 'id'>): Promise<Webhook>;
  webhooksOf(accountId: number): Promise<Webhook[]>;
  /** False: the account has no webhook with that ID. */
  removeWebhook(accountId: number, id: number): Promise<boolean>;
  /** Adds a delivery that is due at once, such as a test; false: the account has no such webhook. */
  addDelivery(
    accountId: number,
    webhookId: number,
    delivery: {
      readonly message: string;
      readonly type: string;
      readonly body: string;
      readonly now: number;
    },
  ): Promise<boolean>;
  /** Newest first, at most 50. */
  deliveriesOf(accountId: number): Promise<Delivery[]>;
  /** Makes a delivery due again; false: the account has no delivery with that ID. */
  replayDelivery(accountId: number, id: number, now: number): Promise<boolean>;
  /**
   * Deliveries that are due at `now`, longest waiting first, at most 8 of each account. Those that would wait for longer than any
   * attempt asks for were put off by a clock that was ahead, and are due, too.
   */
  dueDeliveries(now: number, limit: number): Promise<DueDelivery[]>;
  /** Returns true if any delivery waits, also for a later time. */
  hasDeliveries(): Promise<boolean>;
  noteDelivery(outcome: DeliveryOutcome): Promise<void>;
  /**
   * Deletes settled deliveries from before `before`, epoch milliseconds, and all but the newest 10,000 deliveries of
   * each webhook. Resolves with the number of those that had not been delivered yet.
   */
  forgetDeliveries(before: number): Promise<number>;
}
