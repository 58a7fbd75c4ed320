/** What an account has, put in as a whole. */
import { DEFAULT_CHECK } from '../../../src/domain/service.ts';
import {
  type ContentChanges,
  type ContentOptions,
  NO_ACCOUNT,
  type WantedPage,
  type WantedService,
} from '../../../src/store/ports/account-content.ts';
import type { Registry } from '../../../src/store/ports/registry.ts';
import { overBoth } from '../registry-contract.ts';
import { entry, NOON, owned } from '../registry-fixtures.ts';

const NOTHING: ContentChanges = { seen: [], removedPages: [], removedServices: [], services: [], pages: [] };

const OPTIONS: ContentOptions = { now: NOON, verified: true, dryRun: false };

const wanted = (domain: string, more: Partial<WantedService> = {}): WantedService => ({
  key: domain,
  domain,
  name: domain,
  category: 'developer',
  paused: false,
  publicDependencies: false,
  check: DEFAULT_CHECK,
  ...more,
});

const page = (slug: string, services: readonly (string | number)[], more: Partial<WantedPage> = {}) => ({
  ...{
    slug,
    title: 'Ours',
    text: '',
    groups: [{ name: '', services }],
    logo: null,
    colour: null,
    access: 'public' as const,
  },
  ...more,
});

/** The services of an account, as `domain slug revision kind`, and its pages, as `slug revision services`. */
async function contentOf(registry: Registry, accountId: number): Promise<string[]> {
  const services = await registry.servicesOf(accountId);
  const pages = await registry.pagesOf(accountId);
  return [
    ...services.map(({ domain, slug, revision, check }) => `${domain} ${slug} r${revision} ${check.kind}`),
    ...pages.map(({ slug, revision, groups }) => `${slug} r${revision} ${JSON.stringify(groups)}`),
  ];
}

