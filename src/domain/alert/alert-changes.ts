/** Applies events to the conditions of an account, and makes the messages that they cause for its channels. */
import { type AlertDraft, firstReadyAt, isHeld, nameService, readyAt } from './alert-draft.ts';
import {
  type Condition,
  type ConditionKind,
  FLAP_CHANGES,
  FLAP_WINDOW_MS,
  type Telling,
  UNTOLD,
} from './alert-state.ts';
import { beginReach, endReach, forgetReach } from './common-cause.ts';
import type { AlertChange, AlertEvent } from './event.ts';
import { applyHold, followHolds, forgetHeld } from './hold.ts';
import { asksFor, wordsOf } from './match.ts';
import type { AlertEventName, AlertRule } from './rule.ts';
import { note, wordsToPass } from './telling-times.ts';

/** The change of a condition by an event. */
interface Turn {
  readonly key: string;
  readonly kind: ConditionKind;
  readonly weight: number;
  readonly words: readonly AlertEventName[];
  readonly endWords: readonly AlertEventName[];
  /** The time at which it happened, epoch milliseconds. */
  readonly at: number;
}

interface ChannelTurn extends Turn {
  readonly condition: Condition;
  readonly channel: number;
  /** The rules that ask for it there. */
  readonly askers: readonly AlertRule[];
}

/** Words of a service that is down. A rule with `up` and none of them wants to know of every recovery. */
const DOWN_WORDS: readonly AlertEventName[] = ['down', 'heartbeat_missed', 'run_failed'];

export function applyEvent(draft: AlertDraft, event: AlertEvent): void {
  const { serviceId, change } = event;
  // What seems to happen later was recorded before the clock was set back; `after` must not wait for that time.
  const at = Math.min(event.at, draft.now);
  const words = wordsOf(change);
  const turn = { words, endWords: words, at };
  switch (change.type) {
    case 'status':
      applyStatus(draft, event, change, at);
      return;
    case 'scope':
      applyTurn(draft, event, {
        ...turn,
        key: `scope-${serviceId}`,
        kind: 'scope',
        weight: change.to === 'global' ? 2 : change.to === 'partial' ? 1 : 0,
      });
      return;
    case 'incident': {
      if (words.length === 0) return;
      const incident: Turn = {
        ...turn,
        key: `incident-${serviceId}-${change.incident.id}`,
        kind: 'incident',
        endWords: change.incident.source === 'vendor' ? words : ['incident', 'incident_update'],
        weight: change.incident.status === 'resolved' ? 0 : 1,
      };
      applyTurn(
        draft,
        event,
        incident,
        change.incident.source === 'own' ? untold(draft, serviceId) : undefined,
      );
      if (change.incident.source === 'own' && incident.weight === 0) forgetReach(draft, serviceId);
      return;
    }
    case 'maintenance':
      if (change.phase === 'planned') return;
      applyTurn(draft, event, {
        ...turn,
        key: `maintenance-${serviceId}-${change.id}`,
        kind: 'maintenance',
        weight: change.phase === 'running' ? 1 : 0,
      });
      if (change.source === 'owner') applyHold(draft, serviceId, change);
      return;
    case 'certificate': {
      const known = draft.certificates.get(serviceId);
      if (known?.endsAt === change.endsAt && known.days <= change.days) return;
      draft.certificates.set(serviceId, { endsAt: change.endsAt, days: change.days });
      applyTurn(draft, event, {
        ...turn,
        key: `certificate-${serviceId}`,
        kind: 'certificate',
        weight: 1,
      });
    }
  }
}

/** Lets a service that has flapped be told of again: nothing has changed for {@link FLAP_WINDOW_MS}. */
export function endFlapping(draft: AlertDraft, condition: Condition, telling: Telling): Telling {
  const { now } = draft;
  const dueAt = firstReadyAt(draft, telling.rules, wordsToPass(condition, telling), now);
  // What quiet hours have kept from being told is told as if it had not flapped.
  const flapping = telling.flapping === 'told' ? 'over' : 'no';
  const isNew = telling.thread === null && telling.weight > 0;
  return {
    ...telling,
    flapping,
    changes: [],
    dueAt,
    wants: isNew ? telling.rules.map((rule) => ({ rule, dueAt, held: dueAt > now })) : [],
  };
}

