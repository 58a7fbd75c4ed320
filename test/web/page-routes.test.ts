/** The pages over real HTTP: what they say, what they never let through, and how a browser sees them. */
import t from 'tap';
import type { Incident } from '../../src/domain/incident/incident.ts';
import { check, current, NOW, service, startApi } from '../site/site-world.ts';
import { launchBrowser, NEEDS_BROWSER } from '../support/browser.ts';
import { openPage } from '../support/watched-page.ts';

const EVIL = '<script>alert(1)</script>"\'&';

const incident: Incident = {
  id: 'own-1-1',
  serviceId: 1,
  source: 'own',
  title: `Down ${EVIL}`,
  description: EVIL,
  severity: 'major',
  status: 'investigating',
  startedAt: NOW - 60_000,
  resolvedAt: null,
  sourceUrl: 'https://upbeat.test/status/x',
  goodChecks: 0,
  updates: [{ at: NOW - 60_000, status: 'investigating', text: EVIL }],
};

async function world() {
  const api = await startApi({
    services: [
      service(1, 'github', {
        name: `GitHub ${EVIL}`,
        domain: 'github.com',
        statusPage: {
          url: 'https://www.githubstatus.com',
          kind: 'statuspage',
          feedUrl: null,
          components: null,
        },
      }),
      service(2, 'calm', { name: 'Calm', category: 'entertainment' }),
      service(3, 'mine-example', {
        name: 'Mine',
        domain: 'mine.example',
        origin: 'owner',
        accountId: 1,
        verified: false,
      }),
    ],
  });
  const failure = {
    class: 'refused',
    phase: 'connect',
    cause: { code: 'text', text: `refused ${EVIL}` },
  } as const;
  await api.status.put([
    current(1, check(NOW - 60_000, { status: 'down', statusCode: 0, responseTimeMs: null, failure })),
    current(2, check(NOW - 30_000)),
    current(3, check(NOW - 30_000)),
  ]);
  await api.putIncidents(incident);
  api.vendorStatuses.set(1, {
    url: 'https://www.githubstatus.com',
    kind: 'statuspage',
    status: 'major',
    since: NOW - 30_000,
    incidentId: 'statuspage-1-github',
    readAt: NOW,
    stale: false,
  });
  await api.putMaintenances({
    id: 'm-1',
    serviceId: 1,
    title: `Upgrade ${EVIL}`,
    description: EVIL,
    startsAt: NOW + 3_600_000,
    endsAt: NOW + 7_200_000,
    reportedState: 'planned',
    phase: 'planned',
    sourceUrl: `https://www.githubstatus.com/${encodeURIComponent(EVIL)}`,
    updates: [],
  });
  return api;
}

t.test('it lets no markup of others through, on any page', async (t) => {
  const api = await world();
  t.teardown(api.close);
  for (const path of [
    '/',
    '/?q=github',
    '/status/github-com',
    '/docs',
    `/status/${encodeURIComponent('<b>x')}`,
    `/?q=${encodeURIComponent(EVIL)}`,
  ]) {
    const { text, headers } = await api.get(path, { accept: 'text/html' });
    t.notMatch(text, /<script>|<b>x/, path);
    t.match(headers.get('content-type'), /^text\/html/, path);
    const policy = headers.get('content-security-policy') ?? '';
    t.match(policy, /default-src 'none'/, path);
    t.notMatch(policy, /unsafe/, path);
    t.notMatch(text, / style="| on[a-z]+="/, `${path} has no inline style or script`);
  }
  t.match((await api.get('/status/github-com')).text, '&lt;script&gt;alert(1)&lt;/script&gt;');
  const days = await api.get('/status/github-com');
  t.match(
    days.text,
    'Days on which the interval was longer show less downtime than there was',
    'of the downtime of past days',
  );
});

t.test('it shows what is down first, counts by status, and leaves out who is not verified', async (t) => {
  const api = await world();
  t.teardown(api.close);
  const { text } = await api.get('/');
  t.match(text, /Operational <strong data-live="count:up">1</);
  t.match(text, /Down <strong data-live="count:down">1</);
  t.ok(text.indexOf('Down or slow now') < text.indexOf('id="c-entertainment"'));
  t.notMatch(text, '>Mine<');
  t.match((await api.get('/status/mine-example')).text, 'has not verified the domain');
});

t.test('it stays under 205 KB before compression with 1,200 services', async (t) => {
  const services = Array.from({ length: 1_200 }, (_, index) => service(index + 1, `name-${index}`));
  const api = await startApi({ services });
  t.teardown(api.close);
  const { bytes } = await api.get('/');
  t.ok(bytes.length < 209_920, `${bytes.length} bytes`);
});

t.test('it searches by name, domain and category without a script', async (t) => {
  const api = await world();
  t.teardown(api.close);
  t.match((await api.get('/?q=CALM')).text, '/status/calm-example');
  t.notMatch((await api.get('/?q=calm')).text, '/status/github-com">GitHub');
  t.match((await api.get('/?category=ai')).text, 'No service matches.');
  t.equal((await api.get('/?category=cars')).status, 400);
});

