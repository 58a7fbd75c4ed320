/** Channels, rules and alerts over the API. */
import t, { type Test } from 'tap';
import { createAcknowledgeLinks } from '../../src/auth/acknowledge-link.ts';
import type { AlertService } from '../../src/domain/alert/alert-context.ts';
import { NO_ALERTS, writeAlertState } from '../../src/domain/alert/alert-state.ts';
import { decide } from '../../src/domain/alert/decide.ts';
import { sendWith } from './send-with.ts';
import { NOW, service, startApi, type World } from './site-world.ts';

async function start(t: Test) {
  const services = [
    service(1, 'known', { name: 'Known', domain: 'known.example' }),
    service(2, 'shop-example-com', { domain: 'shop.example.com', origin: 'owner', accountId: 1 }),
  ];
  const world = await startApi({ services });
  t.teardown(world.close);
  const keyOf = (accountId: number) => world.makeKey({ accountId, scopes: ['read', 'write'] });
  const [ada, grace] = [keyOf(1), keyOf(2)];
  return { world, ada, grace, send: sendWith(world) };
}

const OPS = {
  name: 'Ops',
  kind: 'gotify',
  settings: { server: 'https://push.example.com', token: 's3cret' },
};
const SHOWN = { ...OPS, settings: { server: 'https://push.example.com' } };
const NONE = { total: 0, limit: 100, offset: 0 };

t.test('a channel is created, read, changed, tested and removed', async (t) => {
  const { ada, grace, world, send } = await start(t);
  const once = { ...ada, 'idempotency-key': 'ops' };
  const made = await send('POST', '/api/v1/channels', OPS, once);
  const { id } = made.json;
  const path = `/api/v1/channels/${id}`;
  t.equal(made.status, 201);
  t.equal(made.headers.get('location'), `https://upbeat.test${path}`);
  t.match(made.json, { destination: 'push.example.com', secrets: ['token'], definition: SHOWN });
  t.notMatch(made.text, 's3cret');
  const again = await send('POST', '/api/v1/channels', OPS, once);
  t.match([again.status, again.json], [201, made.json]);
  t.equal(again.headers.get('idempotent-replayed'), 'true');
  t.strictSame((await send('GET', '/api/v1/channels', undefined, ada)).json, {
    channels: [made.json],
    ...NONE,
    total: 1,
  });
  t.strictSame((await send('GET', '/api/v1/channels', undefined, grace)).json, { channels: [], ...NONE });

  const read = await send('GET', path, undefined, ada);
  t.strictSame(read.json, made.json);
  const tag = { 'if-match': read.headers.get('etag') ?? '' };
  const changed = await send('PATCH', path, { language: 'de' }, { ...ada, ...tag });
  t.match([changed.status, changed.json.definition], [200, { ...SHOWN, language: 'de' }]);
  t.match((await world.registry.channelsOf(1))[0]?.settings, OPS.settings, 'the secret stays');

  const tried = { ...ada, 'idempotency-key': 'tried' };
  const tested = await send('POST', `${path}/test`, undefined, tried);
  t.equal(tested.status, 202);
  t.strictSame((await send('POST', `${path}/test`, undefined, tried)).json, tested.json);
  t.equal((await send('POST', '/api/v1/channels/99/test', undefined, tried)).status, 422);
  const messages = await send('GET', `${path}/messages`, undefined, ada);
  t.match(messages.json, {
    messages: [{ type: 'test', thread: tested.json.thread, state: 'waiting', attempts: 0, problem: null }],
  });
  const message = messages.json.messages[0].id;
  t.equal((await send('POST', `${path}/messages/${message}/replay`, undefined, ada)).status, 204);
  t.match(await send('POST', `${path}/messages/999/replay`, undefined, ada), {
    status: 404,
    json: { code: 'message_not_found' },
  });
  for (let sent = 1; sent < 5; sent++) await send('POST', `${path}/test`, undefined, ada);
  const limited = await send('POST', `${path}/test`, undefined, ada);
  t.match([limited.status, limited.json.code], [429, 'rate_limited']);

  for (const [method, where, body] of [
    ['GET', path],
    ['PATCH', path, {}],
    ['DELETE', path],
    ['POST', `${path}/test`],
    ['GET', `${path}/messages`],
    ['POST', `${path}/messages/${message}/replay`],
  ] as const)
    t.match(await send(method, where, body, grace), { status: 404, json: { code: 'channel_not_found' } });
  t.equal((await send('DELETE', path, undefined, ada)).status, 204);
  t.equal((await send('GET', path, undefined, ada)).status, 404);
});

