/**
 * JSON Schemas with the types of their values. The types are those of TypeBox, which is loaded by the compiler alone: its
 * 200 modules would take a tenth of the CPU time of a start.
 */
import { createRequire } from 'node:module';
import type { TProperties, Type as TypeBox } from '@sinclair/typebox';
import type { Ajv, Options, ValidateFunction } from 'ajv';

export type { Static, TObject, TProperties, TSchema, TUnsafe } from '@sinclair/typebox';

const OPTIONAL = Symbol('optional');

/** A builder of a type without parameters. */
const plain = (type: string) => (options?: object) => ({ ...options, type });

const builder = {
  Array: (items: object, options?: object) => ({ ...options, type: 'array', items }),
  Boolean: plain('boolean'),
  Integer: plain('integer'),
  Literal: (value: string | number | boolean, options?: object) => ({
    ...options,
    const: value,
    type: typeof value,
  }),
  Null: plain('null'),
  Number: plain('number'),
  Object(properties: Readonly<Record<string, object>>, options?: object) {
    const required = Object.keys(properties).filter((name) => !(OPTIONAL in (properties[name] ?? {})));
    return { ...options, type: 'object', ...(required.length > 0 ? { required } : {}), properties };
  },
  Optional: (schema: object) => ({ ...schema, [OPTIONAL]: true }),
  Record: (name: { readonly pattern?: string }, value: object, options?: object) => ({
    ...options,
    type: 'object',
    patternProperties: { [name.pattern ?? '^(.*)$']: value },
  }),
  String: plain('string'),
  Union: (schemas: readonly object[], options?: object) => ({ ...options, anyOf: schemas }),
  Unsafe: (schema: object) => ({ ...schema }),
};

/**
 * Builds schemas as TypeBox does, with the same members in the same order. `Optional` marks a member of an object that
 * may be absent; a `Union` has at least two schemas.
 */
export const Type = builder as unknown as Pick<typeof TypeBox, keyof typeof builder>;

/** The schema of an object that has no other members. */
export const strictObject = <Members extends TProperties>(members: Members, description?: string) =>
  Type.Object(members, {
    additionalProperties: false,
    ...(description === undefined ? {} : { description }),
  });

/** Formats of text, by their names in schemas. */
type TextFormats = Readonly<Record<string, { readonly accepts: (text: string) => boolean }>>;

/** Creates the compiler of schemas with these formats. AJV is loaded with the first of them: most starts need none. */
export function createCompiler(
  formats: TextFormats,
  options: Options = {},
): <T>(schema: object) => ValidateFunction<T> {
  let ajv: Ajv | null = null;
  return <T>(schema: object) => {
    ajv ??= createAjv(formats, options);
    return ajv.compile<T>(schema);
  };
}

function createAjv(formats: TextFormats, options: Options): Ajv {
  const { Ajv }: typeof import('ajv') = createRequire(import.meta.url)('ajv');
  // Schemas are sources of ours, so they are not validated while the program runs.
  const ajv = new Ajv({ allErrors: true, strict: false, validateSchema: false, meta: false, ...options });
  for (const [name, { accepts }] of Object.entries(formats)) ajv.addFormat(name, accepts);
  return ajv;
}
