/** Each response that the OpenAPI document names of an operation that needs a key is given, in the form that it names. */
import t from 'tap';
import type { AlertMessage } from '../../src/domain/alert/message.ts';
import { documentSchemas } from '../support/document-schemas.ts';
import { sendWith } from './send-with.ts';
import { NOW, service, startApi, type World } from './site-world.ts';

t.setTimeout(120_000);

interface Operation {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly requestBody?: object;
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: object }>> }>
  >;
}
interface Endpoint extends Operation {
  readonly path: string;
  readonly method: string;
}
type Answer = Awaited<ReturnType<ReturnType<typeof sendWith>>>;
/** A request of an operation, and the status that it gets. */
type Row = readonly [
  id: string,
  status: number,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
];

const SHOP = '/api/v1/services/shop-example-com';
const [OLD, FIRST] = [{ 'if-match': '"99-x"' }, { 'idempotency-key': 'first' }];
const LONG = { 'idempotency-key': 'x'.repeat(256) };
const PAGE = { slug: 'acme', title: 'Acme' };
const CHANNEL = {
  name: 'Ops',
  kind: 'gotify',
  settings: { server: 'https://push.example.com', token: 'abc' },
};
/** The thread of an alert that is open. */
const OPEN = 'open';
const MAIL = { name: 'Mail', kind: 'email', settings: { to: 'ops@example.com' } };
const RULE = { name: 'Mine', own: true, channels: ['Ops'] };
const SAID = { title: 'Orders are late', text: 'We look.', pages: ['acme'] };
const WORK = { title: 'New disks', duration: '1h', pages: ['acme'] };

