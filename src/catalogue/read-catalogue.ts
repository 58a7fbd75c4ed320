/** Reads the catalogue: the public services of a YAML file, or everything that is wrong with it. */
import { Ajv, type ErrorObject } from 'ajv';
import { type Document, isMap, isSeq, LineCounter, parseDocument } from 'yaml';
import { type AcceptRule, DEFAULT_CHECK, dashDomain } from '../domain/service.ts';
import type { NewService } from '../store/ports/registry.ts';
import { type CatalogueEntry, CatalogueEntrySchema } from './catalogue-schema.ts';

/** Thrown with every problem of a catalogue file, each with its line. */
export class CatalogueError extends Error {
  readonly code = 'bad_catalogue';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

const validate = new Ajv({ allErrors: true, strict: false }).compile<CatalogueEntry>(CatalogueEntrySchema);

/** Reads the services of `text`; `file` only names it in messages. Throws {@link CatalogueError}. */
export function readCatalogue(text: string, file: string): NewService[] {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true });
  const lineAt = (offset: number) => lines.linePos(offset).line;
  if (document.errors.length > 0) {
    throw new CatalogueError(
      document.errors.map((error) => `${file}:${lineAt(error.pos[0])}: ${firstLine(error.message)}`),
    );
  }
  const list = findList(document);
  if (list === null) throw new CatalogueError([`${file}: must hold a list named "services"`]);
  const problems: string[] = [];
  const entries: { readonly entry: CatalogueEntry; readonly line: number }[] = [];
  for (const item of list) {
    const line = lineAt(item.offset);
    if (validate(item.value)) entries.push({ entry: item.value, line });
    else
      problems.push(
        ...describe(item.value, validate.errors ?? []).map((problem) => `${file}:${line}: ${problem}`),
      );
  }
  problems.push(...findDoubles(entries).map(({ line, problem }) => `${file}:${line}: ${problem}`));
  if (problems.length > 0) throw new CatalogueError(problems);
  return entries.map(({ entry }) => toService(entry));
}

function findList(document: Document): { readonly value: unknown; readonly offset: number }[] | null {
  const services = isMap(document.contents) ? document.contents.get('services', true) : null;
  if (!isSeq(services)) return null;
  let values: unknown;
  try {
    values = services.toJS(document, { maxAliasCount: 100 });
  } catch (error) {
    throw new CatalogueError([firstLine((error as Error).message)]);
  }
  return (values as unknown[]).map((value, index) => ({
    value,
    offset: (services.items[index] as { range?: readonly number[] } | undefined)?.range?.[0] ?? 0,
  }));
}

function describe(value: unknown, errors: readonly ErrorObject[]): string[] {
  const slug = (value as { slug?: unknown } | null)?.slug;
  const name = typeof slug === 'string' ? `${slug}: ` : '';
  const places = new Map<string, string>();
  for (const error of errors) {
    const place = error.instancePath.slice(1).replaceAll('/', '.');
    const said = sentence(error);
    const key = `${place}${error.keyword === 'additionalProperties' ? said : ''}`;
    if (!places.has(key) || error.keyword === 'anyOf')
      places.set(key, `${name}${place === '' ? '' : `${place} `}${said}`);
  }
  return [...places.values()];
}

function sentence(error: ErrorObject): string {
  if (error.keyword === 'required') return `lacks "${error.params.missingProperty}"`;
  if (error.keyword === 'additionalProperties')
    return `has an unknown member "${error.params.additionalProperty}"`;
  if (error.keyword === 'enum') return `must be one of ${error.params.allowedValues.join(', ')}`;
  if (error.keyword === 'anyOf') return 'must be a status code or a class such as 2xx';
  if (error.keyword === 'pattern') return `does not have the form ${error.params.pattern}`;
  return error.message ?? error.keyword;
}

/** Slugs, domains and their dashed forms name one service each. */
function findDoubles(
  entries: readonly { readonly entry: CatalogueEntry; readonly line: number }[],
): { readonly line: number; readonly problem: string }[] {
  const seen = {
    slug: new Map<string, number>(),
    domain: new Map<string, number>(),
    dashed: new Map<string, number>(),
  };
  const found: { line: number; problem: string }[] = [];
  const note = (kind: keyof typeof seen, value: string, line: number, what: string) => {
    const first = seen[kind].get(value);
    if (first !== undefined)
      found.push({ line, problem: `${what} "${value}" stands in line ${first} already` });
    seen[kind].set(value, first ?? line);
    return first !== undefined;
  };
  for (const { entry, line } of entries) {
    note('slug', entry.slug, line, 'the slug');
    const doubled = note('domain', entry.domain, line, 'the domain');
    if (!doubled) note('dashed', dashDomain(entry.domain), line, 'the dashed domain');
  }
  return found;
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

function firstLine(message: string): string {
  return message.split('\n')[0] ?? message;
}
