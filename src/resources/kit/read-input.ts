/** Validates form input field by field, so that all invalid fields are reported at once. */
import { readGivenName } from '../../domain/given-name.ts';
import { readHostName } from '../../domain/host-name.ts';
import { type AcceptRule, type CheckKind, MONITORING_KINDS, STATUS_CLASSES } from '../../domain/service.ts';
import { obstacleOf } from '../../kinds/settings.ts';
import { accept, type FieldRefusal, type Outcome, refuse } from './change.ts';

/** Combines the outcomes of all fields: their values, or the refusals of every invalid field, which may be a part of one. */
export function readAll<T extends object>(
  readings: {
    readonly [Field in keyof T]: Outcome<T[Field]>;
  },
): Outcome<T> {
  const refusals: FieldRefusal[] = [];
  const values: [string, unknown][] = [];
  for (const [field, reading] of Object.entries<Outcome<unknown>>(readings)) {
    if (reading.ok) values.push([field, reading.value]);
    else
      refusals.push(
        ...reading.refusals.map(({ field: part, refusal }) => ({ field: part ?? field, refusal })),
      );
  }
  return refusals.length > 0 ? { ok: false, refusals } : accept(Object.fromEntries(values) as T);
}

/** Reads the name of a key, a service, a channel or a rule. Refused with `missing` if it is blank, and with `name_invalid`. */
export function readNameField(
  text: string,
  missing: 'key_name_missing' | 'service_name_missing' | 'channel_name_missing' | 'rule_name_missing',
): Outcome<string> {
  if (text.trim() === '') return refuse({ code: missing });
  const reading = readGivenName(text);
  return reading.ok ? accept(reading.name) : refuse({ code: 'name_invalid', problem: reading.problem });
}

/** Reads a domain. Refused with `domain_invalid`. */
export function readDomain(text: string): Outcome<string> {
  const reading = readHostName(text);
  return reading.ok ? accept(reading.domain) : refuse({ code: 'domain_invalid', problem: reading.problem });
}

/**
 * Reads expected statuses such as `2xx 401`, separated by spaces or commas; null: none, the rule of the kind counts. Refused
 * with `accept_invalid`.
 */
export function readAcceptRules(text: string): Outcome<readonly AcceptRule[] | null> {
  const words = text.split(/[\s,]+/).filter((word) => word !== '');
  const rules = words.map(readAcceptRule);
  if (rules.includes(null)) return refuse({ code: 'accept_invalid' });
  return accept(rules.length === 0 ? null : rules.filter((rule) => rule !== null));
}

function readAcceptRule(word: string): AcceptRule | null {
  if (/^[1-9]\d\d$/.test(word)) return Number(word);
  return STATUS_CLASSES.find((one) => one === word.toLowerCase()) ?? null;
}

/**
 * Reads a kind of check. Refused with `kind_invalid`, and with `kind_unavailable` if this machine cannot make such checks and
 * the service does not have them already (`before`).
 */
export function readKind(word: string, before: CheckKind | null = null): Outcome<CheckKind> {
  const kind = MONITORING_KINDS.find((one) => one === word);
  if (kind === undefined) return refuse({ code: 'kind_invalid' });
  const cause = kind === before || kind === 'heartbeat' ? null : obstacleOf(kind);
  return cause === null ? accept(kind) : refuse({ code: 'kind_unavailable', kind, cause }, 'kind');
}
