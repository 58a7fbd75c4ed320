/** The shape of a document of `apply`: its schema, and its lists. */

import { type Static, strictObject, Type } from '../json-schema.ts';
import { ChannelDocumentSchema } from '../resources/channels/channels.ts';
import type { FieldRefusal } from '../resources/kit/change.ts';
import { createDocumentReader } from '../resources/kit/read-document.ts';
import { PageDocumentSchema } from '../resources/pages/page-document.ts';
import { RuleDocumentSchema } from '../resources/rules/rules.ts';
import { ServiceDocumentSchema } from '../resources/services/service-document.ts';
import { AppliedMaintenanceSchema } from './apply-maintenances.ts';
import { CONTENT_TYPES, type ContentType } from './apply-plan.ts';

export const ApplyDocumentSchema = strictObject({
  $schema: Type.Optional(Type.String({ description: 'The address of this schema, for editors.' })),
  services: Type.Optional(Type.Array(ServiceDocumentSchema, { description: 'Services of the account.' })),
  pages: Type.Optional(Type.Array(PageDocumentSchema, { description: 'Status pages of the account.' })),
  channels: Type.Optional(
    Type.Array(ChannelDocumentSchema, { description: 'Where the account is notified.' }),
  ),
  rules: Type.Optional(Type.Array(RuleDocumentSchema, { description: 'Of which changes it is notified.' })),
  maintenances: Type.Optional(
    Type.Array(AppliedMaintenanceSchema, { description: 'Maintenance that it announces.' }),
  ),
});

export type ApplyDocument = Static<typeof ApplyDocumentSchema>;

export type ListName = `${ContentType}s`;

export const LISTS: readonly ListName[] = CONTENT_TYPES.map((type) => `${type}s` as const);

/** The lists of a document. Their members are validated one by one. */
export type ApplyLists = { readonly [List in ListName]?: readonly unknown[] };

const AnyList = Type.Optional(Type.Unsafe<readonly unknown[]>({ type: 'array' }));

const readStructure = createDocumentReader<ApplyLists>(
  Type.Object(
    { $schema: Type.Optional(Type.String()), ...Object.fromEntries(LISTS.map((name) => [name, AnyList])) },
    { additionalProperties: false },
  ),
);

/** The lists of a document that are lists, and a refusal with `member_invalid` for each other member. */
export function readLists(document: unknown): {
  readonly lists: ApplyLists;
  readonly refusals: readonly FieldRefusal[];
} {
  const structure = readStructure(document);
  if (structure.ok) return { lists: structure.value, refusals: [] };
  const given: Readonly<Record<string, unknown>> = Object(document);
  const lists = LISTS.filter((name) => Array.isArray(given[name])).map((name) => [name, given[name]]);
  return { lists: Object.fromEntries(lists), refusals: structure.refusals };
}
