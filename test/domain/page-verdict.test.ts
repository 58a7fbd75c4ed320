/** The verdict over all services of a page: the worst that nothing explains away. */
import t from 'tap';
import { judgePage, type PageStanding, standingOf } from '../../src/domain/status/page-verdict.ts';

t.test('a pause and an announced maintenance override the status of a check', async (t) => {
  const table: readonly (readonly [Parameters<typeof standingOf>, PageStanding])[] = [
    [['up', false, false], 'up'],
    [['down', false, false], 'down'],
    [['unknown', false, false], 'unknown'],
    [['down', false, true], 'maintenance'],
    [['slow', false, true], 'maintenance'],
    [['up', false, true], 'up'],
    [['unknown', false, true], 'unknown'],
    [['down', true, false], 'paused'],
    [['down', true, true], 'paused'],
    [['up', true, false], 'paused'],
  ];
  for (const [given, standing] of table) t.equal(standingOf(...given), standing, given.join(' '));
});

t.test('it returns the worst status of the services that are not paused', async (t) => {
  const table: readonly (readonly [readonly PageStanding[], string, number])[] = [
    [[], 'unknown', 0],
    [['paused', 'paused'], 'unknown', 0],
    [['unknown'], 'unknown', 1],
    [['unknown', 'up'], 'up', 2],
    [['up', 'maintenance'], 'maintenance', 2],
    [['maintenance', 'slow', 'up'], 'slow', 3],
    [['slow', 'up', 'down', 'paused'], 'down', 3],
  ];
  for (const [standings, status, watched] of table)
    t.match(judgePage(standings), { status, watched }, standings.join(' '));
  t.same(judgePage(['up', 'up', 'down', 'paused', 'maintenance', 'unknown', 'slow']).counts, {
    up: 2,
    slow: 1,
    down: 1,
    unknown: 1,
    maintenance: 1,
    paused: 1,
  });
});
