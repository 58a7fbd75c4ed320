/** Validates form input field by field, so that all invalid fields are reported at once. */
import type { AllowedDestinations } from '../../domain/allowed-destinations.ts';
import { readGivenName } from '../../domain/given-name.ts';
import { readAnyHost, readHostName } from '../../domain/host-name.ts';
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

/** Reads the host of a service. Refused with `domain_invalid`, and with `url_refused` for one that is never connected to. */
export function readServiceHost(
  text: string,
  { anyHost, refuseHost }: Pick<AllowedDestinations, 'anyHost' | 'refuseHost'>,
): Outcome<string> {
  if (!anyHost) return readDomain(text);
  const reading = readAnyHost(text);
  if (!reading.ok) return refuse({ code: 'domain_invalid', problem: reading.problem });
  const problem = refuseHost(reading.domain);
  return problem === null ? accept(reading.domain) : refuse({ code: 'url_refused', problem });
}

/** Reads a domain. Refused with `domain_invalid`. */
export function readDomain(text: string): Outcome<string> {
  const reading = readHostName(text);
  return reading.ok ? accept(reading.domain) : refuse({ code: 'domain_invalid', problem: reading.problem });
}
