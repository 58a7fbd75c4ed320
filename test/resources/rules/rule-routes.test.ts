/** Rules over the API. */
import t from 'tap';
import { start } from '../../site/owned-account.ts';

const OPS = {
  name: 'Ops',
  kind: 'gotify',
  settings: { server: 'https://push.example.com', token: 's3cret' },
};

const NONE = { total: 0, limit: 100, offset: 0 };

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