/** In this order: what one row makes, later ones use. */
const TABLE: readonly Row[] = [
  ['createService', 201, '/api/v1/services', { domain: 'shop.example.com' }, FIRST],
  ['createService', 409, '/api/v1/services', { domain: 'shop.example.com' }],
  ['createService', 403, '/api/v1/services', { domain: 'api.known.example' }],
  ['createService', 422, '/api/v1/services', { domain: 'other.example.com' }, FIRST],
  ['changeService', 200, SHOP, { paused: true }],
  ['changeService', 412, SHOP, {}, OLD],
  ['changeService', 404, '/api/v1/services/known', {}],
  ['verifyService', 409, `${SHOP}/verify`],
  ['verifyService', 400, `${SHOP}/verify`, undefined, LONG],
  ['verifyService', 422, `${SHOP}/verify`, undefined, FIRST],
  ['verifyService', 404, '/api/v1/services/known/verify'],
  ['renewBadgeAddress', 200, `${SHOP}/badge-address`],
  ['renewBadgeAddress', 400, `${SHOP}/badge-address`, undefined, LONG],
  ['renewBadgeAddress', 404, '/api/v1/services/known/badge-address'],
  ['renewBadgeAddress', 412, `${SHOP}/badge-address`, undefined, OLD],
  ['renewBadgeAddress', 422, `${SHOP}/badge-address`, undefined, FIRST],
  ['createHeartbeatAddress', 201, `${SHOP}/address`, undefined, { 'idempotency-key': 'address' }],
  ['createHeartbeatAddress', 400, `${SHOP}/address`, undefined, LONG],
  ['createHeartbeatAddress', 412, `${SHOP}/address`, undefined, OLD],
  ['createHeartbeatAddress', 404, '/api/v1/services/known/address'],
  ['createHeartbeatAddress', 422, `${SHOP}/address`, undefined, FIRST],
  ['removeHeartbeatAddress', 412, `${SHOP}/address`, undefined, OLD],
  ['removeHeartbeatAddress', 204, `${SHOP}/address`],
  ['removeHeartbeatAddress', 404, '/api/v1/services/known/address'],
  ['removeService', 412, SHOP, undefined, OLD],
  ['removeService', 204, SHOP],
  ['removeService', 404, SHOP],
  ['createPage', 201, '/api/v1/pages', PAGE],
  ['createPage', 409, '/api/v1/pages', PAGE],
  ['createPage', 422, '/api/v1/pages', PAGE, FIRST],
  ['changePage', 200, '/api/v1/pages/acme', { text: 'We make things.' }],
  ['changePage', 412, '/api/v1/pages/acme', {}, OLD],
  ['changePage', 404, '/api/v1/pages/nothing', {}],
  ['listPages', 200, '/api/v1/pages'],
  ['listPages', 400, '/api/v1/pages?limit=none'],
  ['openIncident', 201, '/api/v1/incidents', SAID],
  ['openIncident', 422, '/api/v1/incidents', SAID, FIRST],
  ['correctIncident', 200, '/api/v1/incidents/owner-1', { severity: 'major' }],
  ['correctIncident', 412, '/api/v1/incidents/owner-1', {}, OLD],
  ['correctIncident', 404, '/api/v1/incidents/owner-99', {}],
  ['updateIncident', 200, '/api/v1/incidents/owner-1/updates', { status: 'resolved', text: 'Done.' }],
  ['updateIncident', 412, '/api/v1/incidents/owner-1/updates', { text: 'Done.' }, OLD],
  ['updateIncident', 422, '/api/v1/incidents/owner-1/updates', { text: 'Done.' }, FIRST],
  ['updateIncident', 404, '/api/v1/incidents/owner-99/updates', { text: 'Done.' }],
  ['listOwnIncidents', 200, '/api/v1/account/incidents'],
  ['listOwnIncidents', 400, '/api/v1/account/incidents?limit=none'],
  ['getOwnIncident', 200, '/api/v1/account/incidents/owner-1'],
  ['getOwnIncident', 404, '/api/v1/account/incidents/owner-99'],
  ['removeIncident', 412, '/api/v1/incidents/owner-1', undefined, OLD],
  ['removeIncident', 204, '/api/v1/incidents/owner-1'],
  ['removeIncident', 404, '/api/v1/incidents/owner-1'],
  ['announceMaintenance', 201, '/api/v1/maintenances', WORK],
  ['announceMaintenance', 422, '/api/v1/maintenances', WORK, FIRST],
  ['changeMaintenance', 200, '/api/v1/maintenances/m1', { duration: '2h' }],
  ['changeMaintenance', 412, '/api/v1/maintenances/m1', {}, OLD],
  ['changeMaintenance', 404, '/api/v1/maintenances/m99', {}],
  ['changeOccurrence', 200, '/api/v1/maintenances/m1/occurrence', { action: 'extend', by: '30m' }],
  ['changeOccurrence', 409, '/api/v1/maintenances/m1/occurrence', { action: 'skip' }],
  ['changeOccurrence', 412, '/api/v1/maintenances/m1/occurrence', { action: 'end' }, OLD],
  ['changeOccurrence', 422, '/api/v1/maintenances/m1/occurrence', { action: 'end' }, FIRST],
  ['changeOccurrence', 404, '/api/v1/maintenances/m99/occurrence', { action: 'end' }],
  ['listOwnMaintenances', 200, '/api/v1/maintenances'],
  ['listOwnMaintenances', 400, '/api/v1/maintenances?limit=none'],
  ['getOwnMaintenance', 200, '/api/v1/maintenances/m1'],
  ['getOwnMaintenance', 404, '/api/v1/maintenances/m99'],
  ['withdrawMaintenance', 412, '/api/v1/maintenances/m1', undefined, OLD],
  ['withdrawMaintenance', 204, '/api/v1/maintenances/m1'],
  ['withdrawMaintenance', 404, '/api/v1/maintenances/m1'],
  ['removePage', 412, '/api/v1/pages/acme', undefined, OLD],
  ['removePage', 204, '/api/v1/pages/acme'],
  ['removePage', 404, '/api/v1/pages/acme'],
  ['createKey', 201, '/api/v1/keys', { name: 'ci', scopes: ['read'] }],
  ['createKey', 422, '/api/v1/keys', { name: 'ci', scopes: ['read'] }, FIRST],
  ['listKeys', 200, '/api/v1/keys'],
  ['listKeys', 400, '/api/v1/keys?limit=none'],
  ['revokeKey', 404, '/api/v1/keys/999'],
  ['revokeKey', 204, '/api/v1/keys/1'],
  ['createWebhook', 201, '/api/v1/webhooks', { url: 'https://example.com/hook' }],
  ['createWebhook', 422, '/api/v1/webhooks', { url: 'https://example.com/hook' }, FIRST],
  ['listWebhooks', 200, '/api/v1/webhooks'],
  ['listWebhooks', 400, '/api/v1/webhooks?limit=none'],
  ['createChannel', 201, '/api/v1/channels', CHANNEL],
  ['createChannel', 409, '/api/v1/channels', CHANNEL],
  ['createChannel', 422, '/api/v1/channels', CHANNEL, FIRST],
  ['createChannel', 201, '/api/v1/channels', MAIL],
  ['listChannels', 200, '/api/v1/channels'],
  ['listChannels', 400, '/api/v1/channels?limit=none'],
  ['getChannel', 200, '/api/v1/channels/1'],
  ['getChannel', 404, '/api/v1/channels/99'],
  ['changeChannel', 200, '/api/v1/channels/1', { language: 'de' }],
  ['changeChannel', 409, '/api/v1/channels/1', { name: 'Mail' }],
  ['changeChannel', 412, '/api/v1/channels/1', {}, OLD],
  ['changeChannel', 404, '/api/v1/channels/99', {}],
  ['testChannel', 202, '/api/v1/channels/1/test'],
  ['testChannel', 404, '/api/v1/channels/99/test'],
  ['testChannel', 400, '/api/v1/channels/1/test', undefined, LONG],
  ['testChannel', 409, '/api/v1/channels/2/test'],
  ['testChannel', 422, '/api/v1/channels/1/test', undefined, FIRST],
  ['listChannelMessages', 200, '/api/v1/channels/1/messages'],
  ['listChannelMessages', 404, '/api/v1/channels/99/messages'],
  ['replayChannelMessage', 204, '/api/v1/channels/1/messages/1/replay'],
  ['replayChannelMessage', 400, '/api/v1/channels/1/messages/1/replay', undefined, LONG],
  ['replayChannelMessage', 422, '/api/v1/channels/1/messages/1/replay', undefined, FIRST],
  ['replayChannelMessage', 404, '/api/v1/channels/1/messages/99/replay'],
  ['listAlerts', 200, '/api/v1/alerts'],
  ['listAlerts', 400, '/api/v1/alerts?limit=none'],
  ['acknowledgeAlert', 204, `/api/v1/alerts/${OPEN}/acknowledge`],
  ['acknowledgeAlert', 400, `/api/v1/alerts/${OPEN}/acknowledge`, undefined, LONG],
  ['acknowledgeAlert', 422, `/api/v1/alerts/${OPEN}/acknowledge`, undefined, FIRST],
  ['acknowledgeAlert', 404, '/api/v1/alerts/none/acknowledge'],
  ['createRule', 201, '/api/v1/rules', RULE],
  ['createRule', 409, '/api/v1/rules', RULE],
  ['createRule', 422, '/api/v1/rules', RULE, FIRST],
  ['createRule', 201, '/api/v1/rules', { ...RULE, name: 'Other' }],
  ['listRules', 200, '/api/v1/rules'],
  ['listRules', 400, '/api/v1/rules?limit=none'],
  ['getRule', 200, '/api/v1/rules/1'],
  ['getRule', 404, '/api/v1/rules/99'],
  ['changeRule', 200, '/api/v1/rules/1', { repeat: '1h' }],
  ['changeRule', 409, '/api/v1/rules/1', { name: 'Other' }],
  ['changeRule', 412, '/api/v1/rules/1', {}, OLD],
  ['changeRule', 404, '/api/v1/rules/99', {}],
  ['removeRule', 412, '/api/v1/rules/1', undefined, OLD],
  ['removeRule', 204, '/api/v1/rules/1'],
  ['removeRule', 404, '/api/v1/rules/1'],
  ['removeChannel', 412, '/api/v1/channels/1', undefined, OLD],
  ['removeChannel', 204, '/api/v1/channels/1'],
  ['removeChannel', 404, '/api/v1/channels/1'],
  ['removeWebhook', 204, '/api/v1/webhooks/1'],
  ['removeWebhook', 404, '/api/v1/webhooks/1'],
];

