/** Makes messages of what is due: one for each channel, and one for each thread that goes on there. */
import { addChange, pendingAtOf } from './alert-changes.ts';
import type { AlertDraft } from './alert-draft.ts';
import { canAcknowledge, isOnce, makeMessage, type Word } from './alert-messages.ts';
import type { Condition, Telling } from './alert-state.ts';
import { asksFor } from './match.ts';
import type { AlertMessage } from './message.ts';
import type { AlertRule } from './rule.ts';

/** What one channel is told now. */
interface Said {
  /** What begins, in a new thread. */
  readonly begun: Word[];
  /** Conditions that ended before an alert was sent, and those that are reported only when they end. */
  readonly past: Word[];
  /** What goes on in threads. */
  readonly threads: Map<string, { words: Word[]; isWorse: boolean }>;
}

/** What is said of a condition in a channel, and what is remembered of it; null: nothing. */
interface Step {
  readonly say: 'begin' | 'past' | 'worse' | 'change' | null;
  readonly next: Telling | null;
}

/** Tells what is due at `now`, epoch milliseconds. */
export function tellDue(draft: AlertDraft, now: number): void {
  endRemoved(draft);
  const thread = `${draft.context.accountId}-${now.toString(36)}-${draft.threadCount + 1}`;
  const said = new Map<number, Said>();
  for (const [key, condition] of draft.conditions) {
    const tellings: Record<string, Telling> = {};
    let isChanged = false;
    for (const [id, telling] of Object.entries(condition.tellings)) {
      const channel = Number(id);
      const pendingAt = pendingAtOf(telling);
      const isDue = pendingAt !== null && pendingAt <= now;
      const { say, next } = isDue
        ? stepDue(draft, condition, channel, telling, thread, now)
        : { say: null, next: telling };
      if (next !== telling) isChanged = true;
      if (next !== null) tellings[id] = next;
      if (say !== null) note(said, channel, { condition, telling }, say);
    }
    if (!isChanged) continue;
    if (Object.keys(tellings).length === 0) draft.conditions.delete(key);
    else draft.conditions.set(key, { ...condition, tellings });
  }
  if (said.size === 0) return;
  const open = openTellings(draft);
  for (const [channel, { begun, past, threads }] of said) {
    joinEnds(draft, channel, threads, open);
    for (const [old, { words, isWorse }] of threads) {
      const type = isWorse ? 'alert' : open.has(`${old} ${channel}`) ? 'update' : 'recovery';
      if (isWorse) askAgain(draft, old, channel, words, now);
      say(draft, channel, type, old, words);
    }
    if (past.length > 0) say(draft, channel, 'recovery', `${thread}-r`, past);
    if (begun.length === 0) continue;
    askAgain(draft, thread, channel, begun, now);
    say(draft, channel, 'alert', thread, begun);
  }
  draft.threadCount += 1;
  closeThreads(draft);
}

/**
 * Puts all that is over into the first thread of it, where a channel shows no threads: one message says what a hundred would. Where it
 * does, each thread gets its own end.
 */
function joinEnds(
  { context }: AlertDraft,
  channel: number,
  threads: Said['threads'],
  open: ReadonlyMap<string, readonly Word[]>,
): void {
  if (context.hasThreads(channel)) return;
  const [first, ...others] = [...threads].filter(
    ([thread, { isWorse }]) => !isWorse && !open.has(`${thread} ${channel}`),
  );
  for (const [thread, { words }] of others) {
    first?.[1].words.push(...words);
    threads.delete(thread);
  }
}

/** Ends what was told of services that are paused or removed, and forgets what no channel waits for. */
export function endRemoved(draft: AlertDraft): void {
  const said = new Map<number, Said>();
  for (const [key, condition] of draft.conditions) {
    const service = draft.context.service(condition.service.id);
    const ended = service === null ? 'removed' : service.isPaused ? 'paused' : undefined;
    const kept = Object.entries(condition.tellings).filter(([id, telling]) => {
      const isTold = telling.thread !== null && draft.context.hasChannel(Number(id));
      if (ended !== undefined && isTold) note(said, Number(id), { condition, telling, ended }, 'change');
      return ended === undefined && draft.context.hasChannel(Number(id));
    });
    if (kept.length === Object.keys(condition.tellings).length) continue;
    if (kept.length === 0) draft.conditions.delete(key);
    else draft.conditions.set(key, { ...condition, tellings: Object.fromEntries(kept) });
  }
  if (said.size === 0) return;
  const open = openTellings(draft);
  for (const [channel, { threads }] of said) {
    joinEnds(draft, channel, threads, open);
    for (const [thread, { words }] of threads) {
      say(draft, channel, open.has(`${thread} ${channel}`) ? 'update' : 'recovery', thread, words);
    }
  }
  closeThreads(draft);
}

/** Threads and channels in which something is told that is not over, as `<thread> <channel>`. */
export function openTellings({ conditions }: AlertDraft): Map<string, Word[]> {
  const open = new Map<string, Word[]>();
  for (const condition of conditions.values()) {
    for (const [channel, telling] of Object.entries(condition.tellings)) {
      if (telling.thread === null) continue;
      const key = `${telling.thread} ${channel}`;
      const words = open.get(key);
      if (words === undefined) open.set(key, [{ condition, telling }]);
      else words.push({ condition, telling });
    }
  }
  return open;
}

/** The rules by which reminders of the words are sent. */
export function repeatingRules(
  { context }: AlertDraft,
  channel: number,
  words: readonly Word[],
): AlertRule[] {
  const ids = new Set(words.filter(canAcknowledge).flatMap(({ telling }) => telling.rules));
  return [...ids]
    .map((id) => context.rule(id))
    .filter((rule) => rule !== null)
    .filter((rule) => rule.repeatMs !== null && rule.channels.includes(channel));
}

