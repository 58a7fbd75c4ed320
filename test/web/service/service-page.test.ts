/** The page of a service, as data and over real HTTP. */
import t from 'tap';
import type { Bucket } from '../../../src/domain/sample.ts';
import { type CheckDefinition, DEFAULT_CHECK, type Service } from '../../../src/domain/service.ts';
import { asText, type Phrase } from '../../../src/language/phrase.ts';
import { RANGE_NAMES } from '../../../src/view/time-ranges.ts';
import { LANGUAGES } from '../../../src/web/language/language.ts';
import { viewPageIncident } from '../../../src/web/parts/incidents.ts';
import {
  certificateDaysOf,
  describeSource,
  type ServiceKnowledge,
  viewDependencies,
  viewServicePage,
} from '../../../src/web/service/service-page-view.ts';
import { check, current, incident, inRegion, NOW, service, startApi } from '../../site/site-world.ts';
import { at, listAt, objectAt } from '../../support/json.ts';
import { samplesOfSteps } from '../../support/sample-store.ts';
import { EVIL, ODD_ID, SERVICES, startServiceWorld } from '../service-world.ts';

const { en, de } = LANGUAGES;
const MINUTE = 60_000;
const DAY = 86_400_000;

const known = (more: Partial<ServiceKnowledge> = {}): ServiceKnowledge => ({
  service: service(1, 'shop'),
  page: 'shop-example',
  current: current(1, check(NOW - 30_000, { certificateExpiresAt: NOW + 61.5 * DAY })),
  lastDay: [],
  year: [],
  measuredFrom: null,
  incidents: [],
  incidentsOfYear: [],
  maintenances: [],
  vendor: null,
  unreadPeriods: [],
  intervalMs: 300_000,
  withoutNode: [],
  unreached: null,
  unreachedDays: new Map(),
  staleSince: null,
  siteUrl: 'https://upbeat.test',
  now: NOW,
  ...more,
});

/** A day with that many checks, all of them good. */
const day = (daysAgo: number, count = 288): Bucket => ({
  startAt: NOW - (NOW % DAY) - daysAgo * DAY,
  endAt: NOW - (NOW % DAY) - (daysAgo - 1) * DAY,
  ...{ count, upCount: count, slowCount: 0, downCount: 0, suspectCount: 0 },
  uptimeRatio: count === 0 ? null : 1,
  ...{ meanMs: null, p50Ms: null, p95Ms: null, p99Ms: null },
});

const textOf = (phrase: Phrase | null) => (phrase === null ? null : asText(phrase, en.formats, NOW));

t.test('it shows our verdict, its reason and its age', async (t) => {
  const { status, word, ours, verdict, checked, facts, stale, blocked, certificate, vendor } =
    viewServicePage(known(), en);
  t.same(
    {
      status,
      word,
      ours,
      verdict: textOf(verdict),
      checked: textOf(checked),
      facts,
      stale,
      blocked,
      certificate,
      vendor,
    },
    {
      status: 'up',
      word: 'Operational',
      ours: 'Our checks',
      verdict: 'has been operational since 20 Nov 2026, 09:59 UTC (30 s).',
      checked: 'Last check 30 seconds ago, by a request to https://shop.example/.',
      facts: [
        { name: 'Response time', value: '123 ms' },
        { name: 'Response', value: 'HTTP 200' },
        { name: 'Certificate', value: '61 days left' },
      ],
      stale: null,
      blocked: false,
      certificate: null,
      vendor: null,
    },
  );
});

