/** Groups of a status page as the command line names them. */
import t from 'tap';
import { readGroups } from '../../src/cli/pages.ts';
import { service } from '../site/site-world.ts';

const SERVICES = [
  service(1, 'post'),
  service(2, 'library'),
  service(3, 'mine', { origin: 'owner', accountId: 1 }),
  service(4, 'hers', { origin: 'owner', accountId: 2 }),
];

t.test('it reads names and slugs, with or without a heading', async (t) => {
  t.same(readGroups(['Web: post, Library', 'mine,'], SERVICES, 1), [
    { name: 'Web', services: [1, 2] },
    { name: '', services: [3] },
  ]);
  t.same(readGroups(['A: b: post', 'Later:'], SERVICES, 1), [
    { name: 'A: b', services: [1] },
    { name: 'Later', services: [] },
  ]);
  t.same(readGroups([], SERVICES, 1), []);
});

t.test('it refuses services that the account cannot show, and those that come twice', async (t) => {
  const table: readonly (readonly [readonly string[], RegExp])[] = [
    [['nobody'], /cannot show a service "nobody"/],
    [['hers'], /cannot show a service "hers"/],
    [['post', 'post'], /already/],
    [[`${'x'.repeat(81)}: post`], /at most 80/],
    [Array.from({ length: 21 }, () => 'g:'), /at most 20 groups/],
  ];
  for (const [texts, message] of table) t.throws(() => readGroups(texts, SERVICES, 1), { message });
});
