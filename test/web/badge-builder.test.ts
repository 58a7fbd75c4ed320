/** The badge builder over real HTTP: without scripts it is a form, and what it offers is true. */
import t from 'tap';
import { check, current, from, NOW, service, startApi } from '../site/site-world.ts';

const EVIL = '<script>alert(1)</script>"\'&';

async function world(more = {}) {
  const api = await startApi({
    services: [
      service(1, 'github', { name: 'GitHub', domain: 'github.com' }),
      service(2, 'gitlab', { name: 'GitLab', domain: 'gitlab.com' }),
      service(3, 'evil', { name: `Digit ${EVIL}`, domain: 'evil.example' }),
      service(4, 'secret', { name: 'Git of mine', origin: 'owner', accountId: 1, verified: false }),
    ],
    ...more,
  });
  await api.status.put([current(2, check(NOW))]);
  return api;
}
const unescaped = (text: string) =>
  text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
const matchesOf = (html: string) =>
  [...html.matchAll(/<li><a href="(\/badges\/[^"]+)">([^<]*)<\/a> <span/g)].map((match) => [
    unescaped(match[1] ?? ''),
    unescaped(match[2] ?? ''),
  ]);
const fieldOf = (html: string, name: string) =>
  unescaped(new RegExp(`data-builder="${name}">([^<]*)</textarea>`).exec(html)?.[1] ?? '');

t.test('it finds services by name and domain, those that begin so first, and keeps the choice', async (t) => {
  const api = await world();
  t.teardown(api.close);
  t.same(matchesOf((await api.get('/badges?q=GIT')).text), [
    ['/badges/github-com', 'GitHub'],
    ['/badges/gitlab-com', 'GitLab'],
    ['/badges/evil-example', `Digit ${EVIL}`],
  ]);
  t.same(
    matchesOf(
      (
        await api.get(
          '/badges?q=lab.com&variant=uptime&window=1y&theme=dark&style=compact&label=A%26B&format=png',
        )
      ).text,
    ),
    [
      [
        '/badges/gitlab-com?variant=uptime&window=1y&theme=dark&style=compact&label=A%26B&format=png',
        'GitLab',
      ],
    ],
  );
  t.match((await api.get('/badges?q=nobody')).text, /No service matches\./);
  const none = (await api.get('/badges')).text;
  t.same(matchesOf(none), []);
  t.match(none, /\/badges\/gitlab-com\/picture\?variant=latency/, 'its examples are of a service that is up');
});

t.test('it shows the picture of the choice and the snippets, each true', async (t) => {
  const api = await world();
  t.teardown(api.close);
  const types = { png: 'image/png', svg: 'image/svg+xml', shields: 'application/json; charset=utf-8' };
  for (const [format, type] of Object.entries(types)) {
    for (const variant of ['status', 'uptime', 'latency']) {
      const named = `${variant} ${format}`;
      const { text } = await api.get(
        `/badges/github-com?variant=${variant}&window=7d&measure=p95&theme=dark&format=${format}`,
      );
      const url = new URL(fieldOf(text, 'url'));
      const own = format === 'shields' ? new URL(url.searchParams.get('url') ?? '') : url;
      t.equal(own.origin, 'https://upbeat.test', named);
      const badge = await api.get(own.pathname + own.search);
      t.same([badge.status, badge.headers.get('content-type')], [200, type], named);
      const picture = unescaped(/class="badge" src="([^"]+)"/.exec(text)?.[1] ?? '');
      const shown = await api.get(picture);
      t.same(
        [shown.status, shown.headers.get('content-type')],
        [200, format === 'png' ? 'image/png' : 'image/svg+xml'],
        named,
      );
      t.match(text, `name="variant"><option`);
      for (const chosen of [variant, '7d', 'p95', 'dark', format])
        t.match(text, `<option value="${chosen}" selected>`, named);
      for (const field of ['markdown', 'html', 'restructured', 'asciidoc'])
        t.ok(unescaped(fieldOf(text, field)).includes(url.href), `${named} ${field}`);
    }
  }
});

