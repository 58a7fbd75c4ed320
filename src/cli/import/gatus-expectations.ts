/** Reads the conditions of an endpoint of Gatus: good statuses, expectations and settings of its check. Pure. */
import type { AcceptRule, CheckSettings, ProbedKind } from '../../domain/service.ts';
import { readAssertion } from '../../kinds/assertions.ts';
import { assertionsOf, isConnected, parseCondition, readExpiry, statusTest } from './gatus-condition.ts';
import type { Expectation } from './http-request.ts';
import { type LostField, quote } from './listed-service.ts';
import { acceptCodes } from './status-codes.ts';

/** The replacement of a condition. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  BODY: 'no expectation of a check says the same',
  RESPONSE_TIME: 'what takes longer than checks.slowOver is slow, and not down',
  DOMAIN_EXPIRATION: 'a check of the kind domain has minDays for it',
  CERTIFICATE_EXPIRATION: 'a check of the kind tls has minDays for it',
  CONTEXT: 'a check makes one request',
};

/** A condition that a check cannot have. */
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

/** The conditions of an endpoint. */
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
