/** The reference implementation's messages of alerts, from what is said of each topic. */
import type { DefinedRule, Telling } from '../diary.ts';
import type { Line, Topic } from './topics.ts';

/** A topic as a channel is told of it. */
export interface Word {
  /** Both as they were when it was said. */
  readonly topic: Topic;
  readonly line: Line;
  readonly ended: 'paused' | 'removed' | null;
}

/** Maximum number of topics that a message describes. */
const MAX_ITEMS = 20;

/** What messages need to know. */
export interface MessageSources {
  /** Null: there is none, or it is switched off. */
  readonly rule: (id: number) => DefinedRule | null;
  readonly statusOf: (service: number) => string;
}

/** A topic as it is now, for one channel. */
export function wordOf(topic: Topic, line: Line): Word {
  return { topic: { ...topic }, line: { ...line }, ended: null };
}

/** Trouble that goes on: reminders are sent of it, and people can take it. */
export function isTrouble({ topic, line, ended }: Word): boolean {
  return line.level > 0 && ended === null && topic.kind !== 'maintenance' && topic.kind !== 'recovered';
}

/** Makes a message. */
export function messageOf(
  about: {
    readonly type: string;
    readonly thread: string;
    readonly channel: number;
    readonly decidedAt: number;
  },
  words: readonly Word[],
  /** What was told in the thread before and goes on. */
  others: readonly Word[],
  isTaken: boolean,
  sources: MessageSources,
): Telling {
  const { type, thread, channel, decidedAt } = about;
  return {
    ...{ decidedAt, channel, type, thread, urgency: urgencyOf(type, words) },
    since: Math.min(...words.map(timeOf)),
    hasRule: words.some(({ line }) => line.rules.some((id) => sources.rule(id) !== null)),
    total: new Set([...words, ...others].map(({ topic }) => topic.service)).size,
    canBeTaken: [...words, ...others].some(isTrouble) && !isTaken,
    items: gravest(words)
      .map((word) => itemOf(word, sources))
      .sort(),
  };
}

/** What fares worst, then what has lasted longest, then the older service. */
function gravest(words: readonly Word[]): Word[] {
  return words
    .toSorted(
      (one, other) =>
        other.line.level - one.line.level ||
        timeOf(one) - timeOf(other) ||
        one.topic.service - other.topic.service,
    )
    .slice(0, MAX_ITEMS);
}

/** Of what is over: when it began. */
function timeOf({ line }: Word): number {
  return line.level === 0 ? line.beganAt : line.since;
}

function urgencyOf(type: string, words: readonly Word[]): string {
  if (type === 'recovery' || type === 'acknowledged') return 'low';
  if (words.some(({ topic, line, ended }) => topic.kind === 'status' && line.level === 2 && ended === null))
    return 'high';
  return words.every(({ line }) => line.level === 0) ? 'low' : 'normal';
}

function itemOf(word: Word, sources: MessageSources): string {
  const { topic, line, ended } = word;
  const { kind, service, last } = topic;
  const [name = '', ...rest] = last.what.split(' ');
  const isOver = line.level === 0;
  const present = sources.statusOf(service);
  // What has failed again since is not said to be well.
  const status = kind === 'status' && !(isOver && present === 'down') ? rest.at(-1) : present;
  return [
    ...[eventOf(word, sources), `s${service}`, status, `since ${timeOf(word)}`],
    ...(isOver ? [`for ${Math.max(0, line.since - line.beganAt)}`] : []),
    ...(line.flaps === 'due' ? ['flaps'] : []),
    ...(ended === null ? [] : [ended]),
    ...(kind === 'incident' ? [last.what] : []),
    ...(kind === 'maintenance' ? [`${last.by === 'owner' ? 'work' : name} ${rest.at(-1)}`] : []),
  ].join(' ');
}

function eventOf({ topic, line }: Word, { rule }: MessageSources): string {
  const { kind, words, endWords, last } = topic;
  if (kind === 'status' && line.level === 0) return line.toldLevel === 1 ? 'slow' : 'up';
  if (kind === 'incident' && last.by === 'own')
    return last.isFirst === true || last.what.endsWith('resolved') ? 'incident' : 'incident_update';
  const asked = words.filter((word) => line.rules.some((id) => rule(id)?.events.includes(word)));
  return asked.at(-1) ?? words[0] ?? endWords[0] ?? 'down';
}
