/** Schema of the catalogue file, a list of public services. Formats are those of {@link FORMATS}. */
import { isIPv4 } from 'node:net';
import { type Static, Type } from '@sinclair/typebox';
import type { Category } from '../domain/category.ts';
import { CATEGORIES } from '../domain/category.ts';
import { STATUS_PAGE_KINDS, type StatusPageKind } from '../domain/service.ts';

/** String formats of entries, each with a description for error messages. */
export const FORMATS = {
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
    kind: Type.Optional(Type.Unsafe<'root' | 'health'>({ type: 'string', enum: ['root', 'health'] })),
    url: Type.Optional(HttpUrl),
    method: Type.Optional(Type.Unsafe<'HEAD' | 'GET'>({ type: 'string', enum: ['HEAD', 'GET'] })),
    accept: Type.Optional(
      Type.Array(
        Type.Union([Type.Integer({ minimum: 100, maximum: 599 }), Type.String({ pattern: '^[1-5]xx$' })]),
        { minItems: 1 },
      ),
    ),
    caFile: Type.Optional(Type.String({ minLength: 1 })),
  },
  strict,
);

/** Schema of one service. */
export const CatalogueEntrySchema = Type.Object(
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

/** A validated entry. */
export type CatalogueEntry = Static<typeof CatalogueEntrySchema>;

/** Host names of one label and IPv4 addresses are allowed here: private fleets have them (operating, Catalogue). */
function isDomain(text: string): boolean {
  if (isIPv4(text)) return true;
  const labels = text.split('.');
  // A last label of digits alone would make the URL an address in one of its odd notations.
  if (/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '')) return false;
  return labels.every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label));
}

function isHttpUrl(text: string): boolean {
  if (!/^https?:\/\/[^\s/]/.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}
