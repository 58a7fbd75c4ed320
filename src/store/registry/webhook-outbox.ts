/**
 * Deliveries of webhooks, written in the transaction of the transition or incident that they report: none is lost, and
 * none is made twice (docs/adr/0016-deliveries-are-written-beside-their-change.md). A service whose owner has no
 * webhook costs one look into an index.
 */
import { randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { systemClock } from '../../clock.ts';
import { type EventService, messageId, type WebhookEvent, webhookBody } from '../../domain/webhook-event.ts';

/** A service with webhooks. */
export interface Subscription {
  readonly service: EventService;
  readonly webhookIds: readonly number[];
}

/** Writes deliveries, inside the caller's transaction. */
export interface WebhookOutbox {
  /** The webhooks of the owner of a service; null: there are none. */
  find(serviceId: number): Subscription | null;
  /** Writes a delivery of the event for each webhook, due at once. */
  write(subscription: Subscription, event: WebhookEvent): void;
}

/** Prepares the statements over an open, migrated database. */
export function prepareWebhookOutbox(database: DatabaseSync): WebhookOutbox {
  const find = database.prepare(
    `SELECT webhooks.id AS id, slug, name, domain FROM services
     JOIN webhooks ON webhooks.account_id = services.account_id WHERE services.id = ? ORDER BY webhooks.id`,
  );
  const add = database.prepare(
    'INSERT INTO deliveries (message, webhook_id, type, body, created_at, due_at) VALUES (?, ?, ?, ?, ?, ?)',
  );
  return {
    find(serviceId) {
      const rows = find.all(serviceId);
      const [first] = rows;
      if (first === undefined) return null;
      const service = { slug: String(first.slug), name: String(first.name), domain: String(first.domain) };
      return { service, webhookIds: rows.map(({ id }) => Number(id)) };
    },
    write({ webhookIds }, event) {
      const now = systemClock.now();
      const body = webhookBody(event, now);
      for (const id of webhookIds) add.run(messageId(randomBytes(16)), id, event.type, body, now, now);
    },
  };
}
