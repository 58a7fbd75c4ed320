/**
 * Requests made from our own OpenAPI document: of each operation right ones and broken ones. Each must get a status that the document
 * names, with a body of its schema, and never a fault of the server.
 */
import type { Random } from '../../src/clock.ts';
import { service, startApi } from '../site/site-world.ts';
import { documentSchemas } from '../support/document-schemas.ts';
import { below, mutate } from './fuzz-input.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: string;
  readonly example?: unknown;
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
}
interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: Schema;
  readonly example?: unknown;
}
interface Content {
  readonly [type: string]: { readonly schema: Schema; readonly example?: unknown };
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** A request and what was wrong with its response. */
export interface WrongResponse {
  readonly request: string;
  readonly wrong: string;
}

const ODD: readonly unknown[] = [
  ...[null, true, -1, 0, 1e308, 0.5, '', ' ', 'x'.repeat(3_000), '\0', '\u202e', '__proto__', 'constructor'],
  ...[
    [],
    {},
    [[]],
    [null],
    { a: 1 },
    ['__proto__'],
    '../..',
    '1e3',
    '9007199254740993',
    '2026-02-30T00:00:00Z',
  ],
];
const KNOWN: Readonly<Record<string, readonly unknown[]>> = {
  slug: ['shop', 'shop-example-com', 'acme', 'none'],
  id: ['1', '9', 'own-1-1'],
  services: [['shop'], ['shop.example.com']],
  domain: ['shop.example.com', 'shop.example', 'bücher.de'],
};
/** Streams do not end by themselves. */
const STREAMS = ['/api/v1/events'];

const oneOf = <T>(random: Random, list: readonly T[]): T | undefined => list[below(random, list.length)];

/** Opens the API with a few services, and a function that tries one request. */
export async function openApiFuzz() {
  const world = await startApi({
    services: [service(1, 'shop', { publicDependencies: true }), service(2, 'closed')],
  });
  await world.registry.ensureAccount('ada', 1);
  const { authorization } = world.makeKey({ accountId: 1, scopes: ['read', 'heartbeat', 'write'] });
  const document = (await world.get('/api/v1/openapi.json')).json as Document;
  const validatorOf = documentSchemas(document.components, { validateFormats: false });
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    STREAMS.includes(path)
      ? []
      : Object.entries(methods).map(([method, operation]) => ({
          path,
          method: method.toUpperCase(),
          operation,
        })),
  );

  function resolve(schema: Schema): Schema {
    const name = schema.$ref?.split('/').at(-1);
    return name === undefined ? schema : resolve(document.components.schemas[name] ?? {});
  }

  /** A value that fits the schema, or nearly. */
  function makeValue(random: Random, given: Schema, name = '', depth = 0): unknown {
    const schema = resolve(given);
    const known = KNOWN[name];
    if (known !== undefined && random() < 0.7) return oneOf(random, known);
    if (schema.const !== undefined) return schema.const;
    if (schema.enum !== undefined) return oneOf(random, schema.enum);
    const examples = [schema.example, schema.default, ...(schema.examples ?? [])].filter(
      (one) => one !== undefined,
    );
    if (examples.length > 0 && random() < 0.5) return oneOf(random, examples);
    const branches = schema.anyOf ?? schema.oneOf;
    if (branches !== undefined) return makeValue(random, oneOf(random, branches) ?? {}, name, depth);
    if (schema.allOf !== undefined)
      return Object.assign({}, ...schema.allOf.map((one) => makeValue(random, one, name, depth)));
    const type = Array.isArray(schema.type) ? oneOf(random, schema.type) : schema.type;
    if (type === 'object' || schema.properties !== undefined) {
      const members = Object.entries(schema.properties ?? {}).filter(
        ([member]) => schema.required?.includes(member) === true || (depth < 4 && random() < 0.4),
      );
      return Object.fromEntries(
        members.map(([member, one]) => [member, makeValue(random, one, member, depth + 1)]),
      );
    }
    if (type === 'array')
      return Array.from({ length: below(random, 3) }, () =>
        makeValue(random, schema.items ?? {}, name, depth + 1),
      );
    if (type === 'integer' || type === 'number')
      return (
        (schema.minimum ?? 0) +
        below(random, Math.min(100, (schema.maximum ?? 100) - (schema.minimum ?? 0) + 1))
      );
    if (type === 'boolean') return random() < 0.5;
    if (type === 'null') return null;
    if (schema.format === 'date-time') return '2026-11-20T09:59:00.000Z';
    return oneOf(random, [
      'Shop',
      'ops',
      'https://push.example.com/x',
      '1h',
      '#123456',
      'a'.repeat(schema.maxLength ?? 20),
    ]);
  }

