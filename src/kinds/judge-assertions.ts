/** Tries assertions on a response. All of them together have one budget, because they run in the thread of all checks. Pure. */
import { type BodyProblem, type Failure, failureOf } from '../domain/failure.ts';
import { type BodyReading, mayHide, parseJson } from '../outbound/read-body.ts';
import type { Headers } from '../outbound/response-head.ts';
import { type Assertion, MAX_MATCHED_LENGTH, matchesExpression, needsBody, queryJson } from './assertions.ts';

export interface AssertedResponse {
  readonly statusCode: number;
  /** Milliseconds. */
  readonly responseTimeMs: number;
  readonly headers: Headers;
  /** Null: no assertion needs it. */
  readonly body: BodyReading | null;
}

/** Maximum number of bytes of a body that assertions look at. */
export const MAX_ASSERTED_BYTES = 262_144;
/**
 * Maximum number of characters that the expressions of a response are tried on together: ten values at their full length. The
 * slowest expressions known take a few microseconds for each.
 */
const MAX_MATCHED_CHARACTERS = 10 * MAX_MATCHED_LENGTH;
/** Maximum number of values of JSON that the paths of a response visit together; each takes some 100 ns. */
const MAX_VISITED_VALUES = 250_000;

/** The outcome of an assertion, or the reason for which there is none. */
export type Outcome = 'holds' | 'broken' | BodyProblem;

/** The failure of the first assertion that does not hold, or that cannot be judged; null: all hold. */
export function judgeAssertions(
  assertions: readonly Assertion[],
  response: AssertedResponse,
): Failure | null {
  const trial = createTrial(response);
  for (const assertion of assertions) {
    const outcome = trial(assertion);
    if (outcome === 'holds') continue;
    const { subject, name, operator, value } = assertion;
    const text = [subject, name, operator, value].filter((word) => word !== '').join(' ');
    return failureOf(
      'content',
      needsBody(assertion) ? 'body' : 'first_byte',
      outcome === 'broken'
        ? { code: 'assertion_failed', text }
        : { code: 'assertion_undecided', text, problem: outcome },
    );
  }
  return null;
}

/** Creates the function that tries assertions on a response: its JSON is parsed once, and its budget is theirs together. */
export function createTrial(response: AssertedResponse): (assertion: Assertion) => Outcome {
  const { statusCode, responseTimeMs, headers, body } = response;
  let charactersLeft = MAX_MATCHED_CHARACTERS;
  let valuesLeft = MAX_VISITED_VALUES;
  let document: { readonly value: unknown } | BodyProblem | null = null;

  /** Tries a text: negations have to hold for every text, the others for one. Returns null if the others may tell. */
  const tryText = ({ operator, value }: Assertion, text: string): Outcome | null => {
    switch (operator) {
      case 'exists':
        return 'holds';
      case 'missing':
        return 'broken';
      case 'is':
        return text.trim() === value ? 'holds' : null;
      case 'is not':
        return text.trim() === value ? 'broken' : null;
      case 'contains':
        return text.includes(value) ? 'holds' : null;
      case 'lacks':
        return text.includes(value) ? 'broken' : null;
      case 'matches':
        charactersLeft -= Math.min(text.length, MAX_MATCHED_LENGTH);
        if (charactersLeft < 0) return { code: 'too_many_characters', maxCharacters: MAX_MATCHED_CHARACTERS };
        return matchesExpression(value, text) ? 'holds' : null;
      default:
        return null;
    }
  };
  const tryAll = (assertion: Assertion, texts: readonly string[]): Outcome | null => {
    for (const text of texts) {
      const outcome = tryText(assertion, text);
      if (outcome !== null) return outcome;
    }
    return null;
  };
  const tryJson = (assertion: Assertion): Outcome | null => {
    document ??= readDocument(body);
    if (!('value' in document)) return document;
    let outcome: Outcome | null = null;
    const visit = () => {
      if (--valuesLeft >= 0) return true;
      outcome = { code: 'too_many_values', maxValues: MAX_VISITED_VALUES };
      return false;
    };
    const take = (value: unknown) => {
      outcome = tryValue(assertion, value, tryText);
      return outcome === null;
    };
    queryJson(document.value, assertion.name, visit, take);
    return outcome;
  };
  const outcomeInBody = (assertion: Assertion): Outcome =>
    mayHide(body, assertion.name + assertion.value) && mayStand(assertion, body)
      ? { code: 'charset_unknown' }
      : outcomeWithout(assertion);

  return (assertion) => {
    switch (assertion.subject) {
      case 'status':
        return compare(assertion, statusCode) ? 'holds' : 'broken';
      case 'time':
        return compare(assertion, responseTimeMs) ? 'holds' : 'broken';
      case 'header': {
        const field = headers[assertion.name];
        const values = field === undefined ? [] : typeof field === 'string' ? [field] : field;
        return tryAll(assertion, values) ?? outcomeWithout(assertion);
      }
      case 'body':
        return body?.kind === 'unreadable'
          ? { code: 'undecodable', coding: body.coding }
          : (tryAll(assertion, [body?.text ?? '']) ?? outcomeInBody(assertion));
      case 'json':
        return tryJson(assertion) ?? outcomeInBody(assertion);
    }
  };
}

/** The first of the characters that have two bytes, of which one may be that of a letter of ASCII. */
const FIRST_WIDE = '\u2e80';

/**
 * Returns false if a text whose charset is not known lacks the letters of ASCII around the others, which are the same in each charset: `Störung`
 * is not in a text without `St`, something else, and `rung`.
 */
function mayStand({ subject, operator, value }: Assertion, body: BodyReading | null): boolean {
  if (body?.kind !== 'text' || subject !== 'body' || operator === 'matches') return true;
  if ([...value].some((one) => one >= FIRST_WIDE)) return true;
  const inAscii = (full: string) => full.replace(/[^\0-\x7f]+/g, '\ufffd');
  return inAscii(body.text).includes(inAscii(value));
}

/** The outcome where no value decides: negations hold for none. */
function outcomeWithout({ operator }: Assertion): Outcome {
  return operator === 'is not' || operator === 'lacks' || operator === 'missing' ? 'holds' : 'broken';
}

function compare({ operator, value }: Assertion, found: number): boolean {
  const wanted = Number(value);
  if (operator === 'below') return found < wanted;
  if (operator === 'above') return found > wanted;
  return (found === wanted) === (operator === 'is');
}

function tryValue(
  assertion: Assertion,
  value: unknown,
  tryText: (assertion: Assertion, text: string) => Outcome | null,
): Outcome | null {
  const { operator } = assertion;
  if (operator === 'exists') return 'holds';
  // APIs write null where there is nothing.
  if (operator === 'missing') return value === null ? null : 'broken';
  if (operator === 'below' || operator === 'above')
    return typeof value === 'number' && compare(assertion, value) ? 'holds' : null;
  if (typeof value === 'string') return tryText(assertion, value);
  let text: string;
  try {
    text = JSON.stringify(value);
  } catch {
    // The writer is recursive, and the stack ended.
    return { code: 'json_too_deep' };
  }
  return tryText(assertion, text);
}

function readDocument(body: BodyReading | null): { readonly value: unknown } | BodyProblem {
  if (body?.kind === 'unreadable') return { code: 'undecodable', coding: body.coding };
  if (body === null) return { code: 'not_json' };
  if (!body.whole) return { code: 'too_long_for_json', maxBytes: MAX_ASSERTED_BYTES };
  try {
    return { value: parseJson(body.text) };
  } catch {
    return { code: 'not_json' };
  }
}