t.test('it shows what is checked, in each language', async (t) => {
  const rows: readonly (readonly [Partial<CheckDefinition>, string])[] = [
    [{}, 'by a request to https://shop.example/'],
    [{ url: 'http://127.0.0.1:9001/up?key=1' }, 'by a request to http://127.0.0.1:9001/up'],
    [{ kind: 'health' }, 'by a request to https://shop.example/api/health'],
    [{ kind: 'tcp', settings: { port: 25, banner: '220' } }, 'by a TCP connection (port 25, 1 expectation)'],
    [{ kind: 'tls' }, 'by a TLS handshake (port 443)'],
    [
      {
        kind: 'http',
        settings: { path: '/login?secret=1', plain: true, assertions: ['status is 200', 'body lacks x'] },
      },
      'by an HTTP request (port 80, path /login, 2 expectations)',
    ],
    [
      { kind: 'websocket', settings: { port: 8443, path: '/live', contains: 'a', matches: 'b' } },
      'by a WebSocket handshake (port 8443, path /live, 2 expectations)',
    ],
    [{ kind: 'grpc', settings: { port: 50_051 } }, 'by a call of its gRPC health service (port 50051)'],
    [{ kind: 'icmp' }, 'by ping'],
    [
      { kind: 'http', settings: { certificate: 'ignore' } },
      'by an HTTP request (port 443, any certificate is accepted)',
    ],
    [{ kind: 'heartbeat' }, 'from its heartbeat'],
    [
      { kind: 'dns', settings: { record: 'MX', values: ['a.example', 'b.example'] } },
      'by a query for its DNS records (MX, 2 expectations)',
    ],
  ];
  for (const [more, expected] of rows) {
    const check = { ...DEFAULT_CHECK, ...more };
    t.equal(describeSource({ domain: 'shop.example', check }, check.kind, en), expected);
  }
  const http = {
    ...DEFAULT_CHECK,
    kind: 'http',
    settings: { path: '/a', assertions: ['status is 200'] },
  } as const;
  t.equal(
    describeSource({ domain: 'shop.example', check: http }, 'http', de),
    'durch eine HTTP-Anfrage (Port 443, Pfad /a, 1 Erwartung)',
  );
  const after = { domain: 'shop.example', check: http };
  t.equal(describeSource(after, 'heartbeat', en), 'from its heartbeat', 'the last check was another');
  const health = { ...DEFAULT_CHECK, kind: 'health', url: 'https://shop.example/up/health' } as const;
  t.equal(
    describeSource({ domain: 'shop.example', check: health }, 'root', en),
    'by a request to https://shop.example/',
    'a service without a health endpoint',
  );
});

const PARTIAL = current(1, check(NOW - 20_000, { responseTimeMs: 300 }), {
  regions: [
    inRegion('ap', 20_000, { responseTimeMs: 300 }),
    inRegion('eu', 40_000, {
      status: 'down',
      responseTimeMs: null,
      statusCode: 0,
      failure: { class: 'refused', phase: 'connect', cause: { code: 'connection_refused' } },
    }),
    inRegion('us', 60_000, { responseTimeMs: 100 }),
  ],
  scope: 'partial',
});

t.test('it shows each region, and from where it fails', async (t) => {
  const { failsFrom, regions, facts } = viewServicePage(known({ current: PARTIAL }), en);
  t.equal(failsFrom, 'Fails from eu.');
  t.same(facts[0], { name: 'Response time', value: '200 ms' });
  t.same(
    regions?.map(({ checked, ...region }) => ({ ...region, checked: textOf(checked) })),
    [
      {
        region: 'ap',
        status: 'up',
        word: 'Operational',
        took: '300 ms',
        checked: '20 seconds ago',
        failure: null,
      },
      {
        region: 'eu',
        status: 'down',
        word: 'Down',
        took: null,
        checked: '40 seconds ago',
        failure: 'the connection was refused',
      },
      {
        region: 'us',
        status: 'up',
        word: 'Operational',
        took: '100 ms',
        checked: '1 minute ago',
        failure: null,
      },
    ],
  );
  t.match(viewServicePage(known({ current: { ...PARTIAL, scope: null } }), en), { failsFrom: null });
  t.match(viewServicePage(known(), en), { failsFrom: null, regions: null }, 'nothing with one region');

  const world = await startApi({ services: [service(1, 'shop')] });
  t.teardown(world.close);
  await world.status.put([PARTIAL]);
  const page = await (await fetch(`${world.origin}/status/shop-example`)).text();
  t.match(page, /<p><strong>Fails from eu\.<\/strong><\/p>/);
  t.match(page, /<h2 id="regions">Regions<\/h2>/);
  t.equal(page.match(/<th scope="row" data-label="Region">/g)?.length, 3);
  const german = await fetch(`${world.origin}/status/shop-example`, { headers: { 'accept-language': 'de' } });
  t.match(await german.text(), /Fehler aus Sicht von eu\./);
});

