/**
 * Assertions of `http` checks: one line each, such as `body contains ok`, `header content-type matches ^text/` or
 * `json $.status is ok`. Pure.
 */
import { createRequire } from 'node:module';
import type { JsonValue, query as queryJson } from 'jsonpath-rfc9535';
import type parseJsonPath from 'jsonpath-rfc9535/parser';
import type { RE2JS } from 're2js';
import { BoundedMap, getOrInsert } from '../async/bounded-map.ts';
import type { Headers } from '../outbound/response-head.ts';

/** What an assertion looks at. */
type Subject = 'status' | 'time' | 'header' | 'body' | 'json';
type Operator = 'is' | 'is not' | 'contains' | 'lacks' | 'matches' | 'exists' | 'below' | 'above';

/** A parsed assertion. */
export interface Assertion {
  readonly subject: Subject;
  /** Name of the header in lower case, or JSON path; empty for other subjects. */
  readonly name: string;
  readonly operator: Operator;
  readonly value: string;
}

/** What assertions are tried on. */
export interface AssertedResponse {
  readonly statusCode: number;
  /** Milliseconds. */
  readonly responseTimeMs: number;
  readonly headers: Headers;
  /** The decoded body, or its beginning; null: it was not read. */
  readonly body: string | null;
  /** Whether the body is complete. */
  readonly whole: boolean;
}

/** Loaded with the first assertion that needs them: both take memory in every thread. */
const load = createRequire(import.meta.url);

/**
 * Maximum number of instructions of a compiled expression, and of characters that it is tried on. The time grows with their
 * product: ten of the slowest expressions known stay below the time after which a probe thread counts as hanging (3 s).
 */
const MAX_PROGRAM = 60;
const MAX_MATCHED_LENGTH = 4_096;
/** Maximum number of compiled expressions of a thread. */
const MAX_COMPILED = 1_000;

const LINE =
  /^(status|time|body|header ([!#$%&'*+.^_`|~0-9A-Za-z-]+)|json (\$\S{0,200})) (is not|is|contains|lacks|matches|exists|below|above)(?: (.+))?$/;
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
  'below',
  'above',
];

function isPossible({ subject, name, operator, value }: Assertion): boolean {
  if (subject === 'json' && !isPlainPath(name)) return false;
  if (operator === 'exists') return (subject === 'header' || subject === 'json') && value === '';
  if (value === '') return false;
  if (subject === 'status' || subject === 'time') return NUMBER_OPERATORS.has(operator) && isNumber(value);
  if (operator === 'below' || operator === 'above') return subject === 'json' && isNumber(value);
  return operator !== 'matches' || isExpression(value);
}

const isNumber = (text: string) => /^-?\d{1,12}(?:\.\d{1,6})?$/.test(text);

/** Whether the assertion needs the body. */
export function needsBody({ subject }: Assertion): boolean {
  return subject === 'body' || subject === 'json';
}

/** Whether an assertion holds. */
export function holds(assertion: Assertion, response: AssertedResponse): boolean {
  const { subject, name, value } = assertion;
  switch (subject) {
    case 'status':
      return compare(assertion, response.statusCode, Number(value));
    case 'time':
      return compare(assertion, response.responseTimeMs, Number(value));
    case 'header': {
      const field = response.headers[name];
      const values = field === undefined ? [] : typeof field === 'string' ? [field] : field;
      return holdsForAny(assertion, values);
    }
    case 'body':
      return holdsForAny(assertion, response.body === null ? [] : [response.body]);
    case 'json':
      return holdsForJson(assertion, response);
  }
}

function compare({ operator }: Assertion, found: number, wanted: number): boolean {
  if (operator === 'below') return found < wanted;
  if (operator === 'above') return found > wanted;
  return (found === wanted) === (operator === 'is');
}

/** Negations hold if they hold for every value, also without any; the others need one value for which they hold. */
function holdsForAny({ operator, value }: Assertion, found: readonly string[]): boolean {
  switch (operator) {
    case 'exists':
      return found.length > 0;
    case 'is':
      return found.some((text) => text.trim() === value);
    case 'is not':
      return found.every((text) => text.trim() !== value);
    case 'contains':
      return found.some((text) => text.includes(value));
    case 'lacks':
      return found.every((text) => !text.includes(value));
    case 'matches':
      return found.some((text) => matchesExpression(value, text));
    default:
      return false;
  }
}

/** A body that is no JSON, or that was cut off, has no values. */
function holdsForJson(assertion: Assertion, { body, whole }: AssertedResponse): boolean {
  if (body === null || !whole) return false;
  let values: readonly JsonValue[];
  try {
    const { query }: { query: typeof queryJson } = load('jsonpath-rfc9535');
    values = query(JSON.parse(body), assertion.name);
  } catch {
    return false;
  }
  if (assertion.operator === 'below' || assertion.operator === 'above')
    return values.some(
      (found) => typeof found === 'number' && compare(assertion, found, Number(assertion.value)),
    );
  return holdsForAny(
    assertion,
    values.map((found) => (typeof found === 'string' ? found : JSON.stringify(found))),
  );
}

/** Whether a JSON path (RFC 9535) has names, indices and wildcards only: other segments can take more than linear time. */
function isPlainPath(path: string): boolean {
  try {
    const { default: parse }: { default: typeof parseJsonPath } = load('jsonpath-rfc9535/parser');
    const { segments } = parse(path);
    return segments.every(
      ({ type, node }) =>
        type === 'ChildSegment' &&
        (node.type !== 'BracketedSelection' ||
          (node.selectors.length === 1 && node.selectors[0]?.type !== 'FilterSelector')),
    );
  } catch {
    return false;
  }
}

const compiled = new BoundedMap<string, { readonly expression: RE2JS | null }>(MAX_COMPILED);

/** Whether an expression of RE2 is valid and small enough. */
export function isExpression(source: string): boolean {
  return compile(source) !== null;
}

/** Whether an expression of RE2 matches somewhere in the first 4,096 characters of a text. */
export function matchesExpression(source: string, text: string): boolean {
  return compile(source)?.matcher(text.slice(0, MAX_MATCHED_LENGTH)).find() ?? false;
}

/** Compiles an expression of RE2, which matches in linear time; null: it is invalid or too large. */
function compile(source: string): RE2JS | null {
  return getOrInsert(compiled, source, () => {
    try {
      const { RE2JS: Expression }: { RE2JS: typeof RE2JS } = load('re2js');
      const expression = Expression.compile(source);
      return { expression: expression.programSize() <= MAX_PROGRAM ? expression : null };
    } catch {
      return { expression: null };
    }
  }).expression;
}
