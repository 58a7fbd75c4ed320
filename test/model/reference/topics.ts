/**
 * The reference implementation of alerts: what can be told of a service, and what each channel knows of it. "A" is the section "Which
 * alerts are sent, and when" of docs/alerts.md. Times are epoch milliseconds.
 */
import type { DefinedRule, TellingEvent } from '../diary.ts';

/** A: "A service that changes five times within 30 minutes is said to flap." */
export const FLAP_MS = 30 * 60_000;
const FLAP_CHANGES = 5;

/** An event with what alerts need to know beside it. `recordedAt` null: now. */
export interface ToldEvent extends Omit<TellingEvent, 'recordedAt'> {
  readonly recordedAt: number | null;
  /** Of incidents and maintenance. */
  readonly id?: string;
  readonly by?: 'own' | 'vendor' | 'owner';
  /** Of an incident: nothing was told of it before. */
  readonly isFirst?: boolean;
  /** Of maintenance: its start. */
  readonly startsAt?: number;
  /** No heartbeat came. */
  readonly isSilence?: boolean;
}

export type TopicKind = 'status' | 'recovered' | 'scope' | 'incident' | 'maintenance';

/** The wish of a rule to begin. `at` null: at the end of a maintenance. */
export interface Wish {
  readonly rule: number;
  readonly at: number | null;
  /** It is not told if it is over by then. */
  readonly waits: boolean;
}

/** What one channel knows of a topic. */
export interface Line {
  readonly channel: number;
  level: number;
  beganAt: number;
  since: number;
  rules: readonly number[];
  wishes: readonly Wish[];
  /** Null: it was told nothing that goes on. */
  thread: string | null;
  toldLevel: number;
  toldSince: number;
  /** When a change may be told; null: there is none, or `waits` for a maintenance. */
  changeAt: number | null;
  waits: boolean;
  tellsEnd: boolean;
  /** Times of changes that count as flapping. */
  turns: readonly number[];
  isCounted: boolean;
  flaps: 'no' | 'due' | 'told' | 'over';
}

/** Something about a service that rules ask for. */
export interface Topic {
  readonly key: string;
  readonly kind: TopicKind;
  readonly service: number;
  words: readonly string[];
  endWords: readonly string[];
  last: ToldEvent;
  readonly lines: Map<number, Line>;
}

/** A change of a topic. */
export interface Step {
  readonly key: string;
  readonly kind: TopicKind;
  readonly level: number;
  readonly words: readonly string[];
  readonly endWords: readonly string[];
}

/** The words that rules ask for, by the table of events. */
export function stepOf(event: ToldEvent): Step | null {
  const { service, kind, what, id, by } = event;
  const parts = what.split(' ');
  const last = parts.at(-1);
  if (kind === 'status') {
    const key = `status-${service}`;
    if (last === 'up') return { key, kind, level: 0, words: [], endWords: ['up'] };
    if (last === 'slow') return { key, kind, level: 1, words: ['slow'], endWords: ['slow'] };
    const words = ['down', ...(event.isSilence === true ? ['heartbeat_missed'] : [])];
    return { key, kind, level: 2, words, endWords: ['up'] };
  }
  if (kind === 'scope') {
    const level = last === 'global' ? 2 : last === 'partial' ? 1 : 0;
    return { key: `scope-${service}`, kind, level, words: ['scope'], endWords: ['scope'] };
  }
  const key = `${kind}-${service}-${id}`;
  if (kind === 'maintenance') {
    if (last === 'planned') return null;
    const level = last === 'running' ? 1 : 0;
    return { key, kind, level, words: ['maintenance'], endWords: ['maintenance'] };
  }
  const level = last === 'resolved' ? 0 : 1;
  if (by === 'vendor') return { key, kind, level, words: ['vendor_incident'], endWords: ['vendor_incident'] };
  const words = event.isFirst === true ? ['incident'] : ['incident_update'];
  return { key, kind, level, words, endWords: ['incident', 'incident_update'] };
}

/** Whether a rule asks for one of the words. */
export function asks(rule: DefinedRule, words: readonly string[]): boolean {
  return words.some((word) => rule.events.includes(word));
}

/** A channel that knows nothing. */
export function newLine(channel: number): Line {
  return {
    ...{ channel, level: 0, beganAt: 0, since: 0, rules: [], wishes: [], thread: null },
    ...{ toldLevel: 0, toldSince: 0, changeAt: null, waits: false, tellsEnd: false },
    ...{ turns: [], isCounted: false, flaps: 'no' },
  };
}

/** Forgets all but how often it has changed. */
export function forget(line: Line): void {
  const { channel, turns, beganAt, since, rules } = line;
  Object.assign(line, { ...newLine(channel), turns, beganAt, since, rules });
}

/** A channel that would be told nothing, and need not remember anything. */
export function isEmpty({ thread, wishes, turns }: Line): boolean {
  return thread === null && wishes.length === 0 && turns.length === 0;
}

/** Notes one more change; true: it begins to flap. */
export function turnLine(line: Line, at: number): boolean {
  line.turns = [...line.turns.filter((time) => time > at - FLAP_MS), at].slice(-FLAP_CHANGES);
  if (line.flaps === 'due' || line.flaps === 'told' || line.turns.length < FLAP_CHANGES) return false;
  line.flaps = 'due';
  line.wishes = [];
  line.waits = false;
  return true;
}

/** When the channel may be told something; infinite: never as things are. */
export function pendingAt({ thread, flaps, changeAt, wishes }: Line): number {
  const times = thread !== null || flaps !== 'no' ? [changeAt] : wishes.map(({ at }) => at);
  return Math.min(...times.map((at) => at ?? Number.POSITIVE_INFINITY));
}

/** When nothing has changed for so long that it is steady. */
export function steadyAt({ flaps, turns }: Line): number {
  return flaps === 'due' || flaps === 'told' ? (turns.at(-1) ?? 0) + FLAP_MS : Number.POSITIVE_INFINITY;
}

/** A: "What is over or gets better is also told if `except` names its end or what was told of it", all else only by its own event. */
export function passWords({ kind, words, endWords }: Topic, { level, toldLevel }: Line): readonly string[] {
  const isRelief = level === 0 || level < toldLevel;
  if (!isRelief) return words;
  const told = kind !== 'status' ? [] : toldLevel === 2 ? ['down', 'up'] : toldLevel === 1 ? ['slow'] : [];
  return [...words, ...endWords, ...told];
}
