/** Several services on one host over the API: which requests add one, and what goes to the first one. */
import t, { type Test } from 'tap';
import { sendWith } from './send-with.ts';
import { startApi } from './site-world.ts';

async function start(t: Test) {
  const world = await startApi();
  t.teardown(world.close);
  t.teardown(world.registry.watchChanges(await world.registry.lastChange(), world.directory.apply));
  await world.registry.ensureAccount('ada', 1);
  const key = world.makeKey({ accountId: 1, scopes: ['read', 'heartbeat', 'write'] });
  const send = sendWith(world);
  const create = (document: object) => send('POST', '/api/v1/services', document, key);
  return { world, key, send, create };
}

const SHOP = { domain: 'shop.example.com', name: 'Shop' };
const API = { ...SHOP, name: 'API', check: { kind: 'http', settings: { path: '/api' } } };

t.test('another check or a slug adds a service to a host; a repetition is refused', async (t) => {
  const { create, send, key } = await start(t);
  t.match(await create(SHOP), { status: 201, json: { slug: 'shop-example-com' } });
  const conflict = {
    status: 409,
    json: {
      code: 'conflict',
      errors: [
        { field: 'domain', code: 'domain_taken', message: /needs a slug, such as shop-example-com-shop\.$/ },
      ],
    },
  };
  t.match(await create(SHOP), conflict, 'the same document');
  t.match(await create({ ...SHOP, check: { kind: 'root', interval: '10m' } }), conflict, 'the same check');
  const made = await create(API);
  t.match(made, {
    status: 201,
    json: { slug: 'shop-example-com-api', definition: { ...API, slug: 'shop-example-com-api' } },
  });
  t.equal((await create(API)).status, 409, 'a repetition of that');
  t.match(await create({ ...API, slug: 'shop-example-com-api' }), {
    status: 409,
    json: { errors: [{ field: 'slug', code: 'slug_taken', message: /shop-example-com-api-2 is free\.$/ }] },
  });
  t.match(await create({ ...SHOP, slug: 'Shop-Example-Com-Jobs' }), {
    status: 201,
    json: { slug: 'shop-example-com-jobs' },
  });
  for (const slug of ['a b', 'bank-example', 'shop-example-comet'])
    t.match(await create({ ...SHOP, slug }), { status: 400, json: { errors: [{ field: 'slug' }] } }, slug);
  const patch = (document: object) =>
    send('PATCH', '/api/v1/services/shop-example-com-api', document, {
      ...key,
      'content-type': 'application/merge-patch+json',
    });
  t.match(await patch({ name: 'Our API' }), { status: 200, json: { slug: 'shop-example-com-api' } });
  t.match(await patch({ slug: 'shop-example-com-x' }), {
    status: 400,
    json: { errors: [{ code: 'slug_fixed' }] },
  });
});

t.test('badge and page of the domain are those of its first service, whichever that is', async (t) => {
  const { world, create, send, key } = await start(t);
  await create(SHOP);
  await create(API);
  const nameOf = async () => {
    const { status } = await fetch(`${world.origin}/api/badge/shop-example-com.png`);
    return [status, world.directory.byPageName('shop-example-com')?.name];
  };
  t.strictSame(await nameOf(), [200, 'Shop']);
  t.equal((await fetch(`${world.origin}/api/badge/shop-example-com-api`)).status, 200);
  t.match(await send('DELETE', '/api/v1/services/shop-example-com', undefined, key), { status: 204 });
  t.strictSame(await nameOf(), [200, 'API'], 'the next one');
  t.match(await send('GET', '/api/v1/status/shop-example-com'), {
    status: 200,
    json: { slug: 'shop-example-com-api' },
  });
  t.match(await create(SHOP), { status: 409 });
  await send('DELETE', '/api/v1/services/shop-example-com-api', undefined, key);
  t.match(await create(SHOP), { status: 201, json: { slug: 'shop-example-com' } });
  t.strictSame(await nameOf(), [200, 'Shop']);
});
