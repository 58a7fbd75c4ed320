/** What the home page shows beside each service: its last 24 hours, its logo; and what a search with a slip finds. */
import t from 'tap';
import { CELL_LEVELS, type CellLevel } from '../../src/domain/picture.ts';
import { findSimilar } from '../../src/web/home/home-view.ts';
import { tileOf } from '../../src/web/home/logos.ts';
import { drawSparklines } from '../../src/web/home/sparklines.ts';
import { check, current, NOW, service, startApi } from '../site/site-world.ts';

const CATALOGUE = [
  service(1, 'github', { name: 'GitHub', domain: 'github.com' }),
  service(2, 'gitlab', { name: 'GitLab', domain: 'gitlab.com' }),
  service(3, 'digital-ocean', { name: 'Digital Ocean', domain: 'digitalocean.com', category: 'cloud' }),
  service(4, 'x', { name: 'X', domain: 'x.com', category: 'social-media' }),
  service(5, 'spotify', { name: 'Spotify', domain: 'spotify.com', category: 'streaming' }),
];

t.test('it finds names with a slip of the finger', async (t) => {
  const table: readonly [text: string, names: readonly string[]][] = [
    ['githbu', ['GitHub']],
    ['gihtub', ['GitHub']],
    ['gthub', ['GitHub']],
    ['githhub', ['GitHub']],
    ['gitlsb', ['GitLab']],
    ['GitHab', ['GitHub', 'GitLab']],
    ['sptoi', ['Spotify']],
    ['digitalocaen', ['Digital Ocean']],
    ['dgital ocaen', ['Digital Ocean']],
    ['occean', ['Digital Ocean']],
    ['y', []],
    ['zzzzzz', []],
    ['', []],
    ['%_\n', []],
  ];
  for (const [text, names] of table)
    t.same(
      findSimilar(CATALOGUE, (one) => one, text, 8).map(({ name }) => name),
      names,
      text,
    );
  t.equal(findSimilar(CATALOGUE, (one) => one, 'githab', 1).length, 1);
});

t.test('the search page and the search while typing show similar names where nothing matches', async (t) => {
  const world = await startApi({ services: CATALOGUE });
  t.teardown(world.close);
  const { text } = await world.get('/?q=githbu');
  t.match(text, 'No service has exactly this name. Did you mean one of these?');
  t.same(
    [...text.matchAll(/<li class="unknown"><a href="([^"]+)">/g)].map(([, path]) => path),
    ['/status/github-com'],
  );
  t.match((await world.get('/?q=zzzz')).text, 'No service matches.');
  t.match((await world.get('/?q=git')).text, '3 services match.');
  t.match((await world.get('/?q=githbu', { 'accept-language': 'de' })).text, 'Meinten Sie einen von diesen?');
  t.same((await world.get('/search.json?like=githbu')).json, [
    ['GitHub', 'github.com', 0, 'developer', 'unknown'],
  ]);
});

t.test('the verdict on all services claims only what is known', async (t) => {
  const world = await startApi({
    services: [...CATALOGUE.slice(0, 2), service(9, 'resting', { paused: true })],
  });
  t.teardown(world.close);
  const verdict = async (language = 'en') =>
    /data-live="verdict">([^<]*)</.exec((await world.get('/', { 'accept-language': language })).text)?.[1];
  t.equal(await verdict(), 'Nothing is known yet: no service has been checked');
  await world.status.put([current(1, check(NOW))]);
  t.equal(await verdict(), '1 of 2 operational');
  t.equal(await verdict('de'), '1 von 2 in Ordnung');
  await world.status.put([current(2, check(NOW))]);
  t.equal(await verdict(), 'All 2 services are operational');
  world.state.prober = { online: false, offlineSince: NOW, reason: 'no answer' };
  t.equal(await verdict(), 'Our own connection is down: these are the last known statuses');
});

