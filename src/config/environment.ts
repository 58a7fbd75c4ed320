/** Settings from environment variables: `UPBEAT_` and the path in capitals joined by `_`; `…_FILE` names a file. */

import { messageOf } from '../error.ts';
import type { TSchema } from '../json-schema.ts';
import { readYaml } from '../yaml-file.ts';
import { closest } from './closest-name.ts';
import type { ConfigProblem } from './config-error.ts';
import { CONFIG_SCHEMA } from './schema.ts';

/** A setting with its path and the variable that sets it. */
export interface Setting {
  readonly path: readonly string[];
  readonly variable: string;
  readonly schema: TSchema;
}

const OTHER_PREFIXES = ['UPBEAT_TEST_', 'UPBEAT_DEMO_'];
/** Variables that are not settings: the key of `apply --server`. */
const OTHER_VARIABLES = ['UPBEAT_KEY'];

/** Every setting, in the order of the schema. */
export const SETTINGS: readonly Setting[] = leaves(CONFIG_SCHEMA, []);

/** The path of every setting, such as `http.port`. */
export const SETTING_PATHS: readonly string[] = SETTINGS.map(({ path }) => path.join('.'));

interface EnvironmentValue {
  readonly setting: Setting;
  readonly value: unknown;
  /** The variable of the setting, or the one with `_FILE`. */
  readonly variable: string;
}

/** Reads all variables with the prefix. An unknown name is a problem, since it may be misspelt. */
export function readEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  readFile: (path: string) => string,
): { readonly values: readonly EnvironmentValue[]; readonly problems: readonly ConfigProblem[] } {
  const values: EnvironmentValue[] = [];
  const problems: ConfigProblem[] = [];
  const known = new Map(SETTINGS.map((setting) => [setting.variable, setting]));
  const isServiceLink = createLinkTest(env);
  const complain = (path: string, message: string) => problems.push({ path, message, place: null });
  for (const [name, text] of Object.entries(env).sort()) {
    if (text === undefined || !name.startsWith('UPBEAT_')) continue;
    if (OTHER_VARIABLES.includes(name) || OTHER_PREFIXES.some((prefix) => name.startsWith(prefix))) continue;
    if (isServiceLink(name, text)) continue;
    const direct = known.get(name);
    const setting =
      direct ?? (name.endsWith('_FILE') ? known.get(name.slice(0, -'_FILE'.length)) : undefined);
    if (setting === undefined) {
      const near = closest(name, [...known.keys()]);
      complain(name, `is not a setting${near === null ? '' : `; did you mean ${near}?`}`);
    } else if (direct !== undefined)
      values.push({ setting, value: readValue(text, setting), variable: name });
    else if (env[setting.variable] !== undefined)
      complain(name, `stands beside ${setting.variable}; set only one of them`);
    else {
      try {
        const content = readFile(text).replace(/\r?\n$/, '');
        values.push({ setting, value: readValue(content, setting), variable: name });
      } catch (error) {
        complain(name, `cannot be read: ${messageOf(error)}`);
      }
    }
  }
  return { values, problems };
}

/**
 * Returns the test for variables of Kubernetes' service links. A pod has them for each Service of its namespace, such as
 * `UPBEAT_PORT=tcp://10.0.0.1:80` for one that is named upbeat; they are no settings.
 */
function createLinkTest(env: Readonly<Record<string, string | undefined>>) {
  const services = Object.keys(env).flatMap((name) => /^(UPBEAT.*)_SERVICE_HOST$/.exec(name)?.[1] ?? []);
  return (name: string, text: string): boolean =>
    services.some((service) => {
      if (!name.startsWith(`${service}_`)) return false;
      const rest = name.slice(service.length);
      return rest === '_PORT' ? text.includes('://') : /^_(?:SERVICE_(?:HOST|PORT)|PORT_\d)/.test(rest);
    });
}

/** Converts text to the type of the setting. The schema refuses text that does not fit. */
function readValue(text: string, { schema }: Setting): unknown {
  if (schema.type === 'array') {
    if (text.trim() === '') return [];
    if (text.trim().startsWith('[')) return readFlow(text);
    const items = text.split(',').map((item) => item.trim());
    return schema.items.type === 'integer' ? items.map(asNumber) : items;
  }
  const types = schema.anyOf === undefined ? [schema.type] : schema.anyOf.map((one: TSchema) => one.type);
  if (types.includes('integer') && text.trim() !== '') {
    const number = asNumber(text.trim());
    if (typeof number === 'number') return number;
  }
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  if (types.includes('null') && text === '') return null;
  return text;
}

/** Parses a list in YAML or JSON; a text that is neither stays as it is. */
function readFlow(text: string): unknown {
  const { content, problems } = readYaml(text, '');
  return problems.length === 0 ? content : text;
}

function asNumber(text: string): number | string {
  return /^-?\d+$/.test(text) ? Number(text) : text;
}

function leaves(schema: TSchema, path: readonly string[]): Setting[] {
  if (schema.type !== 'object') {
    return [{ path, schema, variable: ['UPBEAT', ...path].join('_').toUpperCase() }];
  }
  return Object.entries(schema.properties as Record<string, TSchema>).flatMap(([name, member]) =>
    leaves(member, [...path, name]),
  );
}
