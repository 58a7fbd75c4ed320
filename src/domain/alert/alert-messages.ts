/** Messages from conditions: what is said of each service, what is said of all of them, and as things are when it is sent. */
import { type AlertDraft, causeOfDown } from './alert-draft.ts';
import { type Condition, FLAP_WINDOW_MS, type NamedService, type Telling } from './alert-state.ts';
import { findCommonCause } from './common-cause.ts';
import type { AlertChange } from './event.ts';
import { asksFor } from './match.ts';
import {
  type AlertMessage,
  countStates,
  MAX_MESSAGE_ITEMS,
  type MessageItem,
  type StateCounts,
  stateOf,
} from './message.ts';
import type { AlertEventName } from './rule.ts';

/** A condition as one channel is told of it. */
export interface Word {
  /** Key of the condition. */
  readonly key: string;
  readonly condition: Condition;
  readonly telling: Telling;
  /** The service is no longer monitored; absent: it is. */
  readonly ended?: 'paused' | 'removed';
}

export interface MessageParts {
  readonly type: AlertMessage['type'];
  readonly thread: string;
  /** At least one. */
  readonly words: readonly Word[];
  /** Words that the thread had before and that still go on. */
  readonly others?: readonly Word[];
  readonly replaces?: boolean;
  readonly endsAlso?: readonly string[];
  readonly note?: AlertMessage['note'];
}

/** Makes a message: first its news, then the others, and of both the services that fare worst first. */
export function makeMessage(draft: AlertDraft, parts: MessageParts): AlertMessage {
  const { type, thread, words, others = [], replaces = false, endsAlso = [], note } = parts;
  const { context } = draft;
  const sorted = words.toSorted(byGravity);
  const rest = others.toSorted(byGravity);
  const services = new Map<number, NamedService>();
  for (const { condition } of [...sorted, ...rest]) services.set(condition.service.id, condition.service);
  const [only] = services.values();
  const items: readonly MessageItem[] = [
    ...sorted.map((word) => itemOf(draft, word)),
    ...rest.map((word) => ({ ...itemOf(draft, word), told: true as const })),
  ];
  const isOpen = [...words, ...others].some((word) => canAcknowledge(word));
  const isAcknowledged = (draft.threads.get(thread)?.acknowledged ?? null) !== null;
  return {
    type,
    thread,
    urgency: urgencyOf(type, words),
    at: Math.min(...words.map(timeOf)),
    items: items.slice(0, MAX_MESSAGE_ITEMS),
    total: services.size,
    counts: countStates(items),
    cause: type === 'alert' || type === 'reminder' ? causeOf(draft, [...words, ...others]) : null,
    rule: ruleNameOf(draft, sorted),
    url: services.size === 1 && only !== undefined ? only.url : context.overviewUrl,
    acknowledgeUrl: isOpen && !isAcknowledged ? context.acknowledgeUrl(thread) : null,
    ...(replaces ? { replaces } : {}),
    ...(endsAlso.length === 0 ? {} : { endsAlso }),
    note: note ?? null,
  };
}

function byGravity(a: Word, b: Word): number {
  return (
    b.telling.weight - a.telling.weight ||
    timeOf(a) - timeOf(b) ||
    a.condition.service.id - b.condition.service.id
  );
}

/** Returns true if reminders are sent of it and people can take it: it is trouble, and goes on. */
export function canAcknowledge({ condition, telling, ended }: Word): boolean {
  const { kind, trouble } = condition;
  if (telling.weight === 0 || ended !== undefined) return false;
  if (kind === 'incident') return trouble.type === 'incident' && trouble.incident.severity !== 'maintenance';
  return kind === 'status' || kind === 'scope';
}

/** Returns true if it is told once, and has no end. */
export function isOnce({ kind }: Condition): boolean {
  return kind === 'certificate' || kind === 'recovered';
}

