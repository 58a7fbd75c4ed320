/** The states of the services of a message, which are counted for its first line. */
import type { MessageItem, MessageState, StateCounts } from './message.ts';

/** Counts the services by state. */
export function countStates(items: Iterable<MessageItem>): StateCounts {
  const services = new Map<MessageState, Set<number>>();
  for (const item of items) {
    const state = stateOf(item);
    const those = services.get(state) ?? new Set();
    services.set(state, those.add(item.service.id));
  }
  return Object.fromEntries([...services].map(([state, { size }]) => [state, size]));
}

/** The state that an item tells. What is over by its words, but is not so by its status, counts as what it is now. */
export function stateOf({ event, status, lastedMs, flapping, ended, incident }: MessageItem): MessageState {
  if (ended !== undefined) return 'unwatched';
  if (flapping !== null) return 'flapping';
  const isOver = lastedMs !== null;
  switch (event) {
    case 'maintenance':
      return isOver ? 'ended' : 'maintenance';
    case 'certificate':
      return 'certificate';
    case 'incident':
    case 'incident_update':
    case 'vendor_incident':
      return isOver || incident?.status === 'resolved' ? 'resolved' : 'incident';
    case 'down':
    case 'heartbeat_missed':
    case 'run_failed':
      if (!isOver) return 'down';
      break;
    case 'scope':
      if (!isOver) return status === 'down' ? 'down' : 'partial';
      break;
    case 'slow':
      if (!isOver) return 'slow';
  }
  if (status === 'down' || status === 'slow') return status;
  return event === 'slow' ? 'fast' : 'up';
}