function applyStatus(
  draft: AlertDraft,
  event: AlertEvent,
  change: Extract<AlertChange, { readonly type: 'status' }>,
  at: number,
): void {
  const { serviceId } = event;
  const key = `status-${serviceId}`;
  let wasBehind = false;
  if (change.to === 'down') beginReach(draft, serviceId, at);
  else {
    wasBehind = endReach(draft, serviceId);
    if (wasBehind) forgetHeld(draft, serviceId);
    else followHolds(draft, new Set([serviceId]));
  }
  applyTurn(draft, event, {
    key,
    kind: 'status',
    weight: change.to === 'down' ? 2 : change.to === 'slow' ? 1 : 0,
    // Of a service that gets slow after it was down, `up` is the end of what was told.
    words: change.to === 'slow' ? ['slow'] : wordsOf(change),
    endWords: change.to === 'slow' ? ['slow'] : ['up'],
    at,
  });
  const recovered = `recovered-${serviceId}`;
  if (change.to === 'down') draft.conditions.delete(recovered);
  else if (change.from === 'down' && !wasBehind) {
    const told = draft.conditions.get(key)?.tellings ?? {};
    const isFree = (channel: number) => {
      const telling = told[channel];
      return telling === undefined || (telling.thread === null && telling.wants.length === 0);
    };
    const rules = draft.context
      .rulesOf(serviceId)
      .filter((rule) => asksFor(rule, ['up']) && !asksFor(rule, DOWN_WORDS))
      .map((rule) => ({ ...rule, channels: rule.channels.filter(isFree) }));
    const turn = {
      key: recovered,
      kind: 'recovered',
      weight: 1,
      words: ['up'],
      endWords: ['up'],
      at,
    } as const;
    applyTurn(draft, event, turn, rules);
  }
}

/** The rules of a service without channels that are told of its outages: an incident of our own checks would say the same again. */
function untold({ context }: AlertDraft, serviceId: number): AlertRule[] {
  const rules = context.rulesOf(serviceId);
  const told = new Set(rules.filter((rule) => asksFor(rule, DOWN_WORDS)).flatMap(({ channels }) => channels));
  return rules.map((rule) => ({ ...rule, channels: rule.channels.filter((channel) => !told.has(channel)) }));
}

/** `rules`: those to ask; absent: all of the service. */
function applyTurn(
  draft: AlertDraft,
  event: AlertEvent,
  turn: Turn,
  rules: readonly AlertRule[] = draft.context.rulesOf(event.serviceId),
): void {
  const { key, kind, weight, words, endWords } = turn;
  const before = draft.conditions.get(key);
  const asking = weight === 0 ? [] : rules.filter((rule) => asksFor(rule, words));
  const service = draft.context.service(event.serviceId);
  if (before === undefined && (service === null || asking.length === 0)) return;
  const isEnd = weight === 0 && before !== undefined;
  const condition: Condition = {
    ...before,
    kind,
    service: service === null ? before!.service : nameService(service),
    weight,
    words: isEnd ? before.words : words,
    endWords: isEnd ? before.endWords : endWords,
    last: event.change,
    trouble: isEnd ? before.trouble : event.change,
    tellings: {},
  };
  const tellings: Record<string, Telling> = {};
  const channels = new Set([
    ...Object.keys(before?.tellings ?? {}).map(Number),
    ...asking.flatMap((rule) => rule.channels),
  ]);
  for (const channel of channels) {
    const askers = asking.filter((rule) => rule.channels.includes(channel));
    const next = stepTelling(draft, { ...turn, condition, channel, askers }, before?.tellings[channel]);
    if (next !== null) tellings[channel] = next;
  }
  if (Object.keys(tellings).length === 0) draft.conditions.delete(key);
  else draft.conditions.set(key, { ...condition, tellings });
}

