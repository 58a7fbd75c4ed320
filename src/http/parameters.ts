/**
 * Query parameters, read strictly: a repeated parameter, anything but decimal digits for a number, and a word that is
 * not allowed are refused with the parameter's name and the allowed values; unknown parameters are ignored
 * (decisions, Services).
 */
import { type Static, type TSchema, type TUnsafe, Type } from '../json-schema.ts';
import { HttpError } from './problem.ts';

/** A set of query parameters by name, each a TypeBox schema; the OpenAPI document is made from the same. */
export type ParameterSchemas = Readonly<Record<string, TSchema>>;

/** What is read of parameters. Texts may be absent; all others without a default say so in their schema. */
export type ParameterValues<S extends ParameterSchemas> = {
  readonly [N in keyof S]: string extends Static<S[N]> ? string | undefined : Static<S[N]>;
};

/** A number of results; over the maximum it is lowered to it. */
export function limitParameter(byDefault: number, maximum: number) {
  return Type.Integer({
    minimum: 1,
    maximum,
    default: byDefault,
    lowered: true,
    description: `Number of results. Over ${maximum} it is lowered to ${maximum}.`,
  });
}

/** Where a page begins. */
export const OFFSET_PARAMETER = Type.Integer({
  minimum: 0,
  default: 0,
  description: 'Results to leave out first.',
});

/** One of some words. */
export function enumParameter<W extends string, D extends W | undefined = undefined>(
  words: readonly W[],
  description: string,
  byDefault?: D,
): TUnsafe<W | D> {
  return Type.Unsafe({
    type: 'string',
    enum: [...words],
    description,
    ...(byDefault === undefined ? {} : { default: byDefault }),
  });
}

/** Reads the parameters of `query`. A parameter that is not given has its default, or is undefined. Throws HttpError. */
export function readParameters<S extends ParameterSchemas>(query: string, schemas: S): ParameterValues<S> {
  const given = query === '' ? null : new URLSearchParams(query);
  const read: Record<string, string | number | undefined> = {};
  for (const [name, schema] of Object.entries(schemas)) {
    const values = given?.getAll(name) ?? [];
    if (values.length > 1) throw refuse(name, `is given ${values.length} times; give it once`, schema);
    read[name] = values[0] === undefined ? schema.default : readValue(name, values[0], schema);
  }
  return read as ParameterValues<S>;
}

/** The error for a parameter. */
export function refuse(name: string, problem: string, schema: TSchema = Type.String()): HttpError {
  const allowed = allowedValues(schema);
  return new HttpError(
    'invalid_parameter',
    `Parameter "${name}" ${problem}.${allowed === null ? '' : ` Allowed: ${allowed}.`}`,
    {
      parameter: name,
      ...(schema.enum === undefined ? {} : { allowed: schema.enum }),
    },
  );
}

function readValue(name: string, text: string, schema: TSchema): string | number {
  if (schema.enum !== undefined) {
    if (schema.enum.includes(text)) return text;
    throw refuse(name, `is ${quote(text)}, which is not known`, schema);
  }
  if (schema.type !== 'integer') return text;
  if (!/^\d+$/.test(text))
    throw refuse(name, `is ${quote(text)}, which is not a whole number in decimal digits`, schema);
  // Larger numbers are not exact in JavaScript, and no list is that long.
  const value = Math.min(Number(text), Number.MAX_SAFE_INTEGER);
  if (value < schema.minimum) throw refuse(name, `is ${value}, which is too small`, schema);
  if (schema.maximum !== undefined && value > schema.maximum) {
    if (schema.lowered === true) return schema.maximum;
    throw refuse(name, `is ${value}, which is too large`, schema);
  }
  return value;
}

function allowedValues(schema: TSchema): string | null {
  if (schema.enum !== undefined) return schema.enum.join(', ');
  if (schema.type !== 'integer') return null;
  return schema.maximum === undefined
    ? `${schema.minimum} and more`
    : `${schema.minimum} to ${schema.maximum}`;
}

/** A client's text in an error message: short, and safe to read. */
function quote(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}
