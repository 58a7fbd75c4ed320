/**
 * The schemas of the OpenAPI document. They are those that validate, in a form that generators of clients read: a response is
 * open, since version 1 gains members and words, and shows no secrets; null stands in the list of types.
 */
import { isOpenWord, nameOf } from './schema.ts';

/** The direction of a schema: read by the server, or sent by it. */
type Direction = 'request' | 'response';

type Members = Readonly<Record<string, unknown>>;

/** The schemas that are listed, and a function that lists those of a value and refers to them. */
export interface SchemaList {
  readonly schemas: Readonly<Record<string, unknown>>;
  /**
   * Replaces each named schema, and each object, by a reference. An object without a name has that of `place`, which is the name of
   * the schema that contains it and the member: `ServiceStatusRegion`. Responses come first: a schema whose form in requests is
   * another one is listed once more, as `…Input`.
   */
  readonly refer: (value: unknown, place: string, direction: Direction) => unknown;
}

/** Creates an empty list. */
export function createSchemaList(): SchemaList {
  const schemas: Record<string, unknown> = {};
  const namesGiven = new Map<object, string>();

  /** The name of a schema that is listed; undefined: it stays where it is. */
  const listedName = (value: object, place: string): string | undefined => {
    const name = nameOf(value) ?? namesGiven.get(value);
    if (name !== undefined || !isObjectSchema(value)) return name;
    namesGiven.set(value, place);
    return place;
  };
  const refer = (value: unknown, place: string, direction: Direction): unknown => {
    if (Array.isArray(value)) return value.map((inner) => refer(inner, place, direction));
    if (!isMembers(value)) return value;
    const name = listedName(value, place);
    if (name === undefined) return members(value, place, direction);
    const made = members(value, name, direction);
    const isOther =
      direction === 'request' && name in schemas && JSON.stringify(schemas[name]) !== JSON.stringify(made);
    const listed = isOther ? `${name}Input` : name;
    schemas[listed] ??= made;
    return { $ref: `#/components/schemas/${listed}` };
  };
  const members = (value: Members, place: string, direction: Direction): object => {
    const form = nullForm(direction === 'response' ? openForm(value) : value);
    return Object.fromEntries(
      Object.entries(form).map(([member, inner]) => {
        if (member === 'example' || member === 'examples') return [member, inner];
        if (member !== 'properties' || !isMembers(inner)) return [member, refer(inner, place, direction)];
        return [member, properties(inner, place, direction)];
      }),
    );
  };
  const properties = (value: Members, place: string, direction: Direction): object =>
    Object.fromEntries(
      Object.entries(value).map(([member, inner]) => [
        member,
        refer(inner, place + typeName(member, inner), direction),
      ]),
    );
  return { schemas, refer };
}

/** A schema of a response: it allows further members and, unless it is a vocabulary with a name, further words. */
function openForm(schema: Members): Members {
  if (isOpenWord(schema)) {
    const { enum: words, ...rest } = schema;
    return { ...rest, 'x-extensible-enum': words };
  }
  if (!isObjectSchema(schema) || !isMembers(schema.properties)) return schema;
  const { additionalProperties, required, ...rest } = schema;
  const shown = Object.entries(schema.properties).filter(
    ([, member]) => !isMembers(member) || member.writeOnly !== true,
  );
  const names = new Set<unknown>(shown.map(([name]) => name));
  return {
    ...rest,
    ...(additionalProperties === undefined || additionalProperties === false ? {} : { additionalProperties }),
    ...(Array.isArray(required) ? { required: required.filter((name) => names.has(name)) } : {}),
    properties: Object.fromEntries(shown),
  };
}

/** A schema that allows null, without `anyOf`, of which some generators make nothing. */
function nullForm(schema: Members): Members {
  const { anyOf, description: why, ...rest } = schema;
  const [inner, none, ...others]: readonly unknown[] = Array.isArray(anyOf) ? anyOf : [];
  if (!isMembers(inner) || !isMembers(none) || none.type !== 'null' || others.length > 0) return schema;
  const described = why === undefined ? {} : { description: why };
  const isReference = nameOf(inner) !== undefined || isObjectSchema(inner);
  if (isReference || typeof inner.type !== 'string' || 'enum' in inner)
    return { oneOf: [inner, none], ...described, ...rest };
  const texts = [inner.description, why].filter((text) => text !== undefined);
  return {
    ...inner,
    ...rest,
    type: [inner.type, 'null'],
    ...(texts.length === 0 ? {} : { description: texts.join(' ') }),
  };
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isObjectSchema(value: object): boolean {
  return 'type' in value && value.type === 'object' && 'properties' in value;
}

/** The name of a member as a part of a type's name; for a list, the name of one item: `open_incidents` is `OpenIncident`. */
export function typeName(member: string, schema: unknown = {}): string {
  const one = isMembers(schema) && 'items' in schema ? member.replace(/ies$/, 'y').replace(/s$/, '') : member;
  return one.replace(/(?:^|[_-])(\w)/g, (_, letter: string) => letter.toUpperCase());
}
