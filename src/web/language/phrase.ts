/** Sentences with times in them: translated as a whole, and only then turned into text or into markup. */
import { formatTime } from '../../domain/durations.ts';

/** A point in time inside a sentence. */
export interface Moment {
  /** Epoch milliseconds. */
  readonly at: number;
  /** `time`: date and time of day; `age`: how long ago, `5 min ago`; `length`: how long since then, `5 min`. */
  readonly shown: 'time' | 'age' | 'length';
}

/** Text that came from anywhere, and times, in the order in which they are read. */
export type Phrase = readonly (string | Moment)[];

/** How a language writes times. */
export interface TimeWords {
  /** With its zone, which is UTC: the server does not know the reader's. */
  time(at: number): string;
  /** From `at` to `now`, as in `5 min ago`. */
  ago(at: number, now: number): string;
  /** `2 hr 5 min`. */
  length(ms: number): string;
}

/** Makes a phrase: `` say`has been down since ${time(since)}: ${detail}` ``. A phrase inside a phrase becomes part of it. */
export function say(
  texts: TemplateStringsArray,
  ...values: readonly (string | number | Moment | Phrase)[]
): Phrase {
  return texts.flatMap((text, index): Phrase => {
    const value = values[index];
    if (value === undefined) return [text];
    if (typeof value === 'string' || typeof value === 'number') return [text, String(value)];
    return isMoment(value) ? [text, value] : [text, ...value];
  });
}

function isMoment(value: Moment | Phrase): value is Moment {
  return 'shown' in value;
}

/** A time in a phrase, shown as date and time of day. */
export function time(at: number): Moment {
  return { at, shown: 'time' };
}

/** A time in a phrase, shown as how long ago it was. */
export function age(at: number): Moment {
  return { at, shown: 'age' };
}

/** A time in a phrase, shown as how long has passed since then. */
export function lasting(at: number): Moment {
  return { at, shown: 'length' };
}

/** The phrase as plain text, for titles, labels and drawings. */
export function asText(phrase: Phrase, words: TimeWords, now: number): string {
  return phrase.map((part) => (typeof part === 'string' ? part : momentText(part, words, now))).join('');
}

/**
 * The phrase as markup, escaped. Times are `<time>` elements in UTC; `assets/web/times.js` shows them in the reader's
 * zone and keeps ages true.
 */
export function asMarkup(phrase: Phrase, words: TimeWords, now: number): string {
  return phrase
    .map((part) => (typeof part === 'string' ? escapeMarkup(part) : momentMarkup(part, words, now)))
    .join('');
}

/** Makes text safe in content and in quoted attributes. */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character as keyof typeof ENTITIES]);
}

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' } as const;

function momentText({ at, shown }: Moment, words: TimeWords, now: number): string {
  if (shown === 'time') return words.time(at);
  return shown === 'age' ? words.ago(at, now) : words.length(now - at);
}

function momentMarkup(moment: Moment, words: TimeWords, now: number): string {
  const { at, shown } = moment;
  const kind = shown === 'time' ? '' : ` data-${shown}`;
  // Ages and lengths tell the time itself to who points at them; plain times are their own title until they are moved.
  const title = shown === 'time' ? '' : ` title="${escapeMarkup(words.time(at))}"`;
  return `<time datetime="${formatTime(at)}"${kind}${title}>${escapeMarkup(momentText(moment, words, now))}</time>`;
}
