/** Makes messages of what is due: one for each channel, and one for each thread that goes on there. */
import { addChange } from './alert-changes.ts';
import type { AlertDraft } from './alert-draft.ts';
import { canAcknowledge, isOnce, type MessageParts, makeMessage, type Word } from './alert-messages.ts';
import { type Condition, GROUP_WINDOW_MS, type Telling } from './alert-state.ts';
import { sharesCause } from './common-cause.ts';
import { asksFor } from './match.ts';
import type { AlertRule } from './rule.ts';
import { laneOf, pendingAtOf } from './telling-times.ts';

/** The words of a thread that goes on. */
interface Going {
  readonly words: Word[];
  isWorse: boolean;
  /** Other threads whose end is told with it. */
  readonly endsAlso: string[];
}

/** The words that one channel gets now. */
interface Said {
  /** Words about beginnings, by thread. */
  readonly begun: Map<string, Word[]>;
  /** Conditions that ended before an alert was sent, and those that are reported only when they end, by thread. */
  readonly past: Map<string, Word[]>;
  readonly threads: Map<string, Going>;
}

/** A telling of which something is due in a channel. */
interface DueTelling {
  readonly condition: Condition;
  readonly channel: number;
  readonly telling: Telling;
  /** The thread in which what begins is told. */
  readonly thread: string;
}

/** The word about a condition in a channel, and the telling that is kept of it; null: none. */
interface Step {
  readonly say: 'begin' | 'past' | 'worse' | 'change' | null;
  readonly next: Telling | null;
}

export function tellDue(draft: AlertDraft): void {
  const { now } = draft;
  endRemoved(draft);
  const choices = chooseThreads(draft);
  const said = new Map<number, Said>();
  for (const [key, condition] of draft.conditions) {
    const { begin, past } = condition.kind === 'maintenance' ? choices.maintenance : choices.trouble;
    const tellings: Record<string, Telling> = {};
    let isChanged = false;
    for (const [id, telling] of Object.entries(condition.tellings)) {
      const channel = Number(id);
      const pendingAt = pendingAtOf(telling);
      const isDue = pendingAt !== null && pendingAt <= now;
      const { say, next } = isDue
        ? stepDue(draft, { condition, channel, telling, thread: begin })
        : { say: null, next: telling };
      if (next !== telling) isChanged = true;
      if (next !== null) tellings[id] = next;
      if (say === null) continue;
      draft.lanes[laneOf(condition, telling)] = now;
      note(saidIn(said, channel), { key, condition, telling }, say, say === 'begin' ? begin : past);
    }
    if (!isChanged) continue;
    if (Object.keys(tellings).length === 0) draft.conditions.delete(key);
    else draft.conditions.set(key, { ...condition, tellings });
  }
  if (said.size === 0) return;
  const open = openTellings(draft);
  for (const [channel, { begun, past, threads }] of said) {
    const joined = [...begun.keys()];
    for (const [thread, going] of threads) {
      const words = begun.get(thread);
      if (words === undefined) continue;
      // What begins in a thread is said with what changes there.
      going.words.push(...words);
      going.isWorse = true;
      begun.delete(thread);
    }
    joinEnds(draft, channel, threads, open);
    for (const [old, { words, isWorse, endsAlso }] of threads) {
      const type = isWorse ? 'alert' : open.has(`${old} ${channel}`) ? 'update' : 'recovery';
      if (isWorse) askAgain(draft, old, channel, words);
      say(draft, channel, { type, thread: old, words, endsAlso }, open);
    }
    for (const [thread, words] of past) say(draft, channel, { type: 'recovery', thread, words }, open);
    for (const [thread, words] of begun) {
      const replaces =
        choices.recent.has(thread) && draft.threads.get(thread)?.channels[channel] !== undefined;
      askAgain(draft, thread, channel, words);
      say(draft, channel, { type: 'alert', thread, words, replaces }, open);
    }
    for (const thread of joined) noteJoin(draft, thread);
  }
  draft.threadCount += 1;
  closeThreads(draft);
}

/** Threads for what begins, and for what is over before it was told. */
interface Choice {
  readonly begin: string;
  readonly past: string;
}

const MAINTENANCE_SUFFIX = '-m';

/** Maximum number of open threads whose cause is compared with that of what begins; the newest are. */
const MAX_COMPARED_THREADS = 10;

