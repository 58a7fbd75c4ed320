/** The changes that subscribers are told of. */
import type { AlertChange, AlertEvent } from '../../domain/alert/event.ts';
import { isToldToSubscribers } from '../../domain/subscription.ts';
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
