/** Status pages of one's own over real HTTP: for people, for programs, and in the frames of other sites. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import type { Sample } from '../../../src/domain/sample.ts';
import type { SampleReads } from '../../../src/store/ports/samples.ts';
import { createHistoryReads } from '../../../src/view/history-reads.ts';
import { LANGUAGES } from '../../../src/web/language/language.ts';
import { barsOf, createUptimeBars } from '../../../src/web/parts/uptime-bars.ts';
import { check, current, from, incident, NOW, service, startApi } from '../../site/site-world.ts';
import { double } from '../../support/double.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { hasProgram } from '../../support/install-servers.ts';
import { at } from '../../support/json.ts';
import { openSampleStore, samplesOfSteps } from '../../support/sample-store.ts';

const SCHEMA = join(import.meta.dirname, '../../api/atom.rng');
const NEEDS_XMLLINT = hasProgram('xmllint')
  ? {}
  : { skip: 'xmllint is missing: apt-get install libxml2-utils' };
const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47]);
const DAY_MS = 86_400_000;
const LOGO = { type: 'image/png', width: 480, height: 64, mark: 'abc123' } as const;

/** Three groups: the catalogue, the account's own, and what must not be shown. */
async function world() {
  const api = await startApi({
    services: [
      service(1, 'post', { name: 'Post' }),
      service(2, 'library', { name: 'Library' }),
      service(3, 'mine', { name: 'Mine', origin: 'owner', accountId: 1, verified: false }),
      service(4, 'hers', { name: 'Hers', origin: 'owner', accountId: 2 }),
      service(5, 'resting', { name: 'Resting', paused: true }),
    ],
  });
  await api.status.put([
    current(1, check(NOW - 60_000, { status: 'down', statusCode: 503 })),
    current(2, check(NOW - 30_000)),
    current(3, check(NOW - 30_000)),
    current(4, check(NOW - 30_000)),
    current(5, check(NOW - 900_000)),
  ]);
  await api.putPage('acme', {
    title: 'Acme & friends',
    text: 'All that we run.',
    groups: [
      { name: 'Public', services: [1, 2, 99] },
      { name: '', services: [3, 4] },
      { name: 'Empty', services: [] },
      { name: 'Later', services: [5] },
    ],
    logo: { ...LOGO, bytes: PNG },
  });
  await api.putIncidents(
    incident('own-1', 1, {
      title: 'Post is not reachable',
      startedAt: NOW - 60_000,
      updates: [
        {
          at: NOW - 60_000,
          status: 'investigating',
          text: 'post.example is down: no reason is known.',
          note: {
            code: 'opened',
            name: 'Post',
            outage: 'unreachable',
            domain: 'post.example',
            isReported: false,
            reason: null,
          },
        },
      ],
    }),
    incident('own-2', 2, {
      title: 'Library was away',
      status: 'resolved',
      startedAt: NOW - 7_200_000,
      resolvedAt: NOW - 3_600_000,
      updates: [{ at: NOW - 7_200_000, status: 'investigating', text: 'We look.' }],
    }),
    incident('own-4', 4, { title: 'Hers is not reachable' }),
  );
  await api.putMaintenances({
    id: 'm-1',
    serviceId: 2,
    title: 'New shelves',
    description: '',
    startsAt: NOW + 3_600_000,
    endsAt: NOW + 7_200_000,
    reportedState: 'planned',
    phase: 'planned',
    sourceUrl: 'https://library.example/m',
    updates: [],
  });
  return api;
}

