/** What an owner may change of a service, and the rules for it: the same on pages and on the command line. Pure. */
import { type Category, isCategory } from '../domain/category.ts';
import { DAY_MS, parseDuration } from '../domain/durations.ts';
import { type GivenNameReading, readGivenName } from '../domain/given-name.ts';
import type { CheckDefinition, CheckKind } from '../domain/service.ts';
import type { ServiceEdit } from '../store/ports/services.ts';

/** Changes of a service as they were typed. What is absent stays as it is. */
export interface ServiceChanges {
  readonly name?: string | undefined;
  readonly category?: string | undefined;
  readonly kind?: string | undefined;
  /** Time from one heartbeat to the next, a duration such as `1h`; null: the default one. */
  readonly period?: string | null | undefined;
  /** How much later a heartbeat may come, a duration; null: the default one. */
  readonly grace?: string | null | undefined;
  readonly paused?: boolean | undefined;
  readonly publicDependencies?: boolean | undefined;
}

/** The change as the registry takes it, or the first field that is not valid. */
export type EditReading =
  | { readonly ok: true; readonly edit: ServiceEdit }
  | {
      readonly ok: false;
      readonly field: 'name';
      readonly problem: Extract<GivenNameReading, { ok: false }>['problem'];
    }
  | { readonly ok: false; readonly field: 'category' | 'kind' | 'period' | 'grace' };

const MIN_PERIOD_MS = 1_000;
/** The longest silence that an owner may announce: a year. */
const MAX_PERIOD_MS = 365 * DAY_MS;

/** Reads changes of a service whose check is `before`. */
export function readServiceEdit(before: CheckDefinition, changes: ServiceChanges): EditReading {
  const { name, category, kind, period, grace, paused, publicDependencies } = changes;
  const reading = name === undefined ? null : readGivenName(name);
  if (reading?.ok === false) return { ok: false, field: 'name', problem: reading.problem };
  if (category !== undefined && !isCategory(category)) return { ok: false, field: 'category' };
  if (kind !== undefined && !isCheckKind(kind)) return { ok: false, field: 'kind' };
  const periodMs = readLength(period, before.periodMs, MIN_PERIOD_MS);
  if (periodMs === null) return { ok: false, field: 'period' };
  const graceMs = readLength(grace, before.graceMs, 0);
  if (graceMs === null) return { ok: false, field: 'grace' };
  const hasCheck = kind !== undefined || period !== undefined || grace !== undefined;
  return {
    ok: true,
    edit: {
      ...(reading === null ? {} : { name: reading.name }),
      ...(category === undefined ? {} : { category: category satisfies Category }),
      ...(paused === undefined ? {} : { paused }),
      ...(publicDependencies === undefined ? {} : { publicDependencies }),
      ...(hasCheck ? { check: checkOf(before, kind ?? before.kind, periodMs, graceMs) } : {}),
    },
  };
}

/** Whether a word is a kind of check. */
export function isCheckKind(word: string): word is CheckKind {
  return word === 'root' || word === 'health' || word === 'heartbeat';
}

function checkOf(
  before: CheckDefinition,
  kind: CheckKind,
  periodMs: number | undefined,
  graceMs: number | undefined,
): CheckDefinition {
  const { periodMs: _period, graceMs: _grace, ...rest } = before;
  return {
    ...rest,
    kind,
    ...(periodMs === undefined ? {} : { periodMs }),
    ...(graceMs === undefined ? {} : { graceMs }),
  };
}

/** Milliseconds; undefined: the default length. Null: the text is no duration, or one out of bounds. */
function readLength(
  text: string | null | undefined,
  before: number | undefined,
  minMs: number,
): number | null | undefined {
  if (text === undefined) return before;
  if (text === null) return undefined;
  const ms = parseDuration(text);
  return ms === null || ms < minMs || ms > MAX_PERIOD_MS ? null : ms;
}
