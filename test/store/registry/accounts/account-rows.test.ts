/** Accounts and facts in the registry. */

import { makeKey } from '../../key-fixtures.ts';
import { overBoth } from '../../registry-contract.ts';
import { NOON, UNTRUSTED } from '../../registry-fixtures.ts';

overBoth(async (t, open) => {
  t.test('it finds an account by its name and makes it once', async (t) => {
    const dataDir = t.testdir();
    const [here, there] = [await open(t, dataDir), await open(t, dataDir)];
    const made = await here.ensureAccount('acme', NOON);
    t.same(made, { id: made.id, name: 'acme', createdAt: NOON, ...UNTRUSTED });
    t.same(await there.ensureAccount('acme', NOON + 5), made);
    t.not((await there.ensureAccount('other', NOON)).id, made.id);
  });

  t.test('it lists accounts with who signs in and what they own', async (t) => {
    const registry = await open(t);
    t.same(await registry.listAccounts(), []);
    await makeKey(registry, 'one');
    await makeKey(registry, 'two');
    const person = await registry.ensureIdentity(
      { provider: 'github', subject: '42', name: 'ada' },
      NOON + 1,
    );
    const [acme, ada] = await registry.listAccounts();
    t.same(
      [acme, ada],
      [
        { id: 1, name: 'acme', createdAt: NOON, ...UNTRUSTED, members: [], keys: 2, services: 0 },
        {
          id: ada?.id,
          name: 'ada',
          createdAt: NOON + 1,
          ...UNTRUSTED,
          members: [
            {
              personId: person.id,
              name: 'ada',
              role: 'owner',
              since: NOON + 1,
              providers: ['github'],
              ways: [],
            },
          ],
          keys: 0,
          services: 0,
        },
      ],
    );
  });

  t.test('it keeps facts by name', async (t) => {
    const dataDir = t.testdir();
    const registry = await open(t, dataDir);
    t.equal(await registry.getFact('cursor'), null);
    await registry.setFact('cursor', '1');
    await registry.setFact('cursor', '2');
    await registry.setFact('', 'empty name');
    t.equal(await registry.getFact('cursor'), '2');
    await registry.close();
    const [one, other] = [await open(t, dataDir), await open(t, dataDir)];
    t.equal(await one.getFact('cursor'), '2');
    const made = await Promise.all([one.ensureFact('made', 'here'), other.ensureFact('made', 'there')]);
    const stored = await one.getFact('made');
    t.strictSame(made, [stored, stored], 'two processes that make it at once have the same');
  });
});
