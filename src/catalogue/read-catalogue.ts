/** Parses the catalogue, a YAML file with the public services, and reports all problems at once. */

import type { ErrorObject } from 'ajv';
import { dashDomain } from '../domain/service.ts';
import { PATTERN_EXAMPLES } from '../kinds/check-members.ts';
import type { NewService } from '../store/ports/services.ts';
import { isExtension, readYaml } from '../yaml-file.ts';
import { mayHoldAnchor } from './entry-bytes.ts';
import { ENTRY_FORMATS, type EntryProblem, readEntry } from './read-entry.ts';
import { splitCatalogue } from './split-catalogue.ts';

/** Bytes that are parsed at a time when problems are looked for. */
const PART_BYTES = 65_536;
/** More problems of a large file are not reported. */
const MAX_PROBLEMS = 1_000;

/** Thrown with every problem of a catalogue file, each with its line. */
export class CatalogueError extends Error {
  readonly code = 'bad_catalogue';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/** The state of the reading before a part of a catalogue. */
interface Before {
  /** The number of lines; negative where `text` begins with lines that are not in the file. */
  readonly lines: number;
  /** The lines of slugs, domains and dashed domains. Those of the part are added. */
  readonly names: Map<string, () => number>;
}

/**
 * Parses the services of `text`, a whole catalogue or a part of one; `file` is its name in messages. The list may be empty.
 * Throws {@link CatalogueError} with all problems in the order of their lines.
 */
export function readCatalogue(
  text: string,
  file: string,
  before: Before = { lines: 0, names: new Map() },
): NewService[] {
  const yaml = readYaml(text, file, before.lines);
  if (yaml.problems.length > 0)
    throw new CatalogueError(yaml.problems.map(({ place, message }) => `${place}: ${message}`));
  const root = (yaml.content ?? {}) as { readonly [name: string]: unknown };
  if (!Array.isArray(root.services)) throw new CatalogueError([`${file}: must hold a list named "services"`]);
  const items: readonly unknown[] = root.services;
  const lineOf = (path: readonly string[]) => yaml.lineOf(path) ?? 1;
  const problems: EntryProblem[] = Object.keys(root)
    .filter((name) => name !== 'services' && !isExtension(name))
    .map((name) => ({ path: [name], message: `has an unknown member "${name}"` }));
  const services: NewService[] = [];
  items.forEach((item, index) => {
    const reading = readEntry(item, index);
    if ('service' in reading) services.push(reading.service);
    else if ('errors' in reading) problems.push(...describe(item, index, reading.errors));
    else problems.push(...reading.problems);
  });
  problems.push(...findDoubles(items, before.names, (index) => lineOf(['services', String(index)])));
  if (problems.length > 0) {
    const lines = problems.map(({ path, message }) => ({ line: lineOf(path), message }));
    lines.sort((a, b) => a.line - b.line);
    throw new CatalogueError(lines.map(({ line, message }) => `${file}:${line}: ${message}`));
  }
  return services;
}

/**
 * The problems of a file that is too large to be parsed as a whole at little cost, in the order of its parts; at most about
 * {@link MAX_PROBLEMS}. None: it has none in its parts. Null: it cannot be read in parts.
 */
export async function findProblems(file: string): Promise<readonly string[] | null> {
  const problems: string[] = [];
  const names = new Map<string, () => number>();
  let line: number | null = null;
  let isSplit = true;
  const onRead = (read: Buffer) => {
    isSplit &&= !mayHoldAnchor(read);
  };
  for await (const part of splitCatalogue(file, PART_BYTES, onRead, () => problems.length > MAX_PROBLEMS)) {
    if (part === null || !isSplit) return null;
    const { list, bytes } = part;
    const text = bytes.toString();
    line ??= list.line;
    try {
      readCatalogue(list.head + text + list.foot, file, { lines: line - countLines(list.head), names });
    } catch (error) {
      if (!(error instanceof CatalogueError)) throw error;
      problems.push(...error.problems);
    }
    line += countLines(text);
  }
  return problems;
}

const countLines = (text: string): number => text.split('\n').length - 1;

function describe(item: unknown, index: number, errors: readonly ErrorObject[]): EntryProblem[] {
  const slug = textOf(item, 'slug');
  const name = slug === null ? '' : `${slug}: `;
  const found = new Map<string, EntryProblem>();
  for (const error of errors) {
    const below = error.instancePath.split('/').slice(1);
    if (error.keyword === 'additionalProperties') below.push(String(error.params.additionalProperty));
    const place = error.keyword === 'additionalProperties' ? below.slice(0, -1) : below;
    const message = `${name}${place.length === 0 ? '' : `${place.join('.')} `}${sentence(error)}`;
    const path = ['services', String(index), ...below];
    const key = `${path.join('/')} ${error.keyword === 'required' ? error.params.missingProperty : ''}`;
    // Each branch of a union reports an error; the union's own error covers them all. Enums are clearer than types.
    if (!found.has(key) || error.keyword === 'anyOf' || error.keyword === 'enum')
      found.set(key, { path, message });
  }
  return [...found.values()];
}

function sentence({ keyword, params, message }: ErrorObject): string {
  switch (keyword) {
    case 'required':
      return `lacks "${params.missingProperty}"`;
    case 'additionalProperties':
      return `has an unknown member "${params.additionalProperty}"`;
    case 'enum':
      return `must be one of ${params.allowedValues.join(', ')}`;
    case 'anyOf':
      return 'must be a status code from 100 to 999 or a class such as 2xx';
    case 'format':
      return `must be ${ENTRY_FORMATS[params.format as keyof typeof ENTRY_FORMATS].expected}`;
    case 'pattern':
      return `must be ${PATTERN_EXAMPLES.get(params.pattern) ?? params.pattern}`;
    case 'minLength':
    case 'minItems':
      return 'must not be empty';
    case 'maxLength':
      return `must not be longer than ${params.limit} characters`;
    case 'type':
      return `must be ${params.type === 'object' ? 'a group of members' : params.type === 'array' ? 'a list' : 'text'}`;
    default:
      return message ?? keyword;
  }
}

/** Slugs, domains and dashed domains must be unique, also among entries with other problems. `first`: where each was seen first. */
function findDoubles(
  items: readonly unknown[],
  first: Map<string, () => number>,
  lineOf: (index: number) => number,
): EntryProblem[] {
  const problems: EntryProblem[] = [];
  const isDouble = (what: string, value: string, index: number, member: string): boolean => {
    const before = first.get(`${what} ${value}`);
    if (before === undefined) first.set(`${what} ${value}`, () => lineOf(index));
    else
      problems.push({
        path: ['services', String(index), member],
        message: `the ${what} "${value}" stands in line ${before()} already`,
      });
    return before !== undefined;
  };
  items.forEach((item, index) => {
    const slug = textOf(item, 'slug');
    const domain = textOf(item, 'domain');
    if (slug !== null) isDouble('slug', slug, index, 'slug');
    if (domain !== null && !isDouble('domain', domain, index, 'domain'))
      isDouble('dashed domain', dashDomain(domain), index, 'domain');
  });
  return problems;
}

function textOf(item: unknown, member: string): string | null {
  const value = (item as { readonly [name: string]: unknown } | null)?.[member];
  return typeof value === 'string' ? value : null;
}
