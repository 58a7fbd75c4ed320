/** The names of services in documents. */
import t from 'tap';
import { byNameOnPage, listedFinder, nameOnPage } from '../../../src/resources/kit/listed-services.ts';
import { service } from '../../site/site-world.ts';

const OWN = { origin: 'owner', accountId: 1 } as const;
const SHOP = service(1, 'shop-example', { ...OWN, domain: 'shop.example' });
const API = service(2, 'shop-example-api', { ...OWN, domain: 'shop.example', isFurther: true });
const GITHUB = service(3, 'github', { domain: 'github.com' });

t.test('the first service of a host has its domain, others and public ones their slug', async (t) => {
  t.same([SHOP, API, GITHUB].map(nameOnPage), ['shop.example', 'shop-example-api', 'github']);
  t.same([...byNameOnPage([SHOP, API]).keys()], ['shop.example', 'shop-example-api']);
});

t.test('it finds services by domain or slug, new ones by name, and gives each its name back', async (t) => {
  const own = new Map([...byNameOnPage([SHOP, API]), ['new.example', null]]);
  const find = listedFinder(1, own, (name) => (name === 'github' ? GITHUB : null));
  t.equal(find.idOf('SHOP.example'), 1);
  t.equal(find.idOf(' shop-example '), 1, 'by its slug');
  t.equal(find.idOf('shop-example-api'), 2);
  t.equal(find.idOf('github'), 3);
  t.equal(find.idOf('new.example'), 'new.example');
  t.equal(find.idOf('nobody'), null);
  t.same([1, 2, 3, 'new.example'].map(find.nameOf), [
    ...['shop.example', 'shop-example-api', 'github', 'new.example'],
  ]);
});

t.test('the private service of another account is not found', async (t) => {
  const secret = service(9, 'secret', { origin: 'owner', accountId: 2, visibility: 'private' });
  t.equal(listedFinder(1, new Map(), () => secret).idOf('secret'), null);
});
