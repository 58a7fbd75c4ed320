/** Parses the catalogue, a YAML file with the public services, and reports all problems at once. */

import { isIPv4 } from 'node:net';
import { Ajv, type ErrorObject } from 'ajv';
import { CATEGORIES, type Category } from '../domain/category.ts';
import { describeMemberProblem, describeSettingProblem } from '../domain/input-problem.ts';
import {
  type AcceptRule,
  type CheckSettings,
  DEFAULT_CHECK,
  dashDomain,
  PROBED_KINDS,
  type ProbedKind,
  STATUS_PAGE_KINDS,
  type StatusPageKind,
} from '../domain/service.ts';
import { type Static, Type } from '../json-schema.ts';
import {
  CHECK_MEMBERS,
  operatorLimits,
  PATTERN_EXAMPLES,
  parseMembers,
  refuseMembers,
} from '../kinds/check-members.ts';
import { validatePublicSettings } from '../kinds/settings.ts';
import type { NewService } from '../store/ports/services.ts';
import { readYaml } from '../yaml-file.ts';

/** Formats of text in entries, each with a description for messages. */
const FORMATS = {
  slug: {
    accepts: (text: string) => /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(text),
    expected: 'lower-case letters and digits, in groups joined by single dashes',
  },
  domain: {
    accepts: isDomain,
    expected: 'a host name in lower-case ASCII, without scheme, port or path',
  },
  'http-url': {
    accepts: isHttpUrl,
    expected: 'an address that begins with http:// or https://, without password',
  },
} as const;

const strict = { additionalProperties: false };
const HttpUrl = Type.String({ format: 'http-url', maxLength: 2_000 });

const StatusPageEntry = Type.Object(
  {
    url: HttpUrl,
    kind: Type.Unsafe<StatusPageKind>({ type: 'string', enum: [...STATUS_PAGE_KINDS] }),
    feedUrl: Type.Optional(HttpUrl),
    components: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { minItems: 1 })),
  },
  strict,
);

const CheckEntry = Type.Object(
  {
    kind: Type.Optional(Type.Unsafe<ProbedKind>({ type: 'string', enum: [...PROBED_KINDS] })),
    url: Type.Optional(HttpUrl),
    method: Type.Optional(Type.Unsafe<'HEAD' | 'GET'>({ type: 'string', enum: ['HEAD', 'GET'] })),
    accept: Type.Optional(
      Type.Array(
        Type.Union([Type.Integer({ minimum: 100, maximum: 599 }), Type.String({ pattern: '^[1-5]xx$' })]),
        { minItems: 1 },
      ),
    ),
    caFile: Type.Optional(Type.String({ minLength: 1 })),
    settings: Type.Optional(Type.Unsafe<CheckSettings>({ type: 'object' })),
    ...CHECK_MEMBERS,
  },
  strict,
);

/** Schema of one service. */
const CatalogueEntrySchema = Type.Object(
  {
    slug: Type.String({ format: 'slug', maxLength: 100 }),
    name: Type.String({ minLength: 1, maxLength: 100 }),
    domain: Type.String({ format: 'domain', maxLength: 253 }),
    category: Type.Unsafe<Category>({ type: 'string', enum: [...CATEGORIES] }),
    statusPage: Type.Optional(StatusPageEntry),
    check: Type.Optional(CheckEntry),
  },
  strict,
);

/** A valid entry. */
type CatalogueEntry = Static<typeof CatalogueEntrySchema>;

/** Thrown with every problem of a catalogue file, each with its line. */
export class CatalogueError extends Error {
  readonly code = 'bad_catalogue';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

// The schema is a source of ours, so that it is not validated at each start.
const ajv = new Ajv({ allErrors: true, strict: false, validateSchema: false, meta: false });
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
  const yaml = readYaml(text, file);
  if (yaml.problems.length > 0)
    throw new CatalogueError(yaml.problems.map(({ place, message }) => `${place}: ${message}`));
  const root = (yaml.content ?? {}) as { readonly [name: string]: unknown };
  if (!Array.isArray(root.services)) throw new CatalogueError([`${file}: must hold a list named "services"`]);
  const items: readonly unknown[] = root.services;
  const lineOf = (path: readonly string[]) => yaml.lineOf(path) ?? 1;
  const problems: Problem[] = Object.keys(root)
    .filter((name) => name !== 'services')
    .map((name) => ({ path: [name], message: `has an unknown member "${name}"` }));
  const entries: CatalogueEntry[] = [];
  items.forEach((item, index) => {
    if (validate(item)) {
      entries.push(item);
      problems.push(...wrongSettings(item, index), ...wrongMembers(item, index));
    } else problems.push(...describe(item, index, validate.errors ?? []));
  });
  problems.push(...findDoubles(items, (index) => lineOf(['services', String(index)])));
  if (problems.length > 0) {
    const lines = problems.map(({ path, message }) => ({ line: lineOf(path), message }));
    lines.sort((a, b) => a.line - b.line);
    throw new CatalogueError(lines.map(({ line, message }) => `${file}:${line}: ${message}`));
  }
  return entries.map(toService);
}

/** Settings are validated by the schema of their kind. Anyone who may read the file could read a secret in it. */
function wrongSettings({ slug, check }: CatalogueEntry, index: number): Problem[] {
  const { kind = DEFAULT_CHECK.kind, settings } = check ?? {};
  const reading = validatePublicSettings(kind, settings);
  const wrong = reading.ok
    ? Object.keys(reading.secrets ?? {}).map((setting) => ({
        setting,
        text: 'is not allowed in the catalogue',
      }))
    : reading.wrong.map(({ setting, problem }) => ({ setting, text: describeSettingProblem(problem) }));
  return wrong.map(({ setting, text }) => ({
    path: ['services', String(index), 'check', 'settings', setting],
    message: `${slug}: check.settings.${setting} ${text}`,
  }));
}

/** Times out of their bounds. The settings for all, which count for absent ones, are not known here. */
function wrongMembers({ slug, check = {} }: CatalogueEntry, index: number): Problem[] {
  return refuseMembers(parseMembers(check), operatorLimits(null)).map(({ member, problem }) => ({
    path: ['services', String(index), 'check', member],
    message: `${slug}: check.${member} ${describeMemberProblem(member, problem)}`,
  }));
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

function toService({ slug, name, domain, category, check = {}, statusPage }: CatalogueEntry): NewService {
  const { kind, url, method, accept, caFile, settings, ...members } = check;
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
      kind: kind ?? DEFAULT_CHECK.kind,
      url: url ?? null,
      method: method ?? null,
      accept: (accept as readonly AcceptRule[] | undefined) ?? null,
      caFile: caFile ?? null,
      ...(settings === undefined ? {} : { settings }),
      ...parseMembers(members),
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

/** Host names of one label and IPv4 addresses are allowed, for private fleets (operating, Catalogue). */
function isDomain(text: string): boolean {
  if (isIPv4(text)) return true;
  const labels = text.split('.');
  // A URL with a numeric last label would be an IPv4 address in another notation.
  if (/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '')) return false;
  return labels.every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label));
}

function isHttpUrl(text: string): boolean {
  if (!/^https?:\/\/[^\s/]/.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}
