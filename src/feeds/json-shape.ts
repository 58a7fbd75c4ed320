/** Reads untrusted JSON: a value of an unexpected type counts as missing. Every kind whose documents are JSON uses these functions. */

import { decodeText, FeedFormatError } from './feed-kind.ts';
import { readTime } from './read-time.ts';

/** An object of a document; the types of its members are unknown. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Nesting of lists and objects; formats of status pages need less than 10. */
const MAX_DEPTH = 64;

/**
 * Parses a document in UTF-8 or UTF-16. Throws {@link FeedFormatError} if it is empty, HTML, not JSON, or nested more than 64 deep.
 */
export function readJson(body: Uint8Array): unknown {
  const text = decodeText(body).trim();
  if (text === '') throw new FeedFormatError('the document is empty');
  if (text.startsWith('<')) throw new FeedFormatError('the document is a page for people, not JSON');
  if (isTooDeep(text)) throw new FeedFormatError(`the document is nested more than ${MAX_DEPTH} deep`);
  try {
    return JSON.parse(text);
  } catch {
    const inactive = /\binactive\b/i.test(text.slice(0, 200));
    throw new FeedFormatError(inactive ? 'the page is inactive' : 'the document is not JSON');
  }
}

/** Parses a document that is an object. Throws {@link FeedFormatError} if it is not. */
export function readJsonObject(body: Uint8Array): JsonObject {
  const top = toObject(readJson(body));
  if (top === null) throw new FeedFormatError('the document is not an object');
  return top;
}

/** Parses a document that is a list. Throws {@link FeedFormatError} if it is not. */
export function readJsonList(body: Uint8Array): readonly unknown[] {
  const top = readJson(body);
  if (!Array.isArray(top)) throw new FeedFormatError('the document is not a list');
  return top;
}

/**
 * The items of a document that is a list. Throws {@link FeedFormatError} if the list is not empty and `isItem` accepts
 * none of its objects: such a document is of another kind. `what` names an item.
 */
export function readJsonItems(
  body: Uint8Array,
  what: string,
  isItem: (item: JsonObject) => boolean = hasId,
): JsonObject[] {
  const list = readJsonList(body);
  const items = objectsOf(list).filter(isItem);
  if (items.length === 0 && list.length > 0) throw new FeedFormatError(`the document lists no ${what}`);
  return items;
}

/** Returns true if an object has an `id` that is not empty. */
export function hasId(item: JsonObject): boolean {
  return textAt(item, 'id') !== '';
}

/**
 * The objects of a list that the document must have; null counts as an empty list. Throws {@link FeedFormatError} if the
 * member is missing or not a list: an incident that is not listed counts as ended, so a missing list cannot be guessed.
 */
export function requireObjects(owner: JsonObject, name: string): JsonObject[] {
  const list = member(owner, name);
  if (list === null && Object.hasOwn(owner, name)) return [];
  if (!Array.isArray(list)) throw new FeedFormatError(`the document has no list "${name}"`);
  return objectsOf(list);
}

/** An own member of an object; null if there is none, or if the value is not an object. */
export function member(value: unknown, name: string): unknown {
  const object = toObject(value);
  return object !== null && Object.hasOwn(object, name) ? (object[name] ?? null) : null;
}

/** A member that is an object; else null. */
export function objectAt(value: unknown, name: string): JsonObject | null {
  return toObject(member(value, name));
}

/** The objects of a member that is a list; else empty. */
export function objectsAt(value: unknown, name: string): JsonObject[] {
  return objectsOf(member(value, name));
}

/** A member that is text, trimmed, or a finite number as text; else the empty string. */
export function textAt(value: unknown, name: string): string {
  return toText(member(value, name));
}

/** {@link textAt} of several members. */
export function textsAt(value: unknown, ...names: readonly string[]): string[] {
  return names.map((name) => textAt(value, name));
}

/** The items of a member that is a list, each as {@link textAt} reads it; else empty. */
export function textListAt(value: unknown, name: string): string[] {
  const list = member(value, name);
  return Array.isArray(list) ? list.map(toText) : [];
}

/** A word of the vendor's vocabulary: {@link textAt} in lower case with `_` for spaces and dashes. */
export function wordAt(value: unknown, name: string): string {
  const text = textAt(value, name);
  return text.length > 100 ? '' : text.toLowerCase().replace(/[\s-]+/g, '_');
}

/** A member that is a number, or text of digits; else null. */
export function numberAt(value: unknown, name: string): number | null {
  const text = textAt(value, name);
  return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : null;
}

/** A member as {@link readTime} reads it, epoch milliseconds; null if it is not a time. */
export function timeAt(value: unknown, name: string): number | null {
  return readTime(member(value, name));
}

/** Objects with a time in the member `time`, oldest first, as `read` reads them. Objects without a time are left out. */
export function readTimed<T extends object>(
  items: readonly JsonObject[],
  time: string,
  read: (item: JsonObject) => T,
): (T & { readonly at: number })[] {
  const timed = items.flatMap((item) => {
    const at = timeAt(item, time);
    return at === null ? [] : [{ at, ...read(item) }];
  });
  return timed.sort((a, b) => a.at - b.at);
}

/** The entry of a table; null if the table has none for the word. */
export function lookUp<T>(table: Readonly<Record<string, T>>, word: string): T | null {
  return Object.hasOwn(table, word) ? (table[word] ?? null) : null;
}

function toText(value: unknown): string {
  if (typeof value === 'string') return value.trim();
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : '';
}

function toObject(value: unknown): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

/** The objects of a list; else empty. */
export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.map(toObject).filter((item) => item !== null) : [];
}

/** Scans the text, so that the limit applies before anything is parsed. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let quoted = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (quoted) {
      if (code === 0x5c) index++;
      else if (code === 0x22) quoted = false;
    } else if (code === 0x22) quoted = true;
    else if (code === 0x5b || code === 0x7b) {
      if (++depth > MAX_DEPTH) return true;
    } else if (code === 0x5d || code === 0x7d) depth--;
  }
  return false;
}

/** Look-ups for one document; pages of vendors need a few hundred. */
const MAX_LOOKUPS = 2_000;

/**
 * The names of parts by identifier, empty where there is none and after 2,000 look-ups: a document in which all entries refer to all
 * parts must not grow to their product.
 */
export function limitedNames(names: ReadonlyMap<string, string>): (id: string) => string {
  let left = MAX_LOOKUPS;
  return (id) => (left-- > 0 ? (names.get(id) ?? '') : '');
}
