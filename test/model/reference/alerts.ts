/**
 * The reference implementation of alerts: from the events, what each channel is told and when. "A" is the section "Which alerts are
 * sent, and when" of docs/alerts.md. Times are epoch milliseconds, but for those that end in `Ms`.
 */
import type { DefinedRule, Given, Instant, Telling } from '../diary.ts';
import { THREADLESS } from '../world-alerts.ts';
import { createLineRules } from './lines.ts';
import { type MessageSources, messageOf, type Word, wordOf } from './messages.ts';
import { createReferenceThreads } from './threads.ts';
import {
  asks,
  FLAP_MS,
  forget,
  isEmpty,
  type Line,
  newLine,
  pendingAt,
  type Step,
  steadyAt,
  stepOf,
  type ToldEvent,
  type Topic,
} from './topics.ts';

/** A: "What follows within 30 seconds is one more message for each channel." */
const GROUP_MS = 30_000;
/** A: "If a service is paused or removed while it is down, its thread ends ..., within ten minutes." */
const LOOK_MS = 600_000;
/** Decisions come within a second. */
const LATE_MS = 1_000;
const NEVER = Number.POSITIVE_INFINITY;

/** What alerts need of the rest. */
export interface AlertSources extends Pick<MessageSources, 'statusOf'> {
  readonly stateOf: (service: number) => 'live' | 'paused' | 'removed';
  /** Whether maintenance of the owner runs. */
  readonly isWorkedOn: (service: number) => boolean;
}