t.test('it shows the verdict, the groups in order, what is planned and what happened', async (t) => {
  const api = await world();
  t.teardown(api.close);
  const { status, text, headers } = await api.get('/p/acme');
  t.equal(status, 200);
  t.match(headers.get('content-type'), /^text\/html/);
  t.match(text, '<title>Acme &amp; friends: 1 of 3 services is down.</title>');
  const order = [
    '>Public<',
    '>Post</a></span><span class="pill',
    '>Library<',
    '>Mine (mine.example)<',
    '>Later<',
    '>Resting<',
    'New shelves',
  ];
  const places = order.map((word) => text.indexOf(word));
  t.notOk(places.includes(-1), places.join());
  t.same(
    places,
    [...places].sort((a, b) => a - b),
  );
  t.notMatch(text, />Hers\b|Hers is not/, "another account's service is not shown, nor what happens to it");
  t.notMatch(text, />Empty</, 'a group without services is left out');
  t.match(text, /Mine \(mine\.example\)<\/a> <span class="soft">reported by its owner, not verified/);
  t.match(text, 'Paused');
  t.match(text, '<meta property="og:image" content="https://upbeat.test/p/acme/logo?v=abc123">');
  t.match(text, '<meta name="twitter:card" content="summary">');
  t.match(text, '/p/acme/logo?v=abc123" alt="" width="240" height="32"');
  t.match(text, 'Post is not reachable');
  t.match(text, '<details><summary>Timeline</summary>', 'what is over is folded');
  t.equal((await api.get('/P/ACME')).status, 200, 'in any case');
  t.notMatch(text, / style="| on[a-z]+="|<script(?! src)/);
});

t.test('it speaks the language of its reader', async (t) => {
  const api = await world();
  t.teardown(api.close);
  const { text } = await api.get('/p/acme?lang=de');
  t.match(text, '1 von 3 Diensten ist gestört.');
  t.match(text, '<html lang="de"');
});

t.test('it filters incidents and turns their pages', async (t) => {
  const api = await world();
  t.teardown(api.close);
  const has = async (query: string, title: string) =>
    new RegExp(`<h[34]><a [^>]*>${title}`).test((await api.get(`/p/acme?${query}`)).text);
  t.same(
    await Promise.all(
      ['show=all', 'show=running', 'show=past', 'service=library', 'service=hers'].map(async (query) => [
        query,
        await has(query, 'Post is not'),
        await has(query, 'Library was'),
      ]),
    ),
    [
      ['show=all', true, true],
      ['show=running', true, false],
      ['show=past', false, true],
      ['service=library', false, true],
      ['service=hers', true, true],
    ],
  );
  t.equal((await api.get('/p/acme?show=none')).status, 400);
  const over = { status: 'resolved', startedAt: NOW - 90_000_000, resolvedAt: NOW - 80_000_000 } as const;
  // Those of one moment stand in the order of their ids.
  for (let n = 0; n < 15; n++)
    await api.putIncidents(incident(`own-x-${10 + n}`, 1, { ...over, title: `Number ${n}.` }));
  const first = (await api.get('/p/acme')).text;
  t.match(first, 'href="?show=all&amp;service=&amp;offset=10#incidents">Older');
  t.notMatch(first, 'Newer');
  const second = (await api.get('/p/acme?offset=10')).text;
  t.match(second, 'Number 14.');
  t.match(second, 'offset=0#incidents">Newer');
  t.notMatch(second, 'Older');
});

/** What stands between open and past incidents. */
const SERVICES = ['Public', 'Services', 'Later', 'Maintenance'];
const SERVICES_DE = ['Public', 'Dienste', 'Later', 'Wartung'];

