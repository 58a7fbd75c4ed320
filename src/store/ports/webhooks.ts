/** The part of the registry's port that concerns webhooks of owners. */

/** An address that is told what happens to an account's services. */
export interface Webhook {
  readonly id: number;
  readonly accountId: number;
  readonly url: string;
  /** Signs every delivery; `whsec_` and base64 of 24 to 64 bytes. Never logged. */
  readonly secret: string;
  readonly createdAt: number;
}

/** What came, or is to come, of telling one thing to one webhook. */
export interface Delivery {
  readonly id: number;
  /** Stays over all attempts and replays, so that its receiver can tell them from news. */
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
  /** Why the last attempt failed, one line; null: it did not, or there was none. */
  readonly problem: string | null;
}

/** A delivery that is due, with what is needed to make it. */
export interface DueDelivery extends Delivery {
  readonly url: string;
  readonly secret: string;
}

/** What came of an attempt. */
export interface DeliveryOutcome {
  readonly id: number;
  /** When it was due: an outcome of a delivery that was made due anew meanwhile changes nothing. */
  readonly wasDueAt: number | null;
  /** Null: it failed. */
  readonly deliveredAt: number | null;
  readonly problem: string | null;
  /** When it is tried again; null: never. */
  readonly dueAt: number | null;
}

/**
 * What the registry knows of webhooks. A change of status or an incident of an account's service makes its deliveries
 * in its own transaction.
 */
export interface WebhookBook {
  /** At most 10 an account. Throws `account_limit`. */
  addWebhook(webhook: Omit<Webhook, 'id'>): Promise<Webhook>;
  webhooksOf(accountId: number): Promise<Webhook[]>;
  /** False: the account has none of that number. */
  removeWebhook(accountId: number, id: number): Promise<boolean>;
  /** Adds a delivery by hand, due at once; false: the account has no such webhook. */
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
  /** Makes a delivery due again; false: the account has none of that number. */
  replayDelivery(accountId: number, id: number, now: number): Promise<boolean>;
  /** Those due by `now`, the longest waiting first, and at most 8 of an account. */
  dueDeliveries(now: number, limit: number): Promise<DueDelivery[]>;
  noteDelivery(outcome: DeliveryOutcome): Promise<void>;
  /**
   * Forgets deliveries that are settled and were made before `before`, and of each webhook all but the newest 10,000,
   * settled or not; returns how many.
   */
  forgetDeliveries(before: number): Promise<number>;
}
