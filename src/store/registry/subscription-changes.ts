/** The changes that subscribers are told of, and the end of what they subscribed to. */
import type { AlertChange, AlertEvent } from '../../domain/alert/event.ts';
import { isToldToSubscribers, type SubscriptionTopic } from '../../domain/subscription.ts';
import { type Batch, type RegistryStore, statement } from './registry-store.ts';

const ADD_CHANGE: Batch<unknown> = {
  types: ['bigint', 'bigint', 'bigint', 'text'],
  sql: 'INSERT INTO subscription_changes (service_id, at, recorded_at, change) VALUES (?, ?, ?, ?)',
};
const ANY_SUBSCRIPTION = statement<{ readonly id: number }>(
  'SELECT id FROM subscriptions WHERE confirmed_at IS NOT NULL LIMIT 1',
);

/**
 * Appends the events that subscribers are told of inside the transaction of their changes, if there is any subscriber. This costs
 * one index lookup where there is none.
 */
export async function addSubscriptionChanges(
  { queries }: RegistryStore,
  events: readonly Omit<AlertEvent, 'position'>[],
): Promise<void> {
  const told = events.filter(({ change }) => isToldToSubscribers(change));
  if (told.length === 0 || (await queries.first(ANY_SUBSCRIPTION())) === undefined) return;
  await queries.runEach(
    ADD_CHANGE,
    told.map(({ serviceId, at, recordedAt, change }) => [serviceId, at, recordedAt, toText(change)]),
  );
}

/** JSON without unpaired surrogates, which have no UTF-8. */
function toText(change: AlertChange): string {
  return JSON.stringify(change, (_, value) => (typeof value === 'string' ? value.toWellFormed() : value));
}

const END_LETTERS = statement(
  'DELETE FROM letters WHERE subscription_id IN (SELECT id FROM subscriptions WHERE topic = ?)',
);
const END_SUBSCRIPTIONS = statement('DELETE FROM subscriptions WHERE topic = ?');

/** Deletes the subscriptions to a service or page that ends, with their letters, inside the caller's transaction. */
export async function endSubscriptions({ queries }: RegistryStore, topic: SubscriptionTopic): Promise<void> {
  await queries.run(END_LETTERS(topic));
  await queries.run(END_SUBSCRIPTIONS(topic));
}
