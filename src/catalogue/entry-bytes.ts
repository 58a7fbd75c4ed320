/**
 * Splits a list into its entries, and hashes them, without making texts of them: of a million entries, a few are new.
 */

const TAB = 9;
const NEWLINE = 10;
const RETURN = 13;
const SPACE = 32;
const QUOTE = 34;
const HASH_SIGN = 35;
const AMPERSAND = 38;
const APOSTROPHE = 39;
const COMMA = 44;
const DASH = 45;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const LETTER = 97;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** The place of an entry in a part of a list, and a hash of it. */
export interface EntryPlace {
  readonly from: number;
  readonly until: number;
  readonly hash: number;
}

/** The whole entries at the beginning of a part of a list. */
interface SplitEntries {
  readonly entries: readonly EntryPlace[];
  /** The offset of what follows them: the beginning of the next entry, or the end of the list. */
  readonly end: number;
  readonly isListEnd: boolean;
}

/** Splits a part of a list that begins with an entry. `isLast`: nothing follows the part in the file. */
export type EntrySplitter = (part: Buffer, isLast: boolean) => SplitEntries;

/**
 * Creates the splitter of a list in lines; `indent`: what stands before the dash of each entry. The list ends before a line that begins
 * at the margin and is no comment.
 */
export function createLineSplitter(indent: string): EntrySplitter {
  const mark = Buffer.from(`\n${indent}-`);
  const isMargin = indent === '';
  const isDash = (part: Buffer, at: number) => endsDash(part[at + mark.length]);
  /** The offset of the last entry of a part; 0: it has no further entry than the one that it begins with. */
  const lastEntry = (part: Buffer): number => {
    let at = part.lastIndexOf(mark);
    while (at > 0 && !isDash(part, at)) at = part.lastIndexOf(mark, at - 1);
    return at + 1;
  };
  return (part, isLast) => {
    const view = new DataView(part.buffer, part.byteOffset, part.length);
    const end = isLast ? part.length : lastEntry(part);
    const entries: EntryPlace[] = [];
    for (let from = 0; from < end; ) {
      let next = part.indexOf(mark, from);
      while (next !== -1 && !isDash(part, next)) next = part.indexOf(mark, next + 1);
      const until = next === -1 ? end : next + 1;
      const hash = hashEntry(view, from, until, isMargin);
      if (hash === null) {
        const listEnd = endOfList(view, from, until, isMargin);
        const last = hashEntry(view, from, listEnd, isMargin);
        if (last !== null && listEnd > from) entries.push({ from, until: listEnd, hash: last });
        return { entries, end: listEnd, isListEnd: true };
      }
      entries.push({ from, until, hash });
      from = until;
    }
    return { entries, end, isListEnd: false };
  };
}