t.test('it shows incidents that go on right below the verdict, and those that are over by day', async (t) => {
  const api = await world();
  t.teardown(api.close);
  const day = 86_400_000;
  await api.putIncidents(
    incident('own-x-1', 2, { title: 'Library has been slow since last week', startedAt: NOW - 7 * day }),
    incident('own-x-2', 1, {
      title: 'Post was late',
      startedAt: NOW - 9 * day,
      resolvedAt: NOW - 8 * day,
      status: 'resolved',
    }),
  );
  const titlesOf = async (path: string) => {
    const { text } = await api.get(path);
    return [...text.matchAll(/<h[234][^>]*>(?:<a [^>]*>)?([^<]*[^ <])/g)].map(([, title]) => title);
  };
  t.same(await titlesOf('/p/acme'), [
    'Open incidents',
    'Post is not reachable',
    'Library has been slow since last week',
    ...SERVICES,
    'Past incidents',
    '20 Nov 2026',
    'Library was away',
    '11 Nov 2026',
    'Post was late',
    'Subscribe to this page',
  ]);
  t.same(await titlesOf('/p/acme?lang=de&service=post'), [
    'Offene Vorfälle',
    'Post ist nicht erreichbar',
    ...SERVICES_DE,
    'Vergangene Vorfälle',
    '11. Nov. 2026',
    'Post was late',
    'Diese Seite abonnieren',
  ]);
  t.same(await titlesOf('/p/acme?show=past'), [
    ...SERVICES,
    'Incidents',
    '20 Nov 2026',
    'Library was away',
    '11 Nov 2026',
    'Post was late',
    'Subscribe to this page',
  ]);
});

t.test('it calls a day the same as the page of the service does', async (t) => {
  const samples = openSampleStore({ now: () => NOW });
  t.teardown(() => samples.close());
  const api = await startApi({
    services: [service(1, 'once-slow'), service(2, 'often-slow'), service(3, 'doubtful')],
    samples,
  });
  t.teardown(api.close);
  const day = Date.UTC(2026, 10, 19);
  // The page of a service has its calendar from 90 days on; the page has the last 90.
  const days = [day - 100 * DAY_MS, day];
  const checksOf = (serviceId: number, isSlow: (index: number) => boolean, suspect = false): Sample[] =>
    days.flatMap((from) => checksOn(from, serviceId, isSlow, suspect));
  const checksOn = (
    from: number,
    serviceId: number,
    isSlow: (index: number) => boolean,
    suspect: boolean,
  ): Sample[] =>
    Array.from({ length: 288 }, (_, index) => ({
      serviceId,
      at: from + index * 300_000,
      status: isSlow(index) ? 'slow' : 'up',
      latencyMs: isSlow(index) ? 3_500 : 100,
      statusCode: 200,
      suspect,
    }));
  await samples.append(
    [
      ...checksOf(1, (index) => index === 100),
      ...checksOf(2, (index) => index < 15),
      ...checksOf(3, () => false, true),
    ].sort((one, other) => one.at - other.at),
  );
  for (const [id, slug, kind] of [
    [1, 'once-slow', 'up'],
    [2, 'often-slow', 'slow'],
    [3, 'doubtful', 'suspect'],
  ] as const) {
    await api.status.put([current(id, check(NOW - 30_000))]);
    await api.putPage(`page-${slug}`, { groups: [{ name: '', services: [id] }] });
    const barsIn = (text: string) => /<svg class="chart own-days"[\s\S]*?<\/svg>/.exec(text)?.[0] ?? '';
    const kinds = (text: string, pattern: RegExp) =>
      [...new Set([...text.matchAll(pattern)].map(([, one]) => one))].filter((one) => one !== 'none');
    const page = (await api.get(`/p/page-${slug}`)).text;
    t.same(kinds(barsIn(page), /class="day-([a-z]+)"/g), [kind], `${slug}: its page`);
    const told =
      /aria-label="[^"]*days: [^";]*; \d{4}-\d\d-\d\d: [^"]+"[\s\S]*<rect class="told"[^>]*><title>\d{4}-\d\d-\d\d: /;
    t.equal(told.test(barsIn(page)), kind !== 'up', `${slug}: what was on days that were not simply up`);
    t.match(
      page,
      `<meta property="og:image" content="https://upbeat.test/api/chart/${slug}-example.png?size=card">`,
    );
    const { text } = await api.get(`/status/${slug}-example`);
    const [cells] = /<svg[^>]*class="[^"]*calendar[\s\S]*?<\/svg>/.exec(text) ?? [text];
    t.same(kinds(cells, /<use href="#day-([a-z]+)" x=/g), [kind], `${slug}: the service's page`);
  }
});