/** Makes the alerts of an account. */
export function createReferenceAlerts(
  { rules: initial }: Pick<Given, 'rules'>,
  { statusOf, stateOf, isWorkedOn }: AlertSources,
) {
  const rules = new Map<number, DefinedRule>(initial.map((one) => [one.id, one]));
  const topics = new Map<string, Topic>();
  /** How many times a message has begun a thread, by its time: a clock that was set back comes to a time again. */
  const begunAt = new Map<number, number>();
  /** Maintenance of owners that runs, by service. */
  const works = new Map<number, Set<string>>();
  /** When something was told last, by the kind of news: A: "These four do not wait for each other". */
  const lanes = new Map<string, number>();
  const tellings: Telling[] = [];
  const faults: string[] = [];
  let events: ToldEvent[] = [];
  let taken: string[] = [];
  let decidedAt = 0;
  let lookAt = NEVER;
  let now = 0;
  /** Since when there has been something to decide, monotonic milliseconds. */
  let waitingMs = NEVER;

  const ruleOf = (id: number) => {
    const rule = rules.get(id);
    return rule?.isOn === true ? rule : null;
  };
  const rulesFor = (service: number): DefinedRule[] =>
    stateOf(service) === 'removed'
      ? []
      : [...rules.values()].filter(
          ({ isOn, watches }) => isOn && (watches === 'all' || watches.includes(service)),
        );
  const sources: MessageSources = { rule: ruleOf, statusOf };
  /** A: maintenance of the owner holds what is about the state of its services. */
  const isHeld = ({ kind, service }: Topic): boolean =>
    kind !== 'incident' &&
    kind !== 'maintenance' &&
    (works.has(service) || (stateOf(service) !== 'removed' && isWorkedOn(service)));
  const linesOf = (): { readonly topic: Topic; readonly line: Line }[] =>
    [...topics.values()].flatMap((topic) => [...topic.lines.values()].map((line) => ({ topic, line })));
  const laneOf = ({ kind }: Topic, { thread, level, toldLevel }: Line): string => {
    if (kind === 'maintenance') return 'maintenance';
    if (thread !== null && level <= toldLevel) return 'change';
    return kind === 'status' && level === 2 ? 'down' : 'begin';
  };
  const tellAt = (topic: Topic, line: Line): number =>
    Math.max(pendingAt(line), (lanes.get(laneOf(topic, line)) ?? -NEVER) + GROUP_MS);
  const { changeLine, turn, hold, release, calm, moveBack } = createLineRules(ruleOf, isHeld);
  const threads = createReferenceThreads({ topics, ruleOf, isHeld, send });

  function send(
    type: string,
    thread: string,
    channel: number,
    words: readonly Word[],
    others: readonly Word[] = [],
  ): void {
    const isTaken = threads.isTaken(thread);
    tellings.push(messageOf({ type, thread, channel, decidedAt: now }, words, others, isTaken, sources));
  }

  /** A: "Each message of a thread also says what else goes on there." */
  function sendNews(type: string, thread: string, channel: number, words: readonly Word[]): void {
    const said = new Set(words.map(({ topic }) => topic.key));
    const others = threads.wordsIn(thread, channel);
    send(
      type,
      thread,
      channel,
      words,
      others.filter(({ topic, line }) => line.level > 0 && !said.has(topic.key)),
    );
  }

  function take(event: ToldEvent, at: number): void {
    const step = stepOf(event);
    if (step === null) return;
    change(
      event,
      step,
      at,
      event.kind === 'incident' && event.by === 'own' ? unaware(event.service) : rulesFor(event.service),
    );
    if (event.kind === 'status') recover(event, at);
    if (event.kind === 'maintenance' && event.by === 'owner') holdOrRelease(event, at);
  }

  /** A rule with `up`, and without what comes before it, is told of each recovery, but not twice by one channel. */
  function recover(event: ToldEvent, at: number): void {
    const { service, what } = event;
    const key = `recovered-${service}`;
    if (what.endsWith('to down')) topics.delete(key);
    if (!what.startsWith('down to ')) return;
    const known = topics.get(`status-${service}`)?.lines;
    const isFree = (channel: number) => {
      const line = known?.get(channel);
      return line === undefined || (line.thread === null && line.wishes.length === 0);
    };
    const eager = rulesFor(service)
      .filter((rule) => asks(rule, ['up']) && !asks(rule, ['down', 'heartbeat_missed', 'run_failed']))
      .map((rule) => ({ ...rule, channels: rule.channels.filter(isFree) }));
    change(event, { key, kind: 'recovered', level: 1, words: ['up'], endWords: ['up'] }, at, eager);
  }

  /** A: "An incident of our own checks is told only to channels that are not told of the outage." */
  function unaware(service: number): DefinedRule[] {
    const all = rulesFor(service);
    const aware = all.filter((rule) => asks(rule, ['down', 'heartbeat_missed', 'run_failed']));
    const told = new Set(aware.flatMap(({ channels }) => channels));
    return all.map((rule) => ({ ...rule, channels: rule.channels.filter((one) => !told.has(one)) }));
  }

  function change(event: ToldEvent, step: Step, at: number, candidates: readonly DefinedRule[]): void {
    const { key, kind, level, words, endWords } = step;
    const asking = level === 0 ? [] : candidates.filter((rule) => asks(rule, words));
    const before = topics.get(key);
    if (before === undefined && asking.length === 0) return;
    const topic = before ?? {
      key,
      kind,
      service: event.service,
      words,
      endWords,
      last: event,
      lines: new Map(),
    };
    if (level > 0) Object.assign(topic, { words, endWords });
    topic.last = event;
    for (const channel of asking.flatMap((rule) => rule.channels))
      if (!topic.lines.has(channel)) topic.lines.set(channel, newLine(channel));
    for (const line of topic.lines.values()) {
      const isTold = line.thread !== null;
      const askers = asking.filter((rule) => rule.channels.includes(line.channel));
      changeLine(topic, line, level, Math.min(event.at, at), at, askers);
      if (!isTold && line.flaps === 'no' && isEmpty(line)) topic.lines.delete(line.channel);
    }
    if (topic.lines.size === 0) topics.delete(key);
    else topics.set(key, topic);
  }

  /** A: "Maintenance that the owner announced holds ... What still is so at its end is told then." */
  function holdOrRelease({ service, id = '', what, startsAt = 0 }: ToldEvent, at: number): void {
    const running = works.get(service) ?? new Set();
    const begins = what.endsWith('running');
    if (begins) works.set(service, running.add(id));
    else if (running.delete(id) && running.size === 0) works.delete(service);
    const isLeft = works.has(service);
    for (const topic of topics.values()) {
      if (topic.service !== service || topic.kind === 'incident' || topic.kind === 'maintenance') continue;
      for (const line of topic.lines.values())
        if (begins && line.beganAt >= startsAt) hold(line);
        else if (!begins && !isLeft) release(topic, line, at);
    }
  }

  /** Does what is due until `until`, each at its time. */
  function advance(until: number): void {
    for (;;) {
      const at = Math.min(
        ...linesOf().map(({ topic, line }) => Math.min(tellAt(topic, line), steadyAt(line))),
      );
      if (at > until) return;
      for (const topic of topics.values()) for (const line of topic.lines.values()) calm(topic, line, at);
      if (linesOf().some(({ topic, line }) => tellAt(topic, line) <= at)) tell(at);
    }
  }

  /** What one channel is told at a time. */
  interface Said {
    /** Both by thread. */
    readonly begun: Map<string, Word[]>;
    readonly past: Map<string, Word[]>;
    readonly threads: Map<string, { readonly words: Word[]; isWorse: boolean }>;
  }

  function tell(at: number): void {
    endLeft();
    const nth = (begunAt.get(at) ?? 0) + 1;
    const fresh = nth === 1 ? String(at) : `${at} ${nth}`;
    const trouble = threads.joinable(at - GROUP_MS, false) ?? fresh;
    const work = threads.joinable(at - GROUP_MS, true) ?? `${fresh}-m`;
    const said = new Map<number, Said>();
    for (const topic of topics.values()) {
      const isWork = topic.kind === 'maintenance';
      for (const line of topic.lines.values()) {
        if (pendingAt(line) > at) continue;
        const word = wordOf(topic, line);
        const lane = laneOf(topic, line);
        const saying = say(topic, line, isWork ? work : trouble, at);
        if (saying !== null) {
          lanes.set(lane, at);
          note(
            said,
            word,
            saying,
            saying === 'begin' ? (isWork ? work : trouble) : `${fresh}${isWork ? '-m' : ''}-r`,
          );
        }
        if (line.flaps === 'no' && isEmpty(line)) topic.lines.delete(line.channel);
      }
      if (topic.lines.size === 0) topics.delete(topic.key);
    }
    for (const [channel, { begun, past, threads: going }] of said) {
      const names = [...begun.keys(), ...past.keys()];
      if (names.some((name) => name === fresh || name.startsWith(`${fresh}-`))) begunAt.set(at, nth);
      const joined = [...begun.keys()];
      for (const [thread, one] of going) {
        one.words.push(...(begun.get(thread) ?? []));
        if (begun.delete(thread)) one.isWorse = true;
      }
      joinEnds(channel, going);
      for (const [old, { words, isWorse }] of going) {
        if (isWorse) threads.ask(old, channel, words, at);
        sendNews(
          isWorse ? 'alert' : threads.isOpen(old, channel) ? 'update' : 'recovery',
          old,
          channel,
          words,
        );
      }
      for (const [thread, words] of past) send('recovery', thread, channel, words);
      for (const [thread, words] of begun) {
        threads.ask(thread, channel, words, at);
        sendNews('alert', thread, channel, words);
      }
      for (const thread of joined) threads.join(thread, at);
    }
    threads.close();
  }

  type Saying = 'begin' | 'past' | 'worse' | 'change';

  /** What is said of a topic in a channel, which then knows it; null: nothing. */
  function say(topic: Topic, line: Line, thread: string, at: number): Saying | null {
    const isNew = line.thread === null;
    if (line.flaps === 'due') {
      tellLine(topic, line, thread);
      line.flaps = 'told';
      return isNew ? 'begin' : 'change';
    }
    if (isNew) return begin(topic, line, thread, at);
    const wasOver = line.flaps === 'over';
    if (line.level === 0) {
      const isSaid = line.tellsEnd || wasOver;
      forget(line);
      return isSaid ? 'change' : null;
    }
    line.flaps = 'no';
    if (line.level === line.toldLevel && line.since === line.toldSince && !wasOver) {
      line.changeAt = null;
      return null;
    }
    const isWorse = line.level > line.toldLevel;
    tellLine(topic, line, thread);
    return isWorse ? 'worse' : 'change';
  }

  /** A: "Changes of rules count for what begins afterwards": what a rule that is gone was about to tell is not told. */
  function begin(topic: Topic, line: Line, thread: string, at: number): Saying | null {
    const asking = rulesFor(topic.service).filter(
      (rule) => rule.channels.includes(line.channel) && asks(rule, topic.words),
    );
    const wishes = line.wishes.filter((one) => asking.some(({ id }) => id === one.rule));
    const isReady = wishes.some((one) => one.at !== null && one.at <= at);
    if (!isReady) {
      if (wishes.length === 0) forget(line);
      else line.wishes = wishes;
      return null;
    }
    if (line.level === 0 || topic.kind === 'recovered') {
      forget(line);
      return 'past';
    }
    tellLine(topic, line, thread);
    if (topic.kind === 'status' && !line.isCounted) {
      line.isCounted = true;
      turn(topic, line, at);
    }
    return 'begin';
  }

  function tellLine(topic: Topic, line: Line, thread: string): void {
    line.thread ??= thread;
    line.toldLevel = line.level;
    line.toldSince = line.since;
    line.wishes = [];
    line.changeAt = null;
    // A: "A recovery is told where its outage was told", if a rule asks for it.
    line.tellsEnd = rulesFor(topic.service).some(
      (rule) => rule.channels.includes(line.channel) && asks(rule, topic.endWords),
    );
  }

  function note(said: Map<number, Said>, word: Word, saying: Saying, named: string): void {
    const { channel, thread } = word.line;
    const those: Said = said.get(channel) ?? { begun: new Map(), past: new Map(), threads: new Map() };
    said.set(channel, those);
    const list = saying === 'begin' ? those.begun : saying === 'past' || thread === null ? those.past : null;
    if (list !== null) list.set(named, [...(list.get(named) ?? []), word]);
    else if (thread !== null) {
      const going = those.threads.get(thread) ?? { words: [], isWorse: false };
      going.words.push(word);
      going.isWorse ||= saying === 'worse';
      those.threads.set(thread, going);
    }
  }

  /** A: channels that "show no threads ... get one message for all ends". */
  function joinEnds(channel: number, going: Said['threads']): void {
    if (channel !== THREADLESS) return;
    const ends = [...going].filter(([thread, { isWorse }]) => !isWorse && !threads.isOpen(thread, channel));
    for (const [thread, { words }] of ends.slice(1)) {
      ends[0]?.[1].words.push(...words);
      going.delete(thread);
    }
  }

  /** A: "If a service is paused or removed while it is down, its thread ends with a message that says so". */
  function endLeft(): void {
    const said = new Map<number, Said>();
    for (const topic of topics.values()) {
      const state = stateOf(topic.service);
      if (state === 'live') continue;
      for (const line of topic.lines.values())
        if (line.thread !== null) note(said, { ...wordOf(topic, line), ended: state }, 'change', line.thread);
      topics.delete(topic.key);
    }
    for (const [channel, { threads: going }] of said) {
      joinEnds(channel, going);
      for (const [thread, { words }] of going)
        sendNews(threads.isOpen(thread, channel) ? 'update' : 'recovery', thread, channel, words);
    }
    threads.close();
  }

  /** A: "A clock that is set back delays nothing. What waits ... goes on to wait for as long as was left". */
  function setBack(wall: number): void {
    const byMs = decidedAt - wall;
    for (const topic of topics.values())
      for (const line of topic.lines.values()) moveBack(topic, line, byMs, wall);
    for (const [lane, at] of lanes) lanes.set(lane, at - byMs);
    threads.moveBack(byMs);
    lookAt -= byMs;
    decidedAt = wall;
  }

  /** Looks for services that have left, and forgets what is past. */
  function lookAround(at: number): void {
    endLeft();
    for (const service of works.keys()) if (stateOf(service) === 'removed') works.delete(service);
    for (const topic of topics.values()) {
      for (const line of topic.lines.values()) {
        const isPast = line.flaps === 'no' && isEmpty({ ...line, turns: [] }) && line.level === 0;
        if (isPast && (line.turns.at(-1) ?? 0) < at - FLAP_MS) topic.lines.delete(line.channel);
      }
      if (topic.lines.size === 0) topics.delete(topic.key);
    }
  }

  /** When there is something to decide though nothing happens. */
  function dueAt(): number {
    const timers = linesOf().map(({ topic, line }) => Math.min(tellAt(topic, line), steadyAt(line)));
    return Math.min(...timers, threads.dueAt(), lookAt);
  }

  /** Whether something has come to its time, or the clock was set back, which changes the time of what waits. */
  const isDueAt = (wall: number): boolean => dueAt() <= (wall < decidedAt ? Number.MAX_VALUE : wall);

  const isConcerned = ({ service }: ToldEvent): boolean =>
    rulesFor(service).length > 0 ||
    works.has(service) ||
    [...topics.values()].some((topic) => topic.service === service);

  return {
    tell: (event: ToldEvent): void => void events.push(event),
    acknowledge: (thread: string): void => void taken.push(thread),
    switchRule(id: number, isOn: boolean): void {
      const rule = rules.get(id);
      if (rule !== undefined) rules.set(id, { ...rule, isOn });
    },
    /** The program decides. Decisions follow the times at which changes were recorded. */
    decide({ wall }: Instant): void {
      const concerned = events.filter(isConcerned);
      const isDue = concerned.length > 0 || taken.length > 0 || isDueAt(wall);
      const said = taken;
      [events, taken, waitingMs] = [[], [], NEVER];
      if (!isDue) return;
      now = wall;
      if (wall < decidedAt) setBack(wall);
      let time = decidedAt;
      for (const event of concerned) {
        time = Math.max(time, Math.min(event.recordedAt ?? wall, wall));
        // A: "What happens in one moment is told together."
        advance(time - 1);
        take(event, time);
      }
      time = Math.max(time, wall);
      for (const thread of said) threads.acknowledge(thread);
      advance(time);
      if (lookAt <= time) {
        lookAround(time);
        lookAt = NEVER;
      }
      threads.remind(time);
      if (topics.size + works.size === 0) lookAt = NEVER;
      else if (lookAt === NEVER) lookAt = time + LOOK_MS;
      decidedAt = time;
    },
    /** Time has come to this. `excused`: the program could not decide. */
    watch({ ms, wall }: Instant, excused: boolean): void {
      const isWaiting = events.some(isConcerned) || taken.length > 0 || isDueAt(wall);
      if (excused || !isWaiting) waitingMs = NEVER;
      else if (waitingMs === NEVER) waitingMs = ms;
      else if (ms > waitingMs + LATE_MS) {
        faults.push(`alerts were not decided at ${ms}, though there was something since ${waitingMs}`);
        waitingMs = NEVER;
      }
    },
    tellings: (): readonly Telling[] => tellings,
    faults: (): readonly string[] => faults,
  };
}
