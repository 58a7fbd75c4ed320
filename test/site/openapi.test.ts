/** The OpenAPI document tells what the API does. */

import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Ajv } from 'ajv';
import t from 'tap';
import { hashAddressSecret } from '../../src/domain/heartbeat/heartbeat-rules.ts';
import { DEFAULT_CHECK } from '../../src/domain/service.ts';
import { ProblemSchema } from '../../src/http/problem.ts';
import { CHANNEL_KINDS_TABLE } from '../../src/notify/channels/kinds-table.ts';
import { createBadgeAddresses } from '../../src/view/badge-url.ts';
import { documentSchemas } from '../support/document-schemas.ts';
import { sendWith } from './send-with.ts';
import { from, incident, service, startApi } from './site-world.ts';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description: string;
  readonly schema: {
    readonly default?: unknown;
    readonly maximum?: number;
    readonly enum?: readonly string[];
    readonly pattern?: string;
  };
}
interface Operation {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: {
    readonly content: Record<string, { readonly schema: object; readonly example?: unknown }>;
  };
  readonly responses: Record<string, { readonly content?: Record<string, { readonly schema: object }> }>;
}
interface Document {
  readonly openapi: string;
  readonly info: { readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Record<
    string,
    { readonly get?: Operation; readonly post?: Operation; readonly patch?: Operation }
  >;
  readonly components: object;
}

/** What there is one of, by a part of paths: the list that it was made in. */
const IDS = [
  ['/channels/', 'channels'],
  ['/rules/', 'rules'],
  ['/account/', 'incidents'],
  ['/maintenances/', 'maintenances'],
] as const;

t.test('it documents each endpoint, and each answers as documented', async (t) => {
  const secret = 'q8mOGyrv6Jc0vTGTUlZ5Yg';
  const check = { ...DEFAULT_CHECK, addressHash: hashAddressSecret(secret) };
  const hidden = service(2, 'hidden', { origin: 'owner', accountId: 1, visibility: 'private' });
  const badge = createBadgeAddresses(new Uint8Array(32), '').urlOf(hidden) ?? '';
  const world = await startApi({
    services: [service(1, 'shop', { publicDependencies: true, check }), hidden],
  });
  t.teardown(world.close);
  await world.putIncidents(incident('own-1-1', 1));
  await world.putPage('acme', { groups: [{ name: 'Web', services: [1] }] });
  const ops = { name: 'Ops', kind: 'email', settings: { to: 'ops@example.com' } };
  const made = new Map<string, string>();
  for (const [path, body] of [
    ['channels', ops],
    ['rules', { name: 'Mine', own: true, channels: ['Ops'] }],
    ['incidents', { title: 'Late', text: 'We look.', pages: ['acme'] }],
    ['maintenances', { title: 'Disks', duration: '1h', pages: ['acme'] }],
  ] as const) {
    const key = world.makeKey({ scopes: ['write'] });
    const { status, json } = await sendWith(world)('POST', `/api/v1/${path}`, body, key);
    t.equal(status, 201);
    made.set(path, `${json.id}`);
  }
  const answer = await world.get('/api/v1/openapi.json');
  const document = answer.json as Document;
  t.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
  t.match(document, {
    openapi: /^3\.1\./,
    info: { version: '1.2.3' },
    servers: [{ url: 'https://upbeat.test' }],
  });
  t.strictSame(Object.keys(document.paths).sort(), [
    '/api/badge/{slug}',
    '/api/chart/{slug}',
    '/api/heatmap.png',
    '/api/push/{secret}',
    '/api/v1/account/incidents',
    '/api/v1/account/incidents/{id}',
    '/api/v1/alerts',
    '/api/v1/alerts/{thread}/acknowledge',
    '/api/v1/apply',
    '/api/v1/channels',
    '/api/v1/channels/{id}',
    '/api/v1/channels/{id}/messages',
    '/api/v1/channels/{id}/messages/{message}/replay',
    '/api/v1/channels/{id}/test',
    '/api/v1/dependencies',
    '/api/v1/events',
    '/api/v1/heartbeat',
    '/api/v1/heartbeat/fail',
    '/api/v1/heartbeat/start',
    '/api/v1/honesty',
    '/api/v1/incidents',
    '/api/v1/incidents/{slug}',
    '/api/v1/incidents/{slug}/updates',
    '/api/v1/incidents/{slug}/{id}',
    '/api/v1/keys',
    '/api/v1/keys/{id}',
    '/api/v1/maintenance',
    '/api/v1/maintenances',
    '/api/v1/maintenances/{id}',
    '/api/v1/maintenances/{id}/occurrence',
    '/api/v1/pages',
    '/api/v1/pages/{slug}',
    '/api/v1/pages/{slug}/verify',
    '/api/v1/regions',
    '/api/v1/rules',
    '/api/v1/rules/{id}',
    '/api/v1/services',
    '/api/v1/services/{slug}',
    '/api/v1/services/{slug}/address',
    '/api/v1/services/{slug}/badge-address',
    '/api/v1/services/{slug}/dependencies',
    '/api/v1/services/{slug}/history',
    '/api/v1/services/{slug}/vendor',
    '/api/v1/services/{slug}/verify',
    '/api/v1/status/{slug}',
    '/api/v1/webhooks',
    '/api/v1/webhooks/{id}',
    '/badge/{secret}',
    '/beat/{secret}',
    '/beat/{secret}/{signal}',
    '/incidents.atom',
    '/incidents.json',
    '/p/{slug}/api/v2/components.json',
    '/p/{slug}/api/v2/incidents.json',
    '/p/{slug}/api/v2/incidents/unresolved.json',
    '/p/{slug}/api/v2/scheduled-maintenances.json',
    '/p/{slug}/api/v2/scheduled-maintenances/active.json',
    '/p/{slug}/api/v2/scheduled-maintenances/upcoming.json',
    '/p/{slug}/api/v2/status.json',
    '/p/{slug}/api/v2/summary.json',
    '/p/{slug}/calendar.ics',
    '/p/{slug}/incidents.atom',
    '/p/{slug}/incidents.json',
    '/status/{slug}/api/v2/components.json',
    '/status/{slug}/api/v2/incidents.json',
    '/status/{slug}/api/v2/incidents/unresolved.json',
    '/status/{slug}/api/v2/scheduled-maintenances.json',
    '/status/{slug}/api/v2/scheduled-maintenances/active.json',
    '/status/{slug}/api/v2/scheduled-maintenances/upcoming.json',
    '/status/{slug}/api/v2/status.json',
    '/status/{slug}/api/v2/summary.json',
    '/status/{slug}/calendar.ics',
    '/status/{slug}/incidents.atom',
    '/status/{slug}/incidents.json',
  ]);
  const validatorOf = documentSchemas(document.components, { allErrors: true });
  for (const [path, { get: operation }] of Object.entries(document.paths)) {
    if (path === '/api/v1/events' || operation === undefined) continue;
    const ofService = /badge|chart|atom|incidents\.json|\.ics/.test(path) ? 'shop-example' : 'shop';
    const slug = /\/(?:p|pages)\/\{slug\}/.test(path) ? 'acme' : ofService;
    const filled = path
      .replace('{slug}', slug)
      .replace('/badge/{secret}', badge)
      .replace('{secret}', secret)
      .replace('{signal}', 'start');
    const [, list = ''] = IDS.find(([part]) => path.includes(part)) ?? [];
    const id = made.get(list) ?? 'own-1-1';
    const key = operation.security.length === 1 ? world.makeKey() : {};
    const good = await world.get(filled.replace('{id}', id), key);
    t.equal(good.status, 200, path);
    const [type = '', { schema = {} } = {}] =
      Object.entries(operation.responses['200']?.content ?? {})[0] ?? [];
    t.ok(good.headers.get('content-type')?.startsWith(type), `${path} sends ${type}`);
    if (type === 'application/json') {
      const validate = validatorOf(schema);
      t.ok(validate(good.json), `${path}: ${JSON.stringify(validate.errors)}`);
    }
    for (const { name, in: place, schema: shape } of operation.parameters) {
      if (place !== 'query') continue;
      if (shape.enum !== undefined) {
        for (const word of shape.enum) {
          t.equal(
            (await world.get(`${filled}?${name}=${word}`)).status,
            200,
            `${path} takes ${name}=${word}`,
          );
        }
      }
    }
  }
});

/** Calls `visit` with each object of a value and of what it refers to, each reference once. */
function walk(
  document: object,
  value: unknown,
  visit: (schema: Record<string, unknown>, place: string) => void,
) {
  const seen = new Set<unknown>();
  const look = (inner: unknown, place: string): void => {
    if (typeof inner !== 'object' || inner === null || seen.has(inner)) return;
    seen.add(inner);
    const members: Record<string, unknown> = { ...inner };
    visit(members, place);
    for (const [name, member] of Object.entries(members)) {
      if (name === '$ref') {
        const target = String(member);
        const path = target.slice(2).split('/');
        look(
          path.reduce<unknown>((whole, part) => Object(whole)[part], document),
          target,
        );
      } else if (!/^examples?$/.test(name)) look(member, `${place}/${name}`);
    }
  };
  look(value, '');
}

t.test('its responses are open to members and words that version 1 gains, and show no secrets', async (t) => {
  const world = await startApi();
  t.teardown(world.close);
  const document = (await world.get('/api/v1/openapi.json')).json as Document & { readonly webhooks: object };
  const operations = Object.values(document.paths).flatMap((path) => Object.values<Operation>(path));
  const received = [document.webhooks, ...operations.map(({ responses }) => responses)];
  const vocabularies = new Set<string>();
  const closed: string[] = [];
  walk(document, received, (schema, place) => {
    if (schema.additionalProperties === false || schema.writeOnly === true) closed.push(place);
    if ('enum' in schema) vocabularies.add(place.replace('#/components/schemas/', ''));
  });
  t.strictSame(closed, []);
  t.strictSame(
    [...vocabularies].sort(),
    ['Category', 'IncidentStatus', 'Scope', 'Severity', 'StatusWord', 'Verdict'],
    'only vocabularies of the contract are complete',
  );
  t.match(document.components, {
    schemas: {
      Failure: { properties: { class: { type: 'string', 'x-extensible-enum': ['dns'] } } },
      ServicePatch: { additionalProperties: false },
    },
  });
});

t.test('it has nothing that generators of clients refuse', async (t) => {
  const world = await startApi();
  t.teardown(world.close);
  const document = (await world.get('/api/v1/openapi.json')).json as Document;
  const refused: string[] = [];
  walk(document, document, ({ type, anyOf, const: text }, place) => {
    const isMixed = Array.isArray(type) && !(type.length === 2 && type[1] === 'null');
    const hasNull = Array.isArray(anyOf) && anyOf.some((one) => one.type === 'null');
    if (isMixed || hasNull || String(text).includes('\n')) refused.push(place);
  });
  t.strictSame(refused, []);
  const { schemas } = document.components as {
    readonly schemas: Record<string, { readonly format?: string }>;
  };
  t.equal(schemas.Time?.format, 'date-time');
  for (const name of Object.keys(schemas))
    t.notOk(`New${name}` in schemas, `New${name} would be its constructor in Go`);
  const patches = Object.entries(document.paths).flatMap(([path, { patch }]) =>
    patch === undefined ? [] : [[path, patch.requestBody?.content] as const],
  );
  t.equal(patches.length, 6);
  for (const [path, content] of patches)
    for (const type of ['application/json', 'application/merge-patch+json'])
      t.match(content?.[type], { schema: { $ref: /Patch$/ } }, path);
  t.match(schemas, {
    ServicePatch: { properties: { name: { type: ['string', 'null'] }, domain: { type: 'string' } } },
    ServicePatchCheckSettings: { properties: { port: { type: ['integer', 'null'] } } },
    ChannelPatchSettings: { properties: { secret: { type: ['string', 'null'], writeOnly: true } } },
  });
});

t.test('each example of a body is accepted', async (t) => {
  const world = await startApi({ services: [service(1, 'github')], kinds: CHANNEL_KINDS_TABLE });
  t.teardown(world.close);
  const { paths, components } = (await world.get('/api/v1/openapi.json')).json as Document;
  const validatorOf = documentSchemas(components);
  const key = world.makeKey({ scopes: ['read', 'heartbeat', 'write'] });
  const first = ['/api/v1/services', '/api/v1/channels'];
  const rank = (path: string) => (first.indexOf(path) + 3) % 3;
  const ordered = Object.entries(paths).sort(([a], [b]) => rank(a) - rank(b) || a.localeCompare(b));
  for (const [path, operations] of ordered)
    for (const [method, { requestBody }] of Object.entries<Operation>(operations))
      for (const { schema, example } of Object.values(requestBody?.content ?? {})) {
        const validate = validatorOf(schema);
        t.ok(validate(example), `${method} ${path}: ${JSON.stringify(validate.errors)}`);
        if (method !== 'post' || path.includes('{')) continue;
        const answer = await sendWith(world)('POST', path, example, key);
        t.ok(answer.status < 300, `${path}: ${answer.status} ${JSON.stringify(answer.json)}`);
      }
});

t.test('it documents the defaults and bounds of the contract', async (t) => {
  const world = await startApi();
  t.teardown(world.close);
  const { paths } = (await world.get('/api/v1/openapi.json')).json as Document;
  const limits = ['/api/v1/services', '/api/v1/incidents', '/api/v1/incidents/{slug}'].map((path) => {
    const limit = paths[path]?.get?.parameters.find(({ name }) => name === 'limit')?.schema;
    return [limit?.default, limit?.maximum];
  });
  t.strictSame(
    limits,
    [
      [100, undefined],
      [50, undefined],
      [20, undefined],
    ],
    'what is over the maximum is lowered, and so is not forbidden',
  );
  const described = ['/api/v1/services', '/api/v1/incidents', '/api/v1/incidents/{slug}'].map(
    (path) => paths[path]?.get?.parameters.find(({ name }) => name === 'limit')?.description,
  );
  t.match(described, [/Over 500 it is lowered to 500/, /Over 100 it/, /Over 50 it/]);
});

t.test('it documents the rules that a client can see', async (t) => {
  const world = await startApi();
  t.teardown(world.close);
  const document = (await world.get('/api/v1/openapi.json')).json as Document;
  for (const rule of [
    /Unknown query parameters are ignored/,
    /in any case/,
    /\/64/,
    /a 304 of a picture costs nothing/,
  ])
    t.match(document.info.description, rule);
  t.match(document.paths['/api/v1/status/{slug}']?.get, {
    description: /up to and including 3,000 ms/,
    responses: { 401: { headers: { 'WWW-Authenticate': {} } }, 429: { headers: { 'Retry-After': {} } } },
  });
  t.match(document.paths['/api/badge/{slug}']?.get?.responses['200'], {
    headers: { 'Cache-Control': { schema: { const: 'public, s-maxage=300, stale-while-revalidate=60' } } },
  });
  const window = document.paths['/api/v1/services/{slug}/history']?.get?.parameters ?? [];
  for (const [name, good] of [
    ['from', '2026-11-20'],
    ['to', '0'],
    ['step', '5m'],
  ] as const) {
    const pattern = new RegExp(window.find((one) => one.name === name)?.schema.pattern ?? '');
    t.same([pattern.test(good), pattern.test('')], [true, false], `${name} may not be empty`);
  }
  const checks = { maxProperties: 50, propertyNames: { minLength: 1, maxLength: 64 } };
  t.match(document.paths['/api/v1/heartbeat']?.post, {
    requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Heartbeat' } } } },
  });
  for (const [path, { get }] of Object.entries(document.paths)) {
    const isConditional = '304' in (get?.responses ?? {});
    const names = get?.parameters.map(({ name }) => name);
    t.equal(names?.includes('If-None-Match') ?? false, isConditional, `${path} says how to ask for a 304`);
  }
  for (const path of ['/beat/{secret}', '/beat/{secret}/{signal}'])
    t.match(document.paths[path], {
      post: { requestBody: { required: false, content: { 'text/plain': {} } } },
      put: { requestBody: { required: false } },
    });
  t.match(document.components, {
    schemas: { Problem: { properties: { retry_after: { type: 'integer' } } } },
  });
  const repeated = document.paths['/api/v1/services']?.post?.parameters[0];
  t.match(repeated, { name: 'Idempotency-Key', schema: { pattern: String } });
  const form = new RegExp(repeated?.schema.pattern ?? '');
  t.same(
    [form.test('"5f0c"'), form.test('5f0c'), form.test('a b'), form.test('')],
    [true, true, false, false],
  );
  const timestamp = { description: /at most 5 minutes ahead of our clock, at most 10 minutes behind/ };
  t.match(document.components, { schemas: { Heartbeat: { properties: { checks, timestamp } } } });
});

t.test('it documents every error, and each has the documented body', async (t) => {
  const world = await startApi({ services: [service(1, 'shop')], anonymousPerMinute: 1 });
  t.teardown(world.close);
  const isProblem = new Ajv({ strict: false, formats: { uri: true } }).compile(ProblemSchema);
  const { paths } = (await world.get('/api/v1/openapi.json')).json as Document;
  const errors: readonly [string, string, Record<string, string>, number][] = [
    ['/api/v1/status/{slug}', '/api/v1/status/nobody', from('203.0.113.1'), 404],
    ['/api/v1/status/{slug}', '/api/v1/status/shop', from('203.0.113.1'), 429],
    ['/api/v1/services', '/api/v1/services?limit=0', from('203.0.113.2'), 400],
    ['/api/v1/services', '/api/v1/services', { ...from('203.0.113.3'), authorization: 'Bearer x' }, 401],
    ['/api/badge/{slug}', '/api/badge/shop-example?theme=x', from('203.0.113.4'), 400],
    ['/api/badge/{slug}', '/api/badge/nobody', from('203.0.113.5'), 404],
    ['/api/chart/{slug}', '/api/chart/shop-example?window=2d', from('203.0.113.8'), 400],
    ['/api/chart/{slug}', '/api/chart/nobody.png', from('203.0.113.9'), 404],
    ['/api/heatmap.png', '/api/heatmap.png?category=x', from('203.0.113.10'), 400],
    ['/api/v1/events', '/api/v1/events?slug=nobody', from('203.0.113.6'), 404],
    ['/api/v1/events', '/api/v1/events', { ...from('203.0.113.7'), authorization: 'Bearer x' }, 401],
  ];
  for (const [path, url, headers, status] of errors) {
    const answer = await world.get(url, headers);
    t.equal(answer.status, status, url);
    t.ok(isProblem(answer.json), `${url}: ${JSON.stringify(isProblem.errors)}`);
    t.ok(status in (paths[path]?.get?.responses ?? {}), `${path} documents ${status}`);
  }
});

t.test('each POST can be repeated, and each change of what has a revision can name it', async (t) => {
  const world = await startApi({});
  t.teardown(world.close);
  const { paths } = (await world.get('/api/v1/openapi.json')).json as {
    readonly paths: Record<string, Record<string, Operation & { readonly description: string }>>;
  };
  const writing = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([method, { description }]) => method !== 'get' && description.endsWith('the scope write.'))
      .map(([method, { parameters }]) => ({ method, path, headers: parameters.map(({ name }) => name) })),
  );
  t.ok(writing.length > 25);
  const without = (header: string, isMeant: (method: string) => boolean) =>
    writing
      .filter(({ method, headers }) => isMeant(method) && !headers.includes(header))
      .map(({ method, path }) => `${method} ${path}`);
  t.same(
    without('Idempotency-Key', (method) => method === 'post'),
    [],
  );
  t.same(
    without('If-Match', (method) => method !== 'post'),
    ['delete /api/v1/keys/{id}', 'delete /api/v1/webhooks/{id}'],
    'nothing about those can be changed',
  );
});

