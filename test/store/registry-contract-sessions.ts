/** Contract of the registry: people of accounts and their sessions. */
import type { Test } from 'tap';
import type { OpenForTest } from './registry-contract.ts';
import { NOON } from './registry-fixtures.ts';

const sha256 = (byte: number) => new Uint8Array(32).fill(byte);

/** Runs this part of the contract. */
export async function sessionContract(t: Test, open: OpenForTest): Promise<void> {
  t.test('it knows a person again, and never by the name alone', async (t) => {
    const registry = await open(t);
    const ada = { provider: 'acme', subject: '1', name: 'ada' };
    const account = await registry.ensureIdentity(ada, NOON);
    t.match(account, { name: 'ada', createdAt: NOON });
    t.strictSame(await registry.ensureIdentity({ ...ada, name: 'Ada L.' }, NOON + 1), account);
    t.match(await registry.ensureIdentity({ ...ada, provider: 'other' }, NOON), { name: 'ada-2' });
    t.match(await registry.ensureIdentity({ ...ada, subject: '2' }, NOON), { name: 'ada-3' });
    const made = await registry.ensureAccount('grace', NOON);
    const signedIn = await registry.ensureIdentity({ provider: 'acme', subject: '9', name: 'grace' }, NOON);
    t.not(signedIn.id, made.id, 'an account of the command line is another account');
    t.equal(signedIn.name, 'grace-2');
    t.match(await registry.ensureIdentity({ provider: 'acme', subject: '3', name: ' \u0000\n ' }, NOON), {
      name: 'someone',
    });
  });

  t.test('it finds a session until it is over or ended', async (t) => {
    const registry = await open(t);
    const { id: accountId } = await registry.ensureAccount('ada', NOON);
    const session = { accountId, createdAt: NOON, expiresAt: NOON + 1_000 };
    await registry.createSession({ sha256: sha256(1), ...session });
    await registry.createSession({ sha256: sha256(2), ...session });
    t.strictSame(await registry.findSession(sha256(1), NOON + 999), { accountName: 'ada', ...session });
    t.equal(await registry.findSession(sha256(1), NOON + 1_000), null);
    t.equal(await registry.findSession(sha256(3), NOON), null);
    await registry.endSession(sha256(1));
    await registry.endSession(sha256(9));
    t.equal(await registry.findSession(sha256(1), NOON), null);
    t.match(await registry.findSession(sha256(2), NOON), { accountId });
    const other = await registry.ensureAccount('grace', NOON);
    for (const [byte, id] of [
      [5, accountId],
      [6, accountId],
      [7, other.id],
    ] as const)
      await registry.createSession({ ...session, sha256: sha256(byte), accountId: id });
    await registry.endSessionsOf(accountId);
    t.same(
      await Promise.all([2, 5, 6].map((byte) => registry.findSession(sha256(byte), NOON))),
      [null, null, null],
      'all of an account',
    );
    t.match(await registry.findSession(sha256(7), NOON), { accountId: other.id }, 'and none of another');
    await registry.createSession({
      sha256: sha256(4),
      ...session,
      createdAt: NOON + 2_000,
      expiresAt: NOON + 9_000,
    });
    t.equal(await registry.findSession(sha256(2), NOON), null, 'what is over is forgotten');
  });
}