overBoth(async (t, open) => {
  t.test('it adds, changes and removes services and pages at once, and again without effect', async (t) => {
    const registry = await open(t, undefined, { domainsPerAccount: Number.POSITIVE_INFINITY });
    await registry.putCatalogue([entry('github', { name: 'GitHub' })]);
    const { id: ada } = await registry.ensureAccount('ada', NOON);
    const first: ContentChanges = {
      ...NOTHING,
      services: [
        wanted('a.example'),
        wanted('b.example', { publicDependencies: true }),
        wanted('b-c.example'),
      ],
      pages: [page('shop', ['a.example', 1])],
    };
    for (const account of [ada, NO_ACCOUNT])
      t.same(await registry.putContent(account, first, { ...OPTIONS, dryRun: true }), []);
    t.match(await registry.listAccounts(), { length: 1 }, 'a dry run makes no account');
    t.same(await contentOf(registry, ada), [], 'a dry run leaves nothing');
    t.same(await registry.putContent(ada, first, OPTIONS), []);
    const [a] = await registry.servicesOf(ada);
    t.match(a, { domain: 'a.example', verified: true, origin: 'owner', accountId: ada });
    const before = await contentOf(registry, ada);
    t.same(before, [
      'a.example a-example r1 root',
      'b-c.example b-c-example r1 root',
      'b.example b-example r1 root',
      `shop r1 ${JSON.stringify([{ name: '', services: [a?.id, 1] }])}`,
    ]);
    t.same(await registry.putContent(ada, first, OPTIONS), []);
    t.same(await contentOf(registry, ada), before, 'what is as wanted keeps its revision');
    const second: ContentChanges = {
      seen: [],
      removedPages: ['shop'],
      removedServices: ['b-example', 'github'],
      services: [wanted('a.example', { check: { ...DEFAULT_CHECK, kind: 'health' } }), wanted('b.c.example')],
      pages: [page('team', ['b.c.example'])],
    };
    t.same(await registry.putContent(ada, second, OPTIONS), []);
    const added = (await registry.servicesOf(ada)).find(({ domain }) => domain === 'b.c.example');
    t.same(await contentOf(registry, ada), [
      'a.example a-example r2 health',
      'b-c.example b-c-example r1 root',
      'b.c.example b-c-example-2 r1 root',
      `team r1 ${JSON.stringify([{ name: '', services: [added?.id] }])}`,
    ]);
    t.match(await registry.loadServices(), [{ service: { slug: 'github' } }], 'the catalogue stays');
    const seen = (await registry.changesAfter(0)).map(({ slug, service }) => `${slug} ${service?.revision}`);
    t.same(seen.slice(1), [
      ...['a-example 1', 'b-example 1', 'b-c-example 1', 'b-example undefined'],
      ...['a-example 2', 'b-c-example-2 1'],
    ]);
  });

  t.test('it changes nothing if anything is refused, and names each refusal', async (t) => {
    const registry = await open(t, undefined, { domainsPerAccount: Number.POSITIVE_INFINITY });
    await registry.putCatalogue([entry('github', { name: 'GitHub', domain: 'github.example' })]);
    const { id: ada } = await registry.ensureAccount('ada', NOON);
    const { id: grace } = await registry.ensureAccount('grace', NOON);
    await registry.addService(owned('hers.example', grace));
    await registry.addPage({ ...page('hers', []), accountId: grace, groups: [], now: NOON });
    await registry.putContent(ada, { ...NOTHING, services: [wanted('old.example')] }, OPTIONS);
    const before = await contentOf(registry, ada);
    const changes: ContentChanges = {
      ...NOTHING,
      removedServices: ['old-example', 'hers-example'],
      services: [
        wanted('new.example'),
        wanted('hers.example'),
        wanted('a.example', { name: 'GitHub' }),
        wanted('b.example', { name: 'Gíthub' }),
      ],
    };
    t.same(await registry.putContent(ada, changes, OPTIONS), [
      {
        type: 'service',
        key: 'hers.example',
        refusal: { code: 'domain_taken', domain: 'hers.example', free: null },
      },
      {
        type: 'service',
        key: 'a.example',
        refusal: { code: 'name_taken', name: 'GitHub', other: 'GitHub' },
      },
      {
        type: 'service',
        key: 'b.example',
        refusal: { code: 'name_taken', name: 'Gíthub', other: 'GitHub' },
      },
    ]);
    const pages = {
      ...NOTHING,
      services: [wanted('new.example')],
      pages: [page('ours', []), page('hers', [])],
    };
    t.same(await registry.putContent(ada, pages, OPTIONS), [
      { type: 'page', key: 'hers', refusal: { code: 'page_slug_taken', slug: 'hers' } },
    ]);
    const renamed = { ...NOTHING, services: [wanted('old.example', { name: 'GITHUB' })] };
    t.match(await registry.putContent(ada, renamed, OPTIONS), [{ key: 'old.example' }]);
    t.same(await contentOf(registry, ada), before);
    t.same(await contentOf(registry, grace), ['hers.example hers-example r1 root', 'hers r1 []']);
  });

  t.test('a service keeps its heartbeat address, and the kind that its owner chose', async (t) => {
    const registry = await open(t);
    const { id: ada } = await registry.ensureAccount('ada', NOON);
    const { slug, check } = await registry.claimDomain('a.example', ada);
    await registry.changeService(slug, { check: { ...check, addressHash: 'abc' } });
    const services = [wanted('a.example')];
    t.same(await registry.putContent(ada, { ...NOTHING, services }, OPTIONS), []);
    const changed = await registry.claimDomain('a.example', ada);
    t.match(changed, { check: { kind: 'root', keepsKind: true, addressHash: 'abc' }, verified: false });
    t.same(await registry.putContent(ada, { ...NOTHING, services }, OPTIONS), []);
    t.match(await registry.servicesOf(ada), [{ revision: changed.revision }]);
  });

  t.test(
    'new services count against the limits of an account, and are verified only if the caller says so',
    async (t) => {
      const registry = await open(t, undefined, { domainsPerAccount: 2 });
      await registry.putCatalogue([entry('github', { domain: 'github.example' })]);
      const { id: ada } = await registry.ensureAccount('ada', NOON);
      const options = { ...OPTIONS, verified: false };
      const put = (...domains: string[]) =>
        registry.putContent(ada, { ...NOTHING, services: domains.map((domain) => wanted(domain)) }, options);
      t.match(await put('a.example', 'b.example', 'c.example'), [
        { key: 'c.example', refusal: { code: 'too_many_domains', max: 2 } },
      ]);
      t.match(await put('a.github.example'), [{ refusal: { code: 'catalogue_domain' } }]);
      t.same(await put('a.example', 'b.example'), []);
      t.match(await registry.servicesOf(ada), [{ verified: false }, { verified: false }]);
    },
  );
});
