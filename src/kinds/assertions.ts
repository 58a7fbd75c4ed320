/**
 * Assertions of `http` checks: one line each, such as `body contains ok`, `header content-type matches ^text/` or
 * `json $.status is ok`, and what they have: expressions of RE2, and paths of RFC 9535 with names, indices, slices and wildcards only. Pure.
 */

import { createRequire } from 'node:module';
import type parseJsonPath from 'jsonpath-rfc9535/parser';
import type { JsonPathQuery } from 'jsonpath-rfc9535/parser';
import type { RE2JS } from 're2js';
import { BoundedMap, getOrInsert } from '../async/bounded-map.ts';

/** Maximum number of parsed paths of a thread. */
const MAX_PATHS = 1_000;

type Selector =
  | { readonly type: 'name'; readonly name: string }
  | { readonly type: 'index'; readonly index: number }
  | {
      readonly type: 'slice';
      readonly start: number | null;
      readonly end: number | null;
      readonly step: number;
    }
  | { readonly type: 'all' };

const paths = new BoundedMap<string, { readonly selectors: readonly Selector[] | null }>(MAX_PATHS);

/** Returns true if a path is valid, and has no other segments: filters and descendants can take more than linear time. */
function isPlainPath(path: string): boolean {
  return selectorsOf(path) !== null;
}

/**
 * Walks to the values that a path leads to. Calls `visit` before each value, also of those on the way, and `take` for those at
 * its end. The walk ends where one of them returns false.
 */
export function queryJson(
  document: unknown,
  path: string,
  visit: () => boolean,
  take: (value: unknown) => boolean,
): void {
  walk(document, selectorsOf(path) ?? [], 0, { visit, take });
}

interface Walk {
  readonly visit: () => boolean;
  readonly take: (value: unknown) => boolean;
}

/** Returns whether the walk goes on. */
function walk(value: unknown, selectors: readonly Selector[], at: number, calls: Walk): boolean {
  if (!calls.visit()) return false;
  const selector = selectors[at];
  if (selector === undefined) return calls.take(value);
  for (const child of select(value, selector)) if (!walk(child, selectors, at + 1, calls)) return false;
  return true;
}

function select(value: unknown, selector: Selector): Iterable<unknown> {
  if (typeof value !== 'object' || value === null) return [];
  if (!Array.isArray(value)) {
    if (selector.type === 'all') return Object.values(value);
    const { name = '' } = selector.type === 'name' ? selector : {};
    return selector.type === 'name' && Object.hasOwn(value, name) ? [Reflect.get(value, name)] : [];
  }
  switch (selector.type) {
    case 'all':
      return value;
    case 'index': {
      const index = selector.index < 0 ? value.length + selector.index : selector.index;
      return index in value ? [value[index]] : [];
    }
    case 'slice':
      return slice(value, selector);
    case 'name':
      return [];
  }
}

/** The elements of a slice (RFC 9535, 2.3.4.2.2). */
function* slice(
  list: readonly unknown[],
  { start, end, step }: Extract<Selector, { type: 'slice' }>,
): Generator<unknown> {
  const { length } = list;
  const place = (index: number, least: number, most: number) =>
    Math.min(Math.max(index < 0 ? length + index : index, least), most);
  if (step > 0) {
    const last = place(end ?? length, 0, length);
    for (let at = place(start ?? 0, 0, length); at < last; at += step) yield list[at];
  } else if (step < 0) {
    const last = end === null ? -1 : place(end, -1, length - 1);
    for (let at = place(start ?? length - 1, -1, length - 1); at > last; at += step) yield list[at];
  }
}

function selectorsOf(path: string): readonly Selector[] | null {
  return getOrInsert(paths, path, () => ({ selectors: parse(path) })).selectors;
}

