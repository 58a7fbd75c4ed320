/** The schema of an entry of the catalogue, and the service that it describes. */

import { isIPv4 } from 'node:net';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { describeMemberProblem, describeSettingProblem } from '../domain/input-problem.ts';
import {
  type AcceptRule,
  CATEGORIES,
  type Category,
  type CheckSettings,
  DEFAULT_CHECK,
  PROBED_KINDS,
  type ProbedKind,
  STATUS_PAGE_KINDS,
  type StatusPageKind,
} from '../domain/service.ts';
import { createCompiler, type Static, strictObject, Type } from '../json-schema.ts';
import { CHECK_MEMBERS, operatorLimits, parseMembers, refuseMembers } from '../kinds/check-members.ts';
import { validatePublicSettings } from '../kinds/settings.ts';
import type { NewService } from '../store/ports/services.ts';

/** Formats of text in entries, each with a description for messages. */
export const ENTRY_FORMATS = {
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

const HttpUrl = Type.String({ format: 'http-url', maxLength: 2_000 });

const StatusPageEntry = strictObject({
  url: HttpUrl,
  kind: Type.Unsafe<StatusPageKind>({ type: 'string', enum: [...STATUS_PAGE_KINDS] }),
  feedUrl: Type.Optional(HttpUrl),
  components: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { minItems: 1 })),
});

const CheckEntry = strictObject({
  kind: Type.Optional(Type.Unsafe<ProbedKind>({ type: 'string', enum: [...PROBED_KINDS] })),
  url: Type.Optional(HttpUrl),
  method: Type.Optional(Type.Unsafe<'HEAD' | 'GET'>({ type: 'string', enum: ['HEAD', 'GET'] })),
  accept: Type.Optional(
    Type.Array(
      Type.Union([Type.Integer({ minimum: 100, maximum: 999 }), Type.String({ pattern: '^[1-9]xx$' })]),
      { minItems: 1 },
    ),
  ),
  caFile: Type.Optional(Type.String({ minLength: 1 })),
  settings: Type.Optional(Type.Unsafe<CheckSettings>({ type: 'object' })),
  ...CHECK_MEMBERS,
});

const CatalogueEntrySchema = strictObject({
  slug: Type.String({ format: 'slug', maxLength: 100 }),
  name: Type.String({ minLength: 1, maxLength: 100 }),
  domain: Type.String({ format: 'domain', maxLength: 253 }),
  category: Type.Unsafe<Category>({ type: 'string', enum: [...CATEGORIES] }),
  statusPage: Type.Optional(StatusPageEntry),
  check: Type.Optional(CheckEntry),
});

type CatalogueEntry = Static<typeof CatalogueEntrySchema>;

const compile = createCompiler(ENTRY_FORMATS);
/** Null: no entry was read yet. */
let validate: ValidateFunction<CatalogueEntry> | null = null;

/** One problem, at a path within the file such as `['services', '3', 'check', 'url']`. */
export interface EntryProblem {
  readonly path: readonly string[];
  readonly message: string;
}

/** The service that an entry describes, or the reason for which it is refused. */
export type EntryReading =
  | { readonly service: NewService }
  | { readonly errors: readonly ErrorObject[] }
  | { readonly problems: readonly EntryProblem[] };

/** Validates the entry with that index in the list. */
export function readEntry(item: unknown, index: number): EntryReading {
  validate ??= compile(CatalogueEntrySchema);
  if (!validate(item)) return { errors: validate.errors ?? [] };
  const problems = [...wrongSettings(item, index), ...wrongMembers(item, index)];
  return problems.length > 0 ? { problems } : { service: toService(item) };
}

/** Settings are validated by the schema of their kind. Anyone who may read the file could read a secret in it. */
function wrongSettings({ slug, check }: CatalogueEntry, index: number): EntryProblem[] {
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
function wrongMembers({ slug, check = {} }: CatalogueEntry, index: number): EntryProblem[] {
  return refuseMembers(parseMembers(check), operatorLimits(null)).map(({ member, problem }) => ({
    path: ['services', String(index), 'check', member],
    message: `${slug}: check.${member} ${describeMemberProblem(member, problem)}`,
  }));
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