/** Splits a list in brackets at its commas. The list ends at its bracket. What this splits otherwise than YAML, no parser accepts. */
export const splitFlow: EntrySplitter = (part) => {
  const view = new DataView(part.buffer, part.byteOffset, part.length);
  const entries: EntryPlace[] = [];
  let from = 0;
  let depth = 0;
  /** A quote begins a text at the beginning of a value; elsewhere it is a part of one. */
  let mayQuote = true;
  let isBlank = true;
  const take = (until: number) => {
    entries.push({ from, until, hash: hashEntry(view, from, until, null) ?? 0 });
    isBlank = true;
  };
  for (let at = 0; at < part.length; at++) {
    const byte = part[at] as number;
    if (byte === SPACE || byte === NEWLINE || byte === RETURN || byte === TAB) continue;
    if (byte === HASH_SIGN && at > 0 && isSpace(part[at - 1])) {
      at = part.indexOf(NEWLINE, at);
      if (at === -1) break;
      continue;
    }
    if (depth === 0 && byte === COMMA) {
      take(at);
      from = at + 1;
      mayQuote = true;
      continue;
    }
    if (depth === 0 && byte === CLOSE_BRACKET) {
      // A comma may stand before the bracket.
      if (!isBlank) take(at);
      return { entries, end: at, isListEnd: true };
    }
    isBlank = false;
    if (mayQuote && (byte === QUOTE || byte === APOSTROPHE)) {
      at = endOfQuoted(part, at, byte);
      if (at === -1) break;
      mayQuote = false;
      continue;
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--;
    mayQuote = byte === OPEN_BRACE || byte === OPEN_BRACKET || byte === COMMA || byte === COLON;
  }
  return { entries, end: from, isListEnd: false };
};

/** The offset of the closing quote of a text; -1: it is not in the part. */
function endOfQuoted(part: Buffer, from: number, quote: number): number {
  for (let at = part.indexOf(quote, from + 1); at !== -1; at = part.indexOf(quote, at + 1)) {
    if (quote === APOSTROPHE) {
      if (part[at + 1] !== APOSTROPHE) return at;
      at++;
      continue;
    }
    let backslashes = 0;
    while (part[at - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return at;
  }
  return -1;
}

function isSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === NEWLINE || byte === RETURN || byte === TAB;
}

/** Returns true if the byte after a dash makes it the mark of an entry. */
function endsDash(byte: number | undefined): boolean {
  return isSpace(byte);
}

/**
 * A hash of 53 bits: among a million entries, two are equal by chance once in 18,000 files. It takes four bytes at a time, with a
 * rotation after each, so that differences do not cancel out. Null: a line begins at the margin and is no comment, so that it ends
 * the list. `isMargin`: the dashes of entries stand at the margin; null: no line ends the list.
 */
function hashEntry(part: DataView, from: number, until: number, isMargin: boolean | null): number | null {
  let [a, b] = [0xdeadbeef | 0, 0x41c6ce57];
  let at = from;
  let isLineStart = isMargin !== null;
  for (; at + 4 <= until; at += 4) {
    const word = part.getInt32(at);
    // Ends of lines are few, so most words need no look at their bytes.
    if (isMargin !== null && (isLineStart || hasControl(word))) {
      for (let one = at; one < at + 4; one++) {
        const byte = part.getUint8(one);
        if (isLineStart && !mayBegin(part, one, until, isMargin)) return null;
        isLineStart = byte === NEWLINE || byte === RETURN;
      }
    }
    a = Math.imul(a ^ word, 0x9e3779b1);
    b = Math.imul(b ^ word, 0x5f356495);
    a = (a << 13) | (a >>> 19);
    b = (b << 17) | (b >>> 15);
  }
  let word = 0;
  for (; at < until; at++) {
    const byte = part.getUint8(at);
    if (isMargin !== null) {
      if (isLineStart && !mayBegin(part, at, until, isMargin)) return null;
      isLineStart = byte === NEWLINE || byte === RETURN;
    }
    word = (word << 8) | byte;
  }
  return finish(a ^ word, b ^ (until - from));
}

/** The offset of the first line of an entry that ends the list. */
function endOfList(part: DataView, from: number, until: number, isMargin: boolean): number {
  let isLineStart = true;
  for (let at = from; at < until; at++) {
    if (isLineStart && !mayBegin(part, at, until, isMargin)) return at;
    const byte = part.getUint8(at);
    isLineStart = byte === NEWLINE || byte === RETURN;
  }
  return until;
}

/** Returns true if one of the four bytes is less than 14: an end of a line, or another control character. */
function hasControl(word: number): boolean {
  return ((word - 0x0e0e0e0e) & ~word & 0x80808080) !== 0;
}

/** Returns true if a line of an entry may begin with the byte at `at`. */
function mayBegin(part: DataView, at: number, until: number, isMargin: boolean): boolean {
  const byte = part.getUint8(at);
  if (byte === SPACE || byte === NEWLINE || byte === RETURN || byte === HASH_SIGN) return true;
  return isMargin && byte === DASH && at + 1 < until && endsDash(part.getUint8(at + 1));
}

/** Returns true if a part may hold an anchor of YAML: an ampersand at the start of a word. */
export function mayHoldAnchor(part: Buffer): boolean {
  for (let at = part.indexOf(AMPERSAND); at !== -1; at = part.indexOf(AMPERSAND, at + 1)) {
    const [before = SPACE, after = LETTER] = [part[at - 1], part[at + 1]];
    if (
      after > SPACE &&
      (before <= SPACE || before === OPEN_BRACKET || before === OPEN_BRACE || before === COMMA)
    )
      return true;
  }
  return false;
}

/** A hash of 53 bits of a text (cyrb53, public domain). */
export function hashText(text: string): number {
  let [a, b] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    a = Math.imul(a ^ code, 0x9e3779b1);
    b = Math.imul(b ^ code, 0x5f356495);
  }
  return finish(a, b);
}

function finish(from: number, to: number): number {
  let [a, b] = [from, to];
  a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
  b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
  return (b & 0x1fffff) * 2 ** 32 + (a >>> 0);
}