t.test('it shows uptime without the maintenance that its owner announced beside the whole', async (t) => {
  const samples = openSampleStore({ now: () => NOW });
  t.teardown(() => samples.close());
  const api = await startApi({
    services: [service(1, 'mine', { name: 'Mine', origin: 'owner', accountId: 1 })],
    samples,
  });
  t.teardown(api.close);
  const start = NOW - 2 * DAY_MS;
  const isAnnounced = (at: number) => at >= start && at < start + 3_600_000;
  const checks = Array.from({ length: 100 }, (_, index): Sample => {
    const at = start + index * 300_000;
    return {
      serviceId: 1,
      at,
      status: isAnnounced(at) ? 'down' : 'up',
      latencyMs: 100,
      statusCode: 200,
      suspect: false,
    };
  });
  await samples.append(checks);
  await api.putPage('acme', { groups: [{ name: '', services: [1] }] });
  const uptimeIn = async (path: string) =>
    /<span class="own-uptime">(.*?)<\/span>/.exec((await api.get(path)).text)?.[1];
  t.equal(await uptimeIn('/p/acme'), '<strong>88% in 3 days</strong>');
  await api.registry.addOwnerMaintenance({
    ...{ accountId: 1, title: 'Disks', markdown: '', plain: '', startsAt: start, durationMs: 3_600_000 },
    ...{ timeZone: 'UTC', recurrence: null, services: [1], pages: [] },
    ...{ siteUrl: 'https://upbeat.test', now: start - DAY_MS },
  });
  await api.clock.skip(300_001);
  t.equal(await uptimeIn('/p/acme'), '<strong>88% in 3 days</strong> 100% without announced maintenance');
});

t.test('it says so where there is no such page', async (t) => {
  const api = await world();
  t.teardown(api.close);
  for (const path of ['/p/nobody', '/p/nobody/embed', `/p/${encodeURIComponent('<b>x')}`]) {
    const answer = await api.get(path, { accept: 'text/html' });
    t.equal(answer.status, 404, path);
    t.match(answer.headers.get('content-type'), /^text\/html/);
    t.notMatch(answer.text, '<b>x');
  }
  for (const path of ['/p/nobody.json', '/api/v1/pages/nobody', '/p/nobody/incidents.atom', '/p/nobody/logo'])
    t.match(await api.get(path), { status: 404, json: { code: 'page_not_found' } }, path);
});

t.test('it gives the same to programs, within the limits of the API', async (t) => {
  const api = await world();
  t.teardown(api.close);
  const { json, headers } = await api.get('/api/v1/pages/acme');
  t.ok(headers.get('x-ratelimit-limit'));
  t.strictSame((await api.get('/p/acme.json')).json, json);
  t.match(json, {
    page: {
      slug: 'acme',
      title: 'Acme & friends',
      text: 'All that we run.',
      url: 'https://upbeat.test/p/acme',
      logo_url: 'https://upbeat.test/p/acme/logo?v=abc123',
      updated_at: '2026-11-02T00:00:00.000Z',
    },
    status: 'down',
    counts: { up: 2, slow: 0, down: 1, unknown: 0, maintenance: 0, paused: 1 },
    groups: [
      { name: 'Public', services: [{ slug: 'post', status: 'down' }, { slug: 'library' }] },
      { name: '', services: [{ slug: 'mine', self_reported: true }] },
      { name: 'Empty', services: [] },
      { name: 'Later', services: [{ slug: 'resting', paused: true }] },
    ],
    maintenance: [{ id: 'm-1', service: { slug: 'library' } }],
    incidents: [{ id: 'own-1', service: { slug: 'post' } }, { id: 'own-2' }],
    limit: 20,
    offset: 0,
  });
  t.equal(at(json, 'groups', 1, 'services', 'length'), 1);
  const running = await api.get('/p/acme.json?incidents=running&limit=1');
  t.match(at(running.json, 'incidents'), [{ id: 'own-1' }]);
  t.match(await api.get('/p/acme.json?incidents=some'), { status: 400, json: { parameter: 'incidents' } });
  const few = await startApi({ anonymousPerMinute: 1 });
  t.teardown(few.close);
  await few.putPage('acme');
  t.equal((await few.get('/p/acme.json', from('203.0.113.1'))).status, 200);
  t.equal((await few.get('/api/v1/pages/acme', from('203.0.113.1'))).status, 429);
  t.equal((await few.get('/p/acme', from('203.0.113.1'))).status, 200, 'the page itself is not of the API');
  const empty = (await few.get('/p/acme')).text;
  t.match(empty, 'No service is listed here yet.');
  t.notMatch(empty, 'data-live-at', 'there is nothing that it could be told');
});

