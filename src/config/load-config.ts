/** Loads the configuration: environment beats file beats default; all problems are told at once, with their paths. */
import { readFileSync } from 'node:fs';
import type { TSchema } from '@sinclair/typebox';
import { Ajv, type ErrorObject } from 'ajv';
import { parseDocument } from 'yaml';
import { formatDuration, parseDuration } from '../domain/durations.ts';
import { closest } from './closest-name.ts';
import { ConfigError, type ConfigProblem } from './config-error.ts';
import { readEnvironment, SETTINGS } from './environment.ts';
import { FORMATS } from './formats.ts';
import { type Config, resolveConfig } from './resolve-config.ts';
import { CONFIG_SCHEMA, type ConfigText } from './schema.ts';

/** Where a configuration comes from. */
export interface ConfigSource {
  /** YAML file; null: defaults and environment alone. */
  readonly file: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly readFile?: (path: string) => string;
}

type Tree = { [name: string]: unknown };

const ajv = new Ajv({ allErrors: true, useDefaults: true, verbose: true, strict: false });
for (const [name, { accepts }] of Object.entries(FORMATS)) ajv.addFormat(name, accepts);
ajv.addKeyword({
  keyword: 'minMs',
  type: 'string',
  validate: (minMs: number, text: string) => (parseDuration(text) ?? minMs) >= minMs,
});
const validate = ajv.compile<ConfigText>(CONFIG_SCHEMA);

/** Reads, checks and resolves. Throws {@link ConfigError} with every problem. */
export function loadConfig({
  file,
  env,
  readFile = (path) => readFileSync(path, 'utf8'),
}: ConfigSource): Config {
  const problems: ConfigProblem[] = [];
  const tree = file === null ? {} : readTree(file, readFile, problems);
  const environment = readEnvironment(env, readFile);
  problems.push(...environment.problems);
  const variableOf = new Map<string, string>();
  for (const { setting, value } of environment.values) {
    put(tree, setting.path, value);
    variableOf.set(setting.path.join('.'), setting.variable);
  }
  if (!validate(tree)) problems.push(...describe(validate.errors ?? [], variableOf));
  else problems.push(...crossCheck(tree));
  if (problems.length > 0) throw new ConfigError(problems.sort((a, b) => (a.path < b.path ? -1 : 1)));
  return resolveConfig(tree as unknown as ConfigText);
}

function readTree(file: string, readFile: (path: string) => string, problems: ConfigProblem[]): Tree {
  let text: string;
  try {
    text = readFile(file);
  } catch (error) {
    problems.push({ path: file, message: `cannot be read: ${(error as Error).message}` });
    return {};
  }
  const document = parseDocument(text, { uniqueKeys: true });
  for (const { message, linePos } of document.errors) {
    problems.push({
      path: `${file}:${linePos?.[0].line ?? 1}`,
      message: message.split(' at line')[0] ?? message,
    });
  }
  if (document.errors.length > 0) return {};
  let tree: unknown;
  try {
    tree = document.toJS({ maxAliasCount: 100 }) ?? {};
  } catch (error) {
    // An alias without its anchor, or one that multiplies itself, shows only here.
    problems.push({ path: file, message: (error as Error).message });
    return {};
  }
  if (typeof tree === 'object' && !Array.isArray(tree)) return dropEmptySections(tree as Tree);
  problems.push({ path: file, message: 'must hold settings by their names' });
  return {};
}

/** `checks:` with nothing below it is null in YAML and means: all defaults. */
function dropEmptySections(tree: Tree): Tree {
  const sections = new Set(Object.keys(CONFIG_SCHEMA.properties));
  return Object.fromEntries(
    Object.entries(tree).filter(([name, value]) => value !== null || !sections.has(name)),
  );
}

function put(tree: Tree, path: readonly string[], value: unknown): void {
  const [name = '', ...rest] = path;
  if (rest.length === 0) {
    tree[name] = value;
    return;
  }
  const below = tree[name];
  // A section that is no section is a problem of its own, which the schema reports.
  if (below !== undefined && (typeof below !== 'object' || below === null)) return;
  const next = (below ?? {}) as Tree;
  tree[name] = next;
  put(next, rest, value);
}

/** Problems in our own words, one for each place. */
function describe(errors: readonly ErrorObject[], variableOf: ReadonlyMap<string, string>): ConfigProblem[] {
  const found = new Map<string, string>();
  for (const error of errors) {
    const parts = error.instancePath.split('/').slice(1);
    let path = parts
      .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
      .join('')
      .slice(1);
    if (error.keyword === 'additionalProperties') {
      const name = String(error.params.additionalProperty);
      path = path === '' ? name : `${path}.${name}`;
    }
    const variable = variableOf.get(path.replace(/\[\d+\]$/, ''));
    const place = variable === undefined ? path : `${path} (${variable})`;
    // Each branch of a union complains by itself; the union's own error speaks for all of them.
    if (!found.has(place) || error.keyword === 'anyOf') found.set(place, sentence(error));
  }
  return [...found].map(([path, message]) => ({ path, message }));
}

function sentence(error: ErrorObject): string {
  const schema = error.parentSchema as TSchema;
  const isSecret = schema.secret === true || schema.anyOf?.some((one: TSchema) => one.secret === true);
  const shown = isSecret ? 'this' : JSON.stringify(error.data);
  if (error.keyword === 'additionalProperties') {
    const near = closest(String(error.params.additionalProperty), Object.keys(schema.properties));
    return `is no setting${near === null ? '' : `; did you mean ${near}?`}`;
  }
  if (error.keyword === 'required') return `${error.params.missingProperty} is missing`;
  if (error.keyword === 'minMs')
    return `${shown} is too short; at least ${formatDuration(Number(schema.minMs))}`;
  return `${shown} is not ${expected(schema)}`;
}

/** What a schema wants, in words. */
function expected(schema: TSchema): string {
  if (schema.format !== undefined) return FORMATS[schema.format]?.expected ?? schema.format;
  if (schema.enum !== undefined) return `one of ${schema.enum.join(', ')}`;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(expected))].join(' or ');
  if (schema.pattern !== undefined) return `text of the form ${schema.pattern}`;
  if (schema.type === 'integer') return `a whole number from ${schema.minimum} to ${schema.maximum}`;
  if (schema.type === 'boolean') return 'true or false';
  if (schema.type === 'array')
    return schema.maxItems === undefined ? 'a list' : `a list of at most ${schema.maxItems}`;
  if (schema.type === 'object') return 'a group of settings';
  if (schema.type === 'null') return 'null';
  return 'text';
}

/** Rules over several settings. */
function crossCheck(tree: Tree): ConfigProblem[] {
  const { storage, auth } = tree as unknown as ConfigText;
  const problems: ConfigProblem[] = [];
  const raw = parseDuration(storage.rawRetention) ?? 0;
  if (raw > (parseDuration(storage.rollupRetention) ?? 0)) {
    problems.push({
      path: 'storage.rollupRetention',
      message: 'must not be shorter than storage.rawRetention',
    });
  }
  auth.providers.forEach((provider, index) => {
    if (provider.kind === 'oidc' && provider.issuer === undefined) {
      problems.push({ path: `auth.providers[${index}].issuer`, message: 'is missing; kind oidc needs it' });
    }
  });
  return problems;
}

/** The path of every setting, for documentation and tests. */
export const SETTING_PATHS: readonly string[] = SETTINGS.map(({ path }) => path.join('.'));
