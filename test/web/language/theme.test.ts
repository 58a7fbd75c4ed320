/** The theme of pages, their font, and where the navigation says that the reader is. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { incident, NOW, service, startApi } from '../../site/site-world.ts';
import { openSampleStore } from '../../support/sample-store.ts';
import { startServiceWorld } from '../service-world.ts';

const FOLDER = join(import.meta.dirname, '../../../assets/web');

t.test('it shows the theme that the reader chose, on every page and for a year', async (t) => {
  const world = await startApi({ services: [service(1, 'a')] });
  t.teardown(world.close);
  const first = await world.get('/?q=a');
  t.notMatch(first.text, 'data-theme');
  t.match(first.text, '<a href="?q=a&amp;appearance=dark" rel="nofollow">Dark</a>');
  const chosen = await world.get('/?q=a&lang=de&appearance=dark');
  t.match(chosen.text, /<html lang="de" data-theme="dark"/);
  t.notMatch(
    chosen.text,
    /hreflang="en" href="[^"]*appearance/,
    'the links to languages do not choose a theme',
  );
  const cookies = chosen.headers.getSetCookie();
  t.same(cookies, [
    'upbeat-language=de; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax',
    'upbeat-theme=dark; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax',
  ]);
  const table: readonly [path: string, cookie: string, theme: string | undefined][] = [
    ['/docs', 'upbeat-theme=dark', 'dark'],
    ['/status/a-example', 'upbeat-theme=light', 'light'],
    ['/status/nobody', 'upbeat-theme=dark', 'dark'],
    ['/?appearance=system', 'upbeat-theme=dark', undefined],
    ['/?appearance=light', 'upbeat-theme=dark', 'light'],
    ['/?appearance=neon', 'upbeat-theme="><script>', undefined],
  ];
  for (const [path, cookie, theme] of table) {
    const { text } = await world.get(path, { accept: 'text/html', cookie });
    t.equal(/<html[^>]* data-theme="([^"]*)"/.exec(text)?.[1], theme, `${path} ${cookie}`);
  }
  const badge = async (cookie: string) =>
    /<picture>.*<\/picture>/.exec((await world.get('/status/a-example', { cookie })).text)?.[0];
  t.match(await badge(''), 'media="(prefers-color-scheme: dark)"');
  t.match(await badge('upbeat-theme=dark'), /<picture><img [^>]*\?theme=dark"/);
  t.match(await badge('upbeat-theme=light'), /<picture><img [^>]*src="[^"?]*"/);
});

t.test('it serves the font of pages for a year, and preloads it', async (t) => {
  const world = await startApi();
  t.teardown(world.close);
  const { text, headers } = await world.get('/');
  t.match(headers.get('content-security-policy'), "font-src 'self'");
  const [, font = ''] = /<link rel="preload" href="([^"]+)" as="font"/.exec(text) ?? [];
  const [, style = ''] = /<link rel="stylesheet" href="([^"]+)"/.exec(text) ?? [];
  const css = (await world.get(style)).text;
  const fonts = [...css.matchAll(/url\("([^"]+)"\)/g)].map(
    ([, path = '']) => new URL(path, `http://site${style}`).pathname,
  );
  t.equal(fonts.length, 2);
  t.equal(fonts[0], font);
  for (const path of fonts) {
    const answer = await world.get(path);
    t.match(
      [answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control')],
      [200, 'font/woff2', /max-age=31536000, immutable/],
    );
    t.ok(answer.bytes.length < 25_000, `${path}: ${answer.bytes.length} bytes`);
  }
});

t.test('it marks the item of the navigation that the reader is at', async (t) => {
  const world = await startApi({ services: [service(1, 'a')] });
  t.teardown(world.close);
  for (const [path, item] of [
    ['/', 'Services'],
    ['/status/a-example', 'Services'],
    ['/incidents', 'Incidents'],
    ['/heatmap', 'Heat map'],
    ['/docs', 'API'],
    ['/status/nobody', undefined],
  ] as const) {
    const nav =
      /<nav aria-label="Site">.*?<\/nav>/s.exec((await world.get(path, { accept: 'text/html' })).text)?.[0] ??
      '';
    t.equal(/aria-current="page">([^<]+)</.exec(nav)?.[1], item, path);
  }
});

t.test(
  'style sheets take colours and sizes from the tokens, which the page of the design shows',
  async (t) => {
    const world = await startApi();
    t.teardown(world.close);
    const { text } = await world.get('/design');
    t.match(text, /data-theme="light"[\s\S]*data-theme="dark"/);
    for (const token of ['--link', '--down-fill', '--size-5', '--space-6']) t.match(text, token);
    const sheets = readdirSync(FOLDER).filter((name) => name.endsWith('.css') && name !== 'tokens.css');
    t.ok(sheets.length >= 5);
    for (const name of sheets) {
      const css = readFileSync(join(FOLDER, name), 'utf8');
      // A badge is shown on the background of the site that it is for, whatever the theme.
      const own = css.replace(/\.stage\.(?:light|dark) \{[^}]*\}/g, '');
      t.same(own.match(/#[0-9a-f]{3,8}\b|font-size: [\d.]+rem|prefers-color-scheme/g) ?? [], [], name);
    }
  },
);

t.test('the pages of all incidents and of the heat map stand by themselves', async (t) => {
  const world = await startApi({ services: [service(1, 'a', { name: 'Alpha' })] });
  t.teardown(world.close);
  t.match((await world.get('/incidents')).text, 'No incidents.');
  await world.putIncidents(
    ...Array.from({ length: 30 }, (_, index) =>
      incident(`own-${index}`, 1, { title: `Trouble ${index}.`, startedAt: NOW - index * 60_000 }),
    ),
  );
  const { text } = await world.get('/incidents');
  t.match(
    text,
    /Trouble 0\.<\/a>[\s\S]*Alpha<\/a> · <strong[^>]*>Ongoing, <time [^>]*>0 s<\/time><\/strong> · started [\s\S]* · Seen by our checks · <span class="severity major">major<\/span><\/p>/,
  );
  t.equal(text.match(/<article/g)?.length, 25);
  t.match(text, '<a class="card" rel="next" href="?offset=25">');
  const older = await world.get('/incidents?offset=25', { 'accept-language': 'de' });
  t.equal(older.text.match(/<article/g)?.length, 5);
  t.match(older.text, '<a class="card" rel="prev" href="?">Neuere');
  t.equal((await world.get('/incidents?offset=x')).status, 400);
  t.match(text, /<h2 class="day">20 Nov 2026 \(UTC\)<\/h2>/);
  await world.putIncidents(
    incident('x1', 1, {
      source: 'vendor',
      severity: 'minor',
      title: 'Vendor says so.',
      status: 'monitoring',
    }),
  );
  const filtered = async (query: string) => {
    const page = (await world.get(`/incidents${query}`)).text;
    return [
      page.match(/<article/g)?.length ?? 0,
      /Vendor says so/.test(page),
      /rel="next" href="([^"]*)"/.exec(page)?.[1],
    ];
  };
  t.same(await filtered('?source=vendor'), [1, true, undefined]);
  t.same(await filtered('?source=own'), [25, false, '?source=own&amp;offset=25']);
  t.same(await filtered('?severity=minor&source=vendor'), [1, true, undefined]);
  t.same(await filtered('?severity=critical'), [0, false, undefined]);
  t.match((await world.get('/incidents?severity=critical')).text, 'No matching incidents.');
  t.match((await world.get('/incidents?source=vendor')).text, '<option value="vendor" selected>');
  t.equal((await world.get('/incidents?source=nobody')).status, 400);
  t.equal((await world.get('/heatmap?window=2d')).status, 400);
});

t.test('the heat map can be pointed at and followed, the worst first', async (t) => {
  const samples = openSampleStore({ now: () => NOW });
  t.teardown(() => samples.close());
  const world = await startApi({
    services: [service(1, 'fine', { name: 'Fine' }), service(2, 'bad', { name: 'Zebra' })],
    samples,
  });
  t.teardown(world.close);
  await samples.append(
    [1, 2].flatMap((serviceId) =>
      [3_600_000, 1_800_000].map((ago) => ({
        serviceId,
        at: NOW - ago,
        status: serviceId === 2 && ago === 3_600_000 ? ('down' as const) : ('up' as const),
        latencyMs: 100,
        statusCode: 200,
        suspect: false,
      })),
    ),
  );
  const { text } = await world.get('/heatmap?window=24h');
  t.notMatch(text, /<img[^>]*heatmap/, 'no picture that may fail');
  t.match(text, /Zebra<\/a>[\s\S]*Fine<\/a>/);
  t.match(
    text,
    /<a href="\/status\/bad-example\?range=24h#times" tabindex="-1" aria-label="Zebra, 11-20 09:00 – 11-20 09:15 UTC: half of the checks or more failed"><title>/,
  );
  t.match(text, 'aria-label="Fine: no bad times"');
  t.match(text, 'href="/heatmap?window=24h&amp;category=developer"');
  t.match((await world.get('/heatmap?category=ai')).text, /All categories/);
  t.equal((await world.get('/heatmap?category=x')).status, 400);
});

t.test('a service page begins with the figures that exist, and links its domain', async (t) => {
  const world = await startServiceWorld();
  t.teardown(world.close);
  const head = async (path: string) =>
    /<dl class="headline".*?<\/dl>/s.exec((await world.get(path)).text)?.[0].replace(/<[^>]+>/g, '|') ?? null;
  t.match(
    await head('/status/wordy-example'),
    /Uptime, 30 days\|\|[\d.]+%.*Median response time, 24 hours\|\|\d+ ms/,
  );
  t.equal(await head('/status/newcomer-example'), null);
  t.match(
    (await world.get('/status/wordy-example')).text,
    '<a href="https://wordy.example" rel="noopener nofollow">wordy.example</a>',
  );
});