t.test('it says from which of its regions a service is not checked', async (t) => {
  const checked = (regions: readonly string[], more: Partial<Service> = {}) =>
    service(1, 'shop', { check: { ...DEFAULT_CHECK, regions }, ...more });
  const notice = 'Not checked from eu, us: no node in that region makes checks.';
  const pageOf = async (own: Service) => {
    const world = await startApi({ services: [own] });
    t.teardown(world.close);
    return await (await fetch(`${world.origin}/status/shop-example`)).text();
  };
  const region = 'local';
  t.match(await pageOf(checked(['us', region, 'eu'])), notice);
  for (const own of [checked([region]), checked(['us'], { paused: true }), service(1, 'shop')])
    t.notMatch(await pageOf(own), 'Not checked from');
  t.match(viewServicePage(known({ withoutNode: ['us'] }), de).withoutNode, 'Keine Prüfung aus us');
});

t.test('it shows less of what was never checked, and of what reports by itself', async (t) => {
  const never = viewServicePage(
    known({ current: current(1, check(NOW), { status: 'unknown', since: null, latest: null }) }),
    de,
  );
  t.same(
    { word: never.word, checked: never.checked, facts: never.facts, waterfall: never.waterfall },
    { word: 'Unbekannt', checked: null, facts: [], waterfall: null },
  );
  const silent = viewServicePage(
    known({
      service: service(1, 'shop', {
        check: { kind: 'heartbeat', url: null, method: null, accept: null, caFile: null },
      }),
      current: current(
        1,
        check(NOW, { source: 'silence', status: 'down', statusCode: 0, responseTimeMs: null }),
      ),
    }),
    en,
  );
  t.same(
    { ours: silent.ours, facts: silent.facts },
    { ours: 'What it reports', facts: [{ name: 'Response time', value: 'no response' }] },
  );
});

t.test('it warns of old checks and of certificates that run out', async (t) => {
  const ending = (at: number) =>
    viewServicePage(known({ current: current(1, check(NOW - 3_600_000, { certificateExpiresAt: at })) }), en);
  t.same(ending(NOW + 14 * DAY).certificate, null);
  t.equal(
    textOf(ending(NOW + 14 * DAY - 1).certificate),
    "The server's certificate expires on 4 Dec 2026, 09:59 UTC. If it is not renewed, browsers will warn visitors.",
  );
  t.equal(
    textOf(ending(NOW - 1).certificate),
    "The server's certificate expired on 20 Nov 2026, 09:59 UTC. Browsers warn visitors.",
  );
  t.equal(ending(NOW).stale, null);
  const { stale } = viewServicePage(known({ staleSince: NOW - 3_600_000 }), en);
  t.equal(textOf(stale), 'The last check was 1 hour ago. The status may have changed since then.');
  const table: readonly [at: number, days: number, said: string][] = [
    [NOW + DAY, 1, '1 day left'],
    [NOW + DAY - 1, 0, 'less than a day left'],
    [NOW - 1, -1, 'expired'],
  ];
  for (const [at, days, said] of table) {
    t.equal(certificateDaysOf(current(1, check(NOW, { certificateExpiresAt: at })), NOW), days);
    t.same(ending(at).facts.at(-1), { name: 'Certificate', value: said });
  }
});