t.test('it calls a service within an announced maintenance neither down nor up', async (t) => {
  const api = await world();
  t.teardown(api.close);
  const [planned] = await api.registry.listMaintenances({ limit: 1, offset: 0 });
  if (planned === undefined) throw new Error('no maintenance');
  await api.putMaintenances({ ...planned, id: 'm-2', serviceId: 1, phase: 'running', startsAt: NOW - 1_000 });
  const { json } = await api.get('/p/acme.json');
  t.match(json, { status: 'maintenance', counts: { down: 0, maintenance: 1, up: 2 } });
  t.match(at(json, 'groups', 0, 'services', 0), { status: 'down', in_maintenance: true });
  t.match((await api.get('/p/acme')).text, '1 of 3 services is under maintenance.');
});

t.test('it writes a valid feed of the incidents of its services', NEEDS_XMLLINT, async (t) => {
  const api = await world();
  t.teardown(api.close);
  const { text, headers } = await api.get('/p/acme/incidents.atom');
  t.equal(headers.get('content-type'), 'application/atom+xml; charset=utf-8');
  const { status, stderr } = spawnSync('xmllint', ['--noout', '--relaxng', SCHEMA, '-'], { input: text });
  t.equal(status, 0, stderr.toString());
  t.match(text, '<id>tag:upbeat.test,2026:pages/acme/incidents</id>');
  t.match(text, 'href="https://upbeat.test/p/acme/incidents.atom"');
  t.match(text, '<title>Incidents of Acme &amp; friends</title>');
  t.match(text, 'incident/own-1<');
  t.notMatch(text, 'own-4');
});

t.test('it allows other sites to frame the embed, and nothing else', async (t) => {
  const api = await world();
  t.teardown(api.close);
  const embed = await api.get('/p/acme/embed');
  t.match(embed.headers.get('content-security-policy'), /frame-ancestors \*$/);
  t.equal(embed.headers.get('x-frame-options'), null);
  t.match(embed.text, /Post<\/span><span class="pill down">/);
  t.match(embed.text, 'target="_blank" rel="noopener"');
  t.match((await api.get('/p/acme/embed?theme=dark')).text, 'data-theme="dark"');
  t.notMatch((await api.get('/p/acme/embed?theme=%22%3E')).text, 'data-theme');
  const german = await api.get('/p/acme/embed?lang=de');
  t.match(german.text, 'lang="de"');
  t.equal(german.headers.get('set-cookie'), null, 'the language of the reader stays');
  t.notMatch(german.text, 'Unsere eigene Verbindung');
  api.state.prober = { online: false, offlineSince: NOW, reason: 'no answer' };
  t.match((await api.get('/p/acme/embed')).text, 'Our own connection has been down</strong> since');
  const script = await api.get('/embed.js');
  t.match(script.headers.get('content-type'), /^text\/javascript/);
  t.equal(script.headers.get('cross-origin-resource-policy'), 'cross-origin');
});

