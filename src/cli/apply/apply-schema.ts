/** The JSON Schema of files of `apply`, with which editors complete them: `npm run schema` writes it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApplyDocumentSchema } from '../../apply/apply-lists.ts';
import { CHANNEL_KINDS, type ChannelKind } from '../../domain/alert/channel.ts';
import { PROBED_KINDS } from '../../domain/service.ts';
import type { TSchema } from '../../json-schema.ts';
import { CHECK_KINDS } from '../../kinds/kinds-table.ts';
import { CHANNEL_KINDS_TABLE } from '../../notify/channels/kinds-table.ts';
import { ChannelDocumentSchema, type ChannelKinds } from '../../resources/channels/channels.ts';
import { PageDocumentSchema } from '../../resources/pages/page-document.ts';
import { ServiceDocumentSchema } from '../../resources/services/service-document.ts';

export const SCHEMA_FILE = join(import.meta.dirname, '../../../config/apply.schema.json');

/** The text of the file. The settings of a check are those of its kind; null in place of a secret keeps the stored one. */
export function applySchema(): string {
  const { check } = ServiceDocumentSchema.properties;
  const service = {
    ...ServiceDocumentSchema,
    properties: {
      ...ServiceDocumentSchema.properties,
      check: { ...check, allOf: PROBED_KINDS.map(settingsOfKind) },
    },
  };
  // The settings of a channel have their types in the schema of its kind.
  const { settings } = ChannelDocumentSchema.properties;
  const channel = {
    ...ChannelDocumentSchema,
    properties: {
      ...ChannelDocumentSchema.properties,
      settings: { type: 'object', description: settings.description },
    },
    allOf: CHANNEL_KINDS.flatMap(settingsOfChannel),
  };
  const { services, channels, pages } = ApplyDocumentSchema.properties;
  const page = withKept(PageDocumentSchema);
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Services, status pages, channels, rules and maintenance of an account of Upbeat',
    ...ApplyDocumentSchema,
    properties: {
      ...ApplyDocumentSchema.properties,
      services: { ...services, items: service },
      pages: { ...pages, items: page },
      channels: { ...channels, items: channel },
    },
  };
  // The formats are ours: editors do not know them, and the program validates them.
  return `${JSON.stringify(schema, (name, value) => (name === 'format' ? undefined : value), 2)}\n`;
}

function settingsOfKind(kind: (typeof PROBED_KINDS)[number]) {
  return {
    if: { properties: { kind: { const: kind } }, required: ['kind'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: {
      properties: { settings: { ...withKept(CHECK_KINDS[kind].settings), additionalProperties: false } },
    },
  };
}

/** The secrets of a channel need not be named again, so none of its settings is required. */
function settingsOfChannel(kind: ChannelKind) {
  const kinds: ChannelKinds = CHANNEL_KINDS_TABLE;
  const { required: _, ...settings } = kinds[kind]?.settings ?? {};
  if (kinds[kind] === undefined) return [];
  return [
    {
      if: { properties: { kind: { const: kind } }, required: ['kind'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { properties: { settings: { ...withKept(settings), additionalProperties: false } } },
    },
  ];
}

/** The schema with null as a value of each secret. */
function withKept<S extends { readonly properties?: Readonly<Record<string, TSchema>> }>(schema: S): S {
  const properties = Object.entries(schema.properties ?? {}).map(([name, property]) => [
    name,
    property.writeOnly === true ? { anyOf: [property, { type: 'null' }] } : property,
  ]);
  return { ...schema, properties: Object.fromEntries(properties) };
}

if (import.meta.main) writeFileSync(SCHEMA_FILE, applySchema());