function parse(path: string): readonly Selector[] | null {
  // Nested functions of a filter take the parser a time that is exponential in their depth.
  if (/[[,]\?/.test(path)) return null;
  try {
    const { default: parsePath }: { default: typeof parseJsonPath } = load('jsonpath-rfc9535/parser');
    const selectors = parsePath(path).segments.map(selectorOf);
    return selectors.every((selector) => selector !== null) ? selectors : null;
  } catch {
    return null;
  }
}

function selectorOf({ type, node }: JsonPathQuery['segments'][number]): Selector | null {
  if (type !== 'ChildSegment') return null;
  const one = node.type === 'BracketedSelection' ? node.selectors : [node];
  const [selector] = one;
  if (selector === undefined || one.length > 1) return null;
  switch (selector.type) {
    case 'WildcardSelector':
      return { type: 'all' };
    case 'MemberNameShorthand':
    case 'NameSelector':
      return { type: 'name', name: selector.value };
    case 'IndexSelector':
      return { type: 'index', index: selector.value };
    case 'SliceSelector':
      return { type: 'slice', start: selector.start, end: selector.end, step: selector.step ?? 1 };
    default:
      return null;
  }
}

type Subject = 'status' | 'time' | 'header' | 'body' | 'json';
type Operator = 'is' | 'is not' | 'contains' | 'lacks' | 'matches' | 'exists' | 'missing' | 'below' | 'above';

export interface Assertion {
  readonly subject: Subject;
  /** Name of the header in lower case, or JSON path; empty for other subjects. */
  readonly name: string;
  readonly operator: Operator;
  readonly value: string;
}

const LINE =
  /^(status|time|body|header ([!#$%&'*+.^_`|~0-9A-Za-z-]+)|json (\$\S{0,200})) (is not|is|contains|lacks|matches|exists|missing|below|above)(?: (.+))?$/;
const NUMBER_OPERATORS = new Set<string>(['is', 'is not', 'below', 'above']);

/** Parses a line; null: it is no assertion. */
export function readAssertion(line: string): Assertion | null {
  const [, beginning = '', header, path, word, value = ''] = LINE.exec(line) ?? [];
  const operator = OPERATORS.find((one) => one === word);
  const subject = SUBJECTS.find((one) => one === beginning.split(' ')[0]);
  if (operator === undefined || subject === undefined) return null;
  const assertion = { subject, name: header?.toLowerCase() ?? path ?? '', operator, value };
  return isPossible(assertion) ? assertion : null;
}

const SUBJECTS: readonly Subject[] = ['status', 'time', 'header', 'body', 'json'];
const OPERATORS: readonly Operator[] = [
  'is',
  'is not',
  'contains',
  'lacks',
  'matches',
  'exists',
  'missing',
  'below',
  'above',
];

function isPossible({ subject, name, operator, value }: Assertion): boolean {
  if (subject === 'json' && !isPlainPath(name)) return false;
  if (isOfPresence(operator)) return (subject === 'header' || subject === 'json') && value === '';
  if (value === '') return false;
  if (subject === 'status' || subject === 'time') return NUMBER_OPERATORS.has(operator) && isNumber(value);
  if (operator === 'below' || operator === 'above') return subject === 'json' && isNumber(value);
  return operator !== 'matches' || isExpression(value);
}

const isNumber = (text: string) => /^-?\d{1,12}(?:\.\d{1,6})?$/.test(text);

/** Which word of a line makes it no assertion, as a problem of a setting has it. */
export function explainLine(line: string): AssertionFault {
  const words = line.trim().split(/\s+/);
  const [word = ''] = words;
  const subject = SUBJECTS.find((one) => one === word);
  if (subject === undefined) return { part: 'subject', word, choices: SUBJECTS };
  const isNamed = subject === 'header' || subject === 'json';
  const name = words[1] ?? '';
  if (isNamed && (name === '' || (subject === 'json' && !isPlainPath(name))))
    return { part: 'name', word: name === '' ? subject : name, choices: [] };
  const rest = words.slice(isNamed ? 2 : 1);
  const twoWords = rest.slice(0, 2).join(' ');
  const operator = twoWords === 'is not' ? twoWords : (rest[0] ?? '');
  const choices = OPERATORS.filter((one) => isOperatorOf(subject, one));
  if (!choices.some((one) => one === operator)) return { part: 'operator', word: operator, choices };
  const value = rest.slice(operator === 'is not' ? 2 : 1).join(' ');
  return { part: 'value', word: value === '' ? operator : value, choices: [] };
}

/** The problem of a line. */
interface AssertionFault {
  readonly part: 'subject' | 'name' | 'operator' | 'value';
  /** The wrong word, or the one after which another is missing; empty: the line ends too soon. */
  readonly word: string;
  /** The words that could stand there; empty: they cannot be listed. */
  readonly choices: readonly string[];
}

function isOperatorOf(subject: Subject, operator: Operator): boolean {
  if (subject === 'status' || subject === 'time') return NUMBER_OPERATORS.has(operator);
  if (operator === 'below' || operator === 'above') return subject === 'json';
  return !isOfPresence(operator) || subject === 'header' || subject === 'json';
}

function isOfPresence(operator: Operator): boolean {
  return operator === 'exists' || operator === 'missing';
}

/** Returns true if the assertion needs the body. */
export function needsBody({ subject }: Assertion): boolean {
  return subject === 'body' || subject === 'json';
}

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
