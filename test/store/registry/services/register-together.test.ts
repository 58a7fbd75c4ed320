/** Many services that are added at once. */

import { overBoth } from '../../registry-contract.ts';
import { entry, NOON, owned } from '../../registry-fixtures.ts';

overBoth(async (t, open) => {
  t.test('it adds many services at once, each by itself, under slugs that are free', async (t) => {
    const registry = await open(t, t.testdir(), { domainsPerAccount: 4 });
    await registry.putCatalogue([entry('github')]);
    const { id: accountId } = await registry.ensureAccount('acme', NOON);
    const { slug: _, ...plain } = owned('shop.example.com', accountId);
    const add = (...domains: string[]) =>
      registry.addServices(domains.map((domain) => ({ ...plain, domain, name: domain, verified: true })));
    t.match(await add('a.example.com', 'a-example.com', 'a.example.com', 'b.example.com'), [
      { slug: 'a-example-com' },
      { slug: 'a-example-com-2' },
      { code: 'domain_taken' },
      { slug: 'b-example-com' },
    ]);
    t.match(await add('c.example.com', 'd.example.com'), [
      { slug: 'c-example-com' },
      { code: 'account_limit' },
    ]);
    const { services } = (await registry.listAccounts())[0] ?? {};
    t.equal(services, 4);
    const endless = await open(t, t.testdir(), { domainsPerAccount: Number.POSITIVE_INFINITY });
    await endless.ensureAccount('acme', NOON);
    const many = Array.from({ length: 150 }, (_, index) => ({
      ...plain,
      domain: `s${index}.example.com`,
      accountId: 1,
    }));
    t.equal((await endless.addServices(many)).filter((one) => 'slug' in one).length, 150);
    await endless.putCatalogue([entry('github', { name: 'GitHub' })]);
    const clashing = ['a.example.org', 'a-example.org', 'a.example.org', 's1.example.com', 'c.example.org'];
    const verified = clashing.map((domain) => ({
      ...plain,
      domain,
      name: domain,
      accountId: 1,
      verified: true,
    }));
    t.match(await endless.addServices([...verified, { ...plain, domain: 'd.example.com', name: 'GitHub' }]), [
      ...[{ slug: 'a-example-org' }, { slug: 'a-example-org-2' }, { code: 'domain_taken' }],
      ...[{ code: 'domain_taken' }, { slug: 'c-example-org' }, { code: 'name_taken' }],
    ]);
  });
});
