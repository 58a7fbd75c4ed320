/** Small rules about the definition of a service. */
import t from 'tap';
import {
  DEFAULT_CHECK,
  dashDomain,
  feedIdOf,
  firstFreeForm,
  fullName,
  furtherSlug,
  ignoresCertificate,
  isFormOf,
  isPublic,
  isSlug,
  isSlugOfHost,
  isTrusted,
  maySee,
  type Service,
  slugWord,
  titleWithName,
  VISIBILITIES,
  type Visibility,
} from '../../src/domain/service.ts';
import { entry } from '../store/registry-fixtures.ts';

t.test('a check is trusted by the account that owns the service alone', async (t) => {
  const trusted = (origin: 'owner' | 'catalogue', accountId: number | null, trustedBy?: number) =>
    isTrusted({
      origin,
      accountId,
      check: { ...DEFAULT_CHECK, ...(trustedBy === undefined ? {} : { trustedBy }) },
    });
  t.ok(trusted('owner', 1, 1));
  t.notOk(trusted('owner', 2, 1), 'it went to another account');
  t.notOk(trusted('owner', 1));
  t.notOk(trusted('catalogue', 1, 1));
  t.notOk(
    isTrusted({ origin: 'owner', accountId: null, check: { ...DEFAULT_CHECK, trustedBy: null as never } }),
  );
});

t.test('a private service is for members of its account', async (t) => {
  const service = (visibility?: Visibility, accountId: number | null = 1): Service => ({
    ...{ id: 1, revision: 1, ...entry('shop', { accountId }) },
    ...(visibility === undefined ? {} : { visibility }),
  });
  t.ok(maySee(service(), new Set()));
  t.ok(maySee(service('unlisted'), new Set()));
  t.notOk(maySee(service('private'), new Set([2])));
  t.ok(maySee(service('private'), new Set([1])));
  t.notOk(maySee(service('private', null), new Set([1])));
  t.same(
    ([undefined, ...VISIBILITIES] as const).map((one) => isPublic(service(one))),
    [true, true, false, false],
  );
});

t.test('the domain follows the name that an owner chose, so that it passes for no other', async (t) => {
  const nameOf = (name: string, origin: 'owner' | 'catalogue') =>
    fullName({ name, domain: 'evil.example', origin });
  t.equal(nameOf('GitHub', 'owner'), 'GitHub (evil.example)');
  t.equal(nameOf('GitHub', 'catalogue'), 'GitHub');
  t.equal(nameOf('evil.example', 'owner'), 'evil.example');
  t.equal(titleWithName('Shop is not reachable', 'Shop'), 'Shop is not reachable');
  t.equal(titleWithName('Shopping is slow', 'Shop'), 'Shop: Shopping is slow');
});

t.test('forms of domains and feeds', async (t) => {
  t.equal(dashDomain('shop.example.com'), 'shop-example-com');
  t.equal(dashDomain('2001:db8::1'), '2001-db8--1');
  const taken = new Set(['a', 'a-2', 'a-4']);
  t.equal(
    firstFreeForm('a', (form) => taken.has(form)),
    'a-3',
  );
  t.equal(
    firstFreeForm('b', (form) => taken.has(form)),
    'b',
  );
  const page = { url: 'https://status.example', components: null } as const;
  t.equal(
    feedIdOf({ ...page, kind: 'rss', feedUrl: 'https://status.example/rss' }),
    'rss https://status.example/rss',
  );
  t.equal(feedIdOf({ ...page, kind: 'statuspage', feedUrl: null }), 'statuspage https://status.example');
  t.same([feedIdOf(null), feedIdOf({ ...page, kind: 'custom', feedUrl: null })], [null, null]);
  t.ok(ignoresCertificate({ kind: 'http', settings: { certificate: 'ignore' } }));
  t.notOk(ignoresCertificate({ kind: 'tls', settings: { certificate: 'ignore' } }));
});

t.test('it knows the form of slugs', async (t) => {
  for (const text of ['a', '0', 'a-b_c', 'x'.repeat(300)]) t.ok(isSlug(text), text);
  for (const text of ['', '-a', '_a', 'A', 'a.b', 'a b', 'ä', 'x'.repeat(301)]) t.notOk(isSlug(text), text);
});

t.test('it knows slugs that stand for a host, and those that the registry has chosen', async (t) => {
  const table: readonly (readonly [string, boolean, boolean])[] = [
    ['shop-example', true, true],
    ['shop-example-2', true, true],
    ['shop-example-api', true, false],
    ['shop-examples', false, false],
    ['shop', false, false],
  ];
  for (const [slug, ofHost, ofForm] of table) {
    t.equal(isSlugOfHost(slug, 'shop.example'), ofHost, slug);
    t.equal(isFormOf(slug, 'shop.example'), ofForm, slug);
  }
});

t.test('the slug of another service of a host has its name, or its kind', async (t) => {
  const slugOf = (name: string) => furtherSlug({ domain: 'shop.example', name, check: DEFAULT_CHECK });
  t.equal(slugOf('Login page'), 'shop-example-login-page');
  t.equal(slugOf('shop.example'), `shop-example-${DEFAULT_CHECK.kind}`);
  t.equal(slugOf('Shop Example'), `shop-example-${DEFAULT_CHECK.kind}`, 'the name says no more');
  t.equal(slugOf('Shop Example API'), 'shop-example-api', 'it is not said twice');
  t.equal(slugOf('日本'), `shop-example-${DEFAULT_CHECK.kind}`);
});

t.test('words of slugs have letters and digits alone', async (t) => {
  t.equal(slugWord('Crème brûlée & Straße'), 'creme-brulee-strasse');
  t.equal(slugWord('--a--'), 'a');
  t.equal(slugWord(`${'x'.repeat(39)} y`), 'x'.repeat(39), 'no mark at the end of a cut');
});