t.test('it previews both themes at both scales, each true, and takes a label', async (t) => {
  const api = await world();
  t.teardown(api.close);
  for (const style of ['card', 'compact']) {
    for (const format of ['svg', 'png']) {
      const { text } = await api.get(
        `/badges/evil-example?style=${style}&format=${format}&theme=dark&label=${encodeURIComponent(EVIL)}`,
      );
      const pictures = [...text.matchAll(/class="badge" src="([^"]+)" alt="([^"]*)"([^>]*)>/g)].map(
        ([, src = '', alt = '', size = '']) => ({ src: unescaped(src), alt: unescaped(alt), size }),
      );
      const query = (theme: string, scale: string) =>
        [
          `/badges/evil-example/picture?${theme}${style === 'card' ? '' : 'style=compact&'}label=${new URLSearchParams([['', EVIL]]).toString().slice(1)}`,
          format === 'svg' ? '&format=svg' : scale,
        ].join('');
      const [once, twice] =
        style === 'card'
          ? [' width="280" height="36"', ' width="560" height="72"']
          : [' height="20"', ' height="40"'];
      t.same(pictures, [
        { src: query('theme=dark&', ''), alt: `${EVIL} status`, size: once },
        { src: query('theme=dark&', '&scale=2'), alt: '', size: twice },
        { src: query('', ''), alt: '', size: once },
        { src: query('', '&scale=2'), alt: '', size: twice },
      ]);
      for (const { src } of pictures) t.equal((await api.get(src)).status, 200, src);
      t.match(
        text,
        `name="label" value="${EVIL.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}`.slice(0, 30),
      );
      t.equal(new URL(fieldOf(text, 'url')).searchParams.get('label'), EVIL);
      t.equal(/srcset="[^"]+@2x\.png[^"]* 2x"/.test(fieldOf(text, 'html')), format === 'png');
      t.match(fieldOf(text, 'themes'), '<picture><source media="(prefers-color-scheme: dark)"');
    }
  }
  t.match(await api.get(`/badges/github-com?label=${'x'.repeat(101)}`), {
    status: 400,
    json: { code: 'invalid_parameter', parameter: 'label' },
  });
});

t.test('it uses up nothing of the limit of badges', async (t) => {
  const api = await world({ anonymousPerMinute: 1 });
  t.teardown(api.close);
  const reader = from('203.0.113.1');
  for (let times = 0; times < 5; times++) {
    t.equal((await api.get('/badges/github-com', reader)).status, 200);
    t.equal((await api.get('/badges/github-com/picture', reader)).status, 200);
  }
  t.equal((await api.get('/api/badge/github-com', reader)).status, 200);
  t.equal((await api.get('/api/badge/github-com', reader)).status, 429);
});

t.test('it lets no name become markup, and holds to the policy of the site', async (t) => {
  const api = await world();
  t.teardown(api.close);
  for (const path of ['/badges/evil-example', '/badges?q=digit', `/badges?q=${encodeURIComponent(EVIL)}`]) {
    const answer = await api.get(path);
    t.notMatch(answer.text, /<script>|onload=|[\s"']style=|javascript:/, path);
    t.match(answer.headers.get('content-security-policy'), /script-src 'self'/);
    for (const [, attributes = '', body = ''] of answer.text.matchAll(/<script([^>]*)>([^<]*)/g))
      t.same([/src="\/assets\//.test(attributes), body], [true, ''], 'every script is a file');
  }
  t.equal(
    fieldOf((await api.get('/badges/evil-example')).text, 'html').includes('<script>'),
    false,
    'nor in what is pasted elsewhere',
  );
});

t.test('it says what is wrong with an address', async (t) => {
  const api = await world();
  t.teardown(api.close);
  const missing = await api.get('/badges/nobody', { accept: 'text/html' });
  t.equal(missing.status, 404);
  t.match(missing.text, /There is no service named (?:"|&quot;)nobody/);
  t.match(await api.get('/badges/github-com?variant=x'), {
    status: 400,
    json: { code: 'invalid_parameter', parameter: 'variant' },
  });
  t.equal((await api.get('/badges/secret-example')).status, 404);
  t.equal((await api.get('/badges/secret')).status, 200, 'who knows its name may show its badge');
});

t.test('it speaks German too', async (t) => {
  const api = await world();
  t.teardown(api.close);
  const { text, headers } = await api.get('/badges/github-com?lang=de&variant=uptime');
  t.equal(headers.get('content-language'), 'de');
  t.match(text, /Badges für GitHub/);
  t.equal(
    fieldOf(text, 'markdown'),
    '[![GitHub: Erreichbarkeit, 30 Tage](https://upbeat.test/api/badge/github-com.svg?variant=uptime&window=30d)](https://upbeat.test/status/github-com)',
  );
});