function itemOf(draft: AlertDraft, word: Word): MessageItem {
  const { condition, telling, ended } = word;
  const { trouble, last } = condition;
  const facts = draft.context.service(condition.service.id);
  const isOver = telling.weight === 0;
  // What a recovery ends is told with it where it was not told before.
  const cause = trouble.type === 'status' && (!isOver || telling.thread === null) ? trouble : null;
  const recovered = condition.kind === 'recovered';
  const told = condition.kind === 'status' && last.type === 'status' ? last.to : facts?.status;
  // It may have failed again since, which another message tells: nothing says then that it is well.
  const status = isOver && facts?.status === 'down' ? facts.status : told;
  return {
    service: condition.service,
    event: eventOf(draft, word),
    status: status ?? 'unknown',
    since: timeOf(word),
    lastedMs: isOver ? Math.max(0, telling.since - telling.beganAt) : null,
    reason: recovered ? null : (cause?.reason ?? null),
    phase: recovered ? null : (cause?.phase ?? null),
    lastGoodAt: recovered ? null : (cause?.lastGoodAt ?? null),
    scope: facts?.scope ?? null,
    regions: last.type === 'status' || last.type === 'scope' ? last.regions : [],
    vendor: facts?.vendor ?? null,
    flapping:
      telling.flapping === 'due' ? { changes: telling.changes.length, withinMs: FLAP_WINDOW_MS } : null,
    incident: last.type === 'incident' ? last.incident : null,
    maintenance: last.type === 'maintenance' ? maintenanceOf(last) : null,
    certificate: last.type === 'certificate' ? { endsAt: last.endsAt, days: last.days } : null,
    ...(ended === undefined ? {} : { ended }),
    ...(condition.kind === 'status' && telling.weight > 1 ? reachOf(draft, condition.service.id) : {}),
  };
}

/** The service behind which a service is down, and those that are behind it. */
function reachOf({ context }: AlertDraft, serviceId: number) {
  const cause = causeOfDown(context.service(serviceId)?.ancestors ?? [], context.service);
  const isShown = cause !== null && (cause.isPublic || cause.accountId === context.accountId);
  const behind = context.countBehind(serviceId);
  return {
    ...(isShown ? { because: { slug: cause.slug, name: cause.name } } : {}),
    ...(behind === 0 ? {} : { behind }),
  };
}

function eventOf(draft: AlertDraft, { condition, telling }: Word): AlertEventName {
  const { kind, words, endWords, last } = condition;
  if (kind === 'status' && telling.weight === 0) return telling.toldWeight === 1 ? 'slow' : 'up';
  if (kind === 'incident' && last.type === 'incident') {
    if (last.incident.source === 'vendor') return words[0] ?? 'vendor_incident';
    return last.before === null || last.incident.status === 'resolved' ? 'incident' : 'incident_update';
  }
  const rules = telling.rules.map((id) => draft.context.rule(id)).filter((rule) => rule !== null);
  const asked = words.filter((word) => rules.some((rule) => asksFor(rule, [word])));
  return asked.at(-1) ?? words[0] ?? endWords[0] ?? 'down';
}

function maintenanceOf({
  phase,
  title,
  text,
  startsAt,
  endsAt,
  url,
}: Extract<AlertChange, { readonly type: 'maintenance' }>): MessageItem['maintenance'] {
  return { phase, title, text, startsAt, endsAt, url };
}

/** Of what is over: when it began. */
function timeOf({ telling }: Word): number {
  return telling.weight === 0 ? telling.beganAt : telling.since;
}

function urgencyOf(type: AlertMessage['type'], words: readonly Word[]): AlertMessage['urgency'] {
  if (type === 'recovery' || type === 'acknowledged') return 'low';
  const isHigh = ({ condition, telling, ended }: Word) =>
    ended === undefined && condition.kind === 'status' && telling.weight > 1;
  if (words.some(isHigh)) return 'high';
  return words.every(({ telling }) => telling.weight === 0) ? 'low' : 'normal';
}

function ruleNameOf(draft: AlertDraft, words: readonly Word[]): string | null {
  for (const { telling } of words) {
    for (const id of telling.rules) {
      const rule = draft.context.rule(id);
      if (rule !== null) return rule.name;
    }
  }
  return null;
}

function causeOf(draft: AlertDraft, words: readonly Word[]): AlertMessage['cause'] {
  const down = words.filter(({ condition, telling }) => condition.kind === 'status' && telling.weight > 1);
  const services = new Map(down.map((word) => [word.condition.service.id, word.telling.beganAt]));
  return services.size < 2 ? null : findCommonCause(services, draft.context.causeFacts());
}

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