/**
 * The threads for what begins now: in the thread in which something began seconds ago, in one with the same cause, else in a new one.
 */
function chooseThreads(draft: AlertDraft): {
  readonly trouble: Choice;
  readonly maintenance: Choice;
  readonly recent: ReadonlySet<string>;
} {
  const { now } = draft;
  const fresh = `${draft.context.accountId}-${now.toString(36)}-${draft.threadCount + 1}`;
  const known = [...draft.threads].reverse();
  const recent = new Set(
    known
      .filter(([, { startedAt, joinedAt = startedAt }]) => now - joinedAt <= GROUP_WINDOW_MS)
      .map(([thread]) => thread),
  );
  const [works, threads] = [true, false].map((isWork) =>
    known.map(([thread]) => thread).filter((thread) => thread.endsWith(MAINTENANCE_SUFFIX) === isWork),
  ) as [string[], string[]];
  const joined = threads.find((thread) => recent.has(thread)) ?? threadOfCause(draft, threads);
  const work = works.find((thread) => recent.has(thread)) ?? `${fresh}${MAINTENANCE_SUFFIX}`;
  return {
    trouble: { begin: joined ?? fresh, past: `${fresh}-r` },
    maintenance: { begin: work, past: `${fresh}${MAINTENANCE_SUFFIX}-r` },
    recent,
  };
}

/** The newest of the threads in which services are down for the same cause as those that are down now and not told yet; null: none. */
function threadOfCause(draft: AlertDraft, threads: readonly string[]): string | null {
  if (threads.length === 0) return null;
  const begun = new Map<number, number>();
  const down = new Map<string, Map<number, number>>();
  for (const { kind, weight, service, tellings } of draft.conditions.values()) {
    if (kind !== 'status' || weight < 2) continue;
    for (const telling of Object.values(tellings)) {
      const { thread, beganAt } = telling;
      if (thread !== null) down.set(thread, (down.get(thread) ?? new Map()).set(service.id, beganAt));
      else if ((pendingAtOf(telling) ?? Number.POSITIVE_INFINITY) <= draft.now)
        begun.set(service.id, beganAt);
    }
  }
  const compared = threads.filter((thread) => down.has(thread)).slice(0, MAX_COMPARED_THREADS);
  if (begun.size === 0 || compared.length === 0) return null;
  const facts = [...draft.context.causeFacts()];
  return compared.find((thread) => sharesCause(down.get(thread) ?? new Map(), begun, facts)) ?? null;
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
    first?.[1].endsAlso.push(thread);
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
      if (ended !== undefined && isTold)
        note(saidIn(said, Number(id)), { key, condition, telling, ended }, 'change', telling.thread ?? '');
      return ended === undefined && draft.context.hasChannel(Number(id));
    });
    if (kept.length === Object.keys(condition.tellings).length) continue;
    if (kept.length === 0) draft.conditions.delete(key);
    else draft.conditions.set(key, { ...condition, tellings: Object.fromEntries(kept) });
  }
  const open = said.size === 0 ? new Map<string, Word[]>() : openTellings(draft);
  for (const [channel, { threads }] of said) {
    joinEnds(draft, channel, threads, open);
    for (const [thread, { words, endsAlso }] of threads) {
      const type = open.has(`${thread} ${channel}`) ? 'update' : 'recovery';
      say(draft, channel, { type, thread, words, endsAlso }, open);
    }
  }
  closeThreads(draft);
}

