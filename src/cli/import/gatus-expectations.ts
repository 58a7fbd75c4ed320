/** Reads the conditions of an endpoint of Gatus: good statuses, expectations and settings of its check. Pure. */
import type { AcceptRule, CheckSettings, ProbedKind } from '../../domain/service.ts';
import { readAssertion } from '../../kinds/assertions.ts';
import { acceptCodes, type Expectation } from './http-request.ts';
import { goDurationMs, type LostField, quote } from './listed-service.ts';

/** The replacement of a condition. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  BODY: 'no expectation of a check says the same',
  RESPONSE_TIME: 'what takes longer than checks.slowOver is slow, and not down',
  DOMAIN_EXPIRATION: 'a check of the kind domain has minDays for it',
  CERTIFICATE_EXPIRATION: 'a check of the kind tls has minDays for it',
  CONTEXT: 'a check makes one request',
};

export function lostCondition(text: string, reason?: string): LostField {
  const placeholder = /\[([A-Z_]+)\]/i.exec(text)?.[1]?.toUpperCase() ?? '';
  const known = Object.hasOwn(PLACEHOLDERS, placeholder) ? PLACEHOLDERS[placeholder] : undefined;
  const compared = text.match(/\[[A-Z_]{2,}\]/gi) ?? [];
  const instead = compared.length > 1 ? 'a check compares with fixed values alone' : known;
  return {
    field: `condition [${placeholder}]`,
    reason: `${quote(text.trim())}: ${reason ?? instead ?? 'it has no equal here'}`,
  };
}

export function conditionsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** Returns true if an endpoint is healthy only where nothing answers. */
export function expectsNothing(value: unknown, kind: 'http' | 'other'): boolean {
  return conditionsOf(value).some((text) => {
    const condition = parseCondition(text);
    if (condition?.placeholder === 'CONNECTED') return !isConnected(condition);
    const test = kind === 'http' && condition !== null ? statusTest(condition) : null;
    return test !== null && CODES.every((code) => !test(code));
  });
}

/** Some servers send more than HTTP defines, such as 999. */
const CODES = Array.from({ length: 900 }, (_, index) => 100 + index);

/** The status codes that meet all conditions, and what else is expected of the response. */
export function readResponseConditions(value: unknown): {
  readonly accept: readonly AcceptRule[] | null;
  readonly expectations: readonly Expectation[];
  readonly lost: readonly LostField[];
} {
  const expectations: Expectation[] = [];
  const lost: LostField[] = [];
  const tests: ((code: number) => boolean)[] = [];
  for (const text of conditionsOf(value)) {
    const condition = parseCondition(text);
    const test = condition === null ? null : statusTest(condition);
    const lines = condition === null ? null : assertionsOf(condition);
    if (test !== null) tests.push(test);
    else if (lines?.every((line) => readAssertion(line) !== null))
      expectations.push(...lines.map((line) => ({ field: `condition ${text.trim().split(' ')[0]}`, line })));
    else if (condition === null || !isConnected(condition)) lost.push(lostCondition(text));
  }
  if (tests.length === 0) return { accept: null, expectations, lost };
  const rules = acceptCodes(
    new Set(CODES.filter((code) => tests.every((test) => test(code)))),
    'condition [STATUS]',
  );
  return {
    accept: rules.accept,
    expectations: [...expectations, ...rules.expectations],
    lost: [...lost, ...rules.lost],
  };
}

/** The conditions of a connection: that it is made, how long the certificate must be valid, and what a message says. */
export function readConnectionConditions(value: unknown, kind: ProbedKind) {
  const lost: LostField[] = [];
  let settings: CheckSettings = {};
  for (const text of conditionsOf(value)) {
    const condition = parseCondition(text);
    if (condition === null) lost.push(lostCondition(text));
    else {
      const { placeholder, path, wrapper } = condition;
      const days = kind in EXPIRING && EXPIRING[kind] === placeholder ? readExpiry(condition) : null;
      const message = kind === 'websocket' && placeholder === 'BODY' && path === '' && wrapper === '';
      const more = message ? messageSettings(assertionsOf(condition) ?? []) : null;
      if (days !== null) settings = { ...settings, minDays: Math.max(days, Number(settings.minDays ?? 0)) };
      else if (more !== null && !Object.keys(more).some((name) => name in settings))
        settings = { ...settings, ...more };
      else if (!isConnected(condition) && !SAID_ANYWAY.get(kind)?.test(text)) lost.push(lostCondition(text));
    }
  }
  return { settings, lost };
}

