/** Links by which people get ways to sign in. */
import type { Registry } from '../../../../src/store/ports/registry.ts';
import type { Enrolment } from '../../../../src/store/ports/sign-in.ts';
import { overBoth } from '../../registry-contract.ts';
import { NOON } from '../../registry-fixtures.ts';
import { passkey, password, refusalOf, sha256 } from '../../sign-in-fixtures.ts';

const DAY_MS = 86_400_000;

const byPassword = (name: string): Enrolment => ({
  name,
  credential: { kind: 'password', password: password(name) },
});

/** Adds a link with the secret `byte`; it is valid for a minute. */
async function addLink(
  registry: Registry,
  byte: number,
  target: {
    readonly kind?: 'first' | 'person' | 'reset';
    readonly accountId?: number;
    readonly personId?: number;
  },
): Promise<void> {
  const { kind = 'person', accountId = null, personId = null } = target;
  const of = { kind, accountId, personId, invitation: null };
  const link = { ...of, sha256: sha256(byte), expiresAt: NOON + 60_000 };
  await registry.addSetupLink(link, NOON);
}

overBoth(async (t, open) => {
  t.test('a link makes one person, once, and in time', async (t) => {
    const registry = await open(t);
    await addLink(registry, 1, { kind: 'first' });
    await addLink(registry, 2, { kind: 'first' });
    await addLink(registry, 3, {});
    t.match(await registry.findSetupLink(sha256(1), NOON + 59_999), { kind: 'first', accountId: null });
    t.equal(await registry.findSetupLink(sha256(1), NOON + 60_000), null);
    t.equal(await registry.useSetupLink(sha256(9), byPassword('ada'), NOON), null);
    const uses = [byPassword('ada'), byPassword('eve')].map((enrolment) =>
      registry.useSetupLink(sha256(1), enrolment, NOON),
    );
    const [id, second] = await Promise.all(uses);
    t.ok(id, 'the first one');
    t.equal(second, null, 'and no other');
    t.equal(await registry.findSetupLink(sha256(2), NOON), null, 'there is a first account now');
    t.match(await registry.membershipsOf(id ?? 0), [{ accountName: 'ada', role: 'owner' }]);
    t.match(await registry.listAccounts(), [{ name: 'ada', trustedAt: NOON, trustedBy: 'setup-link' }]);
    t.match(await registry.findPassword('ADA'), { personId: id });

    // A refused enrolment leaves nothing behind, and the link stays valid.
    t.equal(await refusalOf(registry.useSetupLink(sha256(3), byPassword('ada'), NOON)), 'sign_in_name_taken');
    t.equal((await registry.listAccounts()).length, 1);
    const grace = await registry.useSetupLink(
      sha256(3),
      { name: 'grace', credential: { kind: 'passkey', passkey: passkey('g') } },
      NOON,
    );
    t.match(await registry.findPasskey('g'), { personId: grace });

    const { id: accountId } = await registry.ensureAccount('command line', NOON);
    await addLink(registry, 4, { accountId });
    const owner = await registry.useSetupLink(sha256(4), byPassword('linus'), NOON);
    t.match(await registry.membershipsOf(owner ?? 0), [{ accountId, role: 'owner' }]);
    const session = {
      ...{ sha256: sha256(50), personId: owner ?? 0 },
      ...{ createdAt: NOON, expiresAt: NOON + DAY_MS },
    };
    t.match(await registry.createSession(session), { id: accountId });
    await registry.linkPerson(accountId, grace ?? 0, NOON);
    await registry.removeMember(accountId, owner ?? 0, NOON);
    const accounts = await registry.listAccounts();
    const refusal = { code: 'accounts_closed' };
    await t.rejects(
      registry.createSession(session),
      { code: 'not_found', refusal },
      'no provider knows linus',
    );
    t.same(await registry.listAccounts(), accounts, 'a member who is removed gets no account');
  });

  t.test('a link of a reset ends what the person signed in with', async (t) => {
    const registry = await open(t);
    const { id } = await registry.addPerson('ada', NOON);
    await registry.setPassword(id, password('ada'), NOON);
    await registry.addPasskey(id, passkey('a'), NOON);
    await registry.createSession({
      sha256: sha256(60),
      personId: id,
      createdAt: NOON,
      expiresAt: NOON + DAY_MS,
    });
    await addLink(registry, 1, { kind: 'reset', personId: id });
    await addLink(registry, 2, { kind: 'reset', personId: id });
    const enrolment: Enrolment = {
      name: 'ignored',
      credential: { kind: 'passkey', passkey: passkey('new') },
    };
    t.equal(await registry.useSetupLink(sha256(1), enrolment, NOON), id);
    t.equal(await registry.findSetupLink(sha256(2), NOON), null, 'and its other links');
    t.equal(await registry.findSession(sha256(60), NOON), null);
    t.match(await registry.waysOf(id), { passkeys: [{ id: 'new' }], password: null, recoveryCodes: 0 });
    t.match(await registry.membershipsOf(id), [{ accountName: 'ada', role: 'owner' }]);
  });
});
