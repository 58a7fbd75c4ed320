/** Webhooks over the API for writing. */
import t from 'tap';
import { start } from '../../site/owned-account.ts';

t.test('webhooks are created, listed and removed', async (t) => {
  const { ada, grace, world, send } = await start(t);
  const create = (url: string, headers: Record<string, string> = {}) =>
    send('POST', '/api/v1/webhooks', { url }, { ...ada, ...headers });
  const once = { 'idempotency-key': 'w' };
  const made = await create('https://example.com/hook', once);
  t.match(made, { status: 201, json: { url: 'https://example.com/hook', secret: /^whsec_/ } });
  t.strictSame((await create('https://example.com/hook', once)).json, made.json);
  const list = async (headers: Record<string, string>) =>
    (await send('GET', '/api/v1/webhooks', undefined, headers)).json.webhooks;
  const { secret: _, ...shown } = made.json;
  t.strictSame([await list(ada), await list(grace)], [[shown], []]);
  const reader = world.makeKey({ accountId: 1, scopes: ['read', 'heartbeat'] });
  t.strictSame(await list(reader), [{ ...shown, url: 'https://example.com/…' }], 'a path is often a secret');
  t.equal(shown.format, 'json');
  const events = await send(
    'POST',
    '/api/v1/webhooks',
    { url: 'https://example.com/events', format: 'cloudevents' },
    ada,
  );
  t.match(events, { status: 201, json: { format: 'cloudevents' } });
  t.match((await list(ada))[1], { format: 'cloudevents' });
  t.equal((await send('DELETE', `/api/v1/webhooks/${events.json.id}`, undefined, ada)).status, 204);
  t.match(await send('POST', '/api/v1/webhooks', { url: 'https://example.com/x', format: 'xml' }, ada), {
    status: 400,
    json: { errors: [{ field: 'format' }] },
  });
  t.match(await create('ftp://x'), {
    status: 400,
    json: { errors: [{ field: 'url', code: 'webhook_url_invalid' }] },
  });
  for (const host of ['127.0.0.1:8080', '0x7f000001', '[::1]', '169.254.169.254', 'localhost', 'db.internal'])
    t.match(await create(`http://${host}/hook`), {
      status: 400,
      json: {
        code: 'invalid_body',
        errors: [{ field: 'url', code: 'url_refused', message: /is not public/ }],
      },
    });
  for (let number = 2; number <= 10; number++)
    t.equal((await create(`https://example.com/${number}`)).status, 201);
  t.match(await create('https://example.com/11'), { status: 403, json: { code: 'account_limit' } });
  const path = `/api/v1/webhooks/${made.json.id}`;
  t.match(await send('DELETE', path, undefined, grace), { status: 404, json: { code: 'webhook_not_found' } });
  t.equal((await send('DELETE', path, undefined, ada)).status, 204);
  t.equal((await list(ada)).length, 9);
  const newest = Math.max(...(await list(ada)).map(({ id }: { readonly id: number }) => id));
  t.equal((await send('DELETE', `/api/v1/webhooks/${newest}`, undefined, ada)).status, 204);
  const next = await create('https://example.com/next');
  t.ok(next.json.id > newest, 'a number is not given again, so DELETE needs no If-Match');
});