/** Returns what a channel is told after a turn; null: there is nothing to remember. */
function stepTelling(draft: AlertDraft, turn: ChannelTurn, before: Telling | undefined): Telling | null {
  const { condition, channel, askers } = turn;
  const from = before ?? UNTOLD;
  const weight = askers.length > 0 ? turn.weight : turn.weight < from.weight ? 0 : from.weight;
  // It got worse, or has news, in a way that no rule of this channel asks for.
  if (askers.length === 0 && weight === from.weight) return before ?? null;
  const isNew = from.weight === 0 && from.thread === null;
  const next: Telling = {
    ...from,
    weight,
    since: turn.at,
    beganAt: from.weight === 0 ? turn.at : from.beganAt,
    rules: [...new Set([...(isNew ? [] : from.rules), ...askers.map((rule) => rule.id)])],
  };
  const asked = weight === 0 ? endWants(next, draft.now) : addWants(draft, turn, next);
  const held = isHeld(draft, condition, channel);
  const counted = held ? asked : countChange(draft, turn, from, asked);
  if (counted.flapping !== 'no') return note(draft, condition, counted);
  if (counted.thread === null) {
    return counted.wants.length > 0 || counted.changes.length > 0 ? note(draft, condition, counted) : null;
  }
  if (weight === 0 && !counted.tellsEnd) return { ...UNTOLD, changes: counted.changes };
  const dueAt = held ? null : firstReadyAt(draft, counted.rules, wordsToPass(condition, counted), draft.now);
  return note(draft, condition, { ...counted, dueAt, isHeld: held });
}

function addWants(draft: AlertDraft, turn: ChannelTurn, telling: Telling): Telling {
  if (telling.thread !== null) return telling;
  const { condition, channel, askers } = turn;
  const held = isHeld(draft, condition, channel);
  const wants = new Map(telling.wants.map((want) => [want.rule, want] as const));
  for (const rule of askers) {
    const ready = Math.max(draft.now, turn.at + rule.afterMs);
    const dueAt = held ? null : readyAt(rule, turn.words, ready);
    const known = wants.get(rule.id);
    // What got worse may break quiet hours that hold what was not as bad.
    const isSooner = known !== undefined && dueAt !== null && dueAt < (known.dueAt ?? 0);
    if (known === undefined || isSooner) {
      wants.set(rule.id, { rule: rule.id, dueAt, held: held || dueAt !== ready });
    }
  }
  return { ...telling, wants: [...wants.values()] };
}

/** Of what is over before it was told, only what was ready is told. */
function endWants(telling: Telling, now: number): Telling {
  const wants = telling.wants.filter(({ held, dueAt }) => !held && dueAt !== null && dueAt <= now);
  return { ...telling, wants };
}

/** Counts a change that is told, or would be but for quiet hours, and sees whether the service flaps. */
function countChange(
  draft: AlertDraft,
  { condition, askers, at }: ChannelTurn,
  from: Telling,
  telling: Telling,
): Telling {
  if (condition.kind !== 'status' || telling.weight === from.weight) return telling;
  const isReady = askers.some((rule) => at + rule.afterMs <= draft.now);
  const isFlapping = telling.flapping !== 'no';
  const counts = isFlapping || (telling.weight === 0 ? from.isCounted : telling.thread !== null || isReady);
  const counted = { ...telling, isCounted: telling.weight > 0 && (counts || from.isCounted) };
  return counts ? addChange(draft, condition, counted) : counted;
}

/** Counts a change. A service that flaps is told of once; then nothing is until it is steady. */
export function addChange(draft: AlertDraft, condition: Condition, telling: Telling): Telling {
  const { now } = draft;
  const changes = [...telling.changes.filter((at) => at > now - FLAP_WINDOW_MS), now].slice(-FLAP_CHANGES);
  if (telling.flapping === 'due' || telling.flapping === 'told') return { ...telling, changes };
  if (changes.length < FLAP_CHANGES) return { ...telling, changes };
  const dueAt = firstReadyAt(draft, telling.rules, wordsToPass(condition, telling), now);
  return { ...telling, changes, flapping: 'due', wants: [], dueAt, isHeld: false };
}
