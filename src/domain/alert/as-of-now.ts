/** A message that has waited is said as things are when it is sent: what has failed again since is not called well. */
import type { AlertMessage, MessageItem, StateCounts } from './message.ts';
import { countStates, stateOf } from './message-states.ts';

/**
 * The message with the services that have come back by its words, and are down now, as such: it says that they are down again. `isDown`:
 * whether a service is down now, by its ID.
 */
export function asOfNow(message: AlertMessage, isDown: (serviceId: number) => boolean): AlertMessage {
  const items = message.items.map((item) =>
    isWell(item) && isDown(item.service.id) ? { ...item, status: 'down' as const } : item,
  );
  if (items.every((item, index) => item === message.items[index])) return message;
  const { counts } = message;
  return counts === undefined
    ? { ...message, items }
    : { ...message, items, counts: moved(message, items, counts) };
}

/** Returns true if an item says that an outage is over. */
function isWell(item: MessageItem): boolean {
  const state = stateOf(item);
  return item.lastedMs !== null && (state === 'up' || state === 'fast' || state === 'slow');
}

/** The counts of services by state, those that a message does not describe included. */
function moved(
  { items: before }: AlertMessage,
  after: readonly MessageItem[],
  counts: StateCounts,
): StateCounts {
  const [old, now] = [countStates(before), countStates(after)];
  const states = new Set([...Object.keys(counts), ...Object.keys(now)]) as Set<keyof StateCounts>;
  const sums = [...states].map((state) => {
    return [state, (counts[state] ?? 0) - (old[state] ?? 0) + (now[state] ?? 0)] as const;
  });
  return Object.fromEntries(sums.filter(([, n]) => n > 0));
}