t.test('it says since when and why a service is down, and when our own connection is away', async (t) => {
  const api = await world();
  t.teardown(api.close);
  api.state.prober = { online: false, offlineSince: NOW - 120_000, reason: 'no control target answers' };
  const { text } = await api.get('/status/github-com');
  t.match(
    text,
    /has been down since <time[^>]*>20 Nov 2026, 09:59 UTC<\/time> \(.*1 min.*\): it refuses connections/,
  );
  t.match(
    text,
    /Our own connection has been down<\/strong> since <time[^>]*>20 Nov 2026, 09:58 UTC<\/time>: the prober is offline/,
  );
  t.match(text, '/api/badge/github-com');
});

t.test('it answers an unknown name with a page and 404', async (t) => {
  const api = await world();
  t.teardown(api.close);
  const { status, text } = await api.get('/status/nobody', { accept: 'text/html' });
  t.equal(status, 404);
  t.match(text, 'Not found');
});

t.test('it answers an unknown name with JSON where the client asks for no page', async (t) => {
  const api = await world();
  t.teardown(api.close);
  for (const [path, code] of [
    ['/status/nobody', 'service_not_found'],
    ['/badges/nobody', 'service_not_found'],
    ['/status/nobody/incidents/x', 'service_not_found'],
    ['/status/github-com/incidents/x', 'incident_not_found'],
    ['/p/nobody', 'page_not_found'],
    ['/subscribe?page=nobody', 'route_not_found'],
  ] as const)
    for (const accept of ['*/*', 'application/json', undefined])
      t.match(
        await api.get(path, accept === undefined ? {} : { accept }),
        { status: 404, json: { status: 404, code }, headers: { get: Function } },
        `${path} for ${accept}`,
      );
});

t.test('it serves what pages load for a year, and nothing else', async (t) => {
  const api = await world();
  t.teardown(api.close);
  const { text } = await api.get('/docs');
  t.match(text, '<code>total</code>', 'names of members are code');
  t.notMatch(text, '`');
  const links = [...text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path]) => path ?? '');
  t.ok(links.length >= 3);
  for (const path of new Set(links)) {
    const { status, headers } = await api.get(path);
    t.same([status, headers.get('cache-control')], [200, 'public, max-age=31536000, immutable'], path);
  }
  for (const path of ['/assets/..%2f..%2fpackage.json', '/assets/style.css', '/assets/']) {
    t.equal((await api.get(path)).status, 404, path);
  }
});

t.test('it explains every error code where the errors point to', async (t) => {
  const api = await world();
  t.teardown(api.close);
  const { type } = (await api.get('/api/v1/status/nobody')).json as { type: string };
  const [, anchor] = type.split('#');
  t.match((await api.get('/docs')).text, `id="${anchor}"`);
});

t.test('it is drawn by a real browser, wide and as a phone', NEEDS_BROWSER, async (t) => {
  const api = await world();
  t.teardown(api.close);
  const browser = await launchBrowser();
  t.teardown(() => browser.close());
  for (const [name, path, width] of [
    ['home', '/', 1_100],
    ['phone', '/status/github-com', 500],
    ['docs', '/docs', 1_100],
  ] as const) {
    const { page, close } = await openPage(browser, { viewport: { width, height: 900 } });
    await page.goto(api.origin + path);
    const png = await page.screenshot();
    t.equal(png.readUInt32BE(16), width, `${name} is as wide as requested`);
    t.ok(png.length > 15_000, `${name} is not an empty page`);
    await close();
  }
});

t.test('it shows what the vendor says beside our verdict, and what it plans', async (t) => {
  const api = await world();
  t.teardown(api.close);
  const { text } = await api.get('/status/github-com');
  t.match(text, /reports a major incident, since <time[^>]*>20 Nov 2026, 09:59 UTC<\/time>\./);
  t.match(text, /It has reported nothing in the 1 min since our first failed check\./);
  t.match(text, /Scheduled maintenance:<\/strong> <a href="https:\/\/www\.githubstatus\.com\/%3Cscript/);
  t.match(
    text,
    /from <time[^>]*>20 Nov 2026, 11:00 UTC<\/time> to <time[^>]*>20 Nov 2026, 12:00 UTC<\/time>/,
  );
  t.notMatch((await api.get('/status/calm-example')).text, /vendor's status page/);
});

t.test(
  'it describes the API in English, with all that stands around it true and in the language of the reader',
  async (t) => {
    const api = await world();
    t.teardown(api.close);
    const read = async (language: string) => (await api.get('/docs', { 'accept-language': language })).text;
    t.match(await read('en'), /<h1>The API<\/h1>\s*<div>/);
    t.notMatch(await read('en'), /itself is in English|Our own connection has been down/);
    const german = await read('de');
    t.match(german, '<html lang="de"');
    t.match(german, />Verwaltung<[\s\S]*<h1>Die API<\/h1>[\s\S]*<div lang="en">/);
    api.state.prober = { online: false, offlineSince: NOW - 60_000, reason: 'no answer' };
    t.match(await read('en'), 'Our own connection has been down');
    api.state.prober = { online: true, offlineSince: null, reason: null };
    t.notMatch(await read('en'), 'Our own connection has been down', 'and no longer than it is');
  },
);
