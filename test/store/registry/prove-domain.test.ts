/** Proofs of domains. */

import { overBoth } from '../registry-contract.ts';
import { entry, NOON, owned } from '../registry-fixtures.ts';

overBoth(async (t, open) => {
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
});
