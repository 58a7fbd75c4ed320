/** Behind the name that an owner gave stands the domain, wherever others see it (decisions, Ownership). */
import t from 'tap';
import { stepOwnIncident } from '../../src/domain/own-incident.ts';
import { fullName } from '../../src/domain/service.ts';
import { unknownStatus } from '../../src/domain/status/current.ts';
import { check, current, incident, NOW, service, startApi } from '../site/site-world.ts';

const SHOP = service(1, 'shop-example-org', {
  name: 'Pay Pol',
  domain: 'shop.example.org',
  origin: 'owner',
  accountId: 1,
});
const FULL = 'Pay Pol (shop.example.org)';

t.test('it shows the domain beside the name on pages, in feeds and on badges', async (t) => {
  const api = await startApi({ services: [SHOP, service(2, 'github', { name: 'GitHub' })] });
  t.teardown(() => api.close());
  const latest = check(NOW - 30_000, { status: 'down', statusCode: 503 });
  await api.status.put([current(1, latest), current(2, check(NOW - 30_000))]);
  // An old title that names the service alone, and a vendor's that names none.
  await api.putIncidents(
    incident('one', 1, { title: 'Pay Pol answers with errors', status: 'resolved', resolvedAt: NOW }),
    incident('two', 1, { title: 'Trouble', source: 'vendor' }),
  );
  await api.putPage('acme', { groups: [{ name: '', services: [1] }] });

  const places = [
    ['/', 4],
    ['/status/shop-example-org', 2],
    ['/status/shop-example-org/incidents/one', 4],
    ['/p/acme', 3],
    ['/p/acme/embed', 1],
    ['/incidents.atom', 2],
    ['/status/shop-example-org/incidents.atom', 3],
    ['/p/acme/incidents.atom', 2],
    ['/badges/shop-example-org', 2],
  ] as const;
  for (const [path, least] of places) {
    const answer = await api.get(path);
    t.equal(answer.status, 200, path);
    const found = answer.text.split(FULL).length - 1;
    t.ok(found >= least, `${path} has it ${found} times`);
  }
  // Every link that bears the name bears the domain with it.
  for (const path of ['/', '/p/acme'])
    t.notMatch((await api.get(path)).text, /<a href="\/status\/shop-example-org">Pay Pol<\/a>/, path);
  t.match((await api.get('/search.json')).text, '["Pay Pol","shop.example.org"');
  await api.get('/api/badge/shop-example-org.svg');
  t.match(api.asked.badges.at(-1), { title: new RegExp(`^${FULL.replace(/[()]/g, '\\$&')}: Down`) });
  t.match((await api.get('/api/badge/shop-example-org.json')).text, FULL);
  t.notMatch((await api.get('/')).text, 'GitHub (');
});

t.test('it names the domain in the title of an own incident', async (t) => {
  const { latest, ...record } = current(1, check(NOW, { status: 'down', statusCode: 503 }));
  const opened = stepOwnIncident(null, {
    service: SHOP,
    current: { ...unknownStatus(1), ...record, latest },
    changed: true,
    reason: { code: 'reported_down' },
    sourceUrl: 'https://upbeat.test/status/shop-example-org',
    inMaintenance: false,
  });
  t.match(opened?.title, `${FULL} `);
});

t.test('it adds no domain where the name says it already', async (t) => {
  t.equal(fullName({ ...SHOP, name: SHOP.domain }), 'shop.example.org');
  t.equal(fullName(service(2, 'github', { name: 'GitHub' })), 'GitHub');
});
