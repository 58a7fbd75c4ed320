/** What services depend on. */
import { DEFAULT_CHECK } from '../../../../src/domain/service.ts';
import { overBoth } from '../../registry-contract.ts';
import { entry, NOON } from '../../registry-fixtures.ts';

overBoth(async (t, open) => {
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
});
