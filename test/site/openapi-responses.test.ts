/** Each response that the OpenAPI document names is given by the API over real HTTP, in the form that it names. */
import t, { type Test } from 'tap';
import { hashAddressSecret } from '../../src/domain/heartbeat/heartbeat-rules.ts';
import { DEFAULT_CHECK } from '../../src/domain/service.ts';
import { HeartbeatRefused } from '../../src/record/observation.ts';
import { createBadgeAddresses } from '../../src/view/badge-url.ts';
import { documentSchemas } from '../support/document-schemas.ts';
import type { Answer } from './answer.ts';
import {
  check,
  current,
  from,
  incident,
  NOW,
  service,
  startApi,
  type World,
  type WorldOptions,
} from './site-world.ts';

interface DocumentedResponse {
  readonly headers?: Readonly<Record<string, { readonly $ref?: string; readonly schema?: object }>>;
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}
interface Operation {
  readonly security: readonly object[];
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Readonly<Record<string, DocumentedResponse>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Partial<Record<Endpoint['method'], Operation>>>>>;
  readonly components: { readonly headers: Readonly<Record<string, { readonly schema: object }>> };
}
interface Endpoint {
  readonly path: string;
  readonly method: 'get' | 'post' | 'put';
  readonly operation: Operation;
}

/** Paths that keys with the scope `write` change; `test/http/route.test.ts` asks for their other methods. */
const WRITTEN: ReadonlySet<string> = new Set([
  '/api/v1/services',
  '/api/v1/services/{slug}',
  '/api/v1/pages/{slug}',
  '/api/v1/incidents',
  '/api/v1/incidents/{slug}',
]);
const BODY = { domain: 'shop.example.com', status: 'ok', run: 'nightly-7' };
/** The heartbeat addresses of the services. */
const SECRETS = ['q8mOGyrv6Jc0vTGTUlZ5Yg', 'Yg5ZlUTGTv0cJ6vryGOm8q', 'Xr3GZlUTGTv0cJ6vryGOm8'] as const;
const withAddress = (secret: string) => ({ ...DEFAULT_CHECK, addressHash: hashAddressSecret(secret) });
const SERVICES = [
  service(1, 'shop', { publicDependencies: true, check: withAddress(SECRETS[0]) }),
  service(2, 'closed', { origin: 'owner', accountId: 1, check: withAddress(SECRETS[1]) }),
  service(3, 'pushed', { check: withAddress(SECRETS[2]) }),
];
const HIDDEN = service(4, 'hidden', { origin: 'owner', accountId: 1, visibility: 'private' });
const BADGE = createBadgeAddresses(new Uint8Array(32), '').urlOf(HIDDEN) ?? '';
const coded = (code: string) => Object.assign(new Error(code), { code });

/** A world in which every list of the API has a row. */
async function startFilled(t: Test, more: WorldOptions = {}): Promise<World> {
  const world = await startApi({ services: [...SERVICES, HIDDEN], ...more });
  t.teardown(world.close);
  const update = { at: NOW, status: 'investigating' as const, text: 'We look into it.' };
  await world.status.put([current(1, check(NOW - 10_000)), current(2, check(NOW - 10_000))]);
  await world.putIncidents(
    incident('own-1-1', 1, { updates: [update] }),
    incident('v-1', 1, { source: 'vendor', status: 'resolved', resolvedAt: NOW, updates: [update] }),
  );
  await world.putMaintenances({
    id: 'm-1',
    serviceId: 1,
    title: 'Upgrade',
    description: '',
    startsAt: NOW + 60_000,
    endsAt: NOW + 120_000,
    reportedState: 'planned',
    phase: 'planned',
    sourceUrl: 'https://status.shop.example/1',
    updates: [],
  });
  await world.report(1, NOW - 2_000, [{ name: 'db', status: 'up', latencyMs: 3 }]);
  await world.report(1, NOW - 1_000, [{ name: 'db', status: 'down', latencyMs: null }]);
  world.vendorStatuses.set(1, {
    readAt: NOW,
    kind: 'statuspage',
    status: 'major',
    since: NOW,
    incidentId: 'v-1',
    stale: false,
    url: 'https://status.shop.example',
  });
  await world.putPage('acme', { groups: [{ name: 'Web', services: [1, 2] }] });
  return world;
}

