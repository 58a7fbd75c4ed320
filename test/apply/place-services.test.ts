/** `apply` and `export` of several services on one host. */
import t, { type Test } from 'tap';
import { type ApplyContext, applyDocument } from '../../src/apply/apply.ts';
import { exportAccount } from '../../src/apply/export-document.ts';
import { systemClock } from '../../src/clock.ts';
import { silentLog } from '../../src/log.ts';
import { openRegistryInProcess } from '../../src/store/registry/open-registry.ts';
import { TEST_KINDS } from '../support/channel-kinds.ts';
import { PUBLIC_ONLY } from '../support/destinations.ts';

const NOON = Date.UTC(2026, 10, 20, 12);
const http = (path: string) => ({ kind: 'http', settings: { path } });
const SITE = { domain: 'shop.example', name: 'Shop' };
const API = { domain: 'shop.example', slug: 'shop-example-api', name: 'API', check: http('/api') };
const TLS = { domain: 'shop.example', check: { kind: 'tls' } };
const PORT = { domain: 'shop.example', name: 'Port', check: { kind: 'tcp', settings: { port: 443 } } };

async function start(t: Test) {
  const registry = await openRegistryInProcess({
    ...{ dataDir: t.testdir(), clock: systemClock, log: silentLog },
    domainsPerAccount: Number.POSITIVE_INFINITY,
  });
  t.teardown(() => registry.close());
  const { id: accountId } = await registry.ensureAccount('ada', 1);
  const loadPublic = async () => ({ find: () => null, findById: () => null, domains: new Set<string>() });
  const usual = { intervalMs: 300_000, timeoutMs: 10_000, slowOverMs: 3_000, confirmAfterMs: [2_000] };
  const context: ApplyContext = {
    ...{ registry, loadPublic, resolve: async () => ['192.0.2.1'], destinations: async () => PUBLIC_ONLY },
    bounds: { usual, minIntervalMs: 30_000, regions: () => [] },
    ...{ kinds: TEST_KINDS, now: () => NOON, siteUrl: 'https://status.example' },
  };
  const apply = (document: object, role: 'operator' | 'editor' = 'operator') =>
    applyDocument(context, { role, accountId }, document, { dryRun: false, prune: true });
  const exported = async () => (await exportAccount(registry, accountId, loadPublic, TEST_KINDS)).document;
  const idsOf = async () =>
    Object.fromEntries((await registry.servicesOf(accountId)).map(({ slug, id }) => [slug, id]));
  return { registry, accountId, apply, exported, idsOf };
}

const NO_CHANGE = { ok: true, value: { changes: [] } };

t.test(
  'several services of a host are applied once, in any order, and their export changes nothing',
  async (t) => {
    for (const role of ['operator', 'editor'] as const) {
      const { apply, exported, idsOf } = await start(t);
      const services = [API, SITE, TLS, PORT];
      const pages = [
        {
          ...{ slug: 'acme', title: 'Acme' },
          groups: [{ name: 'All', services: ['shop.example', 'shop-example-api', 'shop-example-tls'] }],
        },
      ];
      const rules = [{ name: 'API', services: ['shop-example-api'], channels: [] }];
      const maintenances = [
        {
          title: 'Disks',
          starts_at: '2026-12-01T00:00:00Z',
          duration: '1h',
          services: ['shop-example-port'],
        },
      ];
      const document = { services, pages, rules, maintenances };
      const first = await apply(document, role);
      t.match(first, { ok: true });
      const ids = await idsOf();
      t.strictSame(Object.keys(ids), [
        'shop-example',
        'shop-example-api',
        'shop-example-port',
        'shop-example-tls',
      ]);
      t.match(await apply(document, role), NO_CHANGE);
      t.match(
        await apply({ ...document, services: services.toReversed() }, role),
        NO_CHANGE,
        'in another order',
      );
      const kept = await exported();
      t.match(kept, {
        services: [SITE, API, { ...PORT, slug: 'shop-example-port' }, { ...TLS, slug: 'shop-example-tls' }],
        pages,
        rules,
        maintenances: [{ services: ['shop-example-port'] }],
      });
      t.notOk('slug' in (kept.services?.[0] ?? {}), 'the domain stands for the first one');
      t.match(await apply(kept, role), NO_CHANGE);
      const renamed = (kept.services ?? []).map((one) => ({ ...one, name: `New ${one.name}` }));
      t.match(await apply({ ...kept, services: renamed }, role), {
        ok: true,
        value: { changes: { length: 4 } },
      });
      t.strictSame(await idsOf(), ids, 'another name is the same service');
      await apply({ services: renamed.slice(1) }, role);
      t.strictSame(Object.keys(await idsOf()), Object.keys(ids).slice(1), 'the first one alone is removed');
      const after = await exported();
      t.match(await apply(after, role), NO_CHANGE);
    }
  },
);

t.test('entries of a host that cannot be told apart are refused', async (t) => {
  const { apply } = await start(t);
  const twice = { ok: false, refusals: [{ field: 'services.1', refusal: { code: 'listed_twice' } }] };
  t.match(await apply({ services: [{ domain: 'a.example' }, { domain: 'a.example' }] }), twice);
  t.match(await apply({ services: [TLS, { ...TLS, paused: true }] }), twice);
  t.match(await apply({ services: [API, API] }), twice);
  t.match(await apply({ services: [{ domain: 'a.example', slug: 'b-example-api' }] }, 'editor'), {
    refusals: [{ field: 'services.0.slug', refusal: { code: 'slug_of_host', form: 'a-example' } }],
  });
  await apply({ services: [API] });
  t.match(await apply({ services: [{ ...API, domain: 'other.example' }] }), {
    refusals: [{ field: 'services.0.domain', refusal: { code: 'domain_fixed' } }],
  });
});

t.test('a host whose first service has a slug of its own is known by its domain, too', async (t) => {
  const { registry, accountId, apply, exported } = await start(t);
  const document = {
    services: [{ domain: 'shop.example', slug: 'nas' }],
    pages: [{ slug: 'acme', title: 'Acme', groups: [{ name: 'All', services: ['shop.example'] }] }],
  };
  const first = await apply(document);
  t.match(first, { ok: true });
  t.match(await registry.servicesOf(accountId), [{ slug: 'nas', formerSlugs: ['shop-example'] }]);
  t.match(await apply(document), NO_CHANGE);
  t.match(await exported(), document);
  t.match(await apply({ services: [{ domain: 'shop.example' }] }), NO_CHANGE);
});