t.test('it names each type once, and says of each operation who may ask', async (t) => {
  const world = await startApi();
  t.teardown(world.close);
  const document = (await world.get('/api/v1/openapi.json')).json as {
    readonly tags: readonly { readonly name: string }[];
    readonly info: object;
    readonly paths: Record<
      string,
      Record<string, { security?: unknown; tags: string[]; description: string }>
    >;
    readonly components: { readonly schemas: Record<string, { type?: string; properties?: object }> };
  };
  const { schemas } = document.components;
  for (const name of [
    'Service',
    'ServiceStatus',
    'LatestCheck',
    'Incident',
    'Heartbeat',
    'HeartbeatReply',
    'Problem',
  ])
    t.equal(schemas[name]?.type, 'object', name);
  for (const name of ['ServiceStatusRegion', 'StatusPageGroup', 'IncidentUpdate', 'StatusChangedEventData'])
    t.equal(schemas[name]?.type, 'object', name);
  t.match(schemas.Service?.properties, { status: { $ref: '#/components/schemas/StatusWord' } });
  t.match(schemas.ServiceList?.properties, { services: { items: { $ref: '#/components/schemas/Service' } } });
  const known = new Set(document.tags.map(({ name }) => name));
  for (const [path, operations] of Object.entries(document.paths))
    for (const [method, { security, tags, description }] of Object.entries(operations)) {
      t.ok(Array.isArray(security), `${method} ${path} has its security`);
      t.ok(
        tags.every((tag) => known.has(tag)),
        `${method} ${path} has tags that are described`,
      );
      t.not(description, '', `${method} ${path}`);
    }
  t.match(document.info, { contact: { url: 'https://upbeat.test' }, license: { identifier: 'MIT' } });
  // No object with members of its own stands in two places.
  const seen = new Map<string, string>();
  const look = (value: unknown, place: string): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('properties' in value && 'type' in value) {
      const text = JSON.stringify(value);
      t.notOk(seen.has(text), `${place} is the same as ${seen.get(text)}`);
      seen.set(text, place);
      t.match(place, /^\/components\/schemas\/\w+$/, `${place} has a name`);
    }
    for (const [name, inner] of Object.entries(value)) look(inner, `${place}/${name}`);
  };
  look(document, '');
  const used = JSON.stringify(document);
  for (const name of Object.keys(schemas)) t.match(used, `#/components/schemas/${name}"`, `${name} is used`);
});

t.test('it lints clean by the recommended rules of Redocly', async (t) => {
  const world = await startApi();
  t.teardown(world.close);
  const config = await createConfig({ extends: ['recommended'] });
  const lint = async (source: string) =>
    (await lintFromString({ source, absoluteRef: 'openapi.json', config })).map(
      ({ ruleId, message, location: [place] }) => `${ruleId}: ${message} ${place?.pointer}`,
    );
  const { text } = await world.get('/api/v1/openapi.json');
  t.strictSame(await lint(text), []);
  const broken = text
    .replace('"license"', '"x-license"')
    .replaceAll('"operationId":"getBadge"', '"operationId":""');
  t.match(
    await lint(broken),
    [/^info-license: /, /^operation-operationId: /],
    'and it would say what is wrong',
  );
});