t.test(
  'it draws the last 24 hours as a line with marks, and a category by the share that failed',
  async (t) => {
    const cellsFor = (...rows: readonly (readonly CellLevel[])[]) =>
      Uint8Array.from(rows.flat(), (level) => CELL_LEVELS.indexOf(level));
    const draw = (...rows: readonly (readonly CellLevel[])[]) =>
      drawSparklines(CATALOGUE.slice(0, rows.length), cellsFor(...rows), rows[0]?.length ?? 0, {
        nameOf: ({ slug }) => slug,
        groupOf: ({ category }) => category,
      });
    const one = draw(['fast', 'fast', 'long', 'none', 'fair', 'failing', 'slow', 'down']);
    t.match(one, '<g id="s-github"><path fill="none" stroke="currentColor" d="M0 13h2V6h1M4 10h1"/>');
    t.match(one, '<path fill="var(--slow)" d="M6 1h2v14h-2z"/>');
    t.match(one, '<path fill="var(--down)" d="M5 1h2v14h-2z"/>');
    t.match(one, '<path fill="var(--down)" d="M7 1h2v14h-2z"/>');
    const strip = /<symbol id="c-developer"[^>]*>(.*?)<\/symbol>/s.exec(
      draw(Array(24).fill('fast'), [...Array(12).fill('fast'), ...Array(12).fill('down')]),
    )?.[1];
    t.equal(strip?.match(/h8v16h-8z/g)?.length, 24, 'an hour each');
    t.equal(strip?.match(/h8v12h-8z/g)?.length, 12, 'half of the services are more than half of the cell');
    t.notMatch(strip, '--line', 'every hour was watched');
    t.match(draw(['none']), '<g id="s-github"></g>');
    const young = /<symbol id="c-developer"[^>]*>(.*?)<\/symbol>/s.exec(
      draw([...Array(22).fill('none'), 'fast', 'down']),
    )?.[1];
    t.match(
      young,
      /^<path fill="var\(--line\)" d="(?:M\d+ 14h8v2h-8z){22}"\/>/,
      'a dash for each hour before',
    );
    t.equal(young?.match(/h8v16h-8z/g)?.length, 3, 'two hours, one of which failed');
  },
);

t.test('it reads the last 24 hours once in five minutes, however many readers there are', async (t) => {
  const world = await startApi({
    services: [...CATALOGUE, service(8, 'hidden', { origin: 'owner', accountId: 1, verified: false })],
  });
  t.teardown(world.close);
  const [first] = await Promise.all([world.get('/sparklines.svg'), world.get('/sparklines.svg')]);
  t.match(
    [first.status, first.headers.get('content-type'), first.headers.get('cache-control')],
    [200, 'image/svg+xml', 'public, max-age=300'],
  );
  t.match(first.text, 'id="s-github-com"');
  t.notMatch(first.text, 'hidden');
  t.equal(world.asked.samples.length, CATALOGUE.length);
  world.faults.samples = new Error('away');
  await world.clock.advance(6 * 60_000);
  t.equal((await world.get('/sparklines.svg')).text, first.text, 'old lines are better than none');
});

t.test('a service of the catalogue has its logo, and any other the tile of its initial', async (t) => {
  const world = await startApi({
    services: [
      ...CATALOGUE.slice(0, 1),
      service(2, 'nobody', { name: '«éclair»' }),
      service(3, 'gitlab', { name: 'GitLab', origin: 'owner', accountId: 1 }),
    ],
  });
  t.teardown(world.close);
  const { text } = await world.get('/');
  const paths = [...text.matchAll(/<img src="(\/logos\/[^"]+)" alt="" loading="lazy">/g)].map(
    ([, path = '']) => path,
  );
  t.match(paths, [/^\/logos\/[\w-]+\/github$/], 'an owner cannot take the logo of another');
  t.match(text, '<i data-i="É" class="t');
  const logo = await world.get(paths[0] ?? '');
  t.match(
    logo.text,
    /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" viewBox="-8 -8 40 40"><path fill="#181717"/,
  );
  t.match(
    [logo.headers.get('content-type'), logo.headers.get('cache-control')],
    ['image/svg+xml', 'public, max-age=31536000, immutable'],
  );
  t.equal((await world.get('/logos/x/nobody')).status, 404);
  t.equal((await world.get('/logos/x/constructor')).status, 404);
  t.equal(tileOf('...').initial, '?');
});
