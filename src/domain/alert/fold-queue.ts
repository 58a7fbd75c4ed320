/**
 * Folds the messages that wait for a receiver that cannot be reached: a message is left to a later one that says it as well,
 * so that an outage that is over by then is one line, "Shop is up again after 5 min". Every service keeps its order.
 */
import {
  type AlertMessage,
  countStates,
  MAX_MESSAGE_ITEMS,
  MESSAGE_STATES,
  type MessageItem,
  type StateCounts,
} from './message.ts';

export interface QueuedMessage {
  readonly id: number;
  /** Number of attempts to send it. The receiver may have one that was tried, so its words stay as they are. */
  readonly attempts: number;
  readonly message: AlertMessage;
}

export interface FoldedQueue {
  /** New words of messages, by ID. */
  readonly changed: ReadonlyMap<number, AlertMessage>;
  /** By ID: the message that says it as well. */
  readonly removed: ReadonlyMap<number, number>;
}

const NEWS: ReadonlySet<AlertMessage['type']> = new Set(['alert', 'update', 'recovery']);

/** Folds a queue, the first message first. `seen`: threads of which the receiver may have seen a message. */
export function foldQueue(queue: readonly QueuedMessage[], seen: ReadonlySet<string>): FoldedQueue {
  const rest = [...queue];
  const changed = new Map<number, AlertMessage>();
  const removed = new Map<number, number>();
  // Threads first: what is whole then can be told with others.
  for (let [round, at] = [1, 0]; round <= 2; ) {
    if (at >= rest.length) [round, at] = [round + 1, 0];
    const target = findTarget(rest, at, seen);
    const [early, late] = [rest[at], rest[target]];
    if (early === undefined || late === undefined) {
      at += 1;
      continue;
    }
    if (NEWS.has(early.message.type)) {
      const message = joinMessages(early.message, late.message);
      rest[target] = { ...late, message };
      changed.set(late.id, message);
    }
    changed.delete(early.id);
    removed.set(early.id, late.id);
    rest.splice(at, 1);
  }
  return { changed, removed };
}

/** Index of a later message that can say the one at `at` as well; -1: there is none. */
function findTarget(queue: readonly QueuedMessage[], at: number, seen: ReadonlySet<string>): number {
  const early = queue[at];
  if (early === undefined) return -1;
  const { type, thread } = early.message;
  if (!NEWS.has(type) && type !== 'reminder' && type !== 'acknowledged') return -1;
  const services = new Set(early.message.items.map(({ service }) => service.id));
  let isTaken = type === 'acknowledged';
  const isPast = isUnseenEnd(early, queue, seen);
  for (const [index, late] of queue.entries()) {
    if (index <= at) continue;
    const isNews = NEWS.has(late.message.type) && late.attempts === 0;
    if (late.message.thread === thread) {
      // Who has it is said before what comes after it, unless it is over.
      if (isNews) return isTaken && late.message.type !== 'recovery' ? -1 : index;
      if (late.message.type === 'acknowledged') isTaken = true;
      else if (late.message.type !== 'reminder') return -1;
      continue;
    }
    const hasAny = late.message.items.some(({ service }) => services.has(service.id));
    if (isPast && isNews && !hasAny && isWork(early) === isWork(late) && isUnseenEnd(late, queue, seen))
      return index;
    // What is said of the service in between comes after this message.
    if (hasAny) return -1;
  }
  return -1;
}

/** Returns true if a message is about maintenance, which is never said with anything else. */
function isWork({ message }: QueuedMessage): boolean {
  return message.items.some(({ event }) => event === 'maintenance');
}

/** Returns true if a message tells all of a thread that the receiver has not seen, and that is over. */
function isUnseenEnd(
  { id, attempts, message }: QueuedMessage,
  queue: readonly QueuedMessage[],
  seen: ReadonlySet<string>,
): boolean {
  const { type, thread } = message;
  return (
    type === 'recovery' &&
    attempts === 0 &&
    !seen.has(thread) &&
    queue.every((other) => other.id === id || other.message.thread !== thread)
  );
}

function joinMessages(early: AlertMessage, late: AlertMessage): AlertMessage {
  const isSame = early.thread === late.thread;
  const isOver = late.type === 'recovery';
  const before = new Map(early.items.map((item) => [keyOf(item), item] as const));
  const after = late.items.map((item) => joinItem(before.get(keyOf(item)), item));
  const said = new Set(after.map(keyOf));
  const items = [...after, ...early.items.filter((item) => !said.has(keyOf(item)))];
  const listed = new Set(items.map(({ service }) => service.id)).size;
  const total = isSame ? Math.max(early.total, late.total, listed) : early.total + late.total;
  const { replaces: _, endsAlso: lateEnds = [], ...rest } = late;
  const endsAlso = [...(early.endsAlso ?? []), ...(isSame ? [] : [early.thread]), ...lateEnds];
  return {
    ...rest,
    type: isOver ? 'recovery' : early.type === 'alert' ? 'alert' : late.type,
    urgency: isOver ? 'low' : early.urgency === 'high' ? 'high' : late.urgency,
    at: Math.min(early.at, late.at),
    items: items.slice(0, MAX_MESSAGE_ITEMS),
    total,
    counts: listed === total ? countStates(items) : isSame ? (late.counts ?? {}) : sumOf(early, late),
    cause: isOver ? null : (late.cause ?? early.cause),
    rule: late.rule ?? early.rule,
    ...(endsAlso.length === 0 ? {} : { endsAlso }),
    ...(early.replaces === true ? { replaces: true } : {}),
  };
}

/** Joins two items of a service: one that is over gives the reason if it was not given before. */
function joinItem(before: MessageItem | undefined, after: MessageItem): MessageItem {
  if (before === undefined) return after;
  const { told: _, ...rest } = after;
  const item = before.told === true && after.told === true ? after : rest;
  return after.lastedMs === null || before.lastedMs !== null
    ? item
    : { ...item, reason: after.reason ?? before.reason, phase: after.phase ?? before.phase };
}

function keyOf({ service, incident, maintenance, certificate, event }: MessageItem): string {
  const kind = certificate !== null ? 'certificate' : event === 'scope' ? 'scope' : '';
  return [service.id, incident?.id ?? maintenance?.title ?? kind].join(' ');
}

function sumOf(one: AlertMessage, other: AlertMessage): StateCounts {
  const sums = MESSAGE_STATES.map(
    (state) => [state, (one.counts?.[state] ?? 0) + (other.counts?.[state] ?? 0)] as const,
  );
  return Object.fromEntries(sums.filter(([, n]) => n > 0));
}