t.test('a refused channel names each wrong member', async (t) => {
  const { ada, send } = await start(t);
  const create = (document: unknown) => send('POST', '/api/v1/channels', document, ada);
  t.equal((await create(OPS)).status, 201);
  t.match(await create(OPS), { status: 409, json: { code: 'conflict', errors: [{ field: 'name' }] } });
  const wrong = { name: '', kind: 'gotify', settings: { server: 'push', priority: 99 } };
  const { status, json } = await create(wrong);
  t.equal(status, 400);
  t.strictSame(
    json.errors.map(({ field }: { field: string }) => field),
    ['name', 'settings.token', 'settings.server', 'settings.priority'],
  );
  const moved = { settings: { server: 'https://elsewhere.example' } };
  t.match(await send('PATCH', '/api/v1/channels/1', moved, ada), {
    status: 400,
    json: { errors: [{ field: 'settings.token', code: 'setting_invalid' }] },
  });
  const mail = { name: 'Mail', kind: 'email', settings: { to: 'a@b.example' } };
  const { id } = (await create(mail)).json;
  t.match(await send('POST', `/api/v1/channels/${id}/test`, undefined, ada), {
    status: 409,
    json: { errors: [{ code: 'channel_unconfirmed' }] },
  });
});

t.test('a rule is created, read, changed and removed', async (t) => {
  const { ada, grace, send } = await start(t);
  await send('POST', '/api/v1/channels', OPS, ada);
  const rule = {
    name: 'Night',
    services: ['known', 'shop.example.com'],
    channels: ['Ops'],
    repeat: '1h',
    quiet: { from: '22:00', to: '07:00', timezone: 'Europe/Berlin' },
  };
  const once = { ...ada, 'idempotency-key': 'night' };
  const made = await send('POST', '/api/v1/rules', rule, once);
  const path = `/api/v1/rules/${made.json.id}`;
  t.match([made.status, made.json.definition], [201, rule]);
  t.equal(made.headers.get('location'), `https://upbeat.test${path}`);
  t.strictSame((await send('POST', '/api/v1/rules', rule, once)).json, made.json);
  t.strictSame((await send('GET', '/api/v1/rules', undefined, ada)).json, {
    rules: [made.json],
    ...NONE,
    total: 1,
  });
  t.strictSame((await send('GET', '/api/v1/rules', undefined, grace)).json, { rules: [], ...NONE });
  const read = await send('GET', path, undefined, ada);
  t.strictSame(read.json, made.json);
  const tag = { 'if-match': read.headers.get('etag') ?? '' };
  const patch = { quiet: { from: '23:00' }, repeat: null, enabled: false };
  const { repeat: _, ...rest } = rule;
  const changed = await send('PATCH', path, patch, { ...ada, ...tag });
  t.strictSame(changed.json.definition, { ...rest, quiet: { ...rule.quiet, from: '23:00' }, enabled: false });
  t.match(await send('POST', '/api/v1/rules', { ...rule, name: 'B', channels: ['No'], after: 'x' }, ada), {
    status: 400,
    json: { errors: [{ field: 'channels.0' }, { field: 'after' }] },
  });
  t.match(await send('POST', '/api/v1/rules', rule, ada), { status: 409, json: { code: 'conflict' } });
  for (const method of ['GET', 'PATCH', 'DELETE'])
    t.match(await send(method, path, method === 'PATCH' ? {} : undefined, grace), {
      status: 404,
      json: { code: 'rule_not_found' },
    });
  t.equal((await send('DELETE', path, undefined, ada)).status, 204);
  t.equal((await send('GET', path, undefined, ada)).status, 404);
});

