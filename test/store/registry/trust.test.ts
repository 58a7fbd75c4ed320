/** Accounts that the operator trusts. */
import type { Test } from 'tap';
import { DEFAULT_CHECK } from '../../../src/domain/service.ts';
import type { Registry } from '../../../src/store/ports/registry.ts';
import { type OpenForTest, overBoth } from '../registry-contract.ts';
import { entry, NOON, owned } from '../registry-fixtures.ts';

/** What an owner says of a service. */
const defined = (domain: string) =>
  ({ domain, name: domain, category: 'developer', paused: false, check: DEFAULT_CHECK }) as const;

const UNPROVEN = { isProven: false, now: NOON };

/** Accounts, the first one of which is trusted. */
async function withTrusted(t: Test, open: OpenForTest) {
  const registry = await open(t);
  const [{ id: home }, { id: other }] = [
    await registry.ensureAccount('home', NOON),
    await registry.ensureAccount('other', NOON),
  ];
  await registry.trustAccount(home, 'command:root', NOON);
  return { registry, home, other };
}

async function ownOf(registry: Registry, accountId: number) {
  const services = await registry.servicesOf(accountId);
  return services.map(({ domain, verified, check }) => [domain, verified, check.trustedBy ?? null]);
}

overBoth(async (t, open) => {
  t.test('it says who trusts an account and since when, and its services follow', async (t) => {
    const { registry, home, other } = await withTrusted(t, open);
    t.match(await registry.listAccounts(), [
      { id: home, trustedAt: NOON, trustedBy: 'command:root' },
      { id: other, trustedAt: null, trustedBy: null },
    ]);
    t.match(
      await registry.trustAccount(home, 'setting', NOON + 1),
      { trustedAt: NOON },
      'it is trusted already',
    );
    t.same([await registry.isTrusted(home), await registry.isTrusted(other)], [true, false]);
    t.equal(await registry.isTrusted(99), false);
    await t.rejects(registry.trustAccount(99, 'setting', NOON), { code: 'not_found' });

    await registry.registerService(home, defined('192.168.1.5'), UNPROVEN);
    await registry.registerService(home, defined('nas'), UNPROVEN);
    await registry.addService(owned('proven.example', home, { verified: true }));
    const all = ['192.168.1.5', 'nas', 'proven.example'];
    t.same(
      await ownOf(registry, home),
      all.map((domain) => [domain, true, home]),
    );
    const before = await registry.lastChange();
    await registry.trustAccount(home, null, NOON);
    const without = [
      ['192.168.1.5', false, null],
      ['nas', false, null],
      ['proven.example', true, null],
    ];
    t.same(await ownOf(registry, home), without);
    t.equal((await registry.changesAfter(before)).length, 3, 'running processes learn of each');
    await registry.trustAccount(home, 'setting', NOON);
    t.same(
      await ownOf(registry, home),
      all.map((domain) => [domain, true, home]),
    );
  });

  t.test('it takes no trust from a definition', async (t) => {
    const { registry, home, other } = await withTrusted(t, open);
    const check = { ...DEFAULT_CHECK, trustedBy: other };
    const added = await registry.registerService(other, { ...defined('a.example'), check }, UNPROVEN);
    await registry.changeService(added.slug, { check });
    await registry.addServices([{ ...owned('b.example', other), check: { ...check, trustedBy: home } }]);
    t.same(await ownOf(registry, other), [
      ['a.example', false, null],
      ['b.example', false, null],
    ]);
    // What the operator adds for an account that is not trusted is proved only where somebody can prove it.
    await registry.addServices([owned('10.0.0.1', other, { verified: true })]);
    t.match(await ownOf(registry, other), [['10.0.0.1', false, null], [], []]);
  });

  t.test('what an account has by trust owns no domain', async (t) => {
    const { registry, home, other } = await withTrusted(t, open);
    await registry.putCatalogue([entry('github')]);
    const own = await registry.registerService(home, defined('shop.example'), UNPROVEN);
    t.match(await registry.registerService(home, defined('github.example'), UNPROVEN), { verified: true });
    await t.rejects(registry.registerService(home, defined('shop.example'), UNPROVEN), {
      code: 'domain_taken',
    });
    t.match(await registry.registerService(other, defined('shop.example'), UNPROVEN), { verified: false });
    t.equal((await registry.claimDomain('shop.example', home)).id, own.id, 'its heartbeats are its own');
    const proven = await registry.proveDomain(other, 'shop.example', 'root', NOON);
    t.match(proven, { accountId: other, verified: true });
    t.match(await ownOf(registry, home), [[], ['shop.example', true, home]]);
    const beside = await registry.ensureAccount('beside', NOON);
    await registry.trustAccount(beside.id, 'setting', NOON);
    t.match(await registry.registerService(beside.id, defined('shop.example'), UNPROVEN), { verified: true });

    t.match(await registry.proveDomain(home, 'shop.example', 'root', NOON), { id: own.id, verified: true });
    t.same(await ownOf(registry, other), [['shop.example', false, null]]);
    t.match(await registry.noticesOf(other), [{ notice: { code: 'domain_lost' } }]);
    await registry.trustAccount(home, null, NOON);
    t.match(await ownOf(registry, home), [[], ['shop.example', true, null]], 'what was proved stays so');
  });

  t.test('a service that goes to another account loses the trust', async (t) => {
    const { registry, home, other } = await withTrusted(t, open);
    await registry.registerService(home, defined('10.0.0.1'), UNPROVEN);
    await registry.registerService(home, defined('gone.example'), UNPROVEN);
    await registry.removeService('gone-example');
    const refusal = { code: 'not_trusted' };
    await t.rejects(registry.planMerge(other, home), refusal, 'nobody gets into a trusted account unseen');
    await t.rejects(registry.mergeAccounts(other, home, NOON), refusal);
    await registry.mergeAccounts(home, other, NOON);
    t.same(await ownOf(registry, other), [['10.0.0.1', false, null]]);
    await registry.registerService(other, defined('gone.example'), UNPROVEN);
    t.same(await ownOf(registry, other), [
      ['10.0.0.1', false, null],
      ['gone.example', false, null],
    ]);
    await registry.trustAccount(other, 'setting', NOON);
    t.same(await ownOf(registry, other), [
      ['10.0.0.1', true, other],
      ['gone.example', true, other],
    ]);
  });

  t.test(
    'a service of a trusted account that is removed comes back without the trust that ended',
    async (t) => {
      const { registry, home } = await withTrusted(t, open);
      for (const domain of ['nas.local', 'shop.example'])
        await registry.registerService(home, defined(domain), UNPROVEN);
      await registry.removeService('nas-local');
      await registry.removeService('shop-example');
      await registry.trustAccount(home, null, NOON);
      for (const domain of ['nas.local', 'shop.example'])
        await registry.registerService(home, defined(domain), UNPROVEN);
      t.same(await ownOf(registry, home), [
        ['nas.local', false, null],
        ['shop.example', false, null],
      ]);
    },
  );

  t.test('the setting trusts accounts by name, and nobody else gets a name of it', async (t) => {
    const { registry, home, other } = await withTrusted(t, open);
    t.match(await registry.trustNamed(['other', 'family'], NOON), {
      begun: [{ id: other, trustedBy: 'setting' }],
      ended: [],
      unknown: ['family'],
    });
    t.match(await registry.trustNamed(['other', 'family'], NOON + 1), {
      begun: [],
      ended: [],
      unknown: ['family'],
    });
    const identity = { provider: 'acme', subject: 'eve', name: 'family' };
    const { id: personId } = await registry.ensureIdentity(identity, NOON);
    t.match(await registry.membershipsOf(personId), [{ accountName: 'family-2' }]);
    t.match(await registry.trustNamed(['family'], NOON), {
      begun: [],
      ended: [{ id: other }],
      unknown: ['family'],
    });
    t.match(await registry.listAccounts(), [
      { id: home, trustedBy: 'command:root' },
      { trustedBy: null },
      {},
    ]);
    t.match(await registry.ensureAccount('family', NOON), { trustedAt: NOON, trustedBy: 'setting' });
    t.match(await registry.trustNamed(['family'], NOON), { begun: [], ended: [], unknown: [] });
    t.match(await registry.trustNamed([], NOON), { ended: [{ name: 'family' }] });
    await registry.trustNamed(['other'], NOON);
    t.match(await registry.trustAccount(other, 'command:root', NOON), { trustedBy: 'command:root' });
    t.match(await registry.trustNamed([], NOON), { begun: [], ended: [] });
    t.match(await registry.trustAccount(other, 'command:eve', NOON), { trustedBy: 'command:root' });
  });
});