t.test('it serves a logo as the picture that it is, and as nothing else', async (t) => {
  const api = await world();
  t.teardown(api.close);
  const { bytes, headers } = await api.get('/p/acme/logo?v=abc123');
  t.same([...bytes], [...PNG]);
  t.match(Object.fromEntries(headers), {
    'content-type': 'image/png',
    'x-content-type-options': 'nosniff',
    'content-security-policy': /sandbox/,
    'cache-control': 'public, max-age=31536000, immutable',
    etag: '"abc123"',
  });
  t.equal((await api.get('/p/acme/logo')).headers.get('cache-control'), 'no-cache');
  t.equal((await api.get('/p/acme/logo', { 'if-none-match': '"abc123"' })).status, 304);
});

t.test(
  'it shows the page without its bars while the sample store is unavailable, and rarely requests them',
  async (t) => {
    const api = await world();
    t.teardown(api.close);
    const window = { from: Math.floor(NOW / DAY_MS - 89) * DAY_MS, to: NOW, stepMs: DAY_MS };
    for (const serviceId of [1, 2, 3])
      await api.addSamples(
        samplesOfSteps({ serviceId, ...window }, [
          { status: 'up', latencyMs: 90 },
          { status: 'down', latencyMs: null },
          { status: 'slow', latencyMs: 4_000 },
          { status: 'up', latencyMs: 90 },
        ]),
      );
    api.faults.samples = Object.assign(new Error('away'), { code: 'samples_away' });
    const without = await api.get('/p/acme');
    t.equal(without.status, 200);
    t.notMatch(without.text, /in 90 days/);
    api.faults.samples = null;
    await api.get('/p/acme');
    const asked = api.asked.samples.length;
    t.equal(asked, 4);
    await api.get('/p/acme');
    t.equal(api.asked.samples.length, asked, 'kept for five minutes');
    t.match((await api.get('/p/acme')).text, '75% in 90 days');
  },
);

t.test('it reads the bars once for all who ask at once, and again after a failure', async (t) => {
  const store = openSampleStore({ now: () => NOW });
  t.teardown(() => store.close());
  const state = { asked: 0, fails: true };
  const samples = double<SampleReads>({
    async query(query) {
      state.asked++;
      if (state.fails) throw Object.assign(new Error('away'), { code: 'samples_away' });
      return await store.query(query);
    },
  });
  const barsFor = createUptimeBars({
    samples,
    registry: double({ announcedWindows: async () => [] }),
    beginHistory: createHistoryReads(createFakeClock(NOW)),
    now: () => NOW,
  });
  t.equal((await barsFor([1])).size, 0);
  state.fails = false;
  const all = await Promise.all([barsFor([1, 2]), barsFor([1, 2]), barsFor([2])]);
  t.same([state.asked, all.map(({ size }) => size)], [3, [2, 2, 1]]);
});

t.test('it draws days of one kind as one stroke, and worse days taller', async (t) => {
  const day = (count: number, slowCount = 0, downCount = 0, suspectCount = 0) => ({
    count,
    slowCount,
    downCount,
    suspectCount,
  });
  t.strictSame(barsOf([day(0), day(0, 0, 0, 3), day(9), day(9, 1), day(10, 1, 1), day(288, 1), day(9)]), {
    lines: [
      { kind: 'none', path: 'M0 26h8', width: 4 },
      { kind: 'suspect', path: 'M11 23h8', width: 10 },
      { kind: 'up', path: 'M22 19h8M55 19h19', width: 18 },
      { kind: 'slow', path: 'M33 16.5h8', width: 23 },
      { kind: 'down', path: 'M44 14h8', width: 28 },
    ],
    uptimeRatio: 324 / 325,
    knownDays: 5,
  });
  t.strictSame(barsOf([]), { lines: [], uptimeRatio: null, knownDays: 0 });
  const { upOver } = LANGUAGES.en.texts.statusPage;
  t.same([upOver('0%', 1), upOver('99%', 40)], ['0% today', '99% in 40 days'], 'no more than is known');
});

