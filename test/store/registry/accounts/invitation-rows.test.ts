/** Invitations to accounts. */
import type { Test } from 'tap';
import type { Role } from '../../../../src/domain/role.ts';
import { MAX_INVITATIONS, MAX_INVITATIONS_PER_DAY, MAX_SETUPS } from '../../../../src/store/ports/people.ts';
import { overBoth } from '../../registry-contract.ts';
import { NOON } from '../../registry-fixtures.ts';

const sha256 = (byte: number) => new Uint8Array(32).fill(byte);

overBoth(async (t, open) => {
  const setUp = async (t: Test) => {
    const dataDir = t.testdir();
    const [registry, there] = [await open(t, dataDir), await open(t, dataDir)];
    const { id: accountId } = await registry.ensureAccount('acme', NOON);
    const link = (subject: string) =>
      registry.linkIdentity(accountId, { provider: 'acme', subject, name: subject }, NOON);
    const [ada, grace] = [await link('ada'), await link('grace')];
    const invite = (byte: number, inviterId = ada.id, role: Role = 'editor', createdAt = NOON) =>
      registry.addInvitation({
        ...{ sha256: sha256(byte), accountId, inviterId, role },
        ...{ createdAt, expiresAt: createdAt + 100 },
      });
    return { registry, there, accountId, ada, grace, invite };
  };

  t.test('an invitation is that of the first person who opens it, and works once', async (t) => {
    const { registry, there, accountId, ada, invite } = await setUp(t);
    const [joan, eve] = [await registry.addPerson('joan', NOON), await registry.addPerson('eve', NOON)];
    await invite(1);
    const invitation = {
      ...{ accountId, accountName: 'acme', inviterName: 'ada', role: 'editor' },
      expiresAt: NOON + 100,
    } as const;
    t.strictSame(await there.findInvitation(sha256(1), NOON + 99), invitation);
    t.equal(await there.findInvitation(sha256(1), NOON + 100), null, 'it has expired');
    t.equal(await there.openInvitation(sha256(1), joan.id, NOON + 100), null);
    t.equal(await there.findInvitation(sha256(2), NOON), null, 'there is none');
    const listed = {
      id: 1,
      role: 'editor',
      inviterName: 'ada',
      createdAt: NOON,
      expiresAt: NOON + 100,
    } as const;
    t.strictSame(await there.invitationsOf(accountId, NOON), [{ ...listed, personName: null }]);
    t.strictSame(await there.openInvitation(sha256(1), joan.id, NOON), invitation);
    t.strictSame(
      await registry.openInvitation(sha256(1), joan.id, NOON),
      invitation,
      'as often as they like',
    );
    t.equal(await registry.openInvitation(sha256(1), eve.id, NOON), null, 'another person');
    t.equal(await registry.findInvitation(sha256(1), NOON), null);
    t.strictSame(await there.invitationsOf(accountId, NOON), [{ ...listed, personName: 'joan' }]);
    await t.rejects(registry.acceptInvitation(sha256(1), eve.id, NOON), { code: 'not_found' });
    await t.rejects(registry.acceptInvitation(sha256(1), joan.id, NOON + 100), { code: 'not_found' });
    t.match(await there.acceptInvitation(sha256(1), joan.id, NOON + 7), { id: accountId, name: 'acme' });
    t.match(await registry.membershipsOf(joan.id), [{}, { accountId, role: 'editor', since: NOON + 7 }]);
    t.match(await registry.noticesOf(accountId), [
      { at: NOON + 7, notice: { code: 'member_joined', name: 'joan', role: 'editor' } },
    ]);
    await t.rejects(registry.acceptInvitation(sha256(1), joan.id, NOON + 8), { code: 'not_found' });
    await invite(3, ada.id, 'owner');
    await t.rejects(registry.acceptInvitation(sha256(3), joan.id, NOON), { code: 'account_limit' });
    t.match(await registry.membersOf(accountId), [{}, {}, { role: 'editor' }], 'no member gets another role');
    const session = { sha256: sha256(9), personId: joan.id, createdAt: NOON, expiresAt: NOON + 9 };
    t.match(await registry.createSession(session), { id: accountId }, 'the next session is in the account');
  });

  t.test('a few ways to sign in are begun from an invitation, until somebody has opened it', async (t) => {
    const { registry, there, invite } = await setUp(t);
    await invite(1);
    await invite(2);
    t.equal(await registry.countSetup(sha256(9), NOON), false, 'there is none');
    t.equal(await registry.countSetup(sha256(1), NOON + 100), false, 'it has expired');
    for (let setup = 0; setup < MAX_SETUPS; setup++) t.equal(await there.countSetup(sha256(1), NOON), true);
    t.equal(await registry.countSetup(sha256(1), NOON), false);
    t.ok(await registry.findInvitation(sha256(1), NOON), 'it can still be accepted');
    const joan = await registry.addPerson('joan', NOON);
    await registry.openInvitation(sha256(2), joan.id, NOON);
    t.equal(await registry.countSetup(sha256(2), NOON), false, 'it is that of joan');
  });

  t.test('invitations end with the role of who invited, and are withdrawn and counted', async (t) => {
    const { registry, accountId, ada, grace, invite } = await setUp(t);
    await invite(1, grace.id, 'owner');
    await invite(2, ada.id);
    await registry.setRole(accountId, grace.id, 'owner');
    t.ok(await registry.findInvitation(sha256(1), NOON));
    await registry.setRole(accountId, grace.id, 'editor');
    t.equal(await registry.findInvitation(sha256(1), NOON), null, 'grace is no owner any more');
    await registry.setRole(accountId, grace.id, 'owner');
    t.equal(await registry.findInvitation(sha256(1), NOON), null, 'and it does not return');
    await invite(3, grace.id, 'owner');
    await registry.removeMember(accountId, grace.id);
    t.equal(await registry.findInvitation(sha256(3), NOON), null, 'grace is no member any more');
    const [invitation] = await registry.invitationsOf(accountId, NOON);
    const { id: other } = await registry.ensureAccount('other', NOON);
    t.equal(await registry.removeInvitation(other, invitation?.id ?? 0), false, 'of another account');
    t.ok(await registry.findInvitation(sha256(2), NOON));
    t.equal(await registry.removeInvitation(accountId, invitation?.id ?? 0), true);
    t.equal(await registry.removeInvitation(accountId, invitation?.id ?? 0), false);
    t.equal(await registry.findInvitation(sha256(2), NOON), null);
    for (let byte = 10; byte < 10 + MAX_INVITATIONS; byte++) await invite(byte);
    await t.rejects(invite(99), { code: 'account_limit', refusal: { code: 'too_many_invitations' } });
    await invite(98, ada.id, 'viewer', NOON + 100);
    t.equal((await registry.invitationsOf(accountId, NOON + 100)).length, 1, 'expired ones do not count');
  });

  t.test('it counts invitations of a day by account and by who invites', async (t) => {
    const registry = await open(t);
    const ada = await registry.addPerson('ada', NOON);
    const accountId = (await registry.membershipsOf(ada.id))[0]?.accountId ?? 0;
    const { id: other } = await registry.ensureAccount('other', NOON);
    const invite = async (number: number, from: number, at = NOON) => {
      const times = { createdAt: at, expiresAt: at + 60_000 };
      const sha256 = new Uint8Array(32).fill(number, 0, 16);
      await registry.addInvitation({ sha256, accountId: from, inviterId: ada.id, role: 'viewer', ...times });
      for (const { id } of await registry.invitationsOf(from, at)) await registry.removeInvitation(from, id);
    };
    for (let number = 0; number < MAX_INVITATIONS_PER_DAY; number++) await invite(number, accountId);
    const refused = { code: 'account_limit', refusal: { code: 'too_many_invitations_today', max: 60 } };
    await t.rejects(invite(99, accountId), refused, 'withdrawn ones count');
    await t.rejects(invite(99, other), refused, 'another account of the same person');
    await invite(99, accountId, NOON + 86_400_000);
  });

  t.test('a new person of a provider who is invited is a member and has no account', async (t) => {
    const registry = await open(t);
    const ada = await registry.addPerson('ada', NOON);
    const accountId = (await registry.membershipsOf(ada.id))[0]?.accountId ?? 0;
    const times = { createdAt: NOON, expiresAt: NOON + 60_000 };
    const sha256 = new Uint8Array(32).fill(1);
    await registry.addInvitation({ sha256, accountId, inviterId: ada.id, role: 'viewer', ...times });
    const identity = { provider: 'acme', subject: '7', name: 'grace' };
    t.equal(await registry.findIdentity(identity), null);
    const grace = await registry.joinByIdentity(sha256, identity, NOON);
    t.match(await registry.membershipsOf(grace?.id ?? 0), [{ accountId, role: 'viewer' }]);
    t.strictSame(await registry.findIdentity(identity), grace);
    t.equal((await registry.listAccounts()).length, 1);
    t.equal(
      await registry.joinByIdentity(sha256, { ...identity, subject: '8' }, NOON),
      null,
      'it is used up',
    );
    await registry.removeMember(accountId, grace?.id ?? 0, NOON);
    const session = { sha256, personId: grace?.id ?? 0, ...times };
    await t.rejects(registry.createSession(session, false), {
      code: 'not_found',
      refusal: { code: 'accounts_closed' },
    });
    t.equal((await registry.listAccounts()).length, 1);
    t.match(await registry.createSession(session), { name: 'grace' });
  });
});
