/** Loads the configuration from the environment, the file and the defaults, in this order of precedence. */
import { readFileSync } from 'node:fs';
import { messageOf } from '../error.ts';
import type { TSchema } from '../json-schema.ts';
import { isExtension, readYaml } from '../yaml-file.ts';
import { ConfigError, type ConfigProblem } from './config-error.ts';
import { describeErrors, formatPath, type SchemaProblem } from './describe-errors.ts';
import { readEnvironment } from './environment.ts';
import { type Config, findContradictions, resolveConfig } from './resolve-config.ts';
import { CONFIG_SCHEMA } from './schema.ts';
import { validateConfig } from './validate-config.ts';

interface ConfigSource {
  /** YAML file; null: only defaults and environment. */
  readonly file: string | null;
  /** Environment variables; those without the prefix `UPBEAT_` are ignored. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads the file and the files in `..._FILE` variables. Default: from disk. */
  readonly readFile?: (path: string) => string;
}

/** Reads, validates and resolves. Relative paths stay relative to the working directory. Throws {@link ConfigError}. */
export function loadConfig({
  file,
  env,
  readFile = (path) => readFileSync(path, 'utf8'),
}: ConfigSource): Config {
  const { tree, placeOf, problems: fileProblems } = file === null ? NO_FILE : readConfigFile(file, readFile);
  const environment = readEnvironment(env, readFile);
  const variableOf = new Map<string, string>();
  // A copy, since the validation fills in defaults, and the tree may be a constant.
  const merged: SettingTree = structuredClone(tree);
  for (const { setting, value, variable } of environment.values) {
    put(merged, setting.path, value);
    variableOf.set(setting.path.join('.'), variable);
  }
  const locate = ({ parts, message }: SchemaProblem): ConfigProblem => {
    const setBy = parts
      .map((_, index) => variableOf.get(parts.slice(0, index + 1).join('.')))
      .find((variable) => variable !== undefined);
    return { path: formatPath(parts), message, place: setBy ?? placeOf(parts) };
  };
  const problems = [...fileProblems, ...environment.problems];
  let config: Config | null = null;
  if (validateConfig(merged)) {
    config = resolveConfig(merged);
    problems.push(...findContradictions(config).map(locate));
  } else problems.push(...describeErrors(validateConfig.errors ?? []).map(locate));
  if (config === null || problems.length > 0)
    throw new ConfigError(problems.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0)));
  return config;
}

function put(tree: SettingTree, path: readonly string[], value: unknown): void {
  const [name = '', ...rest] = path;
  if (rest.length === 0) {
    tree[name] = value;
    return;
  }
  const below = tree[name];
  // The schema reports a value in the place of a section.
  if (below !== undefined && (typeof below !== 'object' || below === null)) return;
  const next = (below ?? {}) as SettingTree;
  tree[name] = next;
  put(next, rest, value);
}

/** Settings by their names, nested as in a file. */
type SettingTree = { [name: string]: unknown };

interface ConfigFile {
  readonly tree: SettingTree;
  /** `file:line` of the value at `path`, or of its nearest ancestor; null: neither is in the file. */
  readonly placeOf: (path: readonly string[]) => string | null;
  readonly problems: readonly ConfigProblem[];
}

/** A configuration without a file. */
const NO_FILE: ConfigFile = { tree: {}, placeOf: () => null, problems: [] };

/** Reads YAML. Does not throw: problems are in `problems`, and the tree is then empty. */
function readConfigFile(file: string, readFile: (path: string) => string): ConfigFile {
  const failed = (
    ...problems: readonly { readonly place: string; readonly message: string }[]
  ): ConfigFile => ({
    ...NO_FILE,
    problems: problems.map(({ place, message }) => ({ path: place, message, place: null })),
  });
  let text: string;
  try {
    text = readFile(file);
  } catch (error) {
    return failed({ place: file, message: `cannot be read: ${messageOf(error)}` });
  }
  const { content, problems, lineOf } = readYaml(text, file);
  if (problems.length > 0) return failed(...problems);
  const tree = content ?? {};
  if (typeof tree !== 'object' || Array.isArray(tree))
    return failed({ place: file, message: 'must hold settings by their names' });
  return {
    tree: dropEmptySections(dropExtensions(tree as SettingTree), CONFIG_SCHEMA),
    placeOf: (path) => {
      const line = lineOf(path);
      return line === null ? null : `${file}:${line}`;
    },
    problems: [],
  };
}

function dropExtensions(tree: SettingTree): SettingTree {
  return Object.fromEntries(Object.entries(tree).filter(([name]) => !isExtension(name)));
}

/** An empty section, such as `checks:`, is null in YAML and stands for its defaults. */
function dropEmptySections(tree: SettingTree, schema: TSchema): SettingTree {
  const kept = Object.entries(tree).flatMap(([name, value]) => {
    const member: TSchema | undefined = Object.hasOwn(schema.properties, name)
      ? schema.properties[name]
      : undefined;
    if (member?.type !== 'object') return [[name, value]];
    if (value === null) return [];
    const isSection = typeof value === 'object' && !Array.isArray(value);
    return [[name, isSection ? dropEmptySections(value as SettingTree, member) : value]];
  });
  return Object.fromEntries(kept);
}
