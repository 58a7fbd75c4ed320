/** An example of what a JSON Schema of the OpenAPI document describes. Pure. */

/** The part of JSON Schema that the document uses. */
interface Schema {
  readonly $ref?: string;
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly enum?: readonly unknown[];
  readonly type?: string;
  readonly minimum?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
}

/** Values by the names of members, such as the slug of a service that exists. They stand in for those of the schema. */
export type ExampleValues = Readonly<Record<string, string | number>>;

/** Objects within objects beyond this depth are shown empty. */
const MAX_DEPTH = 7;
/** Figures that say more than a 0. */
const FIGURES: ExampleValues = {
  response_time: 184,
  latency: 12,
  status_code: 200,
  limit: 100,
  total: 1,
  count: 288,
  up: 287,
  slow: 1,
  uptime: 0.9995,
  revision: 3,
  id: 7,
};

/** An example: the one of the schema if it has one, otherwise one value of each member. `schemas`: the named ones. */
export function exampleOf(
  schema: unknown,
  schemas: Readonly<Record<string, unknown>>,
  values: ExampleValues,
): unknown {
  const make = (given: Schema, name: string, depth: number): unknown => {
    const shape = given.$ref === undefined ? given : (schemas[given.$ref.split('/').at(-1) ?? ''] as Schema);
    const { type, anyOf, properties, items } = shape;
    if (shape.const !== undefined) return shape.const;
    if (type === 'string' && Object.hasOwn(values, name)) return values[name];
    if (shape.examples !== undefined) return shape.examples[0];
    if (shape.enum !== undefined) return shape.enum[0];
    if (anyOf !== undefined) return make(anyOf.find((one) => one.type !== 'null') ?? {}, name, depth);
    if (shape.default !== undefined) return shape.default;
    if (type === 'array')
      return items === undefined || depth > MAX_DEPTH ? [] : [make(items, name, depth + 1)];
    if (type === 'integer' || type === 'number')
      return Object.hasOwn(FIGURES, name) ? FIGURES[name] : (shape.minimum ?? 0);
    if (type === 'boolean') return false;
    if (type === 'object' || properties !== undefined) {
      if (depth > MAX_DEPTH) return {};
      return Object.fromEntries(
        Object.entries(properties ?? {}).map(([member, one]) => [member, make(one, member, depth + 1)]),
      );
    }
    return '…';
  };
  return make(schema as Schema, '', 0);
}
