/** Channels over the API. */
import t from 'tap';
import { start } from '../../site/owned-account.ts';

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