  /** Breaks a value at one place. */
  function broken(random: Random, value: unknown): unknown {
    if (random() < 0.3 || typeof value !== 'object' || value === null) return oneOf(random, ODD);
    if (Array.isArray(value)) return [...value.slice(1), broken(random, value[0])];
    const names = [...Object.keys(value), 'unknown', '__proto__'];
    const name = oneOf(random, names) ?? 'x';
    const known = Object.entries(value).filter(([member]) => member !== name);
    if (random() < 0.2) return Object.fromEntries(known);
    const before = Object.entries(value).find(([member]) => member === name)?.[1];
    return Object.fromEntries([...known, [name, broken(random, before)]]);
  }

  /** Makes a request of an operation by random numbers, and sends it; null: its response is as documented. */
  async function tryOne(random: Random, index: number): Promise<WrongResponse | null> {
    const { path, method, operation } =
      operations[index % operations.length] ?? operations[0] ?? neverEmpty();
    const { parameters = [], requestBody, responses } = operation;
    const isBroken = random() < 0.6;
    const text = (parameter: Parameter) => {
      const value =
        isBroken && random() < 0.4 ? oneOf(random, ODD) : makeValue(random, parameter.schema, parameter.name);
      return typeof value === 'object' ? JSON.stringify(value) : String(value);
    };
    const query = new URLSearchParams();
    const headers: Record<string, string> = {
      'x-forwarded-for': `10.${below(random, 256)}.${below(random, 256)}.${below(random, 256)}`,
    };
    if (random() < 0.8) headers.authorization = authorization;
    let target = path;
    for (const parameter of parameters) {
      if (parameter.in === 'path')
        target = target.replace(
          `{${parameter.name}}`,
          encodeURIComponent(text(parameter).toWellFormed()) || 'x',
        );
      else if (parameter.required !== true && random() < 0.6) continue;
      else if (parameter.in === 'query') query.append(parameter.name, text(parameter).toWellFormed());
      else
        headers[parameter.name.toLowerCase()] =
          text(parameter)
            .replaceAll(/[^\x20-\x7e]/g, '')
            .trim() || 'x';
    }
    let body: string | Buffer | null = null;
    const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
    if (type !== undefined && content !== undefined) {
      const value = makeValue(random, content.schema);
      const whole = JSON.stringify(isBroken && random() < 0.7 ? broken(random, value) : value) ?? 'null';
      body = isBroken && random() < 0.15 ? mutate(random, [whole]) : whole;
      headers['content-type'] = isBroken && random() < 0.05 ? 'text/plain' : type;
    }
    const queryText = query.size === 0 ? '' : `?${query}`;
    const request = `${method} ${target}${queryText} ${JSON.stringify(headers)} ${body ?? ''}`;
    const response = await fetch(`${world.origin}${target}${queryText}`, {
      ...{ method, headers, redirect: 'manual' },
      body: body === null ? null : typeof body === 'string' ? body.toWellFormed() : new Uint8Array(body),
    });
    const received = Buffer.from(await response.arrayBuffer());
    const wrong = judge(response, received, responses, path);
    return wrong === null ? null : { request, wrong };
  }

  function judge(
    response: Response,
    received: Buffer,
    responses: Operation['responses'],
    path: string,
  ): string | null {
    const { status } = response;
    const shown = received.toString().slice(0, 300);
    if (status >= 500 && status !== 503) return `${status} ${shown}`;
    const documented = responses[String(status)] ?? responses.default;
    if (documented === undefined) return `${status} is not documented: ${shown}`;
    const type = (response.headers.get('content-type') ?? '').split(';')[0]?.trim() ?? '';
    const content = documented.content?.[type];
    if (content === undefined) {
      const isEmpty = documented.content === undefined && received.length === 0;
      return isEmpty ? null : `${status} has the type ${type || 'none'}, which is not documented: ${shown}`;
    }
    if (!/json/.test(type)) return null;
    const validate = validatorOf(content.schema);
    return validate(JSON.parse(received.toString()))
      ? null
      : `${status} of ${path}: ${JSON.stringify(validate.errors).slice(0, 300)} in ${shown}`;
  }

  return { operations: operations.length, tryOne, close: world.close };
}

function neverEmpty(): never {
  throw new Error('the document has no operations');
}
