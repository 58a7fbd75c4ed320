/** Port of the registry: webhooks of owners, and the deliveries to them. */
import type { DeliveryProblem } from '../../domain/refusal.ts';

/** Webhooks of one account. */
export const MAX_WEBHOOKS = 10;

/** An address that receives the events of an account's services. */
export interface Webhook {
  readonly id: number;
  readonly accountId: number;
  readonly url: string;
  /** Signs every delivery; `whsec_` and base64 of 24 to 64 bytes. Never logged. */
  readonly secret: string;
  readonly createdAt: number;
}

/** One event for one webhook, pending or settled. */
export interface Delivery {
  readonly id: number;
  /** The same over all attempts and replays, so that its receiver can recognise them. */
  readonly message: string;
  readonly webhookId: number;
  /** `service.status_changed`, `incident.opened`, `incident.updated`, `incident.resolved` or `test`. */
  readonly type: string;
  /** JSON, as it is sent. */
  readonly body: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** When it is tried next; null: never again. */
  readonly dueAt: number | null;
  readonly attempts: number;
  /** Null: not delivered yet. */
  readonly deliveredAt: number | null;
  /** Why the last attempt failed; null: it did not, or there was none. */
  readonly problem: DeliveryProblem | null;
}

/** A delivery that is due, with the address and the secret of its webhook. */
export interface DueDelivery extends Delivery {
  readonly url: string;
  readonly secret: string;
}

/** The outcome of an attempt. */
export interface DeliveryOutcome {
  readonly id: number;
  /** When it was due. If the delivery was replayed meanwhile, the outcome changes nothing. */
  readonly wasDueAt: number | null;
  /** Null: it failed. */
  readonly deliveredAt: number | null;
  readonly problem: DeliveryProblem | null;
  /** When it is tried again; null: never. */
  readonly dueAt: number | null;
}

/**
 * Webhooks and their deliveries. The transaction that writes a transition or an incident also writes its deliveries.
 */
export interface WebhookStore {
  /** At most {@link MAX_WEBHOOKS} an account. Rejects with `account_limit`. */
  addWebhook(webhook: Omit<Webhook, 'id'>): Promise<Webhook>;
  webhooksOf(accountId: number): Promise<Webhook[]>;
  /** False: the account has none of that id. */
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
  /** Makes a delivery due again; false: the account has none of that id. */
  replayDelivery(accountId: number, id: number, now: number): Promise<boolean>;
  /** Those due by `now`, the longest waiting first, and at most 8 of an account. */
  dueDeliveries(now: number, limit: number): Promise<DueDelivery[]>;
  noteDelivery(outcome: DeliveryOutcome): Promise<void>;
  /**
   * Deletes settled deliveries that were made before `before`, epoch milliseconds, and all but the newest 10,000 of each
   * webhook, settled or not. Resolves with their number.
   */
  forgetDeliveries(before: number): Promise<number>;
}