/** Tells the first channel of an alert. */
async function openAlert({ registry }: World): Promise<void> {
  const message: AlertMessage = {
    type: 'alert',
    thread: OPEN,
    urgency: 'high',
    at: NOW,
    items: [],
    total: 0,
    cause: null,
    rule: null,
    url: 'https://upbeat.test/',
    acknowledgeUrl: null,
    note: null,
  };
  await registry.commitAlerts({
    ...{ position: 0, states: [], acknowledgements: [], now: NOW },
    messages: [{ channelId: 1, message }],
    rulesVersion: await registry.rulesVersion(),
  });
}

/** Holds responses against the document. */
async function openDocument(world: World) {
  const document = (await world.get('/api/v1/openapi.json')).json as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    readonly components: object;
  };
  const validatorOf = documentSchemas(document.components, { allErrors: true, formats: { uri: true } });
  const endpoints: Endpoint[] = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, { security }]) => security.length === 1)
      .map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() })),
  );
  const seen = new Set<string>();
  const confirm = ({ operationId, responses }: Endpoint, status: number, answer: Answer): void => {
    const what = `${operationId} ${status}`;
    if (answer.status !== status) return void t.equal(`${answer.status} ${answer.text}`, status, what);
    const response = responses[status];
    if (response === undefined) return void t.fail(`${what} is not documented`);
    seen.add(what);
    const type = answer.headers.get('content-type')?.split(';')[0] ?? '';
    const schema = response.content?.[type]?.schema;
    if (schema === undefined) return void (answer.text === '' || t.fail(`${what} has a body of ${type}`));
    const validate = validatorOf(schema);
    if (!validate(answer.json)) t.fail(`${what}: ${JSON.stringify(validate.errors)}`);
  };
  return { endpoints, seen, confirm };
}

