/**
 * Deliveries of webhooks, written in the transaction of the transition or incident that they report: none is lost, and
 * none is made twice (docs/adr/0016-deliveries-are-written-beside-their-change.md). A service whose owner has no
 * webhook costs one look into an index.
 */
import { randomBytes } from 'node:crypto';
import { systemClock } from '../../clock.ts';
import { type EventService, messageId, type WebhookEvent, webhookBody } from '../../domain/webhook-event.ts';
import { type RegistryStore, statement } from './registry-store.ts';

const FIND = statement<EventService & { readonly id: number }>(
  `SELECT webhooks.id AS id, slug, name, domain FROM services
   JOIN webhooks ON webhooks.account_id = services.account_id WHERE services.id = ? ORDER BY webhooks.id`,
);
const ADD = statement(
  'INSERT INTO deliveries (message, webhook_id, type, body, created_at, due_at) VALUES (?, ?, ?, ?, ?, ?)',
);

/** Writes a delivery of the event for each webhook of the service's owner, due at once, inside the caller's transaction. */
export async function deliverEvent(
  { queries }: RegistryStore,
  serviceId: number,
  eventOf: (service: EventService) => WebhookEvent,
): Promise<void> {
  const webhooks = await queries.all(FIND(serviceId));
  const [first] = webhooks;
  if (first === undefined) return;
  const { slug, name, domain } = first;
  const event = eventOf({ slug, name, domain });
  const now = systemClock.now();
  const body = webhookBody(event, now);
  for (const { id } of webhooks)
    await queries.run(ADD(messageId(randomBytes(16)), id, event.type, body, now, now));
}
