/** Reads files of `apply` into one document, which knows the file and the line of each of its members. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { PICTURE_USES, type PictureUse } from '../../domain/status-page.ts';
import { messageOf } from '../../error.ts';
import { createYamlLocator, isExtension, readYamlDocuments } from '../../yaml-file.ts';

export interface ApplyFiles {
  readonly document: object;
  /** Paths of the members whose values come from the environment. */
  readonly fromEnvironment: readonly string[];
  /** A problem of the member at a path of the document, with its place: `file:line: services[3].name: …`; null: the document. */
  describe(field: string | null, message: string): string;
}

/** Thrown with every problem of the files, each with its place. */
export class ApplyFileError extends Error {
  readonly code = 'bad_apply_file';

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
  }
}

/** A file, and the place of a document in it. */
interface Source {
  readonly file: string;
  /** Number of the document, from 0. */
  readonly document: number;
  readonly lineOf: (document: number, path: DocumentPath) => number | null;
}

/** A member of a list, or a whole member of a document. */
interface Place {
  readonly source: Source;
  readonly path: DocumentPath;
}

const EXTENSIONS = ['.yaml', '.yml', '.json'];
/** The name of standard input. */
const STDIN = '-';
/** Paths of members that may be secrets. */
const MAY_BE_SECRET =
  /^(?:services\.\d+\.check\.settings|channels\.\d+\.settings)\.[^.]+$|^pages\.\d+\.password$/;

/**
 * Reads files, folders (their files with the extensions .yaml, .yml and .json, by name) and `-`, standard input. The lists of
 * all documents are joined. `${NAME}` in a value is replaced by a variable of `environment`; `$${NAME}` stands for
 * `${NAME}`. A secret whose variable is not set is null, which keeps the stored one. The pictures of a page may be paths, from the folder of its file. Throws {@link ApplyFileError}.
 */
export function readApplyFiles(
  paths: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): ApplyFiles {
  const problems: string[] = [];
  const joined: Record<string, unknown> = {};
  const places = new Map<string, Place>();
  const fromEnvironment: string[] = [];
  const unset = new Map<string, string>();
  const budget = { values: MAX_VALUES };

  const take = (source: Source, name: string, value: unknown): void => {
    const before = joined[name];
    if (before === undefined) places.set(name, { source, path: [name] });
    if (!Array.isArray(value) || (before !== undefined && !Array.isArray(before))) {
      joined[name] = before ?? value;
      return;
    }
    const list: unknown[] = before ?? [];
    joined[name] = list;
    value.forEach((one, index) => {
      const field = `${name}.${list.length}`;
      places.set(field, { source, path: [name, index] });
      const fail = (path: DocumentPath, message: string) =>
        void problems.push(describePlace(source, [name, index, ...path], message));
      const note = (path: DocumentPath) => void fromEnvironment.push([field, ...path].join('.'));
      const keep = (path: DocumentPath, variable: string) => {
        const secret = [field, ...path].join('.');
        if (!MAY_BE_SECRET.test(secret)) return false;
        unset.set(secret, variable);
        return true;
      };
      const filled = fillVariables(one, { environment, budget, fail, note, keep });
      list.push(
        name === 'pages'
          ? PICTURE_USES.reduce((page, use) => withPicture(page, use, source.file, fail), filled)
          : filled,
      );
    });
  };

  const takeFile = (file: string): void => {
    const text = readText(file, problems);
    const { documents, problem } = readYamlDocuments(text ?? '', file);
    if (problem !== null) problems.push(`${problem.place}: ${problem.message}`);
    const locate = createYamlLocator(text ?? '');
    documents.forEach((document, number) => {
      const source = { file, document: number, lineOf: locate };
      if (document === null || document === undefined) return;
      if (typeof document !== 'object' || Array.isArray(document))
        problems.push(
          describePlace(
            source,
            [],
            'a document is a group with "services", "pages", "channels", "rules" and "maintenances"',
          ),
        );
      else
        for (const [name, value] of Object.entries(document))
          if (!isExtension(name)) take(source, name, value);
    });
  };
  for (const path of paths) listFiles(path, problems).forEach(takeFile);
  if (problems.length > 0) throw new ApplyFileError(problems);
  const placeOf = (field: string): string => {
    const parts = field.split('.');
    const whole = places.get(parts.slice(0, 2).join('.'));
    const { source, path } = whole ?? places.get(parts[0] ?? '') ?? { source: null, path: [] };
    if (source === null) return paths.join(', ');
    const below = parts.slice(path.length);
    return placeIn(source, [...path, ...below]);
  };
  return {
    document: joined,
    fromEnvironment,
    describe(field, message) {
      if (field === null) return `${paths.join(', ')}: ${message}`;
      const variable = unset.get(field);
      const lack = variable === undefined ? '' : `the environment has no variable ${variable}. `;
      return `${placeOf(field)}: ${lack}${message}`;
    },
  };
}

