/** How many services may lead to one address. */

import { overBoth } from '../../registry-contract.ts';
import { NOON } from '../../registry-fixtures.ts';

overBoth(async (t, open) => {
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
});