/** Holds responses against the document, and knows which of its responses were seen. */
async function openDocument(world: World) {
  const document = (await world.get('/api/v1/openapi.json')).json as Document;
  const validatorOf = documentSchemas(document.components, {
    ...{ allErrors: true, formats: { 'date-time': true, uri: true } },
  });
  const seen = new Set<string>();
  const endpoints = Object.entries(document.paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation }) as Endpoint),
    )
    // What needs a key beside heartbeats has a test of its own.
    .filter(({ path, operation }) => operation.security.length > 1 || /\/heartbeat(?:\/|$)/.test(path));
  return {
    endpoints,
    /** What the document says of a response, and each of its media types: `200 get /path type`. */
    named: endpoints.flatMap(({ path, method, operation }) =>
      Object.entries(operation.responses).flatMap(([status, { content = { '': null } }]) =>
        Object.keys(content).map((type) => `${status} ${method} ${path} ${type}`),
      ),
    ),
    seen,
    /** The document names the response, with these headers, this type and this body; it is noted as seen. */
    confirm({ path, method, operation }: Endpoint, status: number, { headers, text, ...answer }: Answer) {
      const what = `${status} ${method} ${path}`;
      const response = operation.responses[status];
      if (!t.equal(answer.status, status, `${what}: ${text.slice(0, 200)}`)) return;
      if (response === undefined) return void t.fail(`${what} is not documented`);
      for (const [name, { $ref = '', schema }] of Object.entries(response.headers ?? {})) {
        const shape = schema ?? document.components.headers[$ref.split('/').at(-1) ?? '']?.schema ?? {};
        const value = headers.get(name);
        const isInteger = 'type' in shape && shape.type === 'integer';
        const typed = isInteger && /^\d+$/.test(value ?? '') ? Number(value) : value;
        t.ok(validatorOf(shape)(typed), `${what}: ${name}: ${value}`);
      }
      const type = headers.get('content-type')?.split(';')[0] ?? '';
      if (response.content === undefined) t.equal(text, '', `${what} has no body`);
      else if (!(type in response.content)) t.fail(`${what} is documented without ${type}`);
      const { schema } = response.content?.[type] ?? {};
      if (schema !== undefined && type.endsWith('json')) {
        const validate = validatorOf(schema);
        t.ok(validate(JSON.parse(text)), `${what}: ${JSON.stringify(validate.errors)}`);
      }
      seen.add(`${what} ${response.content === undefined ? '' : type}`);
    },
  };
}

/** The address of an endpoint, about `slug` where it is about something. */
function addressOf(path: string, slug?: string): string {
  const known = /^\/(?:p|api\/v1\/pages)\//.test(path)
    ? 'acme'
    : /^\/(?:status|api\/badge|api\/chart)\//.test(path)
      ? 'shop-example'
      : 'shop';
  return path
    .replace('{slug}', slug ?? known)
    .replace('{id}', 'own-1-1')
    .replace('{secret}/{signal}', `${SECRETS[1]}/start`)
    .replace('/badge/{secret}', BADGE)
    .replace('push/{secret}', `push/${SECRETS[2]}`)
    .replace('{secret}', SECRETS[0]);
}

/** Sends what is right, but for what a test changes; the address of the client is new each time. */
function createSender(world: World) {
  let clients = 0;
  return async (
    { path, method }: Endpoint,
    { url = addressOf(path), body = BODY as unknown, headers = {} as Record<string, string> } = {},
  ): Promise<Answer> => {
    clients += 1;
    const client = from(`10.0.${clients >> 8}.${clients & 255}`);
    if (isKeyed({ path, method }))
      return await world.post(url, body, { ...client, ...world.makeKey(), ...headers });
    if (method !== 'get') return await world.get(url, { ...client, ...headers }, method.toUpperCase());
    if (path !== '/api/v1/events') return await world.get(url, { ...client, ...headers });
    const leave = new AbortController();
    const { signal } = leave;
    const response = await fetch(world.origin + url, { headers: { ...client, ...headers }, signal });
    const isStream = response.headers.get('content-type') === 'text/event-stream';
    const text = isStream ? '' : await response.text();
    if (isStream) leave.abort();
    return { status: response.status, headers: response.headers, bytes: Buffer.from(text), text, json: null };
  };
}

/** Whether the endpoint takes POST and PUT without a key besides GET. */
function isHeartbeatAddress({ path }: Pick<Endpoint, 'path'>): boolean {
  return /^\/(?:beat|api\/push)\//.test(path);
}

/** Whether the endpoint takes JSON and needs a key. */
function isKeyed({ path, method }: Pick<Endpoint, 'path' | 'method'>): boolean {
  return method === 'post' && !isHeartbeatAddress({ path });
}