function listFiles(path: string, problems: string[]): string[] {
  if (path === STDIN) return [path];
  try {
    if (!statSync(path).isDirectory()) return [path];
    const names = readdirSync(path).filter((name) => EXTENSIONS.includes(extname(name).toLowerCase()));
    if (names.length === 0) problems.push(`${path}: the folder has no file with ${EXTENSIONS.join(', ')}`);
    return names.sort().map((name) => join(path, name));
  } catch (error) {
    problems.push(`${path}: cannot be read: ${messageOf(error)}`);
    return [];
  }
}

function readText(file: string, problems: string[]): string | null {
  try {
    return readFileSync(file === STDIN ? 0 : file, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    problems.push(`${file}: cannot be read: ${messageOf(error)}`);
    return null;
  }
}

/** The page with a picture as a `data:` URL, if it is the path of one. */
function withPicture(
  page: unknown,
  use: PictureUse,
  file: string,
  fail: (path: readonly string[], message: string) => void,
): unknown {
  const { [use]: path }: { readonly [use in PictureUse]?: unknown } = Object(page);
  if (typeof page !== 'object' || typeof path !== 'string' || path.startsWith('data:')) return page;
  try {
    const bytes = readFileSync(resolve(file === STDIN ? '.' : dirname(file), path));
    const type = extname(basename(path)).slice(1).toLowerCase() || 'png';
    return { ...page, [use]: `data:image/${type};base64,${bytes.toString('base64')}` };
  } catch (error) {
    fail([use], `${path} cannot be read: ${messageOf(error)}`);
    return page;
  }
}

function describePlace(source: Source, path: DocumentPath, message: string): string {
  return `${placeIn(source, path)}: ${message}`;
}

/** `file:line: services[3].check.kind`. */
function placeIn(source: Source, path: DocumentPath): string {
  const line = source.lineOf(source.document, path);
  const place = `${source.file === STDIN ? 'standard input' : source.file}${line === null ? '' : `:${line}`}`;
  if (path.length === 0) return place;
  const written = path.map((part) => (/^\d+$/.test(String(part)) ? `[${part}]` : `.${part}`)).join('');
  return `${place}: ${written.replace(/^\./, '')}`;
}

type DocumentPath = readonly (string | number)[];

/** The context of {@link fillVariables}. */
interface VariableContext {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Number of values that may still be read; it sinks with each. */
  readonly budget: { values: number };
  /** Receives a problem and the path of the value. */
  readonly fail: (path: DocumentPath, message: string) => void;
  /** Receives the path of each value that contains a variable. */
  readonly note: (path: DocumentPath) => void;
  /**
   * Receives a value, or the list whose only item it is, that is a variable alone which is not set. True: null takes its place, as
   * what stays as it is stored.
   */
  readonly keep: (path: DocumentPath, name: string) => boolean;
}

/** Maximum number of values in all files, since aliases of YAML can repeat them. */
const MAX_VALUES = 5_000_000;

const VARIABLE = /\$(\$?)\{([A-Za-z_][A-Za-z0-9_]*)\}/g;
/** A text that is a variable and nothing else. */
const ALONE = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;

/** A copy of a value with the variables of the environment in its texts. */
export function fillVariables(value: unknown, context: VariableContext, path: DocumentPath = []): unknown {
  const { environment, budget, fail, note } = context;
  if (--budget.values === 0) fail(path, `there are more than ${MAX_VALUES.toLocaleString('en')} values`);
  if (budget.values <= 0) return null;
  const unset = unsetVariable(Array.isArray(value) && value.length === 1 ? value[0] : value, environment);
  if (unset !== null && context.keep(path, unset)) return null;
  if (Array.isArray(value))
    return value.flatMap((one: unknown, index) => {
      const filled = fillVariables(one, context, [...path, index]);
      return typeof filled === 'string' && isAlone(one)
        ? filled.split(/\r?\n/).filter((line) => line !== '')
        : [filled];
    });
  if (typeof value === 'object' && value !== null)
    return mapValues(value, (one, name) => fillVariables(one, context, [...path, name]));
  if (typeof value !== 'string' || !value.includes('${')) return value;
  return value.replaceAll(VARIABLE, (written, dollar: string, name: string) => {
    if (dollar !== '') return written.slice(1);
    note(path);
    const known = environment[name];
    if (known === undefined) fail(path, `the environment has no variable ${name}`);
    return known ?? '';
  });
}

/** A copy of a value that {@link fillVariables} reads as the value itself. */
export function escapeVariables(value: unknown): unknown {
  if (typeof value === 'object' && value !== null) return mapValues(value, escapeVariables);
  return typeof value === 'string' ? value.replaceAll(/\$\{(?=[A-Za-z_][A-Za-z0-9_]*\})/g, '$$$${') : value;
}

function isAlone(value: unknown): boolean {
  return typeof value === 'string' && ALONE.test(value);
}

/** The name of the variable that a value is, if it is not set; null: the value is no variable, or that is set. */
function unsetVariable(value: unknown, environment: VariableContext['environment']): string | null {
  const name = typeof value === 'string' ? ALONE.exec(value)?.[1] : undefined;
  return name === undefined || environment[name] !== undefined ? null : name;
}

function mapValues(value: object, map: (one: unknown, name: string | number) => unknown): unknown {
  if (Array.isArray(value)) return value.map(map);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, map(one, name)]));
}
