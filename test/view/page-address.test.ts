/** Addresses of status pages, on this site and at a domain of their owner. */
import t from 'tap';
import type { PageDomain } from '../../src/domain/status-page.ts';
import { pageUrl, pathFor, placeOfPage, redirectToDomain } from '../../src/view/page-address.ts';

const SITE = 'https://up.example/base';
const HERE = { slug: 'acme' };
const THERE = { slug: 'acme', domain: { name: 'status.acme.example', provedAt: 1 } as PageDomain };

t.test('a page is on this site, its JSON beside it, and its parts below it', async (t) => {
  t.equal(pageUrl(SITE, HERE), `${SITE}/p/acme`);
  t.equal(pageUrl(SITE, HERE, 'page.json'), `${SITE}/p/acme.json`);
  t.equal(pageUrl(SITE, HERE, 'incidents.atom'), `${SITE}/p/acme/incidents.atom`);
  t.same(placeOfPage(SITE, HERE), { origin: SITE, path: '/p/acme' });
});

t.test('at its domain a page is the root', async (t) => {
  t.equal(pageUrl(SITE, THERE), 'https://status.acme.example/');
  t.equal(pageUrl('http://up.example:8080', THERE, 'x'), 'http://status.acme.example:8080/x');
  t.equal(pathFor({ atDomain: true }, 'acme'), '/');
  t.equal(pathFor({ atDomain: true }, 'acme', 'page.json'), '/page.json');
  t.equal(pathFor({}, 'acme', 'page.json'), '/p/acme.json');
});

t.test('a request is redirected only where the page has a domain and did not come by it', async (t) => {
  t.equal(redirectToDomain({ query: '' }, SITE, HERE), null);
  t.equal(redirectToDomain({ query: '', atDomain: true }, SITE, THERE), null);
  t.equal(redirectToDomain({ query: '' }, SITE, { ...THERE, access: 'members' }), null);
  t.match(redirectToDomain({ query: 'a=1' }, SITE, THERE, 'page.json'), {
    status: 302,
    headers: { Location: 'https://status.acme.example/page.json?a=1' },
  });
});
