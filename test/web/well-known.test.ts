/** What browsers, search engines and security researchers look for: files at known addresses, and pages in other languages. */
import t from 'tap';
import { NOW, service, startApi } from '../site/site-world.ts';

t.test('it serves the files that browsers and robots ask for', async (t) => {
  const world = await startApi({
    services: [
      service(1, 'github', { domain: 'github.com' }),
      service(2, 'mine-example', { domain: 'mine.example', origin: 'owner', accountId: 1, verified: false }),
    ],
  });
  t.teardown(world.close);
  const icon = await world.get('/favicon.ico');
  t.equal(icon.headers.get('content-type'), 'image/x-icon');
  t.equal(icon.bytes.readUInt16LE(2), 1, 'an icon');
  for (const path of ['/apple-touch-icon.png', '/icon-512.png']) {
    const answer = await world.get(path);
    t.equal(answer.bytes.toString('latin1', 1, 4), 'PNG', path);
    const size = answer.bytes.readUInt32BE(16);
    t.ok(path.includes('512') ? size === 512 : size === 180, `${path} has the size that the manifest names`);
  }
  const manifest = await world.get('/site.webmanifest');
  t.equal(manifest.headers.get('content-type'), 'application/manifest+json; charset=utf-8');
  for (const found of manifest.text.matchAll(/"src":"([^"]+)"/g))
    t.equal((await world.get(found[1] ?? '')).status, 200, found[0]);
  const robots = (await world.get('/robots.txt')).text;
  t.match(robots, /^User-agent: \*\nDisallow: \/dashboard\n/);
  t.match(robots, /\nDisallow: \/api\/\n/);
  for (const picture of ['/api/badge/', '/api/chart/', '/api/heatmap.png'])
    t.match(robots, `\nAllow: ${picture}\n`, 'link previews show the pictures');
  t.match(robots, '\nSitemap: https://upbeat.test/sitemap.xml\n');
  t.match((await world.get('/sitemap.xml')).text, '<loc>https://upbeat.test/sitemaps/1.xml</loc>');
  const pages = [...(await world.get('/sitemaps/1.xml')).text.matchAll(/<loc>(.*?)<\/loc>/g)].map(
    ([, url = '']) => url,
  );
  t.same(
    pages,
    [
      '/',
      '/incidents',
      '/maintenance',
      '/heatmap',
      '/honesty',
      '/docs',
      '/badges',
      '/about',
      '/status/github-com',
    ].map((path) => `https://upbeat.test${path}`),
    'without services that nobody has verified',
  );
  for (const url of pages) t.equal((await world.get(new URL(url).pathname)).status, 200, url);
  for (const part of ['2.xml', '0.xml', '01.xml', '1', 'x.xml'])
    t.equal((await world.get(`/sitemaps/${part}`)).status, 404, part);
  const contact = (await world.get('/.well-known/security.txt')).text;
  t.match(contact, /^Contact: mailto:security@upbeat\.test\nExpires: .*Z\nCanonical: https:/);
  const expires = Date.parse(/Expires: (.*)/.exec(contact)?.[1] ?? '');
  t.ok(expires > NOW && expires < NOW + 365 * 86_400_000, 'it is valid for less than a year');
});

t.test('it tells search engines the absolute URL of each page in each language', async (t) => {
  for (const siteUrl of ['https://upbeat.test', 'https://example.org/status']) {
    const world = await startApi({ services: [service(1, 'shop')], siteUrl });
    t.teardown(world.close);
    await world.putPage('acme', { groups: [{ name: 'Web', services: [1] }] });
    const pages = ['/', '/status/shop-example', '/docs', '/p/acme'].map((path) => [path, path] as const);
    for (const [asked, path] of [
      ...pages,
      ['/?q=a%26b&appearance=dark&lang=de', '/?q=a%26b&lang='],
    ] as const) {
      const { text } = await world.get(asked, { accept: 'text/html' });
      const links = [...text.matchAll(/<link rel="alternate" hreflang="(\w+)" href="([^"]*)">/g)];
      t.same(
        links.map(([, code, href]) => [code, href]),
        ['en', 'de'].map((code) => [
          code,
          siteUrl + (path.endsWith('lang=') ? path.replaceAll('&', '&amp;') : `${path}?lang=`) + code,
        ]),
        asked,
      );
    }
    t.notMatch(
      (await world.get('/status/nobody', { accept: 'text/html' })).text,
      '<link rel="alternate" hreflang',
    );
  }
});