/** The thing that ends, by the kinds that have `minDays` for it. */
const EXPIRING: Partial<Record<ProbedKind, string>> = {
  domain: 'DOMAIN_EXPIRATION',
  tls: 'CERTIFICATE_EXPIRATION',
  smtp: 'CERTIFICATE_EXPIRATION',
};

/** Conditions that checks of a kind have anyway. */
const SAID_ANYWAY: ReadonlyMap<ProbedKind, RegExp> = new Map<ProbedKind, RegExp>([
  ['grpc', /^\s*\[BODY\](?:\.status)?\s*==\s*(?:"?SERVING"?|pat\(\*"?SERVING"?\*\))\s*$/],
  // What a command over SSH has returned.
  ['ssh', /^\s*\[STATUS\]\s*==\s*0\s*$/],
]);

/** The settings of a message for a line about a body; null: there are none. */
function messageSettings(lines: readonly string[]): CheckSettings | null {
  const [, operator, value = ''] = /^body (contains|matches) (.+)$/s.exec(lines[0] ?? '') ?? [];
  return lines.length !== 1 || operator === undefined ? null : { [operator]: value };
}

type Operator = '==' | '!=' | '<=' | '>=' | '<' | '>';

/** A comparison of what a placeholder stands for with a value. */
interface Condition {
  /** Name of the placeholder in upper case. */
  readonly placeholder: string;
  /** `len` or `has`; empty: neither. */
  readonly wrapper: string;
  /** The path after the placeholder, such as `.data[0].id`. */
  readonly path: string;
  readonly operator: Operator;
  readonly value: string;
}

/** Gatus splits at the first of these that a condition has. */
const OPERATORS: readonly Operator[] = ['==', '!=', '<=', '>=', '>', '<'];
const MIRRORED: Readonly<Record<Operator, Operator>> = {
  '==': '==',
  '!=': '!=',
  '<=': '>=',
  '>=': '<=',
  '<': '>',
  '>': '<',
};

/** Parses a condition; null: it compares two placeholders, or nothing with a placeholder. */
export function parseCondition(text: string): Condition | null {
  const operator = OPERATORS.find((one) => text.includes(` ${one} `));
  if (operator === undefined) return null;
  const [first = '', second = ''] = text.split(` ${operator} `).map((side) => side.trim());
  const [left, right] = [readPlaceholder(first), readPlaceholder(second)];
  if (left !== null) return right === null ? { ...left, operator, value: second } : null;
  return right === null ? null : { ...right, operator: MIRRORED[operator], value: first };
}

