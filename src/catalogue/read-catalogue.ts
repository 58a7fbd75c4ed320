/** Parses the catalogue, a YAML file with the public services, and reports all problems at once. */
import { Ajv, type ErrorObject } from 'ajv';
import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import { type AcceptRule, DEFAULT_CHECK, dashDomain } from '../domain/service.ts';
import type { NewService } from '../store/ports/services.ts';
import { type CatalogueEntry, CatalogueEntrySchema, FORMATS } from './catalogue-schema.ts';

/** Thrown with every problem of a catalogue file, each with its line. */
export class CatalogueError extends Error {
  readonly code = 'bad_catalogue';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

const ajv = new Ajv({ allErrors: true, strict: false });
for (const [name, { accepts }] of Object.entries(FORMATS)) ajv.addFormat(name, accepts);
const validate = ajv.compile<CatalogueEntry>(CatalogueEntrySchema);

/** One problem, at a path within the file such as `['services', '3', 'check', 'url']`. */
interface Problem {
  readonly path: readonly string[];
  readonly message: string;
}

/**
 * Parses the services of `text`; `file` is its name in messages. The list may be empty.
 * Throws {@link CatalogueError} with all problems in the order of their lines.
 */
export function readCatalogue(text: string, file: string): NewService[] {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, prettyErrors: false });
  const lineAt = (offset: number) => Math.max(1, lines.linePos(offset).line);
  if (document.errors.length > 0)
    throw new CatalogueError(
      document.errors.map(({ pos, message }) => `${file}:${lineAt(pos[0])}: ${message}`),
    );
  const root = readRoot(document, file);
  if (!Array.isArray(root.services)) throw new CatalogueError([`${file}: must hold a list named "services"`]);
  const items: readonly unknown[] = root.services;
  const lineOf = (path: readonly string[]) => lineAt(offsetOf(document, path));
  const problems: Problem[] = Object.keys(root)
    .filter((name) => name !== 'services')
    .map((name) => ({ path: [name], message: `has an unknown member "${name}"` }));
  const entries: CatalogueEntry[] = [];
  items.forEach((item, index) => {
    if (validate(item)) entries.push(item);
    else problems.push(...describe(item, index, validate.errors ?? []));
  });
  problems.push(...findDoubles(items, (index) => lineOf(['services', String(index)])));
  if (problems.length > 0) {
    const told = problems.map(({ path, message }) => ({ line: lineOf(path), message }));
    told.sort((a, b) => a.line - b.line);
    throw new CatalogueError(told.map(({ line, message }) => `${file}:${line}: ${message}`));
  }
  return entries.map(toService);
}

function readRoot(document: Document, file: string): { readonly [name: string]: unknown } {
  try {
    const root: unknown = document.toJS({ maxAliasCount: 100 });
    return typeof root === 'object' && root !== null ? (root as { [name: string]: unknown }) : {};
  } catch (error) {
    // Unresolved and recursive aliases are only detected here.
    throw new CatalogueError([`${file}: ${(error as Error).message}`]);
  }
}

/** The position of the value at `path`, or of its nearest ancestor. */
function offsetOf(document: Document, path: readonly string[]): number {
  for (let length = path.length; length > 0; length--) {
    const keys = path.slice(0, length).map((part) => (/^\d+$/.test(part) ? Number(part) : part));
    const node = document.getIn(keys, true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}

function describe(item: unknown, index: number, errors: readonly ErrorObject[]): Problem[] {
  const slug = textOf(item, 'slug');
  const name = slug === null ? '' : `${slug}: `;
  const found = new Map<string, Problem>();
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
      return 'must be a status code from 100 to 599 or a class such as 2xx';
    case 'format':
      return `must be ${FORMATS[params.format as keyof typeof FORMATS].expected}`;
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

/** Slugs, domains and dashed domains must be unique, also among entries with other problems. */
function findDoubles(items: readonly unknown[], lineOf: (index: number) => number): Problem[] {
  const first = new Map<string, number>();
  const problems: Problem[] = [];
  const isDouble = (what: string, value: string, index: number, member: string): boolean => {
    const before = first.get(`${what} ${value}`);
    if (before === undefined) first.set(`${what} ${value}`, index);
    else
      problems.push({
        path: ['services', String(index), member],
        message: `the ${what} "${value}" stands in line ${lineOf(before)} already`,
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

function toService({ slug, name, domain, category, check, statusPage }: CatalogueEntry): NewService {
  return {
    slug,
    name,
    domain,
    category,
    origin: 'catalogue',
    accountId: null,
    verified: true,
    paused: false,
    check: {
      ...DEFAULT_CHECK,
      ...check,
      accept: (check?.accept as readonly AcceptRule[] | undefined) ?? null,
    },
    statusPage:
      statusPage === undefined
        ? null
        : {
            url: statusPage.url,
            kind: statusPage.kind,
            feedUrl: statusPage.feedUrl ?? null,
            components: statusPage.components ?? null,
          },
  };
}
