/** Describes the errors of the schema: one sentence for each place, with what to write instead. */

import type { ErrorObject } from 'ajv';
import { formatDuration } from '../domain/durations.ts';
import type { TSchema } from '../json-schema.ts';
import { closest } from './closest-name.ts';
import { SETTING_PATHS } from './environment.ts';
import { FORMATS } from './formats.ts';

/** A problem at the parts of a path, such as `['checks', 'ports', '0']`. */
export interface SchemaProblem {
  readonly parts: readonly string[];
  readonly message: string;
}

/** One problem for each place in `errors`, which must be verbose, since the messages contain values. */
export function describeErrors(errors: readonly ErrorObject[]): SchemaProblem[] {
  const found = new Map<string, SchemaProblem & { readonly rank: number }>();
  for (const error of errors) {
    const parts = error.instancePath.split('/').slice(1).map(unescapePointer);
    if (error.keyword === 'additionalProperties')
      parts.push(shorten(String(error.params.additionalProperty)));
    if (error.keyword === 'required') parts.push(String(error.params.missingProperty));
    const key = JSON.stringify(parts);
    const rank = rankOf(error);
    if (rank > (found.get(key)?.rank ?? -1)) found.set(key, { parts, message: sentence(error), rank });
  }
  return [...found.values()].map(({ parts, message }) => ({ parts, message }));
}

/** Each branch of a union reports an error; the union's own error replaces them, but not that of a value of the right form. */
function rankOf({ keyword }: ErrorObject): number {
  if (keyword === 'minMs') return 2;
  return keyword === 'anyOf' ? 1 : 0;
}

/** `['checks', 'ports', '0']` as `checks.ports[0]`. */
export function formatPath(parts: readonly string[]): string {
  return parts
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
    .join('')
    .replace(/^\./, '');
}

function sentence(error: ErrorObject): string {
  const schema = error.parentSchema as TSchema;
  if (error.keyword === 'additionalProperties')
    return unknownName(shorten(String(error.params.additionalProperty)), Object.keys(schema.properties));
  if (error.keyword === 'required') return 'is missing';
  if (error.data === '') return `must not be empty; write ${expected(schema)}`;
  const shown = holdsSecret(schema) ? 'this' : shorten(withoutPasswords(JSON.stringify(error.data)));
  if (error.keyword === 'minMs')
    return `${shown} is too short; write at least ${formatDuration(Number(schema.minMs))}`;
  if (error.keyword === 'maxItems') return `has too many entries; write at most ${schema.maxItems}`;
  return `${shown} is not ${expected(schema)}`;
}

/** Returns true if the setting or one below it is secret: a value in the place of a group may belong into the group. */
function holdsSecret(schema: TSchema): boolean {
  if (schema.secret === true) return true;
  return [...(schema.anyOf ?? []), ...Object.values<TSchema>(schema.properties ?? {})].some(holdsSecret);
}

/** Removes the user information of URLs, since other settings than secrets may contain a password. */
function withoutPasswords(text: string): string {
  return text.replaceAll(/(:\/\/)[^/\s"]*@/g, '$1…@');
}

/** Describes an unknown name: misspelt, written with dots, or in the wrong section. */
function unknownName(name: string, siblings: readonly string[]): string {
  const near = closest(name, siblings);
  if (near !== null) return `is not a setting; did you mean ${near}?`;
  if (SETTING_PATHS.includes(name))
    return `is not a setting; write ${name.split('.').join(': { ')}: ...${' }'.repeat(name.split('.').length - 1)}`;
  const elsewhere = SETTING_PATHS.filter((path) => path.endsWith(`.${name}`));
  return `is not a setting${elsewhere.length === 0 ? '' : `; did you mean ${elsewhere.join(' or ')}?`}`;
}

/** Describes the values that a schema accepts. */
function expected(schema: TSchema): string {
  if (schema.format !== undefined) return FORMATS[schema.format]?.expected ?? schema.format;
  if (schema.enum !== undefined) return `one of ${schema.enum.join(', ')}`;
  if (schema.const !== undefined) return String(schema.const);
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(expected))].join(' or ');
  if (schema.pattern !== undefined) return `text of the form ${schema.pattern}`;
  if (schema.type === 'integer') return `a whole number from ${schema.minimum} to ${schema.maximum}`;
  if (schema.type === 'boolean') return 'true or false';
  if (schema.type === 'array') return 'a list';
  if (schema.type === 'object') return 'a group of settings';
  if (schema.type === 'null') return 'null';
  return 'text';
}

function shorten(text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 97)}...`;
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}