t.test("it sets the vendor's word beside ours, with what it said of this outage", async (t) => {
  const own = incident('own-1-2', 1, { startedAt: NOW - 34 * MINUTE });
  const told = incident('statuspage-9-shop', 1, {
    source: 'vendor',
    title: 'Errors',
    severity: 'minor',
    startedAt: NOW - 30 * MINUTE,
    updates: [{ at: NOW - 30 * MINUTE, status: 'investigating', text: '' }],
  });
  const page = {
    url: 'https://status.example',
    kind: 'statuspage',
    feedUrl: null,
    components: null,
  } as const;
  const vendor = {
    url: page.url,
    kind: 'statuspage',
    status: 'minor',
    since: NOW - 30 * MINUTE,
    incidentId: told.id,
    readAt: NOW - MINUTE,
    stale: false,
  } as const;
  const view = viewServicePage(
    known({
      service: service(1, 'shop', { statusPage: page }),
      current: current(1, check(NOW, { status: 'down' })),
      incidents: [told, own],
      incidentsOfYear: [own, told],
      vendor,
    }),
    en,
  );
  const { text = null, readAt = null, ...rest } = view.vendor ?? {};
  t.same(
    { ...rest, text: textOf(text), readAt: textOf(readAt) },
    {
      url: 'https://status.example',
      look: 'slow',
      shape: 'M5 .5 10 9.5H0z',
      word: 'Minor incident',
      text: 'reports a minor incident, since 20 Nov 2026, 09:30 UTC.',
      readAt: 'Read 1 minute ago',
      incident: viewPageIncident(told, 'shop-example', NOW, en),
      onThis: 'It reported this outage 4 min after our first failed check.',
      lag: null,
    },
  );
  // A vendor whose page is not read has an address alone, and none at all where it is no address of the web.
  const unread = (url: string) =>
    viewServicePage(known({ service: service(1, 'shop', { statusPage: { ...page, url } }) }), en).vendor;
  t.same(unread('https://status.example'), { url: 'https://status.example', look: null });
  t.same(unread('javascript:alert(1)'), { url: null, look: null });
});

t.test('it shows what fails first among dependencies, and who else reports it', async (t) => {
  const since = NOW - MINUTE;
  const list = {
    reportedAt: NOW - 30_000,
    dependencies: [
      { name: 'cache', status: 'up', latencyMs: 3, since },
      { name: 'Database', status: 'down', latencyMs: null, since },
      { name: 'queue', status: 'down', latencyMs: null, since },
    ],
    changes: [],
  } as const;
  const failing = [
    { name: 'database', services: 4, since },
    { name: 'queue', services: 1, since },
  ];
  const othersOf = (countsItself: boolean) =>
    viewDependencies(list, failing, countsItself, en).rows.map(({ name, others }) => [name, others]);
  t.same(othersOf(true), [
    ['Database', '3 other services report it too'],
    ['queue', 'no other service reports it'],
    ['cache', null],
  ]);
  t.same(othersOf(false), [
    ['Database', '4 other services report it too'],
    ['queue', '1 other service reports it too'],
    ['cache', null],
  ]);
  t.same(viewDependencies({ reportedAt: null, dependencies: [], changes: [] }, [], true, en), {
    reported: null,
    rows: [],
  });
});

t.test('it makes snippets that no name can break out of', async (t) => {
  const view = viewServicePage(known({ service: service(1, 'shop', { name: 'A]( "<b>\n& B' }) }), en);
  t.same(view.snippets, {
    markdown:
      '[![A (   b    B status](https://upbeat.test/api/badge/shop-example)](https://upbeat.test/status/shop-example)',
    html: '<a href="https://upbeat.test/status/shop-example"><img src="https://upbeat.test/api/badge/shop-example" alt="A (   b    B status" width="280" height="36"></a>',
    picture: 'https://upbeat.test/api/badge/shop-example',
  });
});

