/** API keys in the registry. */

import { digest, makeKey } from '../../key-fixtures.ts';
import { overBoth } from '../../registry-contract.ts';
import { NOON } from '../../registry-fixtures.ts';

overBoth(async (t, open) => {
  t.test('it finds a key by the hash of its whole value', async (t) => {
    const registry = await open(t);
    const key = await makeKey(registry, 'one', NOON + 9);
    t.strictSame(key, {
      id: key.id,
      accountId: 1,
      accountName: 'acme',
      name: 'one',
      prefix: 'upb_one',
      scopes: ['read', 'heartbeat'],
      createdAt: NOON,
      lastUsedAt: null,
      expiresAt: NOON + 9,
      revokedAt: null,
    });
    t.strictSame(await registry.findKey(digest('one')), key);
    t.equal(await registry.findKey(digest('two')), null);
    t.equal(await registry.findKey(digest('one').slice(0, 31)), null);
    t.equal(await registry.findKey(new Uint8Array()), null);
    for (const at of [0, 8, 31]) {
      const near = digest('one');
      near[at] = (near[at] ?? 0) ^ 1;
      t.equal(await registry.findKey(near), null, `byte ${at} differs`);
    }
  });

  t.test('it keeps the scopes of a key', async (t) => {
    const registry = await open(t);
    const { id: accountId } = await registry.ensureAccount('acme', NOON);
    const key = { accountId, name: 'k', prefix: 'upb_', createdAt: NOON, expiresAt: null };
    await registry.createKey({ ...key, sha256: digest('write'), scopes: ['read', 'write'] });
    await registry.createKey({ ...key, sha256: digest('heartbeat'), scopes: ['heartbeat'] });
    t.same(
      (await registry.listKeys()).map(({ scopes }) => scopes),
      [['read', 'write'], ['heartbeat']],
    );
    t.same((await registry.findKey(digest('write')))?.scopes, ['read', 'write']);
  });

  t.test('it shows keys made and revoked by another process at once', async (t) => {
    const dataDir = t.testdir();
    const [here, there] = [await open(t, dataDir), await open(t, dataDir)];
    const key = await makeKey(there, 'one');
    t.strictSame(await here.findKey(digest('one')), key);
    t.equal(await there.revokeKey(key.id, NOON + 7), true);
    t.strictSame(await here.findKey(digest('one')), { ...key, revokedAt: NOON + 7 });
    t.equal(await here.revokeKey(key.id, NOON + 8), true);
    t.strictSame(await here.listKeys(), [{ ...key, revokedAt: NOON + 7 }], 'the first time stays');
    t.equal(await here.revokeKey(key.id + 1, NOON), false);
    t.same(await here.keysRevokedSince(NOON + 7), [[key.id, NOON + 7]]);
    t.same(await here.keysRevokedSince(NOON + 8), []);
  });

  t.test('it lists keys, the oldest first', async (t) => {
    const registry = await open(t);
    t.same(await registry.listKeys(), []);
    for (const name of ['c', 'a', 'b']) await makeKey(registry, name);
    t.same(
      (await registry.listKeys()).map(({ name }) => name),
      ['c', 'a', 'b'],
    );
  });

  t.test('it keeps the newest use of a key', async (t) => {
    const registry = await open(t);
    const [one, two] = [await makeKey(registry, 'one'), await makeKey(registry, 'two')];
    await registry.touchKeys([
      [one.id, NOON + 5],
      [two.id, NOON + 1],
      [99, NOON],
    ]);
    await registry.touchKeys([
      [one.id, NOON + 3],
      [two.id, NOON + 2],
    ]);
    t.same(
      (await registry.listKeys()).map(({ lastUsedAt }) => lastUsedAt),
      [NOON + 5, NOON + 2],
    );
  });

  t.test('it refuses a key of an account that is not there', async (t) => {
    const registry = await open(t);
    const key = {
      accountId: 5,
      name: 'k',
      prefix: 'upb_',
      sha256: digest('k'),
      createdAt: 1,
      expiresAt: null,
    };
    await t.rejects(registry.createKey(key), { code: 'not_found' });
  });

  t.test('it bounds the keys of an account that work, and forgets old ones that do not', async (t) => {
    const registry = await open(t);
    const [{ id: accountId }, { id: other }] = [
      await registry.ensureAccount('acme', NOON),
      await registry.ensureAccount('other', NOON),
    ];
    let made = 0;
    const add = (expiresAt: number | null = null, more: object = {}) => {
      const name = `key-${made++}`;
      const sha256 = digest(name);
      const key = { accountId, name, prefix: 'upb_', sha256, createdAt: NOON, expiresAt };
      return registry.createKey({ ...key, maxPerAccount: 3, ...more });
    };
    for (let n = 0; n < 60; n++) await registry.revokeKey((await add()).id, NOON);
    await add(NOON);
    const live = [await add(), await add(NOON + 1), await add()];
    await t.rejects(add(), { code: 'account_limit' });
    t.equal((await registry.listKeys(accountId)).length, 53);
    t.same(
      (await registry.listKeys(accountId)).slice(-3).map(({ id }) => id),
      live.map(({ id }) => id),
    );
    await add(null, { accountId: other });
    await add(null, { maxPerAccount: undefined });
    await registry.revokeKey(live[0]?.id ?? 0, NOON);
    await registry.revokeKey(live[1]?.id ?? 0, NOON);
    await add();
    t.equal((await registry.listKeys(other)).length, 1);
  });
});
