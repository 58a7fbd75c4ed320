/** Passwords, passkeys and sessions. */
import { overBoth } from '../../registry-contract.ts';
import { NOON } from '../../registry-fixtures.ts';
import { passkey, password, refusalOf, sha256 } from '../../sign-in-fixtures.ts';

const DAY_MS = 86_400_000;

overBoth(async (t, open) => {
  t.test('it keeps a password, and uses each of its codes once', async (t) => {
    const registry = await open(t);
    t.same(await registry.signInWays(), { hasAccounts: false, hasPasskeys: false, hasPasswords: false });
    const { id } = await registry.addPerson('ada', NOON);
    const other = await registry.addPerson('grace', NOON);
    await registry.setPassword(id, password('Ada'), NOON);
    const { nameKey, ...kept } = password('Ada');
    const found = await registry.findPassword(nameKey);
    t.strictSame(found, { ...kept, personId: id, changedAt: NOON });
    t.equal(await registry.findPassword('GRACE'), null);
    t.equal(await refusalOf(registry.setPassword(other.id, password('ada'), NOON)), 'sign_in_name_taken');
    t.same(
      await Promise.all([101, 101, 100, 103].map((step) => registry.useTotpStep(id, step))),
      [true, false, false, true],
      'no code again, and none before it',
    );
    t.equal(await registry.useTotpStep(other.id, 200), false);
    t.same(await Promise.all([1, 1, 9].map((byte) => registry.useRecoveryCode(id, sha256(byte)))), [
      true,
      false,
      false,
    ]);
    t.equal(await registry.useRecoveryCode(other.id, sha256(2)), false);
    t.match(await registry.waysOf(id), {
      passkeys: [],
      password: { name: 'Ada', changedAt: NOON },
      recoveryCodes: 1,
      providers: [],
    });
    await registry.setRecoveryCodes(id, [3, 4, 5].map(sha256));
    t.equal((await registry.waysOf(id)).recoveryCodes, 3);
    await registry.setPassword(id, { ...password('Countess', [6]), totpStep: 7 }, NOON + 1);
    t.equal(await registry.findPassword(nameKey), null, 'the former name is free');
    t.match(await registry.findPassword('COUNTESS'), { totpStep: 7, recoveryCodes: [sha256(6)] });
    t.equal(await refusalOf(registry.removePassword(id, [])), 'last_way_in');
    await registry.addPasskey(id, passkey('a'), NOON);
    const [{ accountId } = { accountId: 0 }] = await registry.membershipsOf(id);
    t.match(await registry.membersOf(accountId), [{ ways: ['passkey', 'password'] }]);
    const listed = (await registry.listAccounts()).map(({ members }) => members.map(({ ways }) => ways));
    t.same(listed, [[['passkey', 'password']], [[]]]);
    t.same([await registry.removePassword(id, []), await registry.removePassword(id, [])], [true, false]);
    t.match(await registry.waysOf(id), { password: null, recoveryCodes: 0 });
    t.same(await registry.signInWays(), { hasAccounts: true, hasPasskeys: true, hasPasswords: false });
  });

  t.test('it keeps passkeys, refuses copies of them, and never removes the last way in', async (t) => {
    const registry = await open(t);
    const { id } = await registry.addPerson('ada', NOON);
    const other = await registry.addPerson('grace', NOON);
    await registry.addPasskey(id, passkey('a'), NOON);
    const stored = { ...passkey('a'), personId: id, createdAt: NOON, lastUsedAt: null };
    t.strictSame(await registry.findPasskey('a'), stored);
    t.equal(await registry.findPasskey('b'), null);
    t.equal(await refusalOf(registry.addPasskey(other.id, passkey('a'), NOON)), 'passkey_known');
    t.same(
      [
        await registry.usePasskey('a', 0, NOON + 1),
        await registry.usePasskey('a', 0, NOON + 2),
        await registry.usePasskey('a', 5, NOON + 3),
        await registry.usePasskey('a', 5, NOON + 4),
        await registry.usePasskey('a', 0, NOON + 5),
        await registry.usePasskey('b', 1, NOON + 6),
      ],
      [true, true, true, false, false, false],
    );
    t.match(await registry.findPasskey('a'), { counter: 5, lastUsedAt: NOON + 3 });
    t.equal(await registry.renamePasskey(other.id, 'a', 'mine'), false);
    t.equal(await registry.renamePasskey(id, 'a', 'laptop'), true);
    t.equal(await refusalOf(registry.removePasskey(id, 'a', ['acme'])), 'last_way_in');
    await registry.addPasskey(id, passkey('b'), NOON + 1);
    t.match((await registry.waysOf(id)).passkeys, [
      { id: 'a', name: 'laptop' },
      { id: 'b', name: 'phone' },
    ]);
    t.equal(await registry.removePasskey(other.id, 'a', []), false, 'of another person');
    t.equal(await registry.removePasskey(id, 'a', []), true);
    t.equal(await refusalOf(registry.removePasskey(id, 'b', [])), 'last_way_in');
    const [{ accountId } = { accountId: 0 }] = await registry.membershipsOf(id);
    const person = await registry.linkIdentity(
      accountId,
      { provider: 'acme', subject: '1', name: 'linus' },
      NOON,
    );
    await registry.addPasskey(person.id, passkey('c'), NOON);
    t.equal(
      await refusalOf(registry.removePasskey(person.id, 'c', [])),
      'last_way_in',
      'acme is not offered',
    );
    t.equal(await registry.removePasskey(person.id, 'c', ['acme']), true);
    t.same((await registry.waysOf(person.id)).providers, ['acme']);
    for (let number = 1; number < 20; number++)
      await registry.addPasskey(id, passkey(`more-${number}`), NOON);
    t.equal(await refusalOf(registry.addPasskey(id, passkey('too-many'), NOON)), 'too_many_passkeys');
  });

  t.test('it lists the sessions of a person, and ends one or the others', async (t) => {
    const registry = await open(t);
    const { id } = await registry.addPerson('ada', NOON);
    const other = await registry.addPerson('grace', NOON);
    for (const [byte, personId] of [
      [1, id],
      [2, id],
      [3, id],
      [4, other.id],
    ] as const) {
      const times = { createdAt: NOON + byte, expiresAt: NOON + byte * 1_000 };
      await registry.createSession({ sha256: sha256(byte), personId, ...times });
    }
    const seen = async (now: number) =>
      (await registry.sessionsOf(id, now)).map(({ sha256: [byte] }) => byte);
    t.same(await seen(NOON), [3, 2, 1]);
    t.match(await registry.sessionsOf(id, NOON), [{ accountName: 'ada', createdAt: NOON + 3 }]);
    t.same(await seen(NOON + 1_000), [3, 2]);
    t.equal(await registry.endSessionOf(id, sha256(4)), false, 'of another person');
    t.equal(await registry.endSessionOf(id, sha256(3)), true);
    await registry.endOtherSessions(id, sha256(2));
    t.same(await seen(NOON), [2]);
    t.ok(await registry.findSession(sha256(4), NOON));
  });

  t.test('attempts that fail delay the next one more and more', async (t) => {
    const registry = await open(t);
    const [name, client] = [
      { key: 'name:a', free: 3 },
      { key: 'client:b', free: 5 },
    ];
    const take = (now: number, keys = [name]) => registry.takeAttempt(keys, NOON + now);
    t.same(await Promise.all([0, 0, 0, 0].map((at) => take(at))), [0, 0, 0, 5_000], 'concurrent ones too');
    t.equal(await take(4_999), 1);
    t.equal(await take(5_000), 0);
    t.equal(await take(5_000), 10_000);
    t.equal(await take(0), 10_000, 'a clock that was set back');
    t.equal(await take(5_000, [client]), 0, 'another key');
    t.equal(await take(6_000, [client, name]), 9_000, 'the longest counts');
    await registry.returnAttempt([name]);
    t.equal(await take(5_000), 5_000, 'one succeeded');
    for (let at = 10_000; at <= 10_000 + 20 * 900_000; at += 900_000) t.equal(await take(at), 0);
    t.equal(await take(10_000 + 20 * 900_000), 900_000, 'never longer');
    t.equal(await take(10_000 + 20 * 900_000 + DAY_MS), 0);
    t.equal(await take(10_000 + 20 * 900_000 + DAY_MS), 0, 'forgotten after a day');
  });

  t.test('what may be used once is used once', async (t) => {
    const registry = await open(t);
    const uses = [1, 1, 2].map((byte) => registry.useOnce(sha256(byte), NOON + 1_000, NOON));
    t.same(await Promise.all(uses), [true, false, true]);
    t.equal(await registry.useOnce(sha256(1), NOON + 9_000, NOON + 999), false);
    t.equal(await registry.useOnce(sha256(1), NOON + 9_000, NOON + 1_000), true, 'forgotten');
  });
});
