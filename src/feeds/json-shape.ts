/**
 * Reading of hostile JSON: nothing is believed about a document, and what is not of the expected shape reads as
 * missing. Every kind whose documents are JSON reads them through here.
 */
import { type FeedDocument, FeedFormatError } from './feed-kind.ts';

/** An object of a document; its members are unknown. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Lists and objects within each other; formats of status pages need fewer than ten. */
const DEEPEST = 64;

/**
 * The document as JSON: UTF-8, or UTF-16 by its byte order mark or its first bytes, whatever media type was sent.
 * Throws {@link FeedFormatError} where it is empty, a page for people, not JSON, or nested more than 64 deep.
 */
export function readJson({ body }: FeedDocument): unknown {
  const text = decodeText(body).trim();
  if (text === '') throw new FeedFormatError('the document is empty');
  if (text.startsWith('<')) throw new FeedFormatError('the document is a page for people, not JSON');
  if (isTooDeep(text)) throw new FeedFormatError(`the document is nested more than ${DEEPEST} deep`);
  try {
    return JSON.parse(text);
  } catch {
    const inactive = /\binactive\b/i.test(text.slice(0, 200));
    throw new FeedFormatError(inactive ? 'the page is inactive' : 'the document is not JSON');
  }
}

/**
 * The object at the top of the document. Throws {@link FeedFormatError} where there is none, or where it has nothing
 * but an error to tell.
 */
export function readJsonObject(document: FeedDocument): JsonObject {
  const top = toObject(readJson(document));
  if (top === null) throw new FeedFormatError('the document is not an object');
  return top;
}

/** The list at the top of the document. Throws {@link FeedFormatError} where there is none. */
export function readJsonList(document: FeedDocument): readonly unknown[] {
  const top = readJson(document);
  if (!Array.isArray(top)) throw new FeedFormatError('the document is not a list');
  return top;
}

/**
 * The objects of a list that the kind must have; null stands for an empty list, and items that are no objects are left
 * out. Throws {@link FeedFormatError} where the member is missing or something else: an incident that is not listed
 * counts as ended, so that a list must not be guessed.
 */
export function requireObjects(owner: JsonObject, name: string): JsonObject[] {
  const list = member(owner, name);
  if (list === null && Object.hasOwn(owner, name)) return [];
  if (!Array.isArray(list)) throw new FeedFormatError(`the document has no list "${name}"`);
  return toObjects(list);
}

/** A member of an object; null where the value is no object or has no such member of its own. */
export function member(value: unknown, name: string): unknown {
  const object = toObject(value);
  return object !== null && Object.hasOwn(object, name) ? (object[name] ?? null) : null;
}

/** The value where it is an object and no list; else null. */
export function toObject(value: unknown): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

/** The objects of a list; empty where the value is no list. */
export function toObjects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.map(toObject).filter((item) => item !== null) : [];
}

/** Text without spaces around it; a finite number is written out; anything else is empty. */
export function toText(value: unknown): string {
  if (typeof value === 'string') return value.trim();
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : '';
}

/** A vendor's word in lower case, its spaces and dashes as `_`; empty where it is no text. */
export function toWord(value: unknown): string {
  const text = toText(value);
  return text.length > 100 ? '' : text.toLowerCase().replace(/[\s-]+/g, '_');
}

/** A vendor's code or count: a number, or digits as text; null: neither. */
export function toNumber(value: unknown): number | null {
  const text = toText(value);
  if (!/^-?\d{1,15}(\.\d{1,15})?$/.test(text)) return null;
  return Number(text);
}

/** What a table says of a word; null: it does not know the word. */
export function lookUp<T>(table: Readonly<Record<string, T>>, word: string): T | null {
  return Object.hasOwn(table, word) ? (table[word] ?? null) : null;
}

function decodeText(body: Uint8Array): string {
  const [first = 1, second = 1] = body;
  // JSON begins with an ASCII character, so that a zero beside it tells UTF-16 without a mark.
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== 0))
    return new TextDecoder('utf-16be').decode(body);
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0))
    return new TextDecoder('utf-16le').decode(body);
  return new TextDecoder('utf-8').decode(body);
}

/** Told from the text, before anything is built of it. */
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
      if (++depth > DEEPEST) return true;
    } else if (code === 0x5d || code === 0x7d) depth--;
  }
  return false;
}