t.test(
  'it says since when checks are missing while they are being stored, and reads its bars again',
  async (t) => {
    const api = await startApi({ services: [service(1, 'post')] });
    t.teardown(api.close);
    await api.putPage('acme', { groups: [{ name: '', services: [1] }] });
    const page = async (language: string) => (await api.get('/p/acme', { 'accept-language': language })).text;
    t.notMatch(await page('en'), /are still being stored/);
    api.faults.missingSince = NOW - 30 * 60_000;
    t.match(await page('en'), /Checks since <time[^>]*>[^<]*09:30 UTC<\/time> are still being stored/);
    t.match(await page('de'), /Prüfungen seit <time[^>]*>[^<]*09:30 UTC<\/time> werden noch gespeichert/);
    t.notMatch(await page('en'), /day-up/, 'the check is not stored yet');
    await api.addSamples([
      { serviceId: 1, at: NOW - 60_000, status: 'up', latencyMs: 5, statusCode: 200, suspect: false },
    ]);
    api.faults.missingSince = null;
    t.match(await page('en'), /day-up/, 'and is shown as soon as all are stored');
  },
);

t.test('days on which a service could not be reached say because of what', async (t) => {
  const store = openSampleStore({ now: () => NOW });
  t.teardown(() => store.close());
  const sample = (serviceId: number, daysAgo: number, more: Partial<Sample>): Sample => ({
    ...{
      serviceId,
      at: NOW - daysAgo * DAY_MS,
      status: 'down',
      latencyMs: null,
      statusCode: 0,
      suspect: false,
    },
    ...more,
  });
  await store.append([
    ...[1, 2].flatMap((id) => [sample(id, 5, { status: 'up', latencyMs: 9, statusCode: 200 })]),
    ...[1, 3].flatMap((id) => [sample(id, 3, {}), sample(id, 2, { status: 'up', statusCode: 200 })]),
    ...[2, 4, 5].map((id) => sample(id, 3, { suspect: true })),
    sample(2, 2, { suspect: true }),
  ]);
  const api = await startApi({
    samples: store,
    services: [
      service(1, 'router', { name: 'Router' }),
      service(2, 'nas', { name: 'NAS', dependsOn: ['router'] }),
      service(3, 'vault', { name: 'Vault', origin: 'owner', accountId: 7, visibility: 'private' }),
      service(4, 'shop', { name: 'Shop', dependsOn: ['vault'] }),
      service(5, 'other', { name: 'Other' }),
    ],
  });
  t.teardown(api.close);
  await api.status.put([1, 2, 3, 4, 5].map((id) => current(id, check(NOW - 30_000))));
  await api.putPage('acme', { groups: [{ name: '', services: [2, 4, 5] }] });
  const date = (daysAgo: number) => new Date(NOW - daysAgo * DAY_MS).toISOString().slice(0, 10);
  const { text: page } = await api.get('/p/acme');
  for (const line of [
    `${date(3)}: not reachable, because of Router`,
    `${date(2)}: could not be checked`,
    `${date(3)}: not reachable, because of something in front of it`,
    `${date(3)}: our own connection was down`,
  ])
    t.match(page, `<title>${line}</title>`);
  t.notMatch(page, /vault/i);
  const { text: own } = await api.get('/status/nas-example?lang=de');
  t.match(own, `<title>${date(3)}: nicht erreichbar wegen Router</title>`);
  t.match(own, '<td>nicht erreichbar wegen Router');
  t.notMatch(own, 'unsere eigene Verbindung');
  const { text: shop } = await api.get('/status/shop-example');
  t.match(shop, `${date(3)}: not reachable, because of something in front of it`);
  t.notMatch(shop, /vault/i);
});
