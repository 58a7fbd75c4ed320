/** People, their sessions and their memberships. */

import { overBoth } from '../../registry-contract.ts';
import { NOON } from '../../registry-fixtures.ts';

const sha256 = (byte: number) => new Uint8Array(32).fill(byte);

overBoth(async (t, open) => {
  t.test('it knows a person again, and never by the name alone', async (t) => {
    const registry = await open(t);
    const ada = { provider: 'acme', subject: '1', name: 'ada' };
    const person = await registry.ensureIdentity(ada, NOON);
    t.match(person, { name: 'ada', createdAt: NOON });
    t.strictSame(await registry.ensureIdentity({ ...ada, name: 'Ada L.' }, NOON + 1), person);
    t.match(await registry.ensureIdentity({ ...ada, provider: 'other' }, NOON), { name: 'ada-2' });
    t.match(await registry.ensureIdentity({ ...ada, subject: '2' }, NOON), { name: 'ada-3' });
    const made = await registry.ensureAccount('grace', NOON);
    const signedIn = await registry.ensureIdentity({ provider: 'acme', subject: '9', name: 'grace' }, NOON);
    const [account] = await registry.membershipsOf(signedIn.id);
    t.not(account?.accountId, made.id, 'an account of the command line is another account');
    t.equal(signedIn.name, 'grace-2');
    t.match(await registry.ensureIdentity({ provider: 'acme', subject: '3', name: ' \u0000\n ' }, NOON), {
      name: 'someone',
    });
  });

  t.test('it finds a session until it is over or ended', async (t) => {
    const registry = await open(t);
    const { id: personId } = await registry.addPerson('ada', NOON);
    const session = { personId, createdAt: NOON, expiresAt: NOON + 1_000 };
    await registry.createSession({ sha256: sha256(1), ...session });
    await registry.createSession({ sha256: sha256(2), ...session });
    t.strictSame(await registry.findSession(sha256(1), NOON + 999), {
      personName: 'ada',
      accountId: 1,
      accountName: 'ada',
      role: 'owner',
      ...session,
    });
    t.equal(await registry.findSession(sha256(1), NOON + 1_000), null);
    t.equal(await registry.findSession(sha256(3), NOON), null);
    await registry.endSession(sha256(1));
    await registry.endSession(sha256(9));
    t.equal(await registry.findSession(sha256(1), NOON), null);
    t.match(await registry.findSession(sha256(2), NOON), { personId });
    const other = await registry.addPerson('grace', NOON);
    for (const [byte, id] of [
      [5, personId],
      [6, personId],
      [7, other.id],
    ] as const)
      await registry.createSession({ ...session, sha256: sha256(byte), personId: id });
    await registry.endSessionsOf(personId);
    t.same(
      await Promise.all([2, 5, 6].map((byte) => registry.findSession(sha256(byte), NOON))),
      [null, null, null],
      'all of a person',
    );
    t.match(await registry.findSession(sha256(7), NOON), { personId: other.id }, 'and none of another');
    await registry.createSession({
      sha256: sha256(4),
      ...session,
      createdAt: NOON + 2_000,
      expiresAt: NOON + 9_000,
    });
    t.equal(await registry.findSession(sha256(2), NOON), null, 'what is over is forgotten');
    await t.rejects(registry.createSession({ ...session, sha256: sha256(8), personId: 99 }), {
      code: 'not_found',
    });
  });

  t.test('it links a person to an account that has none, and to further ones', async (t) => {
    const dataDir = t.testdir();
    const [registry, there] = [await open(t, dataDir), await open(t, dataDir)];
    const acme = await registry.ensureAccount('acme', NOON);
    const github = { provider: 'github', subject: '42', name: 'ada' };
    const ada = await registry.linkIdentity(acme.id, github, NOON + 1);
    t.match(ada, { name: 'ada', createdAt: NOON + 1 });
    t.strictSame(await there.ensureIdentity(github, NOON + 2), ada, 'the first sign-in adds no account');
    const first = { accountId: acme.id, accountName: 'acme', role: 'owner', since: NOON + 1 } as const;
    t.strictSame(await there.membershipsOf(ada.id), [first]);
    const other = await registry.ensureAccount('other', NOON);
    await registry.linkIdentity(other.id, github, NOON + 3);
    await registry.linkIdentity(other.id, github, NOON + 4);
    const second = { accountId: other.id, accountName: 'other', role: 'owner', since: NOON + 3 } as const;
    t.strictSame(await registry.membershipsOf(ada.id), [first, second]);
    t.strictSame(await registry.membersOf(other.id), [
      { personId: ada.id, name: 'ada', role: 'owner', since: NOON + 3, providers: ['github'], ways: [] },
    ]);
    t.strictSame(await registry.membersOf(99), []);
    await t.rejects(registry.linkIdentity(99, github, NOON), { code: 'not_found' });
    const session = { sha256: sha256(1), personId: ada.id, createdAt: NOON, expiresAt: NOON + 9 };
    t.strictSame(await registry.createSession(session), other, 'the account that was linked last');
    t.equal(await there.switchAccount(sha256(1), acme.id), true);
    t.match(await registry.findSession(sha256(1), NOON), { accountId: acme.id, accountName: 'acme' });
    t.strictSame(
      await registry.createSession({ ...session, sha256: sha256(2) }),
      acme,
      'the account that was chosen last',
    );
    const grace = await registry.addPerson('grace', NOON);
    t.equal(await registry.switchAccount(sha256(9), acme.id), false, 'no such session');
    const [graces] = await registry.membershipsOf(grace.id);
    t.equal(await registry.switchAccount(sha256(1), graces?.accountId ?? 0), false, 'no member of it');
    t.match(await registry.findSession(sha256(1), NOON), { accountId: acme.id });
  });

  t.test('it keeps an owner of each account, and ends the sessions of a former member', async (t) => {
    const dataDir = t.testdir();
    const [registry, there] = [await open(t, dataDir), await open(t, dataDir)];
    const { id: accountId } = await registry.ensureAccount('acme', NOON);
    const link = (subject: string, now: number) =>
      registry.linkIdentity(accountId, { provider: 'acme', subject, name: subject }, now);
    const [ada, grace] = [await link('ada', NOON), await link('grace', NOON + 1)];
    const session = { sha256: sha256(1), personId: grace.id, createdAt: NOON, expiresAt: NOON + 9 };
    await registry.createSession(session);
    t.match(await there.findSession(sha256(1), NOON), { role: 'owner' });
    await registry.setRole(accountId, grace.id, 'viewer');
    t.match(await there.findSession(sha256(1), NOON), { role: 'viewer' }, 'a role counts at once');
    await t.rejects(registry.setRole(accountId, ada.id, 'editor'), { code: 'last_owner' });
    await t.rejects(registry.removeMember(accountId, ada.id), { code: 'last_owner' });
    await registry.setRole(accountId, ada.id, 'owner');
    await registry.setRole(accountId, grace.id, 'editor');
    await t.rejects(registry.removeMember(accountId, 99), { code: 'not_found' });
    await t.rejects(registry.setRole(accountId, 99, 'viewer'), { code: 'not_found' });
    const refusal = { code: 'member_stale' };
    await t.rejects(registry.setRole(accountId, grace.id, 'owner', { seen: 'viewer' }), {
      code: 'stale',
      refusal,
    });
    await registry.setRole(accountId, grace.id, 'viewer', { seen: 'editor' });
    // The second of two clicks asks for what is there.
    await registry.setRole(accountId, grace.id, 'viewer', { seen: 'editor' });
    await registry.removeMember(accountId, grace.id);
    t.equal(await there.findSession(sha256(1), NOON), null, 'a former member is signed out at once');
    t.match(await registry.membersOf(accountId), [{ personId: ada.id, role: 'owner' }]);
    await link('grace', NOON + 2);
    t.equal(await there.findSession(sha256(1), NOON), null, 'and an old session does not return');
    await registry.removeMember(accountId, grace.id);
    t.match(
      await registry.createSession(session),
      { name: 'grace', createdAt: NOON },
      'a person without an account gets one',
    );
  });
});
