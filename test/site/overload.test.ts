/** Overload over HTTP: pages, pictures and events are refused before the API, the API before heartbeats, and probes of the state never. */
import { once } from 'node:events';
import { connect } from 'node:net';
import t from 'tap';
import { service, startApi, type World } from './site-world.ts';

const PAGES = ['/', '/status/shop', '/api/badge/shop', '/assets/missing.js'];
const API = ['/api/v1/status/shop', '/api/v1/services', '/api/v1/incidents'];
const ALWAYS = ['/healthz', '/readyz', '/metrics'];
const HTML = { accept: 'text/html' };

/** A world, and what its requests are answered with, by their class: `503`, or `served`. */
async function startWorld() {
  const world = await startApi({ services: [service(1, 'shop')] });
  const key = world.makeKey({ scopes: ['heartbeat'] });
  const beat = async () =>
    (await world.post('/api/v1/heartbeat', { domain: 'shop.example', status: 'ok' }, key)).status;
  const found = async () => {
    const statusOf = async (path: string) => (await world.get(path)).status;
    const by = async (paths: readonly string[]) =>
      [...new Set(await Promise.all(paths.map(statusOf)))].map(nameOf);
    const events = await fetch(`${world.origin}/api/v1/events`);
    await events.body?.cancel();
    return {
      pages: [...new Set([...(await by(PAGES)), nameOf(events.status)])],
      api: await by(API),
      heartbeats: nameOf(await beat()),
      always: await by(ALWAYS),
    };
  };
  return { world, found };
}

function nameOf(status: number): string {
  return status === 503 ? '503' : 'served';
}

/** Lets the event loop be late for so long. It is measured while there are requests. */
async function overload({ clock, get }: World, seconds: number): Promise<void> {
  await get('/healthz');
  for (let n = 0; n < seconds * 2; n++) await clock.skip(500);
}

t.test('under overload, the least important requests are refused first', async (t) => {
  const { world, found } = await startWorld();
  t.teardown(world.close);
  const [served, refused] = [['served'], ['503']];
  t.same(await found(), { pages: served, api: served, heartbeats: 'served', always: served });
  await overload(world, 3);
  t.same(await found(), { pages: refused, api: served, heartbeats: 'served', always: served });
  await overload(world, 2);
  t.same(await found(), { pages: refused, api: refused, heartbeats: 'served', always: served });
  t.equal(world.heartbeats.refusals, 0);
  await overload(world, 2);
  t.same(await found(), { pages: refused, api: refused, heartbeats: '503', always: served });
  t.equal(world.heartbeats.refusals, 1, 'the record knows that a heartbeat could not be received');
  await world.clock.advance(10_000);
  t.same(await found(), { pages: served, api: served, heartbeats: 'served', always: served }, '10 s later');
});

t.test('a refused request says so, and when to come again', async (t) => {
  const { world } = await startWorld();
  t.teardown(world.close);
  await overload(world, 7);
  const refused = await world.get('/api/v1/services');
  t.match(refused.json, { code: 'overloaded', status: 503 });
  t.same(
    ['retry-after', 'x-ratelimit-limit', 'access-control-allow-origin'].map((name) =>
      refused.headers.get(name),
    ),
    ['10', '100000', '*'],
  );
  const page = await fetch(`${world.origin}/`, { headers: HTML });
  t.same([page.status, page.headers.get('retry-after')], [503, '10']);
  t.match(await page.text(), /<h1[^>]*>Temporarily unavailable/);
  const metrics = (await world.get('/metrics')).text;
  t.match(metrics, /^upbeat_http_overload_refusals_total\{class="pages"\} 1$/m);
  t.match(metrics, /^upbeat_http_overload_refusals_total\{class="api"\} 1$/m);
});

t.test('a page that has waited for five seconds to be started is refused', async (t) => {
  const { world } = await startWorld();
  t.teardown(world.close);
  const count = 200;
  const socket = connect(world.port, '127.0.0.1');
  socket.write('GET /status/shop HTTP/1.1\r\nHost: upbeat.test\r\n\r\n'.repeat(count));
  let text = '';
  const statuses = () => [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status);
  for await (const chunk of socket.setEncoding('latin1')) {
    // All have arrived, and each turn of the event loop starts one.
    if (text === '') await world.clock.skip(6_000);
    text += chunk;
    if (statuses().length === count) break;
  }
  const served = statuses().filter((status) => status === '200').length;
  t.ok(served > 0 && served < count / 2, `${served} were served`);
  t.equal(statuses().filter((status) => status === '503').length, count - served);
  const refusals = `upbeat_http_overload_refusals_total{class="pages"} ${count - served}\n`;
  t.ok((await world.get('/metrics')).text.includes(refusals), 'each is counted');
});

t.test('pages whose client is gone are not made, and those of others come earlier', async (t) => {
  const { port, get, close } = await startApi({ services: [service(1, 'shop')] });
  t.teardown(close);
  const count = 200;
  const socket = connect(port, '127.0.0.1');
  socket.end('GET /status/shop HTTP/1.1\r\nHost: upbeat.test\r\n\r\n'.repeat(count));
  await once(socket.resume(), 'close');
  t.equal((await get('/status/shop')).status, 200);
  const { text } = await get('/metrics');
  const ended = new Map(
    [...text.matchAll(/^upbeat_http_requests_total\{route="\/status\/:slug",status="(\d+)"\} (\d+)$/gm)].map(
      ([, status, requests]) => [status, Number(requests)],
    ),
  );
  const gone = ended.get('499') ?? 0;
  t.ok(gone > count / 2, `${gone} were not made`);
  t.equal(gone + (ended.get('200') ?? 0), count + 1, 'the page of another client came last');
});