function stepDue(
  draft: AlertDraft,
  condition: Condition,
  channel: number,
  telling: Telling,
  thread: string,
  now: number,
): Step {
  const { flapping, thread: told } = telling;
  const idle: Telling = { ...telling, wants: [], dueAt: null };
  if (flapping === 'due') {
    return {
      say: told === null ? 'begin' : 'change',
      next: { ...toldOf(draft, condition, channel, idle, thread), flapping: 'told' },
    };
  }
  if (told === null) return stepFirst(draft, condition, channel, telling, thread, now);
  if (telling.weight === 0) {
    const isSaid = telling.tellsEnd || flapping === 'over';
    return { say: isSaid ? 'change' : null, next: memoryOf(telling) };
  }
  const isSame = telling.weight === telling.toldWeight && telling.since === telling.toldSince;
  if (isSame && flapping !== 'over') return { say: null, next: idle };
  const say = telling.weight > telling.toldWeight ? 'worse' : 'change';
  return { say, next: { ...toldOf(draft, condition, channel, idle, told), flapping: 'no' } };
}

/** The first word of a condition, if rules still ask for it. */
function stepFirst(
  draft: AlertDraft,
  condition: Condition,
  channel: number,
  telling: Telling,
  thread: string,
  now: number,
): Step {
  const { context } = draft;
  const rules = context.rulesOf(condition.service.id);
  const wants = telling.wants.filter(({ rule: id }) => {
    const rule = rules.find((other) => other.id === id);
    return rule?.channels.includes(channel) && asksFor(rule, condition.words);
  });
  if (wants.length === 0 || isRenewed(draft, condition)) return { say: null, next: memoryOf(telling) };
  if (!wants.some(({ dueAt }) => dueAt !== null && dueAt <= now))
    return { say: null, next: { ...telling, wants } };
  if (telling.weight === 0) return { say: 'past', next: memoryOf(telling) };
  if (isOnce(condition)) return { say: condition.kind === 'recovered' ? 'past' : 'begin', next: null };
  const next = toldOf(draft, condition, channel, { ...telling, wants: [], dueAt: null }, thread);
  if (condition.kind !== 'status' || telling.isCounted) return { say: 'begin', next };
  return { say: 'begin', next: addChange(draft, condition, { ...next, isCounted: true }, now) };
}

/** The certificate was replaced while the word about it waited. */
function isRenewed({ context }: AlertDraft, { service, last }: Condition): boolean {
  const endsAt = context.service(service.id)?.certificateEndsAt ?? null;
  return last.type === 'certificate' && endsAt !== null && endsAt !== last.endsAt;
}

function toldOf(
  { context }: AlertDraft,
  { service, endWords }: Condition,
  channel: number,
  telling: Telling,
  thread: string,
): Telling {
  const tellsEnd = context
    .rulesOf(service.id)
    .some((rule) => rule.channels.includes(channel) && asksFor(rule, endWords));
  return {
    ...telling,
    thread: telling.thread ?? thread,
    toldWeight: telling.weight,
    toldSince: telling.since,
    tellsEnd,
  };
}

/** What is kept of a telling that is over, so that a service that flaps is recognized. */
function memoryOf(telling: Telling): Telling | null {
  if (telling.changes.length === 0) return null;
  return {
    ...telling,
    weight: 0,
    wants: [],
    thread: null,
    toldWeight: 0,
    toldSince: 0,
    dueAt: null,
    isHeld: false,
    tellsEnd: false,
    isCounted: false,
    flapping: 'no',
  };
}

function note(said: Map<number, Said>, channel: number, word: Word, say: NonNullable<Step['say']>): void {
  const those: Said = said.get(channel) ?? { begun: [], past: [], threads: new Map() };
  said.set(channel, those);
  const { thread } = word.telling;
  if (say === 'begin') those.begun.push(word);
  else if (say === 'past' || thread === null) those.past.push(word);
  else {
    const going = those.threads.get(thread) ?? { words: [], isWorse: false };
    going.words.push(word);
    going.isWorse ||= say === 'worse';
    those.threads.set(thread, going);
  }
}

function say(
  draft: AlertDraft,
  channelId: number,
  type: AlertMessage['type'],
  thread: string,
  words: readonly Word[],
): void {
  draft.messages.push({ channelId, message: makeMessage(draft, { type, thread, words }) });
}

/** Something began, or got worse, in a thread: it is open, not acknowledged, and reminders begin anew. */
function askAgain(
  draft: AlertDraft,
  thread: string,
  channel: number,
  words: readonly Word[],
  now: number,
): void {
  if (words.every(({ condition }) => isOnce(condition))) return;
  const repeats = repeatingRules(draft, channel, words).map((rule) => rule.repeatMs ?? 0);
  const remindAt = repeats.length === 0 ? null : now + Math.min(...repeats);
  const before = draft.threads.get(thread);
  draft.threads.set(thread, {
    ...before,
    startedAt: before?.startedAt ?? now,
    acknowledged: null,
    channels: { ...before?.channels, [channel]: { remindAt } },
  });
}

/** Forgets threads in which nothing goes on. */
function closeThreads(draft: AlertDraft): void {
  const open = new Set<string>();
  for (const { tellings } of draft.conditions.values()) {
    for (const { thread } of Object.values(tellings)) if (thread !== null) open.add(thread);
  }
  for (const thread of draft.threads.keys()) if (!open.has(thread)) draft.threads.delete(thread);
}