t.test('it gives every response that the document names, as the document says', async (t) => {
  const world = await startFilled(t);
  const { endpoints, named, seen, confirm } = await openDocument(world);
  const send = createSender(world);
  const has = (endpoint: Endpoint, status: number) => String(status) in endpoint.operation.responses;

  for (const endpoint of endpoints) {
    const { path, operation } = endpoint;
    const good = await send(endpoint);
    confirm(endpoint, 200, good);
    if (has(endpoint, 304)) {
      const headers = { 'if-none-match': good.headers.get('etag') ?? '' };
      confirm(endpoint, 304, await send(endpoint, { headers }));
    }
    confirm(endpoint, 401, await send(endpoint, { headers: { authorization: 'Bearer x' } }));
    const otherScope = isKeyed(endpoint) ? 'read' : 'heartbeat';
    if (!path.includes('{secret}'))
      confirm(endpoint, 403, await send(endpoint, { headers: world.makeKey({ scopes: [otherScope] }) }));
    for (const { name, in: place } of operation.parameters) {
      if (place === 'query' && !(isHeartbeatAddress(endpoint) && !(name === 'status' && has(endpoint, 400))))
        confirm(endpoint, 400, await send(endpoint, { url: `${addressOf(path)}?${name}=x&${name}=x` }));
      if (place === 'path' && name === 'slug')
        confirm(endpoint, 404, await send(endpoint, { url: addressOf(path, 'nobody') }));
      if (name === 'secret')
        confirm(endpoint, 404, await send(endpoint, { url: path.replace('{secret}', 'unknown') }));
    }
    if (isKeyed(endpoint)) {
      confirm(endpoint, 400, await send(endpoint, { body: { ...BODY, domain: 'http://x' } }));
      confirm(endpoint, 413, await send(endpoint, { body: 'x'.repeat(20_000) }));
      confirm(endpoint, 415, await send(endpoint, { headers: { 'content-type': 'text/plain' } }));
    }
    if (isKeyed(endpoint) || isHeartbeatAddress(endpoint)) {
      for (const fault of ['foreign_domain', 'catalogue_domain', 'account_limit']) {
        world.faults.heartbeats = coded(fault);
        confirm(endpoint, 403, await send(endpoint));
      }
      for (const [fault, status] of [
        [new HeartbeatRefused('not now'), 503],
        [coded('lease_lost'), 503],
        [coded('registry_full'), 500],
      ] as const) {
        world.faults.heartbeats = fault;
        confirm(endpoint, status, await send(endpoint));
      }
      world.faults.heartbeats = null;
    }
    world.faults.keys = true;
    confirm(endpoint, 500, await send(endpoint, { headers: world.makeKey() }));
    world.faults.keys = false;
  }

  const one = (path: string): Endpoint => {
    const found = endpoints.find((endpoint) => endpoint.path === path);
    if (found === undefined) throw new Error(`${path} is not documented`);
    return found;
  };
  const badge = one('/api/badge/{slug}');
  for (const format of ['svg', 'shields'])
    for (const drawn of [badge, one('/badge/{secret}')])
      confirm(drawn, 200, await send(drawn, { url: `${addressOf(drawn.path)}?format=${format}` }));
  const dependencies = one('/api/v1/services/{slug}/dependencies');
  confirm(dependencies, 403, await send(dependencies, { url: addressOf(dependencies.path, 'closed') }));
  const oneIncident = one('/api/v1/incidents/{slug}/{id}');
  confirm(oneIncident, 404, await send(oneIncident, { url: '/api/v1/incidents/shop/nothing' }));
  const events = one('/api/v1/events');
  confirm(events, 404, await send(events, { url: '/api/v1/events?slug=nobody' }));
  const open = Array.from({ length: 10 }, () => fetch(`${world.origin}/api/v1/events`));
  const streams = await Promise.all(open);
  confirm(events, 429, await world.get('/api/v1/events'));
  for (const { body } of streams) await body?.cancel();

  // A minute with one request, and a store of samples that does not answer.
  const poor = await startFilled(t, {
    anonymousPerMinute: 1,
    authenticatedPerMinute: 1,
  });
  poor.faults.samples = coded('samples_away');
  const sendPoor = createSender(poor);
  for (const endpoint of endpoints) {
    const { path, method } = endpoint;
    const url = `${addressOf(path)}${path === badge.path ? '?variant=uptime' : ''}`;
    const headers = { ...from('192.0.2.1'), ...(isKeyed(endpoint) ? poor.makeKey() : {}) };
    if (method === 'get') {
      const answer = await sendPoor(endpoint, { url });
      confirm(endpoint, answer.status === 503 ? 503 : 200, answer);
    }
    // Each endpoint has one request for another one first.
    if (endpoint === events) continue;
    await sendPoor(endpoint, { headers });
    confirm(endpoint, 429, await sendPoor(endpoint, { headers }));
  }
  t.strictSame([...seen].sort(), [...named].sort(), 'every response of the document was seen');
});

t.test('it answers other methods with 405, which says what is possible', async (t) => {
  const world = await startFilled(t);
  const { endpoints } = await openDocument(world);
  for (const { path, method } of endpoints) {
    const url = addressOf(path);
    // Uptime Kuma takes every method.
    if (path === '/api/push/{secret}') continue;
    const isAddress = isHeartbeatAddress({ path });
    const allowed = method === 'get' || isAddress ? /^GET, HEAD/ : /^POST/;
    for (const other of isAddress ? ['DELETE'] : ['PUT', 'DELETE', method === 'get' ? 'POST' : 'GET']) {
      const answer = await world.get(url, {}, other);
      if (answer.headers.get('allow') === null && WRITTEN.has(path)) continue;
      t.match(answer, { status: 405, json: { code: 'method_not_allowed', status: 405 } }, `${other} ${path}`);
      t.match(answer.headers.get('allow'), allowed, `${other} ${path}`);
      t.equal(answer.headers.get('content-type'), 'application/problem+json', `${other} ${path}`);
    }
    if (method !== 'get') continue;
    const head = await world.get(url, {}, 'HEAD');
    t.match([head.status, head.text], [200, ''], `HEAD ${path}`);
  }
});
