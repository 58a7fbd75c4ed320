/** JSON Schemas of bodies, and their names in the OpenAPI document. */
import { strictObject, type TObject, type TProperties, type TSchema, Type } from '../json-schema.ts';

const NAME = Symbol('name in components.schemas');

/** Names a schema. The document lists a named schema once and references it everywhere else. */
export function named<T extends TSchema>(name: string, schema: T): T {
  return { ...schema, [NAME]: name };
}

/** The name of a schema by {@link named}; undefined: none. */
export function nameOf(schema: object): string | undefined {
  return NAME in schema ? String(schema[NAME]) : undefined;
}

/**
 * Returns true if a schema lists words without a name: version 1 may gain others. A list with a name is a vocabulary of the
 * contract, which is complete.
 */
export function isOpenWord(schema: object): boolean {
  return 'enum' in schema && nameOf(schema) === undefined;
}

export const enumOf = <Word extends string>(allowed: readonly Word[], description?: string) =>
  Type.Unsafe<Word>({
    type: 'string',
    enum: [...allowed],
    ...(description === undefined ? {} : { description }),
  });
/** A schema that also allows null. */
export const nullable = <T extends TSchema>(schema: T, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });
/** A whole number, 0 or more. */
export const whole = (description: string) => Type.Integer({ minimum: 0, description });
/** An {@link strictObject} with a name. */
export const namedObject = <Members extends TProperties>(name: string, members: Members) =>
  named(name, strictObject(members));
/** A list of {@link strictObject}s. */
export const listOf = <Members extends TProperties>(description: string, members: Members) =>
  Type.Array(strictObject(members), { description });

/** ISO 8601 UTC with milliseconds. */
export const TimeSchema = named(
  'Time',
  Type.String({
    format: 'date-time',
    pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$',
    description: 'ISO 8601 UTC with milliseconds.',
    examples: ['2026-11-20T10:00:00.000Z'],
  }),
);

export const PAGE_MEMBERS = {
  limit: whole('The limit that was used.'),
  offset: whole('The offset that was used.'),
};

/**
 * The body of a JSON Merge Patch (RFC 7396) of a document: every member may be absent, and null removes one that is not
 * required.
 */
export function patchOf(name: string, document: TObject): TSchema {
  return named(name, patchForm(document));
}

function patchForm({ properties, required = [] }: TObject): TSchema {
  const members = Object.entries(properties).map(([member, schema]) => {
    const form = isObject(schema) ? patchForm(schema) : schema;
    return [member, required.includes(member) ? form : nullable(form)] as const;
  });
  return Type.Unsafe<object>({
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(members),
  });
}

function isObject(schema: TSchema): schema is TObject {
  return schema.type === 'object' && schema.properties !== undefined;
}
