/** Expressions of RE2 that owners enter: which are accepted, and matching them in bounded time. Pure. */
import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';
import { BoundedMap, getOrInsert } from '../async/bounded-map.ts';

/** Loaded with the first expression, because it takes memory in every thread. */
const load = createRequire(import.meta.url);

/**
 * Maximum number of instructions of a compiled expression, and of characters that it is tried on. The time grows with their
 * product: ten of the slowest expressions known stay below the time after which a probe thread counts as hanging (3 s).
 */
const MAX_PROGRAM = 60;
export const MAX_MATCHED_LENGTH = 4_096;
/** Maximum number of characters with their repeats written out; compiling takes a time that grows with it. */
const MAX_WRITTEN_OUT = 600;
/** Maximum number of compiled expressions of a thread. */
const MAX_COMPILED = 1_000;

const compiled = new BoundedMap<string, { readonly expression: RE2JS | null }>(MAX_COMPILED);

/** Returns true if an expression of RE2 is valid and small enough. */
export function isExpression(source: string): boolean {
  return compile(source) !== null;
}

/** Returns true if an expression of RE2 matches somewhere in the first 4,096 characters of a text. */
export function matchesExpression(source: string, text: string): boolean {
  return compile(source)?.matcher(text.slice(0, MAX_MATCHED_LENGTH)).find() ?? false;
}

/** Compiles an expression of RE2, which matches in linear time; null: it is invalid or too large. */
function compile(source: string): RE2JS | null {
  return getOrInsert(compiled, source, () => {
    if (writtenOutLength(source) > MAX_WRITTEN_OUT) return { expression: null };
    try {
      const { RE2JS: Expression }: { RE2JS: typeof RE2JS } = load('re2js');
      const expression = Expression.compile(source);
      return { expression: expression.programSize() <= MAX_PROGRAM ? expression : null };
    } catch {
      return { expression: null };
    }
  }).expression;
}

/** An element of an expression: quoted text, an escape, a class, a repeat, or a character. */
const ELEMENT =
  /\\Q.*?(?:\\E|$)|\\[xpP]\{[^}]*\}|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]?|\{(\d{1,4})(?:,(\d{0,4}))?\}|./gsu;

/**
 * The length of an expression with its repeats written out: `(ab){3}c` has 7. It is about right for what RE2 accepts, and never much
 * too small.
 */
function writtenOutLength(source: string): number {
  const groups = [0];
  let last = 0;
  const add = (length: number) => {
    last = length;
    groups.push((groups.pop() ?? 0) + length);
  };
  for (const [element, least, most] of source.matchAll(ELEMENT)) {
    if (least !== undefined) {
      const extra = last * (Math.max(Number(least), Number(most ?? 0), 1) - 1);
      add(extra);
      last += extra;
    } else if (element === '(') groups.push(0);
    else if (element === ')') add((groups.length > 1 ? groups.pop() : groups[0]) ?? 0);
    else add(element.startsWith('\\Q') ? element.length : 1);
  }
  return groups.reduce((sum, length) => sum + length, 0);
}
