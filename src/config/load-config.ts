/** Loads the configuration: environment beats file beats default; all problems are told at once, with their paths. */
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { parseDuration } from '../domain/durations.ts';
import { ConfigError, type ConfigProblem } from './config-error.ts';
import { findContradictions } from './cross-check.ts';
import { describeErrors, formatPath, type SchemaProblem } from './describe-errors.ts';
import { readEnvironment } from './environment.ts';
import { FORMATS } from './formats.ts';
import { NO_FILE, readConfigFile, type SettingTree } from './read-config-file.ts';
import { type Config, resolveConfig } from './resolve-config.ts';
import { CONFIG_SCHEMA, type ConfigText } from './schema.ts';

/** Where a configuration comes from. */
export interface ConfigSource {
  /** YAML file; null: defaults and environment alone. */
  readonly file: string | null;
  /** Variables; those that do not begin with `UPBEAT_` are ignored. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads the file and the files that `..._FILE` variables name; by default from disk. */
  readonly readFile?: (path: string) => string;
}

const ajv = new Ajv({
  allErrors: true,
  useDefaults: true,
  verbose: true,
  strict: false,
  // The schema is a source of ours, which test/config/ validates: each command would take 50 ms for it.
  validateSchema: false,
});
for (const [name, { read }] of Object.entries(FORMATS)) ajv.addFormat(name, (text) => read(text) !== null);
ajv.addKeyword({
  keyword: 'minMs',
  type: 'string',
  validate: (minMs: number, text: string) => (parseDuration(text) ?? minMs) >= minMs,
});
const validate = ajv.compile<ConfigText>(CONFIG_SCHEMA);

/** Reads, checks and resolves. Relative paths in it stay relative to the working directory. Throws {@link ConfigError}. */
export function loadConfig({
  file,
  env,
  readFile = (path) => readFileSync(path, 'utf8'),
}: ConfigSource): Config {
  const { tree, placeOf, problems: fileProblems } = file === null ? NO_FILE : readConfigFile(file, readFile);
  const environment = readEnvironment(env, readFile);
  const variableOf = new Map<string, string>();
  // A copy: the defaults are filled into it, and the tree may be that of a constant.
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
  if (validate(merged)) {
    config = resolveConfig(merged);
    problems.push(...findContradictions(config).map(locate));
  } else problems.push(...describeErrors(validate.errors ?? []).map(locate));
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
  // A section that is no section is a problem of its own, which the schema reports.
  if (below !== undefined && (typeof below !== 'object' || below === null)) return;
  const next = (below ?? {}) as SettingTree;
  tree[name] = next;
  put(next, rest, value);
}
