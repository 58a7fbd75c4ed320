/** What an account wants until it is proved or taken back. */
import { MONITORING_KINDS } from '../../../src/domain/service.ts';
import { overBoth } from '../registry-contract.ts';
import { NOON } from '../registry-fixtures.ts';

overBoth(async (t, open) => {
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
});
