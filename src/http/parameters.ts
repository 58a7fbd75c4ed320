/**
 * Strict parsing of query parameters. A repeated parameter, a number with other characters than decimal digits, and a
 * value that is not in the list are refused; the error contains the parameter's name and the allowed values. Unknown
 * parameters are ignored (decisions, Services).
 */
import { type Static, type TSchema, type TUnsafe, Type } from '../json-schema.ts';
import { HttpError } from './problem.ts';

/** TypeBox schemas of query parameters by name; the OpenAPI document uses the same ones. */
export type ParameterSchemas = Readonly<Record<string, TSchema>>;

/** The parsed values. A text may be undefined; other parameters without a default declare that in their schema. */
export type ParameterValues<S extends ParameterSchemas> = {
  readonly [N in keyof S]: string extends Static<S[N]> ? string | undefined : Static<S[N]>;
};

/** The parameter for the number of results; a greater value is lowered to `maximum`. */
export function limitParameter(byDefault: number, maximum: number) {
  return Type.Integer({
    minimum: 1,
    maximum,
    default: byDefault,
    lowered: true,
    description: `Number of results. Over ${maximum} it is lowered to ${maximum}.`,
  });
}

/** The parameter for the start of a page of results. */
export const OFFSET_PARAMETER = Type.Integer({
  minimum: 0,
  default: 0,
  description: 'Results to leave out first.',
});

/** A parameter with a list of allowed values. */
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

/** A parameter whose value is a text. The route checks the value; `pattern` is for the OpenAPI document. */
export function textParameter(pattern: string, description: string) {
  return Type.String({ pattern, description });
}

/** Parses `query`. An absent parameter has its default or is undefined. Throws an HttpError if one is invalid. */
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
  // Greater numbers are not exact in JavaScript, and no list is that long.
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

/** Quotes a client's text for an error message: shortened and printable. */
function quote(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}