t.test('it gives every response that the document names of operations with a key', async (t) => {
  const world = await startApi({ services: [service(1, 'known', { domain: 'known.example' })] });
  t.teardown(world.close);
  t.teardown(world.registry.watchChanges(await world.registry.lastChange(), world.directory.apply));
  const send = sendWith(world);
  const { endpoints: all, seen, confirm } = await openDocument(world);
  const endpoints = all.filter(({ path }) => !path.startsWith('/api/v1/heartbeat'));
  const known = new Set(TABLE.map(([id]) => id));
  const inTable = endpoints.filter(({ operationId }) => known.has(operationId));
  t.strictSame(new Set(inTable.map(({ operationId }) => operationId)), known);
  const key = () => world.makeKey({ scopes: ['read', 'write'] });
  const mine = key();
  const find = (id: string): Endpoint => {
    const found = inTable.find(({ operationId }) => operationId === id);
    if (found === undefined) throw new Error(`${id} is not documented`);
    return found;
  };

  /** The ids of what was made, which the table cannot know. */
  const made = new Map<string, string>();
  for (const [id, status, listed, body, headers = {}] of TABLE) {
    const path = listed.replace(/\b(?:owner-1|m1)\b/, (name) => made.get(name) ?? name);
    if (id === 'listAlerts' && status === 200) await openAlert(world);
    const endpoint = find(id);
    const answer = await send(endpoint.method, path, body, { ...mine, ...headers });
    confirm(endpoint, status, answer);
    if (status === 201 && id === 'openIncident') made.set('owner-1', answer.json.id);
    if (status === 201 && id === 'announceMaintenance') made.set('m1', answer.json.id);
    if (endpoint.method !== 'GET' || status !== 200) continue;
    const known = { ...mine, 'if-none-match': answer.headers.get('etag') ?? '' };
    confirm(endpoint, 304, await send('GET', path, undefined, known));
  }

  // One address leads to twenty services of owners and no more.
  const domains = Array.from({ length: 21 }, (_, number) => `s${number}.example.com`);
  for (const domain of domains) {
    world.proofs.add(domain);
    await send('POST', '/api/v1/services', { domain }, mine);
  }
  const last = '/api/v1/services/s20-example-com';
  for (const domain of domains.slice(0, 20)) {
    const path = `/api/v1/services/${domain.replaceAll('.', '-')}/verify`;
    confirm(find('verifyService'), 200, await send('POST', path, undefined, mine));
  }
  confirm(find('verifyService'), 409, await send('POST', `${last}/verify`, undefined, mine));
  for (const check of [{ kind: 'tls' }, { url: 'https://s20.example.com/other' }])
    confirm(find('changeService'), 409, await send('PATCH', last, { check }, mine));

  const poor = await startApi({ authenticatedPerMinute: 1 });
  t.teardown(poor.close);
  for (const endpoint of inTable) {
    const { method, requestBody } = endpoint;
    const url = endpoint.path
      .replace('{slug}', 's20-example-com')
      .replace('{id}', '7')
      .replace('{message}', '7');
    const body = requestBody === undefined ? undefined : {};
    confirm(endpoint, 401, await send(method, url, body));
    confirm(endpoint, 403, await send(method, url, body, world.makeKey({ scopes: ['heartbeat'] })));
    if (requestBody !== undefined) {
      confirm(endpoint, 400, await send(method, url, '{', mine));
      confirm(endpoint, 413, await send(method, url, 'x'.repeat(600_000), mine));
      confirm(endpoint, 415, await send(method, url, '{}', { ...mine, 'content-type': 'text/plain' }));
    }
    world.faults.keys = true;
    confirm(endpoint, 500, await send(method, url, body, key()));
    world.faults.keys = false;
    const valid = TABLE.find(([id, status]) => id === endpoint.operationId && status < 300)?.[3];
    for (const fault of ['storage_unreachable', 'lease_lost']) {
      world.faults.storage = fault;
      const away = await send(method, url, valid, mine);
      confirm(endpoint, 503, away);
      t.match(away.headers.get('retry-after'), /^\d+$/, `${endpoint.operationId} says when to try again`);
    }
    world.faults.storage = null;
    const once = poor.makeKey({ scopes: ['read', 'write'] });
    const sendPoor = sendWith(poor);
    await sendPoor(method, url, body, once);
    confirm(endpoint, 429, await sendPoor(method, url, body, once));
  }
  const named = inTable.flatMap(({ operationId, responses }) =>
    Object.keys(responses).map((status) => `${operationId} ${status}`),
  );
  t.strictSame([...seen].sort(), named.sort(), 'every response of the document was seen');
});