/** Threads and channels in which something is told that is not over, as `<thread> <channel>`. */
export function openTellings({ conditions }: AlertDraft): Map<string, Word[]> {
  const open = new Map<string, Word[]>();
  for (const [key, condition] of conditions) {
    for (const [channel, telling] of Object.entries(condition.tellings)) {
      if (telling.thread === null) continue;
      const place = `${telling.thread} ${channel}`;
      const words = open.get(place);
      if (words === undefined) open.set(place, [{ key, condition, telling }]);
      else words.push({ key, condition, telling });
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

function stepDue(draft: AlertDraft, due: DueTelling): Step {
  const { telling } = due;
  const { flapping, thread: told } = telling;
  if (flapping === 'due') {
    return { say: told === null ? 'begin' : 'change', next: { ...toldOf(draft, due), flapping: 'told' } };
  }
  if (told === null) return stepFirst(draft, due);
  if (telling.weight === 0) {
    const isSaid = telling.tellsEnd || flapping === 'over';
    return { say: isSaid ? 'change' : null, next: memoryOf(telling) };
  }
  const isSame = telling.weight === telling.toldWeight && telling.since === telling.toldSince;
  if (isSame && flapping !== 'over') return { say: null, next: { ...telling, wants: [], dueAt: null } };
  const say = telling.weight > telling.toldWeight ? 'worse' : 'change';
  return { say, next: { ...toldOf(draft, due), flapping: 'no' } };
}

/** The first word of a condition, if rules still ask for it. */
function stepFirst(draft: AlertDraft, due: DueTelling): Step {
  const { context, now } = draft;
  const { condition, channel, telling } = due;
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
  const next = toldOf(draft, due);
  if (condition.kind !== 'status' || telling.isCounted) return { say: 'begin', next };
  const counted = addChange(draft, condition, { ...telling, isCounted: true });
  // That it flaps is said in place of this change, not after it.
  if (counted.flapping === 'due') return { say: null, next: counted };
  return { say: 'begin', next: { ...next, changes: counted.changes, isCounted: true } };
}

/** The certificate was replaced while the word about it waited. */
function isRenewed({ context }: AlertDraft, { service, last }: Condition): boolean {
  const endsAt = context.service(service.id)?.certificateEndsAt ?? null;
  return last.type === 'certificate' && endsAt !== null && endsAt !== last.endsAt;
}

/** The telling once it is told. */
function toldOf({ context }: AlertDraft, { condition, channel, telling, thread }: DueTelling): Telling {
  const { service, endWords } = condition;
  const tellsEnd = context
    .rulesOf(service.id)
    .some((rule) => rule.channels.includes(channel) && asksFor(rule, endWords));
  return {
    ...telling,
    wants: [],
    dueAt: null,
    thread: telling.thread ?? thread,
    toldWeight: telling.weight,
    toldSince: telling.since,
    tellsEnd,
  };
}

/** Returns the memory of a telling that is over, so that a service that flaps is recognized. */
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

function saidIn(said: Map<number, Said>, channel: number): Said {
  const those: Said = said.get(channel) ?? { begun: new Map(), past: new Map(), threads: new Map() };
  said.set(channel, those);
  return those;
}

/** Adds a word to what a channel is told. `thread`: of what begins, or is past. */
function note(those: Said, word: Word, say: NonNullable<Step['say']>, thread: string): void {
  const { thread: told } = word.telling;
  if (say === 'begin') those.begun.set(thread, [...(those.begun.get(thread) ?? []), word]);
  else if (say === 'past' || told === null) those.past.set(thread, [...(those.past.get(thread) ?? []), word]);
  else {
    const going = those.threads.get(told) ?? { words: [], isWorse: false, endsAlso: [] };
    going.words.push(word);
    going.isWorse ||= say === 'worse';
    those.threads.set(told, going);
  }
}

/** Says the words, and what else goes on in the thread. */
function say(
  draft: AlertDraft,
  channelId: number,
  parts: MessageParts,
  open: ReadonlyMap<string, readonly Word[]>,
): void {
  const news = new Set(parts.words.map(({ key }) => key));
  const others = (open.get(`${parts.thread} ${channelId}`) ?? []).filter(
    ({ key, telling }) => !news.has(key) && telling.weight > 0,
  );
  draft.messages.push({ channelId, message: makeMessage(draft, { ...parts, others }) });
}

function noteJoin({ threads, now }: AlertDraft, thread: string): void {
  const known = threads.get(thread);
  if (known !== undefined) threads.set(thread, { ...known, joinedAt: now });
}

/** Something began, or got worse, in a thread: it is open, not acknowledged, and reminders begin anew. */
function askAgain(draft: AlertDraft, thread: string, channel: number, words: readonly Word[]): void {
  if (words.every(({ condition }) => isOnce(condition))) return;
  const repeats = repeatingRules(draft, channel, words).map((rule) => rule.repeatMs ?? 0);
  const remindAt = repeats.length === 0 ? null : draft.now + Math.min(...repeats);
  const before = draft.threads.get(thread);
  draft.threads.set(thread, {
    ...before,
    startedAt: before?.startedAt ?? draft.now,
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
