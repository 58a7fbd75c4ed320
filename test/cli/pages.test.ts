/** Groups of a status page as the command line names them. */
import t from 'tap';
import { readGroup } from '../../src/cli/pages.ts';

t.test('it reads names and slugs, with or without a heading', async (t) => {
  t.same(readGroup('Web: post, Library'), { name: 'Web', services: ['post', 'Library'] });
  t.same(readGroup('mine,'), { name: '', services: ['mine'] });
  t.same(readGroup('A: b: post'), { name: 'A: b', services: ['post'] });
  t.same(readGroup('Home: nas-local = Photos=x, post=, =y'), {
    ...{ name: 'Home', services: [{ service: 'nas-local', name: 'Photos=x' }, 'post'] },
  });
  t.same(readGroup('Later:'), { name: 'Later', services: [] });
});
