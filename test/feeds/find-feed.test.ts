/** The finder against pages on loopback that serve what vendors do. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { systemClock } from '../../src/clock.ts';
import type { StatusPageKind } from '../../src/domain/service.ts';
import { catalogueLine, findFeed, lookAtPage, readFeed } from '../../src/feeds/find-feed.ts';
import { createOutbound } from '../../src/outbound/outbound.ts';

const fixture = (name: string) => readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8');

/** By path; a path with `>` before its text is a redirect. */
let documents: Readonly<Record<string, string>> = {};
const asked: string[] = [];
const server = createServer(({ url = '' }, response) => {
  asked.push(url);
  const text = documents[url] ?? documents[url.split('?')[0] ?? ''];
  if (text?.startsWith('>')) return void response.writeHead(302, { location: text.slice(1) }).end();
  response
    .writeHead(text === undefined ? 404 : 200, { 'content-type': 'text/plain' })
    .end(text ?? 'not here');
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const outbound = createOutbound({ userAgent: 'Upbeat/test', nameservers: [] }, systemClock);
const parts = {
  outbound,
  policy: { allowPrivate: ['127.0.0.0/8'], ports: [80] },
  now: () => Date.UTC(2026, 8, 20, 12),
  signal: new AbortController().signal,
};
t.teardown(async () => {
  outbound.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const PAGE = '<!doctype html><title>Status</title>';

t.test('it knows a page by the documents of its host, and reads them', async (t) => {
  const cases: readonly (readonly [string, Readonly<Record<string, string>>, readonly string[]])[] = [
    ['statuspage', { '/api/v2/incidents.json': 'statuspage-incidents.json' }, []],
    ['instatus', { '/summary.json': 'instatus-summary.json' }, ['cl9n09y834453sfhkpdxhl5hd']],
    ['betterstack', { '/index.json': 'betterstack-index.json' }, []],
    ['cstate', { '/index.json': 'cstate-index.json' }, ['state minor', 'one.md']],
    [
      'pagerduty',
      {
        '/api/post_enums': 'pagerduty-post-enums.json',
        '/api/services': 'pagerduty-services.json',
        '/api/posts': 'pagerduty-posts.json',
      },
      ['POST3', 'POST1', 'POST2'],
    ],
    [
      'sorry',
      { '/api/v1/status': 'sorry-status.json', '/api/v1/notices': 'sorry-notices.json' },
      ['n2', 'n1', 'n3'],
    ],
    [
      'cachet',
      { '/api/v1/components': 'cachet-components.json', '/api/v1/incidents': 'cachet-incidents.json' },
      ['state minor', '2', '1'],
    ],
    ['upbeat', { '/page.json': 'upbeat-page.json' }, ['check-1']],
    ['atom', { '/history.atom': 'atom-statuspage.xml' }, []],
  ];
  for (const [kind, files, keys] of cases) {
    documents = {
      '/': PAGE,
      ...Object.fromEntries(Object.entries(files).map(([path, name]) => [path, fixture(name)])),
    };
    const { url, feed } = await findFeed(`${base}/`, parts);
    t.equal(url, `${base}/`);
    t.equal(feed?.kind, kind);
    t.equal(feed?.problem, null, kind);
    t.ok((feed?.entries.length ?? 0) > 0, `${kind}: it is read`);
    for (const key of keys)
      t.ok(
        feed?.entries.some((entry) => entry.key === key),
        `${kind}: ${key}`,
      );
  }
});

t.test('it follows what a page links to', async (t) => {
  const link = (type: string, href: string) =>
    `<link rel="alternate" type="application/${type}" href="${href}">`;
  documents = {
    '/': `${PAGE}${link('rss+xml', '/x.rss')}${link('atom+xml', 'news/feed?a=1&amp;b=2')}`,
    '/news/feed?a=1&b=2': fixture('atom-statuspage.xml'),
    '/x.rss': fixture('rss-statuspage.xml'),
  };
  const { feed } = await findFeed(`${base}/`, parts);
  t.match(feed, { kind: 'atom', source: { feedUrl: `${base}/news/feed?a=1&b=2` } });
  t.equal(
    catalogueLine({ kind: 'atom', source: { pageUrl: 'https://a.example', feedUrl: 'https://a.example/f' } }),
    'statusPage: { url: "https://a.example", kind: atom, feedUrl: "https://a.example/f" }',
  );
  documents = {
    '/': `${PAGE}<script>var pspApiPath = '${base}/api/getMonitorList/zwOvMT8x16';</script>`,
    '/api/getMonitorList/zwOvMT8x16': fixture('uptimerobot-monitors.json'),
  };
  t.match((await findFeed(`${base}/`, parts)).feed, {
    kind: 'uptimerobot',
    source: { feedUrl: `${base}/api/getMonitorList/zwOvMT8x16` },
    entries: [{ key: 'state major' }, { key: 'state minor' }],
  });
  documents = { '/': `${PAGE}powered by StatusCast`, '/rss/': fixture('statuscast-feed.xml') };
  t.match((await findFeed(`${base}/`, parts)).feed, { kind: 'statuscast', entries: [{ key: '378901' }, {}] });
});

t.test('it says where a page has moved, and finds nothing in pages for people', async (t) => {
  documents = {
    '/': `>${base}/status/main`,
    '/status/main': PAGE,
    '/index.json': PAGE,
    '/summary.json': '{}',
  };
  asked.length = 0;
  t.same(await findFeed(`${base}/`, parts), { url: `${base}/status/main`, feed: null });
  t.ok(asked.length < 40, 'few requests');
  t.equal(new Set(asked).size, asked.length, 'each once');
  documents = {};
  t.same(await findFeed(`${base}/gone`, parts), { url: `${base}/gone`, feed: null });
});

t.test('it says why a page of a known kind cannot be read', async (t) => {
  documents = { '/': PAGE };
  const source = { pageUrl: `${base}/`, feedUrl: null };
  t.match(await readFeed('instatus', source, parts), { entries: [], problem: /HTTP 404/ });
  t.match(await readFeed('statusio', source, parts), { entries: [], problem: /needs a feedUrl/ });
});

t.test('it says what is wrong with a page of the catalogue, and what its line is', async (t) => {
  const look = (kind: StatusPageKind, feedUrl: string | null, problem: string | null) =>
    lookAtPage({ url: `${base}/`, kind, feedUrl }, problem, parts);
  documents = { '/': PAGE, '/summary.json': fixture('instatus-summary.json') };
  t.equal(await look('instatus', null, 'HTTP 503'), null, 'it can be read again');
  const line = `statusPage: { url: "${base}/", kind: instatus }`;
  t.match(await look('statuspage', null, 'HTTP 404'), { problem: 'it is of kind instatus', advice: line });
  t.match(await look('custom', null, null), { problem: 'it is of kind instatus', advice: line });
  t.match(await look('instatus', `${base}/old`, 'HTTP 404'), { problem: 'HTTP 404', advice: line });
  documents = { '/': `>${base}/new`, '/new': PAGE };
  t.match(await look('custom', null, null), {
    problem: `it has moved to ${base}/new`,
    advice: /kind: custom/,
  });
  documents = { '/': PAGE };
  t.equal(await look('custom', null, null), null);
});
