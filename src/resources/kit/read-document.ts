/** Validates documents of owners (files and bodies of requests) by their schemas, so that all problems are reported at once. */
import type { ErrorObject, ValidateFunction } from 'ajv';
import type { SettingProblem } from '../../domain/input-problem.ts';
import { findForbidden } from '../../domain/printable-text.ts';
import { createCompiler, type TSchema } from '../../json-schema.ts';
import { PATTERN_EXAMPLES } from '../../kinds/check-members.ts';
import { describeKeyword } from '../../kinds/settings.ts';
import { accept, type FieldRefusal, type Outcome, type Refused } from './change.ts';

/** Formats of members that are text: what each accepts, and an example for messages. */
const DOCUMENT_FORMATS = {
  'plain-text': {
    accepts: (text: string) => findForbidden(text, { lines: true }) === null,
    example: 'text without control characters',
  },
  'http-url': {
    accepts: isHttpUrl,
    example: 'an address such as https://example.com/health, without user and password',
  },
  'status-rule': {
    accepts: (text: string) => /^[1-9](?:xx|\d\d)$/.test(text),
    example: 'a status code such as 401, or a class such as 2xx',
  },
} as const;

const compile = createCompiler(DOCUMENT_FORMATS, { verbose: true });

/**
 * Creates the reader of documents of a schema, which is compiled when the first one is read. A document is refused with
 * `member_invalid` for each wrong member; the field is its path, such as `check.settings.port`. At most
 * {@link MAX_WRONG_MEMBERS} are named, and of a list that is too long only its length.
 */
export function createDocumentReader<T>(schema: TSchema): (value: unknown) => Outcome<T> {
  let validate: ValidateFunction<T> | null = null;
  return (value) => {
    const long = findLongLists(schema, value);
    if (long.length > 0) return { ok: false, refusals: long };
    validate ??= compile<T>(schema);
    if (validate(value)) return accept(value);
    return { ok: false, refusals: refusalsOf(validate.errors ?? []) };
  };
}

/** Maximum number of refusals of a document. */
const MAX_WRONG_MEMBERS = 1_000;

/** Refuses lists that are longer than the schema allows, before the validator describes each of their items. */
function findLongLists(schema: TSchema, value: unknown, parent = ''): FieldRefusal[] {
  return Object.entries<TSchema>(schema.properties ?? {}).flatMap(([name, property]) => {
    const member: unknown = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    const field = `${parent}${name}`;
    const { maxItems = Number.POSITIVE_INFINITY } = property;
    if (!Array.isArray(member) || member.length <= maxItems)
      return findLongLists(property, member, `${field}.`);
    const problem = { code: 'limit', keyword: 'maxItems', limit: maxItems } as const;
    return [{ field, refusal: { code: 'member_invalid', member: field, problem } as const }];
  });
}

function refusalsOf(errors: readonly ErrorObject[]): FieldRefusal[] {
  const found = new Map<string, FieldRefusal & { readonly path: readonly string[] }>();
  for (const error of errors) {
    const path = error.instancePath.split('/').slice(1).map(unescapePointer);
    const named = error.params.missingProperty ?? error.params.additionalProperty;
    if (named !== undefined) path.push(String(named));
    const field = path.join('.');
    // Each branch of a union reports an error; the union's own error replaces them.
    if (found.has(field) && error.keyword !== 'anyOf') continue;
    const refusal = { code: 'member_invalid', member: field, problem: problemOf(error) } as const;
    found.set(field, { field: field === '' ? null : field, refusal, path });
    if (found.size === MAX_WRONG_MEMBERS) break;
  }
  const wholes = new Set(
    errors.flatMap(({ keyword, instancePath }) => (keyword === 'anyOf' ? [instancePath] : [])),
  );
  // Parts of a member that is refused as a whole are left out.
  const isPart = (path: readonly string[]) =>
    path.some((_, length) =>
      wholes.has(
        path
          .slice(0, length)
          .map((name) => `/${name}`)
          .join(''),
      ),
    );
  return [...found.values()].flatMap(({ path, ...refused }) => (isPart(path) ? [] : [refused]));
}

function problemOf(error: ErrorObject): SettingProblem {
  return describeKeyword(error) ?? { code: 'format', example: exampleOf(error.parentSchema) };
}

/** The example of the schema's format, or of the format of one of its branches. */
function exampleOf(schema: ErrorObject['parentSchema']): string {
  const branches: readonly TSchema[] = schema?.anyOf ?? [];
  const formats: readonly unknown[] = [schema?.format, ...branches.map(({ format }) => format)];
  const known = Object.entries(DOCUMENT_FORMATS).find(([name]) => formats.includes(name));
  return known?.[1].example ?? PATTERN_EXAMPLES.get(schema?.pattern) ?? 'another value';
}

function isHttpUrl(text: string): boolean {
  const { protocol, username, password } = URL.parse(text) ?? { protocol: '', username: '', password: '' };
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === '';
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Documents are no deeper; below, a patch replaces what it meets. */
const MAX_DEPTH = 20;

/** The target after the patch: members that are null are removed, objects are merged, and all else is replaced. */
export function mergePatch(target: unknown, patch: unknown, depth = 0): unknown {
  if (!isObject(patch) || depth === MAX_DEPTH) return patch;
  const merged = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value, depth + 1));
  }
  return Object.fromEntries(merged);
}

/** Returns true if a value is an object, and no list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A document without the secrets that are kept, and the names of their settings. */
interface KeptSecrets {
  readonly document: unknown;
  readonly kept: readonly string[];
}

/**
 * Takes secrets that are null out of the `settings` of a document. `secrets`: names of settings that are secret; `stored`: those that
 * have a value. Refused with `setting_invalid` if there is none to keep; the fields are paths such as `settings.token`.
 */
export function takeKept(
  document: unknown,
  secrets: readonly string[],
  stored: object = {},
): Outcome<KeptSecrets> {
  if (!isObject(document) || !isObject(document.settings)) return accept({ document, kept: [] });
  const { settings } = document;
  const kept = secrets.filter((name) => settings[name] === null);
  const missing = kept.filter((name) => !Object.hasOwn(stored, name));
  if (missing.length > 0) return refuseSecrets(missing, 'secret_missing', 'settings');
  const rest = Object.entries(settings).filter(([name]) => !kept.includes(name));
  return accept({ document: { ...document, settings: Object.fromEntries(rest) }, kept });
}

/** Refuses secrets, whose settings are at that path. */
export function refuseSecrets(
  names: readonly string[],
  code: 'secret_missing' | 'secret_again',
  path: string,
): Refused {
  const refusals = names.map((setting) => ({
    field: `${path}.${setting}`,
    refusal: { code: 'setting_invalid', setting, problem: { code } } as const,
  }));
  return { ok: false, refusals };
}
