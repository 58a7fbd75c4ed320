/** Logos of services on the home page. */
import t from 'tap';
import { tileOf } from '../../../src/web/home/logos.ts';
import { service, startApi } from '../../site/site-world.ts';
import { CATALOGUE } from './catalogue-services.ts';

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
