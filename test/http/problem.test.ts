import t from 'tap';
import type { Log } from '../../src/log.ts';
import { service, startApi } from '../site/site-world.ts';
import { textAt } from '../support/json.ts';

const SERVICES = [service(1, 'shop')];

t.test('it shapes every error by RFC 9457', async (t) => {
  const world = await startApi({ services: SERVICES, siteUrl: 'https://status.example' });
  t.teardown(world.close);
  const answer = await world.get('/api/v1/status/nobody');
  t.strictSame(answer.json, {
    type: 'https://status.example/docs#service_not_found',
    title: 'Service not found',
    status: 404,
    detail: 'There is no service "nobody".',
    code: 'service_not_found',
  });
  t.equal(answer.headers.get('content-type'), 'application/problem+json');
  t.equal(answer.headers.get('cache-control'), 'no-store');
  t.equal(answer.headers.get('etag'), null);
});

t.test('it answers a fault of its own with a request id, and tells the story to the log alone', async (t) => {
  const lines: [string, object, string][] = [];
  const note = (level: string) => (fields: object, message: string) =>
    void lines.push([level, fields, message]);
  const log: Log = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') };
  const world = await startApi({ services: SERVICES, log });
  t.teardown(world.close);
  world.faults.registry = true;
  world.faults.samples = new Error('secret inside: disk full');
  world.faults.keys = true;
  const requests: [string, Record<string, string>][] = [
    ['/api/v1/incidents', {}],
    ['/api/v1/incidents/shop', {}],
    ['/api/v1/services/shop/history', {}],
    ['/api/v1/status/shop', world.makeKey()],
  ];
  for (const [path, headers] of requests) {
    const answer = await world.get(path, headers);
    t.match(answer, { status: 500, json: { code: 'internal_error', request_id: /^[0-9a-f-]{36}$/ } }, path);
    t.notMatch(answer.text, /secret|inside|Error|\.ts|registry|disk/, path);
    const logged = lines.findLast(([level]) => level === 'error');
    t.match(JSON.stringify(logged), textAt(answer.json, 'request_id'), path);
    t.match(JSON.stringify(logged), 'secret inside', path);
    t.match(logged?.[1], { method: 'GET', path }, 'the line has the path, without the query');
  }
});

t.test('a browser gets an error as a page, any other client as JSON, by Accept', async (t) => {
  const world = await startApi({ services: SERVICES });
  t.teardown(world.close);
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  const pages: [string, Record<string, string>, number, RegExp][] = [
    ['/no', {}, 404, /<h1>Not found<\/h1>\s*<p>There is nothing at this address\.<\/p>\s*<p><a /],
    ['/api/v1/status/nobody', {}, 404, /<h1>Not found<\/h1>[\s\S]*nobody/],
    [
      '/api/v1/services?limit=x',
      {},
      400,
      /<h1>Bad request<\/h1>[\s\S]*limit[\s\S]*href="\/docs#invalid_parameter"/,
    ],
    ['/sitemaps/99.xml', {}, 404, /<p lang="en">There is no such part of the sitemap/],
    ['/api/badge/nobody', {}, 404, /<h1>Not found<\/h1>/],
    ['/api/v1/status/shop', { authorization: 'Bearer upb_no' }, 401, /<h1>Not allowed<\/h1>/],
    [
      '/no',
      { 'accept-language': 'de' },
      404,
      /<html lang="de"[\s\S]*<h1>Nicht gefunden<\/h1>\s*<p>[^<]*<\/p>\s*<p><a /,
    ],
    ['/<script>alert(1)', {}, 404, /There is nothing at /],
    ['/api/v1/status/<b>', {}, 404, /There is no service &quot;&lt;b&gt;&quot;/],
  ];
  for (const [path, headers, status, text] of pages) {
    const page = await world.get(path, { accept: browser, ...headers });
    t.equal(page.status, status, path);
    t.match(page.headers.get('content-type'), /^text\/html/, path);
    t.match(page.headers.get('vary'), /\bAccept\b/, path);
    t.equal(page.headers.get('cache-control'), 'no-store', path);
    t.match(page.headers.get('content-security-policy'), /script-src 'self'/, path);
    t.match(page.text, text, path);
    t.notMatch(page.text, '<script>alert', path);
  }
  for (const accept of [
    '',
    '*/*',
    'application/json',
    'application/json, text/html',
    'text/html;q=0.5, application/json',
    'text/html;q=0',
    'image/avif,image/webp,*/*',
  ]) {
    const answer = await world.get('/no', { accept });
    t.equal(answer.headers.get('content-type'), 'application/problem+json', accept);
    t.equal(answer.headers.get('vary'), 'Accept', accept);
    t.match(answer.json, { code: 'route_not_found' }, accept);
  }
  const refused = await world.get('/api/v1/status/nobody', { accept: browser }, 'DELETE');
  t.equal(refused.status, 405);
  t.match(refused.headers.get('allow'), 'GET', 'the headers of an error stay');
  t.match(refused.text, '<h1>Not possible</h1>');
});
