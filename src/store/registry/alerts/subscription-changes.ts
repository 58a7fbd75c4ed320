/** The changes that subscribers are told of, and the end of what they subscribed to. */
import type { AlertChange, AlertEvent } from '../../../domain/alert/event.ts';
import { isToldToSubscribers, type SubscriptionTopic } from '../../../domain/subscription.ts';
import { type Batch, type RegistryStore, statement } from '../../database/registry-store.ts';

const ADD_CHANGE: Batch<unknown> = {
  types: ['bigint', 'bigint', 'bigint', 'text', 'bigint'],
  sql: 'INSERT INTO subscription_changes (service_id, at, recorded_at, change, written) VALUES (?, ?, ?, ?, ?)',
};
const IN_MAINTENANCE = statement<{ readonly id: string }>(
  `SELECT id FROM maintenances
   WHERE service_id = ? AND phase <> 'ended' AND phase = 'running' AND owner_id IS NOT NULL AND id <> ? LIMIT 1`,
);
const HELD_CHANGES = statement<{ readonly at: number; readonly change: string }>(
  'SELECT at, change FROM subscription_changes WHERE service_id = ? AND written = 2 ORDER BY id',
);
const FORGET_HELD = statement('DELETE FROM subscription_changes WHERE service_id = ? AND written = 2');

/** The value of `written` of changes that wait for the end of an owner's maintenance. */
const HELD = 2;

const ANY_SUBSCRIPTION = statement<{ readonly id: number }>(
  'SELECT id FROM subscriptions WHERE confirmed_at IS NOT NULL LIMIT 1',
);

/**
 * Appends the events that subscribers are told of inside the transaction of their changes, if there is any subscriber. This costs
 * one index lookup where there is none. Changes of status within an owner's maintenance are held until it ends.
 */
export async function addSubscriptionChanges(
  store: RegistryStore,
  events: readonly Omit<AlertEvent, 'position'>[],
): Promise<void> {
  const { queries } = store;
  const told = events.filter(({ change }) => isToldToSubscribers(change));
  if (told.length === 0) return;
  const isAny = (await queries.first(ANY_SUBSCRIPTION())) !== undefined;
  for (const { serviceId, at, recordedAt, change } of isAny ? told : []) {
    const isHeld = change.type === 'status' && (await isInMaintenance(store, serviceId));
    const row = [serviceId, at, recordedAt, toText(change), isHeld ? HELD : 0];
    await queries.runEach(ADD_CHANGE, [row]);
  }
  for (const { serviceId, recordedAt, change } of told)
    if (change.type === 'maintenance' && change.phase === 'ended' && change.source === 'owner')
      await releaseHeld(store, serviceId, change.id, recordedAt);
}

/** The number in a change about a status page in place of the ID of a service: the negative ID of the page. */
export function pageSubject(pageId: number): number {
  return -pageId;
}

/** Returns true if a maintenance of the owner runs. `except`: one that is over. */
async function isInMaintenance({ queries }: RegistryStore, serviceId: number, except = ''): Promise<boolean> {
  return (await queries.first(IN_MAINTENANCE(serviceId, except))) !== undefined;
}

/** After a maintenance: tells the last held change, if the service is down and was not before, or the other way round. */
async function releaseHeld(
  store: RegistryStore,
  serviceId: number,
  maintenanceId: string,
  now: number,
): Promise<void> {
  const { queries } = store;
  const held = await queries.all(HELD_CHANGES(serviceId));
  const [first, last] = [held[0], held.at(-1)];
  if (first === undefined || last === undefined) return;
  if (await isInMaintenance(store, serviceId, maintenanceId)) return;
  await queries.run(FORGET_HELD(serviceId));
  const [before, after]: AlertChange[] = [JSON.parse(first.change), JSON.parse(last.change)];
  if (before?.type !== 'status' || after?.type !== 'status') return;
  if ((before.from === 'down') === (after.to === 'down')) return;
  await queries.runEach(ADD_CHANGE, [[serviceId, last.at, now, last.change, 0]]);
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