t.test('it lets no markup of others through, in any text of a service or an incident', async (t) => {
  const world = await startServiceWorld();
  t.teardown(world.close);
  for (const path of [
    '/status/hostile-example',
    '/status/hostile-example?range=1y',
    '/status/hostile-example?lang=de',
    `/status/hostile-example/incidents/${encodeURIComponent(ODD_ID)}`,
    '/status/hostile-example/incidents/own-8-1',
    `/status/hostile-example/incidents/${encodeURIComponent(EVIL)}`,
    `/status/${encodeURIComponent(EVIL)}/incidents/x`,
  ]) {
    const { text, headers } = await world.get(path, { accept: 'text/html' });
    t.notMatch(text, /<\/script><script>|<img src=x|<script>/, path);
    t.notMatch(text, / style="| on[a-z]+="|href="javascript:/, `${path} has no inline style or script`);
    t.match(headers.get('content-security-policy'), "default-src 'none'", path);
    t.match(text, '&lt;/script&gt;&lt;script&gt;', `${path} shows it as text`);
  }
});

t.test('it shows response times of a range without a script, and hands them to one', async (t) => {
  const world = await startServiceWorld();
  t.teardown(world.close);
  const { text } = await world.get('/status/wordy-example?range=7d');
  t.match(text, /data-range="7d"[^>]* aria-current="true"/);
  t.match(text, /Response time, 7 days: at most \d+/);
  t.match(text, /<path class="line-p50" d="M/);
  const { json, headers } = await world.get('/status/wordy-example/response-times.json?range=7d');
  t.equal(headers.get('x-ratelimit-limit'), '600', 'it counts among pages, not against the API');
  t.same(Object.keys(objectAt(json)), ['range', 'at', 'p50', 'p95', 'p99', 'failed', 'label', 'empty']);
  t.same(
    [at(json, 'range'), at(json, 'at', 'length'), at(json, 'p50', 'length'), at(json, 'failed', 'length')],
    ['7d', 168, 168, 168],
  );
  t.ok(listAt(json, 'p50').includes(null), 'gaps are null');
  for (const path of ['/status/wordy-example?range=2d', '/status/wordy-example/response-times.json?range=x'])
    t.equal((await world.get(path)).status, 400, path);
  t.equal((await world.get('/status/nobody/response-times.json')).status, 404);
});

t.test('it allows a reader to choose the region whose checks it shows', async (t) => {
  const world = await startServiceWorld();
  t.teardown(world.close);
  const path = '/status/wordy-example';
  const linksIn = (text: string) =>
    [...text.matchAll(/<a href="(\?range=[^"#]*)"( aria-current="true")?>([^<]*)</g)].map(
      ([, href = '', current, name]) => `${name} ${href.replaceAll('&amp;', '&')}${current ?? ''}`,
    );
  const one = (await world.get(path)).text;
  t.same(linksIn(one), [], 'with one region there is nothing to choose');
  await world.registry.setFact('samples.regions', 'eu us');
  const sample = {
    serviceId: SERVICES.up,
    status: 'down',
    latencyMs: null,
    statusCode: 503,
    suspect: false,
  } as const;
  await world.addSamples([
    { ...sample, at: NOW - MINUTE, region: 'us' },
    { ...sample, at: NOW - MINUTE, region: 'eu', status: 'up', latencyMs: 7_777, statusCode: 200 },
  ]);
  await world.clock.advance(2_000);
  const all = (await world.get(`${path}?range=7d`)).text;
  t.same(linksIn(all), [
    'all regions ?range=7d aria-current="true"',
    'eu ?range=7d&region=eu',
    'us ?range=7d&region=us',
  ]);
  t.match(all, 'at most 7,777 ms');
  const us = (await world.get(`${path}?region=us`)).text;
  t.same(linksIn(us), [
    'all regions ?range=24h',
    'eu ?range=24h&region=eu',
    'us ?range=24h&region=us aria-current="true"',
  ]);
  t.notMatch(us, '7,777 ms');
  t.match(us, '<a href="?range=30d&amp;region=us#times" data-range="30d"', 'the range keeps the region');
  t.match(us, /<dd>0(\.\d+)?\s?%<\/dd>/, 'the figures are those of the region');
  const { json } = await world.get(`${path}/response-times.json?range=24h&region=us`);
  t.equal(at(json, 'empty'), true);
  t.match((await world.get(path, { 'accept-language': 'de' })).text, 'Prüfungen aus');
  for (const wrong of [`${path}?region=mars`, `${path}/response-times.json?region=mars`])
    t.equal((await world.get(wrong)).status, 400, wrong);
});

t.test('it speaks German where that is asked for', async (t) => {
  const world = await startServiceWorld();
  t.teardown(world.close);
  const { text } = await world.get('/status/pier-example?lang=de');
  for (const said of [
    'Unsere Prüfungen',
    'pier.example ist nicht sicher erreichbar (das Zertifikat ist abgelaufen).',
    'Statusseite des Anbieters',
    'Erreichbarkeit',
    'Antwortzeit',
    'Vorfälle',
  ])
    t.match(text, said);
  t.notMatch(text, />(?:Uptime|Response time|Incidents|Last check|As a table|Follow it)</);
});

t.test('it says since when it measures where longer ranges hold no more than that', async (t) => {
  const since = (measuredFrom: number | null, language: typeof en) => {
    const { measured } = viewServicePage(known({ measuredFrom }), language);
    return measured === null
      ? null
      : asText(measured, language.formats, NOW).replaceAll(/[\u00a0\u202f]/g, ' ');
  };
  t.equal(since(null, en), null);
  t.equal(
    since(NOW - 20 * MINUTE, en),
    'Measured since 20 Nov 2026, 09:40 UTC (20 min). Longer periods contain no earlier data.',
  );
  t.match(since(NOW - 20 * MINUTE, de), /^Gemessen seit 20\. Nov\. 2026, 09:40 UTC \(20 Min\.\)\. /);
  t.equal(since(NOW - 40 * DAY, en), 'Measured since 11 Oct 2026. Longer periods contain no earlier data.');
  const world = await startServiceWorld();
  t.teardown(world.close);
  t.match((await world.get('/status/attic-example')).text, 'Measured since 12 Oct 2026. ');
  for (const path of ['/status/wordy-example', '/status/newcomer-example'])
    t.notMatch((await world.get(path)).text, 'Measured since', path);
});

t.test('it repeats no uptime that a shorter time holds already', async (t) => {
  const namesOf = (measuredFrom: number | null) =>
    viewServicePage(known({ measuredFrom, lastDay: [day(0)], year: [day(0)] }), en).uptimes.map(({ name }) =>
      asText(name, en.formats, NOW),
    );
  const all = ['Uptime, 24 hours', 'Uptime, 7 days', 'Uptime, 30 days', 'Uptime, 90 days', 'Uptime, 1 year'];
  const since = (at: number) => `Uptime since ${en.formats.time(at)}`;
  t.same(
    namesOf(NOW - 20 * MINUTE),
    [since(NOW - 20 * MINUTE)],
    'a time of which less is known says since when',
  );
  t.same(namesOf(NOW - DAY), all.slice(0, 1));
  t.same(namesOf(NOW - DAY - 1), [...all.slice(0, 1), since(NOW - DAY - 1)]);
  t.same(namesOf(NOW - 40 * DAY), [...all.slice(0, 3), since(NOW - 40 * DAY)]);
  t.same(namesOf(null), all);
  t.same(viewServicePage(known(), en).uptimes, [], 'no figure that does not exist');
});

t.test('it has a calendar of a year once 90 days are known, and bars for the days that are', async (t) => {
  const table = [
    [0, 30, false],
    [12, 30, false],
    [45, 45, false],
    [89, 89, false],
    [90, 90, true],
    [365, 90, true],
  ] as const;
  for (const [count, bars, hasYear] of table) {
    const year = Array.from({ length: 365 }, (_, index) => day(364 - index, 364 - index < count ? 288 : 0));
    const view = viewServicePage(known({ year }), en);
    t.same([view.bars.bars.length, view.year !== null], [bars, hasYear], `${count} days`);
  }
  const world = await startServiceWorld();
  t.teardown(world.close);
  const old = (await world.get('/status/wordy-example')).text;
  t.match(old, /<h3>90 days \(UTC\)<\/h3>[\s\S]*<h3>1 year<\/h3>[\s\S]*<caption>Uptime by month/);
  const young = (await world.get('/status/attic-example')).text;
  t.match(young, /<h3>(39|40) days \(UTC\)<\/h3>/);
  t.notMatch(young, /<h3>1 year|class="chart calendar"|Uptime by month/);
  t.match(young, '<use href="#day-down"/>', 'with the legend of the bars');
});

t.test('it explains the words of its figures where they first stand, without a pointer', async (t) => {
  const world = await startServiceWorld();
  t.teardown(world.close);
  const { text } = await world.get('/status/wordy-example');
  const [, head = ''] = /<dl class="headline"[\s\S]*?<\/dl>([\s\S]*?)<div class="voices">/.exec(text) ?? [];
  t.match(head, /<details[\s\S]*<dfn>median<\/dfn><\/dt><dd>Half of the responses/);
  const [, chart = ''] = text.split('id="response-times"');
  t.match(chart, /<dfn>p95<\/dfn><\/dt><dd>The 95th percentile: 95 of 100 responses/);
});

t.test('alerts, letters and badges are one click away', async (t) => {
  const world = await startServiceWorld();
  t.teardown(world.close);
  const [top = ''] = (await world.get('/status/wordy-example')).text.split('id="uptime"');
  for (const path of ['/subscribe?service=wordy-example', '/badges/wordy-example'])
    t.match(top, `href="${path}"`);
  t.notMatch(top, '/dashboard/rules/new', 'letters need no account');
  const [owned = ''] = (await world.get('/status/shop-example')).text.split('id="uptime"');
  t.notMatch(owned, '/dashboard/rules/new', 'rules of strangers watch public services alone');
  t.match(owned, 'href="/badges/shop-example"');
});

t.test('it heads the chart of a young service with the time that it shows', async (t) => {
  const world = await startApi({ services: [service(1, 'shop')] });
  t.teardown(world.close);
  await world.status.put([current(1, check(NOW))]);
  await world.addSamples(
    [20, 15, 10, 5, 0].map((minutes) => ({
      serviceId: 1,
      at: NOW - minutes * MINUTE - 1,
      status: 'up',
      latencyMs: 120,
      statusCode: 200,
      suspect: false,
    })),
  );
  const { json } = await world.get('/status/shop-example/response-times.json');
  t.equal(at(json, 'label'), 'Response time since the first check: at most 120 ms');
  t.equal(at(json, 'at', 0), (NOW - 25 * MINUTE) / 1_000);
  const { text } = await world.get('/status/shop-example', { 'accept-language': 'de' });
  t.match(text, 'Antwortzeit seit der ersten Prüfung: höchstens 120');
});

t.test('it says to the minute when a young service was first checked', async (t) => {
  const world = await startApi({ services: [service(1, 'shop')] });
  t.teardown(world.close);
  const sinceFirst = { serviceId: 1, from: NOW - 20 * MINUTE, to: NOW, stepMs: MINUTE };
  await world.addSamples(samplesOfSteps(sinceFirst, [{ status: 'up', latencyMs: null }]));
  await world.status.put([current(1, check(NOW))]);
  t.match(
    (await world.get('/status/shop-example')).text,
    /Measured since <time datetime="2026-11-20T09:40:00\.000Z">[^<]*<\/time> \(<time [^>]*data-length[^>]*>20[^<]*<\/time>\)\. Longer/,
  );
});

t.test('it shows what it can while the store of past checks is away', async (t) => {
  const world = await startApi({
    services: [service(1, 'shop')],
  });
  t.teardown(world.close);
  world.faults.samples = Object.assign(new Error('away'), { code: 'samples_away' });
  await world.status.put([current(1, check(NOW))]);
  const { status, text } = await world.get('/status/shop-example');
  t.equal(status, 200);
  t.match(text, 'Past checks cannot be read at the moment');
  t.match(text, 'has been operational');
  t.notMatch(text, 'id="uptime"');
  t.equal(
    at((await world.get('/status/shop-example/response-times.json')).json, 'code'),
    'history_unavailable',
  );
});

t.test('it shows dependencies only where the owner shows them', async (t) => {
  const world = await startServiceWorld();
  t.teardown(world.close);
  t.match((await world.get('/status/shop-example')).text, '3 other services report it too');
  await world.report(SERVICES.blocked, NOW - MINUTE, [{ name: 'cache', status: 'up', latencyMs: 3 }]);
  t.notMatch((await world.get('/status/bouncer-example')).text, 'Dependencies');
});

t.test('it weighs less than 100 KiB at every range, before it is compressed', async (t) => {
  const world = await startServiceWorld();
  t.teardown(world.close);
  for (const range of RANGE_NAMES) {
    const { bytes } = await world.get(`/status/pier-example?range=${range}`);
    t.ok(bytes.length > 50_000 && bytes.length < 102_400, `${range}: ${bytes.length} bytes`);
  }
});

t.test('it tells other sites what a link leads to, on its page and on those of its incidents', async (t) => {
  const world = await startServiceWorld();
  t.teardown(world.close);
  const tagsOf = async (path: string) => {
    const { text } = await world.get(path);
    const tags = text.matchAll(/<meta (?:property|name)="(og:[a-z_]+|description)" content="([^"]*)">/g);
    return Object.fromEntries([...tags].map(([, key, content]) => [key, content]));
  };
  const description =
    'Pier has been down since 20 Nov 2026, 09:26 UTC (34 min): it cannot be reached securely (certificate has expired). The vendor&#39;s status page reports no problems.';
  t.same(await tagsOf('/status/pier-example'), {
    description,
    'og:site_name': 'Upbeat',
    'og:type': 'website',
    'og:title': 'Pier is down: it cannot be reached securely',
    'og:description': description,
    'og:url': 'https://upbeat.test/status/pier-example',
    'og:image': 'https://upbeat.test/api/chart/pier-example.png?size=card',
  });
  const incident = await tagsOf('/status/pier-example/incidents/own-3-7');
  t.same(
    [incident['og:title'], incident['og:description'], incident['og:url']],
    [
      'Pier: Pier answers with errors',
      'resolved: pier.example has answered 3 checks in a row.',
      'https://upbeat.test/status/pier-example/incidents/own-3-7',
    ],
  );
});

t.test('it says since when checks are missing while they are being stored', async (t) => {
  const world = await startApi({ services: [service(1, 'shop')] });
  t.teardown(world.close);
  await world.status.put([current(1, check(NOW))]);
  const page = async (language: string) =>
    (await world.get('/status/shop-example', { 'accept-language': language })).text;
  t.notMatch(await page('en'), /are still being stored/);
  world.faults.missingSince = NOW - 30 * MINUTE;
  t.match(await page('en'), /Checks since <time[^>]*>[^<]*09:30 UTC<\/time> are still being stored/);
  t.match(await page('de'), /Prüfungen seit <time[^>]*>[^<]*09:30 UTC<\/time> werden noch gespeichert/);
});
