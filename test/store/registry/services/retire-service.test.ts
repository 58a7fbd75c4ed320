/** A removed service, and its return. */

import { overBoth } from '../../registry-contract.ts';
import { NOON, owned } from '../../registry-fixtures.ts';

overBoth(async (t, open) => {
  t.test('it gives a removed service back to its owner alone', async (t) => {
    const registry = await open(t);
    const [first, second] = [
      await registry.ensureAccount('first', NOON),
      await registry.ensureAccount('second', NOON),
    ];
    const { id } = await registry.addService(owned('mine.org', first.id, { verified: true }));
    await registry.removeService('mine-org');
    await t.rejects(registry.addService(owned('mine.org', second.id)), { code: 'slug_taken' });
    const other = await registry.addService(owned('mine.org', second.id, { slug: 'mine-org-2' }));
    t.not(other.id, id);
    await registry.removeService('mine-org-2');
    t.match(await registry.addService(owned('mine.org', first.id)), { id, slug: 'mine-org', revision: 3 });
  });
});