function readPlaceholder(side: string): Pick<Condition, 'placeholder' | 'wrapper' | 'path'> | null {
  const [, wrapper = '', inner = side] = /^(len|has)\((.*)\)$/.exec(side) ?? [];
  const [, placeholder, path = ''] = /^\[([A-Z_]+)\]((?:[.[].*)?)$/i.exec(inner.trim()) ?? [];
  return placeholder === undefined ? null : { placeholder: placeholder.toUpperCase(), wrapper, path };
}

/** Returns true if a condition holds for whatever answers. */
export function isConnected({ placeholder, operator, value }: Condition): boolean {
  return placeholder === 'CONNECTED' && value === (operator === '==' ? 'true' : 'false');
}

const COMPARISONS: Readonly<Record<Operator, (a: number, b: number) => boolean>> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

/** The test of a condition on the status; null: it is about something else. */
function statusTest({
  placeholder,
  wrapper,
  operator,
  value,
}: Condition): ((code: number) => boolean) | null {
  if (placeholder !== 'STATUS' || wrapper !== '') return null;
  if (/^\d+$/.test(value)) return (code) => COMPARISONS[operator](code, Number(value));
  const isWord = wordTest(operator, value);
  return isWord === null || !/^(?:any|pat)\(/.test(value) ? null : (code) => isWord(String(code));
}

/** The test of a comparison with a word, a pattern or several words; null: it compares in another way. */
export function wordTest(operator: Operator, value: string): ((word: string) => boolean) | null {
  if (operator !== '==' && operator !== '!=') return null;
  const is = operator === '==';
  const choices = choicesIn(value);
  if (choices !== null) return (word) => choices.includes(word) === is;
  if (!value.startsWith('pat(')) return (word) => (word === unquote(value)) === is;
  const parts = /^pat\([\w*?]+\)$/.test(value) ? patternIn(value) : null;
  if (parts === null) return null;
  const expression = new RegExp(`^${parts.map(sourceOf).join('')}$`);
  return (word) => expression.test(word) === is;
}

/** The days that a certificate or a registration must last; null: the condition says something else. */
export function readExpiry({ wrapper, operator, value }: Condition): number | null {
  const ms = goDurationMs(value) ?? (/^\d+$/.test(value) ? Number(value) : null);
  return wrapper !== '' || ms === null || (operator !== '>' && operator !== '>=')
    ? null
    : Math.ceil(ms / 86_400_000);
}

/**
 * The lines of the setting `assertions` that say the same of a body or a response time; null: none do. A line may still be one that
 * a check cannot have.
 */
function assertionsOf(condition: Condition): readonly string[] | null {
  const { placeholder, wrapper, path, operator, value } = condition;
  if (placeholder === 'RESPONSE_TIME') return wrapper === '' ? timeLines(operator, value) : null;
  if (placeholder !== 'BODY') return null;
  const json = jsonPathOf(path);
  if (json === null) return null;
  const isBody = path === '';
  const subject: Subject = isBody
    ? { name: 'body', begin: '^\\s*', end: '\\s*$' }
    : { name: `json ${json}`, begin: '^', end: '$' };
  if (wrapper === 'has') return presenceLines(subject, isBody, (value === 'true') === (operator === '=='));
  if (wrapper === 'len') return lengthLines(subject, isBody, operator, value);
  return operator === '==' || operator === '!='
    ? equalLines(subject, operator, value)
    : numberLines(`json ${json}`, operator, value);
}

/** The subject of a line, and the beginning and the end of expressions about it: bodies are trimmed. */
interface Subject {
  readonly name: string;
  readonly begin: string;
  readonly end: string;
}

/** A path such as `.data[0].a-b` as one of RFC 9535; null: it is none. */
function jsonPathOf(path: string): string | null {
  if (!/^(?:\.[^.[\]\s'\\]+|\[\d+\])*$/.test(path)) return null;
  return `$${path.replaceAll(/\.([^.[\]]+)/g, (step, name: string) =>
    /^[A-Za-z_]\w*$/.test(name) ? step : `['${name}']`,
  )}`;
}

/** Response times are whole milliseconds. */
function timeLines(operator: Operator, value: string): string[] | null {
  const limit = goDurationMs(value) ?? (/^\d+$/.test(value) ? Number(value) : null);
  if (limit === null || !Number.isSafeInteger(limit)) return null;
  switch (operator) {
    case '<':
      return [`time below ${limit}`];
    case '<=':
      return [`time below ${limit + 1}`];
    case '>':
      return [`time above ${limit}`];
    case '>=':
      return [`time above ${limit - 1}`];
    default:
      return [`time ${operator === '==' ? 'is' : 'is not'} ${limit}`];
  }
}

/** Numbers of JSON with at most six decimals. */
function numberLines(name: string, operator: Operator, value: string): string[] | null {
  if (!/^-?\d{1,12}(?:\.\d{1,5})?$/.test(value)) return null;
  const limit = Number(value);
  switch (operator) {
    case '<':
      return [`${name} below ${value}`];
    case '<=':
      return [`${name} below ${Number.isInteger(limit) ? limit + 1 : (limit + 1e-6).toFixed(6)}`];
    case '>':
      return [`${name} above ${value}`];
    default:
      return [`${name} above ${(limit - 1e-6).toFixed(6)}`];
  }
}

function presenceLines({ name }: Subject, isBody: boolean, isThere: boolean): string[] {
  if (isBody) return [`body matches ${isThere ? '\\S' : '^\\s*$'}`];
  return [`${name} ${isThere ? 'exists' : 'missing'}`];
}

/** Lengths of texts and lists can be told from 0 alone. */
function lengthLines(
  { name, begin, end }: Subject,
  isBody: boolean,
  operator: Operator,
  value: string,
): string[] | null {
  const [space, other] = isBody ? ['\\s*', '[^\\[\\s]'] : ['', '[^\\[]'];
  const said = `${operator} ${value}`;
  if (['> 0', '>= 1', '!= 0'].includes(said))
    return [`${name} matches ${begin}(?:\\[${space}[^\\]${isBody ? '\\s' : ''}]|${other})`];
  return ['== 0', '< 1', '<= 0'].includes(said)
    ? [`${name} matches ${begin}(?:\\[${space}\\])?${end}`]
    : null;
}

function equalLines(subject: Subject, operator: '==' | '!=', value: string): readonly string[] | null {
  const { name, begin, end } = subject;
  const is = operator === '==';
  const choices = choicesIn(value);
  if (choices !== null)
    return is
      ? [`${name} matches ${begin}(?:${choices.map(escapeExpression).join('|')})${end}`]
      : choices.map((choice) => `${name} is not ${choice}`);
  const parts = patternIn(value);
  if (parts !== null) return patternLines(subject, operator, parts);
  const text = unquote(value);
  if (text === '') return [`${name} matches ${is ? `${begin}$` : '\\S'}`];
  return [`${name} ${is ? 'is' : 'is not'} ${text}`];
}

/** The texts of `any(…)`; null: the value is something else. */
function choicesIn(value: string): string[] | null {
  const [, choices] = /^any\((.*)\)$/s.exec(value) ?? [];
  return choices?.split(',').map((choice) => unquote(choice.trim())) ?? null;
}

/** A part of a pattern: text, or something that stands for other text. */
type Part = { readonly text: string } | { readonly source: string };
const ANY: Part = { source: '.*' };

/** The parts of `pat(…)`: `*` stands for any text, `?` and classes for a character. Null: the value is something else. */
function patternIn(value: string): readonly Part[] | null {
  const [, pattern] = /^pat\((.*)\)$/s.exec(value) ?? [];
  if (pattern === undefined) return null;
  const parts: Part[] = [];
  for (const [piece] of pattern.matchAll(/\*+|\?|\[\^?[^\]\\[]+\]|\\.|[^*?[\\]+|[[\\]/gs)) {
    if (piece.startsWith('*')) parts.push(ANY);
    else if (piece === '?') parts.push({ source: '.' });
    else if (piece.length > 1 && piece.startsWith('[')) parts.push({ source: piece });
    else parts.push({ text: piece.length > 1 && piece.startsWith('\\') ? piece.slice(1) : piece });
  }
  return parts;
}

function sourceOf(part: Part): string {
  return 'text' in part ? escapeExpression(part.text) : part.source;
}

function patternLines(
  { name, begin, end }: Subject,
  operator: '==' | '!=',
  parts: readonly Part[],
): string[] | null {
  const is = operator === '==';
  const isOpen = parts[0] === ANY;
  const isOpenEnd = parts.at(-1) === ANY;
  const inner = parts.slice(isOpen ? 1 : 0, isOpenEnd && parts.length > 1 ? -1 : undefined);
  if (inner.length === 0 && isOpen) return is ? [] : null;
  const text = inner.every((part) => 'text' in part)
    ? inner.map((part) => ('text' in part ? part.text : '')).join('')
    : null;
  if (text !== null && text.trim() === text) {
    if (inner.length === parts.length) return [`${name} ${is ? 'is' : 'is not'} ${text}`];
    if (isOpen && isOpenEnd) return [`${name} ${is ? 'contains' : 'lacks'} ${text}`];
  }
  if (!is) return null;
  return [`${name} matches (?s)${isOpen ? '' : begin}${inner.map(sourceOf).join('')}${isOpenEnd ? '' : end}`];
}

function unquote(text: string): string {
  return /^"[^"]*"$/.test(text) ? text.slice(1, -1) : text;
}

/** Text as an expression of RE2. */
function escapeExpression(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, (character) => `\\${character}`);
}