/** Decides that the shop of ada has gone down, as the engine does, and tells her channel. */
async function breakShop(world: World) {
  const { registry } = world;
  const [channel] = await registry.channelsOf(1);
  const [rule] = await registry.rulesOf(1);
  const shop: AlertService = {
    id: 2,
    slug: 'shop-example-com',
    name: 'Shop',
    domain: 'shop.example.com',
    url: 'https://upbeat.test/status/shop-example-com',
    accountId: 1,
    isPublic: false,
    category: 'developer',
    isPaused: false,
    status: 'down',
    scope: null,
    vendor: null,
    certificateEndsAt: null,
    isInMaintenance: false,
    ...{ ancestors: [], since: null, checkedAt: null, isStale: false, lastOutage: null, isProbed: true },
  };
  const change = {
    type: 'status',
    from: 'up',
    to: 'down',
    source: 'check',
    reason: null,
    phase: null,
    lastGoodAt: null,
    regions: [],
  } as const;
  const { state, messages } = decide(
    NO_ALERTS,
    {
      events: [{ position: 1, serviceId: 2, at: NOW, recordedAt: NOW, change }],
      acknowledgements: [],
      now: NOW + 60_000,
    },
    {
      accountId: 1,
      service: () => shop,
      rulesOf: () => (rule === undefined ? [] : [rule]),
      rule: () => rule ?? null,
      hasThreads: () => true,
      hasChannel: (id) => id === channel?.id,
      countBehind: () => 0,
      causeFacts: () => [],
      overviewUrl: 'https://upbeat.test/dashboard',
      acknowledgeUrl: (thread) => LINKS.urlOf({ accountId: 1, thread }),
    },
  );
  await registry.commitAlerts({
    position: 1,
    states: [{ accountId: 1, state: writeAlertState(state), dueAt: null }],
    messages,
    acknowledgements: [],
    rulesVersion: await registry.rulesVersion(),
    now: NOW,
  });
  const [told] = messages;
  return { thread: told?.message.thread ?? '', link: told?.message.acknowledgeUrl ?? '' };
}

const LINKS = createAcknowledgeLinks(new Uint8Array(32), 'https://upbeat.test');

t.test('open alerts are listed and acknowledged, by a key and by the link in a message', async (t) => {
  const { ada, grace, world, send } = await start(t);
  await send('POST', '/api/v1/channels', OPS, ada);
  await send('POST', '/api/v1/rules', { name: 'Mine', own: true, channels: ['Ops'] }, ada);
  t.strictSame((await send('GET', '/api/v1/alerts', undefined, ada)).json, { alerts: [], ...NONE });
  const { thread, link } = await breakShop(world);
  const open = await send('GET', '/api/v1/alerts', undefined, ada);
  t.match(open.json, {
    total: 1,
    alerts: [
      {
        thread,
        services: [{ name: 'Shop' }],
        service_count: 1,
        acknowledged_at: null,
        acknowledged_by: null,
      },
    ],
  });
  t.strictSame((await send('GET', '/api/v1/alerts', undefined, grace)).json, { alerts: [], ...NONE });

  const path = new URL(link).pathname;
  const page = await fetch(world.origin + path);
  const text = await page.text();
  t.equal(page.status, 200);
  t.equal(page.headers.get('cache-control'), 'no-store');
  t.equal(page.headers.get('referrer-policy'), 'no-referrer');
  t.match(text, /<form method="post" action="\/alerts\/acknowledge\//);
  t.match(text, />Shop</);
  t.strictSame(await world.registry.newAcknowledgements(), [], 'looking changes nothing');
  const wrong = await fetch(`${world.origin}${path.slice(0, -3)}AAA`, { method: 'POST' });
  t.equal(wrong.status, 404);
  const taken = await fetch(world.origin + path, { method: 'POST' });
  t.equal(taken.status, 200);
  t.match(await taken.text(), /acknowledged by a link/);
  t.notMatch(await (await fetch(world.origin + path)).text(), '<form method="post"');
  t.match(await world.registry.newAcknowledgements(), [{ accountId: 1, thread, by: '' }]);
  t.match((await send('GET', '/api/v1/alerts', undefined, ada)).json, { alerts: [{ acknowledged_by: '' }] });

  const where = `/api/v1/alerts/${thread}/acknowledge`;
  t.equal((await send('POST', where, undefined, ada)).status, 204, 'again changes nothing');
  t.equal((await world.registry.newAcknowledgements()).length, 1);
  for (const [other, key] of [
    [where, grace],
    ['/api/v1/alerts/none/acknowledge', ada],
  ] as const)
    t.match(await send('POST', other, undefined, key), { status: 404, json: { code: 'alert_not_found' } });
  await world.registry.commitAlerts({
    position: 1,
    states: [{ accountId: 1, state: writeAlertState(NO_ALERTS), dueAt: null }],
    messages: [],
    acknowledgements: [],
    rulesVersion: await world.registry.rulesVersion(),
    now: NOW,
  });
  const over = await fetch(world.origin + path);
  t.equal(over.status, 410);
  t.match(await over.text(), /This alert is over/);
});
