/** Good status codes in import files of others. */
import { type AcceptRule, STATUS_CLASSES } from '../../domain/service.ts';
import type { Expectation } from './http-request.ts';
import { groupCodes, type LostField, quote } from './listed-service.ts';

/** Maximum number of rules of a check. */
const MAX_RULES = 50;

/** Every status code. */
export const ANY_STATUS: ReadonlySet<number> = new Set(
  Array.from({ length: 900 }, (_, index) => index + 100),
);

/** The statuses that a check accepts, and the rest. */
interface AcceptReading {
  readonly accept: readonly AcceptRule[] | null;
  readonly expectations: readonly Expectation[];
  readonly lost: readonly LostField[];
}

/** The rules for codes; those that a class lacks are expectations if there are too many rules. `field`: the origin of the codes. */
export function acceptCodes(codes: ReadonlySet<number>, field: string): AcceptReading {
  if (codes.size === 0)
    return { accept: STATUS_CLASSES, expectations: [], lost: [{ field, reason: 'no status code meets it' }] };
  const accept = groupCodes(codes);
  if (accept.length <= MAX_RULES) return { accept, expectations: [], lost: [] };
  const missing = STATUS_CLASSES.filter((family) => accept.some((rule) => inClass(rule, family))).flatMap(
    (family) => [...ANY_STATUS].filter((code) => inClass(code, family) && !codes.has(code)),
  );
  return {
    accept: STATUS_CLASSES.filter((family) => accept.some((rule) => inClass(rule, family))),
    expectations: missing.map((code) => ({ field, line: `status is not ${code}` })),
    lost: [],
  };
}

function inClass(rule: AcceptRule, family: string): boolean {
  return rule === family || `${Math.floor(Number(rule) / 100)}xx` === family;
}

/** Codes, classes such as `2xx` and ranges such as `200-299`. */
export function readStatusList(values: readonly unknown[], field: string): AcceptReading {
  const codes = new Set<number>();
  const lost: LostField[] = [];
  for (const value of values) {
    const text = String(value).trim().toLowerCase();
    const [, digit, from, to = from] = /^(?:([1-9])xx|(\d{3})(?:\s*-\s*(\d{3}))?)$/.exec(text) ?? [];
    const [first, last] =
      digit === undefined ? [Number(from), Number(to)] : [Number(digit) * 100, Number(digit) * 100 + 99];
    if (Number.isNaN(first) || first < 100 || last < first)
      lost.push({ field, reason: `${quote(text)} is no range of status codes` });
    else for (let code = first; code <= last; code++) codes.add(code);
  }
  if (codes.size === 0) return { accept: null, expectations: [], lost };
  const rules = acceptCodes(codes, field);
  return { ...rules, lost: [...rules.lost, ...lost] };
}
