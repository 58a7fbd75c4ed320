/** Sentences with times. A sentence is translated as a whole and then converted to text or markup. */
import { formatTime } from '../domain/durations.ts';
import type { Formats } from './formats.ts';

/** A point in time inside a sentence. */
export interface Moment {
  /** Epoch milliseconds. */
  readonly at: number;
  /**
   * `time`: date and time of day; `second`: the same with seconds; `age`: how long ago, `5 minutes ago`; `length`: how
   * long since then, `5 min`; `ahead`: how long until then, `in 5 minutes`.
   */
  readonly shown: 'time' | 'second' | 'age' | 'length' | 'ahead';
}

/** Untrusted texts and times in the order of the sentence. */
export type Phrase = readonly (string | Moment)[];

export type WordOf<Key extends string> = Readonly<Record<Key, string>>;

type TimeFormats = Pick<Formats, 'time' | 'second' | 'ago' | 'ahead' | 'length'>;

/** A phrase: `` phraseOf`down since ${time(since)}: ${detail}` ``. A phrase inside a phrase becomes part of it. */
export function phraseOf(
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

/** A time in a phrase, shown as date and time of day to the second. */
export function timeToSecond(at: number): Moment {
  return { at, shown: 'second' };
}

/** A time in a phrase, shown as how long ago it was. */
export function age(at: number): Moment {
  return { at, shown: 'age' };
}

/** A time in a phrase, shown as how long has passed since then. */
export function lasting(at: number): Moment {
  return { at, shown: 'length' };
}

/** A time in a phrase, shown as how long it is until then. */
export function ahead(at: number): Moment {
  return { at, shown: 'ahead' };
}

/** The phrase as plain text, for titles, labels and drawings. */
export function asText(phrase: Phrase, formats: TimeFormats, now: number): string {
  return phrase.map((part) => (typeof part === 'string' ? part : momentText(part, formats, now))).join('');
}

/**
 * The phrase as escaped markup. Times are `<time>` elements in UTC; `assets/web/times.js` shows them in the reader's
 * time zone and updates ages.
 */
export function asMarkup(phrase: Phrase, formats: TimeFormats, now: number): string {
  return phrase
    .map((part) => (typeof part === 'string' ? escapeMarkup(part) : momentMarkup(part, formats, now)))
    .join('');
}

/** Escapes text for content and quoted attributes. */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character as keyof typeof ENTITIES]);
}

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' } as const;

function momentText({ at, shown }: Moment, formats: TimeFormats, now: number): string {
  if (shown === 'time' || shown === 'second') return formats[shown](at);
  if (shown === 'length') return formats.length(now - at);
  return shown === 'age' ? formats.ago(at, now) : formats.ahead(at, now);
}

function momentMarkup(moment: Moment, formats: TimeFormats, now: number): string {
  const { at, shown } = moment;
  const kind = shown === 'time' ? '' : ` data-${shown}`;
  // The title of a relative time is the time itself. Plain times need no title before the script converts them.
  const isAbsolute = shown === 'time' || shown === 'second';
  const title = isAbsolute ? '' : ` title="${escapeMarkup(formats.time(at))}"`;
  return `<time datetime="${formatTime(at)}"${kind}${title}>${escapeMarkup(momentText(moment, formats, now))}</time>`;
}
