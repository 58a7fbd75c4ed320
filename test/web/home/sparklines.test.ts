/** The last 24 hours of services and categories on the home page. */
import t from 'tap';
import { CELL_LEVELS, type CellLevel } from '../../../src/domain/picture.ts';
import { drawSparklines } from '../../../src/web/home/sparklines.ts';
import { service, startApi } from '../../site/site-world.ts';
import { CATALOGUE } from './catalogue-services.ts';

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
