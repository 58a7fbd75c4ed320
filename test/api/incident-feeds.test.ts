/** Incidents as Atom feeds, valid by the schema of RFC 4287. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { incident, NOW, service, startApi } from '../site/site-world.ts';
import { hasProgram } from '../support/install-servers.ts';

const SCHEMA = join(import.meta.dirname, 'atom.rng');
const NEEDS_XMLLINT = hasProgram('xmllint')
  ? {}
  : { skip: 'xmllint is missing: apt-get install libxml2-utils' };

async function world() {
  const api = await startApi({
    services: [
      service(1, 'shop', { name: 'Shop <&>' }),
      service(2, 'mine', { origin: 'owner', accountId: 1, verified: false }),
    ],
  });
  const updates = [
    { at: NOW, status: 'investigating' as const, text: 'We look at <b>it</b> & more.\u0000' },
    { at: NOW + 60_000, status: 'resolved' as const, text: '' },
  ];
  await api.putIncidents(incident('own-1-1', 1, { updates, status: 'resolved' }), incident('own-2-1', 2));
  return api;
}

t.test('it writes valid feeds of all incidents and of one service', NEEDS_XMLLINT, async (t) => {
  const api = await world();
  t.teardown(api.close);
  const empty = await startApi({ services: [service(1, 'shop')] });
  t.teardown(empty.close);
  for (const answer of [
    await api.get('/incidents.atom'),
    await api.get('/status/shop-example/incidents.atom'),
    await empty.get('/incidents.atom'),
  ]) {
    t.equal(answer.status, 200);
    t.equal(answer.headers.get('content-type'), 'application/atom+xml; charset=utf-8');
    const { status, stderr } = spawnSync('xmllint', ['--noout', '--relaxng', SCHEMA, '-'], {
      input: answer.text,
    });
    t.equal(status, 0, stderr.toString());
  }
});

t.test(
  'a feed without entries is dated when its page was made, or when the program started, and keeps its tag',
  async (t) => {
    const api = await startApi({ services: [service(1, 'shop')] });
    t.teardown(api.close);
    await api.putPage('acme', { groups: [{ name: 'Web', services: [1] }] });
    const pageMadeAt = Date.UTC(2026, 10, 1);
    for (const [path, at] of [
      ['/incidents.atom', NOW],
      ['/status/shop-example/incidents.atom', NOW],
      ['/p/acme/incidents.atom', pageMadeAt],
    ] as const) {
      const { text, headers } = await api.get(path);
      t.match(text, `<updated>${new Date(at).toISOString()}</updated>`, path);
      await api.clock.advance(3_600_000);
      const { status } = await api.get(path, { 'if-none-match': headers.get('etag') ?? '' });
      t.equal(status, 304, path);
    }
  },
);

t.test('the title of an entry names the service once', async (t) => {
  const api = await startApi({ services: [service(1, 'shop', { name: 'Shop' })] });
  t.teardown(api.close);
  const source = 'vendor' as const;
  await api.putIncidents(
    incident('own-1', 1, { title: 'Shop is not reachable' }),
    incident('v-1', 1, { source, title: 'Delayed mails', startedAt: NOW - 1_000 }),
    incident('v-2', 1, { source, title: 'Shopping is slow', startedAt: NOW - 2_000 }),
  );
  const { text } = await api.get('/incidents.atom');
  t.same(
    [...text.matchAll(/<entry>[\s\S]*?<title>(.*?) \(/g)].map(([, title]) => title),
    ['Shop is not reachable', 'Shop: Delayed mails', 'Shop: Shopping is slow'],
  );
});

t.test('ids of incidents never change, and a changed entry has a new time', async (t) => {
  const api = await world();
  t.teardown(api.close);
  const { text, headers } = await api.get('/incidents.atom');
  t.match(text, /<id>tag:upbeat\.test,2026:incidents<\/id>/);
  t.match(text, /<id>tag:upbeat\.test,2026:incident\/own-1-1<\/id>/);
  t.match(text, /<published>2026-11-20T10:00:00\.000Z<\/published>/);
  t.match(text, /<updated>2026-11-20T10:01:00\.000Z<\/updated>/);
  t.match(text, /href="https:\/\/upbeat\.test\/status\/shop-example\/incidents\/own-1-1"/);
  t.match(text, /We look at &lt;b&gt;it&lt;\/b&gt; &amp; more\./);
  t.notMatch(text, /own-2-1/, 'who is not verified is not in the feed of all');
  const own = await api.get('/status/MINE/incidents.atom');
  t.match(own.text, /<id>tag:upbeat\.test,2026:incidents\/mine<\/id>/);
  t.match(own.text, /own-2-1/);
  const again = await api.get('/incidents.atom', { 'if-none-match': headers.get('etag') ?? '' });
  t.equal(again.status, 304);
  t.ok(headers.get('x-ratelimit-limit'), 'a feed counts in the bucket of the API');
  t.match(await api.get('/status/nobody/incidents.atom'), {
    status: 404,
    json: { code: 'service_not_found' },
  });
});

t.test('each feed is a JSON Feed too, with the same entries, ids and tags', async (t) => {
  const api = await world();
  t.teardown(api.close);
  await api.putPage('acme', { groups: [{ name: 'Web', services: [1] }] });
  for (const path of ['/incidents', '/status/shop-example/incidents', '/p/acme/incidents']) {
    const atom = await api.get(`${path}.atom`);
    const answer = await api.get(`${path}.json`);
    t.equal(answer.headers.get('content-type'), 'application/feed+json; charset=utf-8', path);
    t.equal(answer.headers.get('access-control-allow-origin'), '*');
    const feed = answer.json as {
      readonly feed_url: string;
      readonly items: readonly { readonly id: string; readonly url: string }[];
    };
    t.match(feed, {
      version: 'https://jsonfeed.org/version/1.1',
      feed_url: `https://upbeat.test${path}.json`,
    });
    for (const { id, url } of feed.items)
      t.match(url, new RegExp(`/incidents/${id.replace(/.*incident./, '')}$`), 'each has a page');
    const ids = [...atom.text.matchAll(/<entry>\n<id>([^<]+)/g)].map(([, id]) => id);
    t.ok(ids.length > 0);
    t.strictSame(
      feed.items.map(({ id }) => id),
      ids,
    );
    const known = await api.get(`${path}.json`, { 'if-none-match': answer.headers.get('etag') ?? '' });
    t.equal(known.status, 304);
  }
});
