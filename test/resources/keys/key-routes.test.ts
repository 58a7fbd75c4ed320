/** API keys over the API for writing. */
import t from 'tap';
import { start } from '../../site/owned-account.ts';

t.test('keys are created with scopes that the key has, listed and revoked', async (t) => {
  const { ada, grace, world, send } = await start(t);
  const create = (body: unknown, headers: Record<string, string> = ada) =>
    send('POST', '/api/v1/keys', body, headers);
  const made = await create({ name: 'ci' });
  t.match(made, {
    status: 201,
    json: {
      name: 'ci',
      scopes: ['read', 'heartbeat'],
      state: 'valid',
      key: /^upb_\w{38}$/,
      last_used_at: null,
    },
  });
  t.equal(made.headers.get('cache-control'), 'no-store');
  const { id, key } = made.json;
  const own = { authorization: `Bearer ${key}` };
  t.match(await send('GET', '/api/v1/keys', undefined, own), { status: 200 });
  t.match(await create({ name: 'more' }, own), {
    status: 403,
    json: { code: 'insufficient_scope', scope: 'write' },
  });
  const writer = await create({ name: 'writer', expires: 'never', scopes: ['write'] });
  t.equal(writer.json.expires_at, null);
  const writes = { authorization: `Bearer ${writer.json.key}` };
  t.equal((await send('GET', '/api/v1/keys', undefined, writes)).status, 200, 'who may write may read');
  t.match(await create({ name: 'beyond', scopes: ['write', 'read'] }, writes), {
    status: 403,
    json: {
      code: 'insufficient_scope',
      scope: 'read',
      errors: [{ field: 'scopes', code: 'scope_beyond_key' }],
    },
  });
  t.equal((await create({ name: 'within', scopes: ['write'] }, writes)).status, 201);
  for (const [body, field] of [
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 'x', expires: 'soon' }, 'expires'],
    [{ name: 'x', scopes: [] }, 'scopes'],
    [{ name: 'x', scopes: ['all'] }, 'scopes.0'],
  ] as const)
    t.match(await create(body), { status: 400, json: { errors: [{ field }] } }, JSON.stringify(body));

  const listed = await send('GET', '/api/v1/keys', undefined, ada);
  t.notMatch(JSON.stringify(listed.json), key);
  t.match(listed.json.keys.at(-3), { id, name: 'ci', prefix: key.slice(0, 8), state: 'valid' });
  t.equal((await send('DELETE', `/api/v1/keys/${id}`, undefined, grace)).status, 404);
  for (const none of ['0', '999', 'abc', '1.5'])
    t.match(await send('DELETE', `/api/v1/keys/${none}`, undefined, ada), {
      status: 404,
      json: { code: 'key_not_found' },
    });
  t.equal((await send('DELETE', `/api/v1/keys/${id}`, undefined, ada)).status, 204);
  await world.clock.advance(1_000);
  t.equal((await send('GET', '/api/v1/keys', undefined, own)).status, 401);

  const again = { ...ada, 'idempotency-key': 'k' };
  const [first, second] = [await create({ name: 'once' }, again), await create({ name: 'once' }, again)];
  t.strictSame(second.json, first.json, 'a replay has the same secret');
  t.equal((await world.registry.listKeys(1)).filter(({ name }) => name === 'once').length, 1);
  const other = { ...writes, 'idempotency-key': 'k' };
  t.equal((await create({ name: 'once' }, other)).status, 422, 'and not for another key');
});
