/** Contract of the registry: who owns which domain. */
import type { Test } from 'tap';
import { DEFAULT_CHECK, MONITORING_KINDS } from '../../src/domain/service.ts';
import type { OpenForTest } from './registry-contract.ts';
import { entry, NOON, owned } from './registry-fixtures.ts';

/** Runs this part of the contract. */
export async function ownershipContract(t: Test, open: OpenForTest): Promise<void> {
  t.test('it keeps what an account wants until it is proved or taken back', async (t) => {
    const registry = await open(t);
    const { id: ada } = await registry.ensureAccount('ada', NOON);
    const { id: grace } = await registry.ensureAccount('grace', NOON);
    await registry.addClaim(ada, { domain: 'b.org', kind: 'root', createdAt: NOON });
    await registry.addClaim(ada, { domain: 'a.org', kind: 'health', createdAt: NOON + 1 });
    await registry.addClaim(ada, { domain: 'b.org', kind: 'health', createdAt: NOON + 2 });
    t.strictSame(await registry.claimsOf(ada), [
      { domain: 'b.org', kind: 'root', createdAt: NOON },
      { domain: 'a.org', kind: 'health', createdAt: NOON + 1 },
    ]);
    t.strictSame(await registry.claimsOf(grace), []);
    await registry.dropClaim(grace, 'a.org');
    t.equal((await registry.claimsOf(ada)).length, 2);
    await registry.dropClaim(ada, 'a.org');
    t.match(await registry.proveDomain(ada, 'b.org', 'health', NOON), {
      slug: 'b-org',
      domain: 'b.org',
      accountId: ada,
      verified: true,
      check: { kind: 'health' },
    });
    t.strictSame(await registry.claimsOf(ada), []);
    t.match(await registry.servicesOf(ada), [{ slug: 'b-org' }]);
    t.strictSame(await registry.servicesOf(grace), []);
    t.strictSame(await registry.noticesOf(ada), [], 'no account lost a service');
  });

  t.test('it keeps claims of every kind of check', async (t) => {
    const registry = await open(t);
    const { id } = await registry.ensureAccount('ada', NOON);
    for (const kind of MONITORING_KINDS)
      await registry.addClaim(id, { domain: `${kind}.org`, kind, createdAt: NOON });
    t.same(
      (await registry.claimsOf(id)).map(({ domain, kind }) => [domain, kind]),
      [...MONITORING_KINDS].sort().map((kind) => [`${kind}.org`, kind]),
    );
    t.match(await registry.proveDomain(id, 'grpc.org', 'grpc', NOON), { check: { kind: 'grpc' } });
  });

  t.test('it knows what services depend on by their slugs', async (t) => {
    const registry = await open(t);
    const { id: ada } = await registry.ensureAccount('ada', NOON);
    const { id: grace } = await registry.ensureAccount('grace', NOON);
    await registry.putCatalogue([entry('isp')]);
    const register = (accountId: number, domain: string, dependsOn: readonly string[] = []) =>
      registry.registerService(
        accountId,
        { domain, name: domain, category: 'developer', paused: false, check: DEFAULT_CHECK, dependsOn },
        { isProven: false, now: NOON },
      );
    const parentsOf = async (slug: string) => (await registry.findService(slug))?.dependsOn;
    await register(grace, 'hers.org');
    await register(ada, 'router.org', ['isp']);
    t.match(await register(ada, 'nas.org', ['router.org', 'router-org']), { dependsOn: ['router-org'] });
    await register(ada, 'tv.org');
    t.match(await registry.changeService('tv-org', { dependsOn: ['nas-org', 'isp'] }), {
      dependsOn: ['nas-org', 'isp'],
    });
    for (const name of ['nothing', 'hers-org'])
      await t.rejects(registry.changeService('tv-org', { dependsOn: [name] }), {
        code: 'no_parent',
        refusal: { code: 'no_parent', name },
      });
    await t.rejects(register(ada, 'self.org', ['self.org']), { code: 'no_parent' });
    await t.rejects(registry.changeService('tv-org', { dependsOn: ['tv.org'] }), {
      code: 'parent_circle',
      refusal: { code: 'parent_circle', circle: 'tv-org → tv-org' },
    });
    await t.rejects(registry.changeService('router-org', { dependsOn: ['tv-org'] }), {
      code: 'parent_circle',
      refusal: { code: 'parent_circle', circle: 'router-org → tv-org → nas-org → router-org' },
    });
    const at = await registry.lastChange();
    await registry.removeService('nas-org');
    t.match(await registry.changesAfter(at), [
      { slug: 'tv-org', service: { dependsOn: ['isp'] } },
      { slug: 'nas-org', service: null },
    ]);
    t.strictSame(await parentsOf('tv-org'), ['isp']);
    t.notOk((await register(ada, 'nas.org')).dependsOn, 'what was removed comes back without');
    await registry.changeService('tv-org', { dependsOn: ['router-org'] });
    await registry.putCatalogue([]);
    t.strictSame([await parentsOf('router-org'), await parentsOf('tv-org')], [undefined, ['router-org']]);
    // A slug that an entry takes goes with the service that had it.
    await registry.putCatalogue([entry('router-org', { domain: 'other.org' })]);
    t.strictSame(await parentsOf('tv-org'), ['router-org-2']);
    await registry.proveDomain(grace, 'router.org', 'root', NOON);
    t.equal(await parentsOf('tv-org'), undefined, 'it belongs to another account');
  });

  t.test('it bounds what an account waits for', async (t) => {
    const registry = await open(t);
    const { id } = await registry.ensureAccount('ada', NOON);
    for (let n = 0; n < 100; n++)
      await registry.addClaim(id, { domain: `d${n}.org`, kind: 'root', createdAt: NOON });
    await t.rejects(registry.addClaim(id, { domain: 'more.org', kind: 'root', createdAt: NOON }), {
      code: 'account_limit',
    });
  });

  t.test('it moves a domain to the account that proves it, and tells both', async (t) => {
    const registry = await open(t);
    const { id: ada } = await registry.ensureAccount('ada', NOON);
    const { id: grace } = await registry.ensureAccount('grace', NOON);
    const before = await registry.addService(owned('o.org', ada));
    const after = await registry.proveDomain(grace, 'o.org', 'root', NOON + 5);
    t.match(after, { id: before.id, slug: before.slug, accountId: grace, verified: true });
    t.equal(after.revision, before.revision + 1);
    t.match(await registry.noticesOf(ada), [
      { at: NOON + 5, text: /o\.org was verified by another account/ },
    ]);
    const [notice, ...others] = await registry.noticesOf(grace);
    t.match(notice, { text: /You have verified it/ });
    t.same(others, []);
    await registry.dropNotice(ada, notice?.id ?? 0);
    t.equal((await registry.noticesOf(grace)).length, 1, 'a notice is forgotten by its own account alone');
    await registry.dropNotice(grace, notice?.id ?? 0);
    t.same(await registry.noticesOf(grace), []);
    await registry.proveDomain(grace, 'o.org', 'root', NOON + 6);
    t.same(await registry.noticesOf(grace), [], 'who has it already is told nothing');
  });

  t.test('it allows a proved domain to stand beside the catalogue, under a slug of its own', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a')]);
    const { id: ada } = await registry.ensureAccount('ada', NOON);
    const service = await registry.proveDomain(ada, entry('a').domain, 'root', NOON);
    t.not(service.slug, entry('a').slug);
    t.equal(service.origin, 'owner');
  });

  t.test('it allows twenty services of owners to lead to one address, and no more', async (t) => {
    const registry = await open(t);
    const { id: ada } = await registry.ensureAccount('ada', NOON);
    const prove = async (n: number, addresses: readonly string[]) => {
      const domain = `d${n}.org`;
      await registry.claimAddresses(domain, null, addresses);
      await registry.proveDomain(ada, domain, 'root', NOON);
      await registry.claimAddresses(domain, `d${n}-org`, addresses);
    };
    for (let n = 1; n <= 20; n++) await prove(n, ['192.0.2.1', `192.0.2.${n + 100}`]);
    await t.rejects(prove(21, ['192.0.2.99', '192.0.2.1']), {
      code: 'shared_address',
      message: /^d21\.org leads to an address where 20 services/,
    });
    t.equal((await registry.servicesOf(ada)).length, 20);
    await registry.claimAddresses('d1.org', 'd1-org', ['192.0.2.1']);
    await registry.claimAddresses('d2.org', 'd2-org', ['192.0.2.50']);
    await prove(21, ['192.0.2.1']);
    await t.rejects(prove(22, ['192.0.2.1']), { code: 'shared_address' });
    await registry.removeService('d3-org');
    await prove(22, ['192.0.2.1']);
  });

  t.test('it lists the keys of one account', async (t) => {
    const registry = await open(t);
    const { id: ada } = await registry.ensureAccount('ada', NOON);
    const { id: grace } = await registry.ensureAccount('grace', NOON);
    for (const [index, accountId] of [ada, grace].entries())
      await registry.createKey({
        accountId,
        name: 'laptop',
        prefix: 'upb_',
        sha256: new Uint8Array(32).fill(index),
        createdAt: NOON,
        expiresAt: null,
      });
    t.match(await registry.listKeys(grace), [{ accountName: 'grace' }]);
    t.equal((await registry.listKeys(grace)).length, 1);
    t.equal((await registry.listKeys()).length, 2);
  });
}
