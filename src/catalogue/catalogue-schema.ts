/** The form of the catalogue file: a list of public services. */
import { type Static, Type } from '@sinclair/typebox';
import type { Category } from '../domain/category.ts';
import { CATEGORIES } from '../domain/category.ts';
import { STATUS_PAGE_KINDS, type StatusPageKind } from '../domain/service.ts';

const strict = { additionalProperties: false };
const HttpUrl = Type.String({ pattern: '^https?://[^\\s/]+', maxLength: 2_000 });

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

/** One service of the list. */
export const CatalogueEntrySchema = Type.Object(
  {
    slug: Type.String({ pattern: '^[a-z0-9]+(?:-[a-z0-9]+)*$', maxLength: 100 }),
    name: Type.String({ minLength: 1, maxLength: 100 }),
    domain: Type.String({ pattern: '^[a-z0-9](?:[a-z0-9.:-]{0,251}[a-z0-9])?$' }),
    category: Type.Unsafe<Category>({ type: 'string', enum: [...CATEGORIES] }),
    statusPage: Type.Optional(StatusPageEntry),
    check: Type.Optional(CheckEntry),
  },
  strict,
);

/** A checked entry. */
export type CatalogueEntry = Static<typeof CatalogueEntrySchema>;
