/** Passwords: which are accepted, and how they are hashed. */
import t from 'tap';
import { findPasswordProblem, hashPassword, verifyPassword } from '../../src/auth/password-hash.ts';

t.test('it accepts long passwords that are not easily guessed', async (t) => {
  const rows: readonly (readonly [password: string, code: string | null])[] = [
    ['correct horse battery', null],
    ['Ünïcödé-Wörter', null],
    ['x'.repeat(11), 'password_length'],
    ['short but :)', null],
    ['eleven chrs', 'password_length'],
    [`${'abcdefgh'.repeat(32)}`, null],
    [`${'abcdefgh'.repeat(32)}i`, 'password_length'],
    ['a'.repeat(1_000_000), 'password_length'],
    ['aaaaaaaaaaaaaaa', 'password_weak'],
    ['abcdabcdabcdabcd', 'password_weak'],
    ['LOVELACE and more', 'password_weak'],
    ['my upbeat password', 'password_weak'],
  ];
  for (const [password, code] of rows)
    t.equal(findPasswordProblem(password, 'Lovelace')?.code ?? null, code, password.slice(0, 30));
  t.equal(findPasswordProblem('correct horse battery', 'or'), null, 'a short name is in many good passwords');
});

t.test('it knows a password again however it is typed, and no other', async (t) => {
  const composed = 'crème brûlée 12';
  const stored = await hashPassword(composed);
  t.match(stored, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  t.not(await hashPassword(composed), stored, 'each has a salt of its own');
  t.equal(await verifyPassword(composed.normalize('NFD'), stored), true);
  t.equal(await verifyPassword('creme brulee 12', stored), false);
  t.equal(await verifyPassword('', stored), false);
  t.equal(await verifyPassword(composed, null), false, 'nobody has this password');
  t.equal(await verifyPassword(`${composed}${'x'.repeat(300)}`, stored), false);
  // From the tests of the reference implementation: `password` with the salt `somesalt`.
  const foreign = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';
  t.equal(
    await verifyPassword('password', foreign),
    true,
    'the parameters of a hash count, not those of new ones',
  );
});

t.test('a password that nobody has takes the same work', async (t) => {
  const stored = await hashPassword('correct horse battery');
  const cpuOf = async (hash: string | null) => {
    let least = Number.POSITIVE_INFINITY;
    for (let run = 0; run < 5; run++) {
      const before = process.cpuUsage();
      await verifyPassword('another horse battery', hash);
      const { user, system } = process.cpuUsage(before);
      least = Math.min(least, user + system);
    }
    return least;
  };
  const [known, unknown] = [await cpuOf(stored), await cpuOf(null)];
  t.ok(unknown > known / 2 && unknown < known * 2, `${known} and ${unknown} µs`);
});
