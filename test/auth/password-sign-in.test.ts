/** Sign-in with a password: what strangers learn from it, and how often they may try. */
import { Secret, TOTP } from 'otpauth';
import type { Test } from 'tap';
import t from 'tap';
import { hashPassword } from '../../src/auth/password-hash.ts';
import {
  createPasswordSignIn,
  makeRecoveryCodes,
  nameKeyOf,
  type PasswordAttempt,
} from '../../src/auth/password-sign-in.ts';
import { createSignInSecret } from '../../src/auth/sign-in-secret.ts';
import { openRegistryMethods } from '../../src/store/registry/registry-thread.ts';
import { double } from '../support/double.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { registryHere } from '../support/registry-here.ts';

const PASSWORD = 'correct horse battery';
const SECRET = new Uint8Array(20).fill(9);
const app = new TOTP({ secret: new Secret({ buffer: new Uint8Array(SECRET).buffer }) });
const hash = await hashPassword(PASSWORD);

/** A registry with Ada, who signs in with a password. Counts what the sign-in asks of it. */
async function world(t: Test) {
  const clock = createFakeClock();
  const methods = await openRegistryMethods({ dataDir: t.testdir(), domainsPerAccount: 1 });
  const registry = registryHere(methods, clock);
  t.teardown(() => registry.close());
  const { id } = await registry.addPerson('Ada', clock.now());
  const codes = makeRecoveryCodes();
  const recoveryCodes = codes.map(({ sha256 }) => sha256);
  const names = { name: 'Ada L.', nameKey: nameKeyOf('Ada L.') };
  await registry.setPassword(id, { ...names, hash, totpSecret: SECRET, totpStep: 0, recoveryCodes }, 0);
  const calls: string[] = [];
  const counted = <A extends unknown[], R>(name: string, call: (...args: A) => R) => {
    return (...args: A): R => {
      calls.push(name);
      return call(...args);
    };
  };
  const signIn = createPasswordSignIn({
    registry: double({
      findPassword: counted('findPassword', registry.findPassword),
      useTotpStep: counted('useTotpStep', registry.useTotpStep),
      useRecoveryCode: counted('useRecoveryCode', registry.useRecoveryCode),
      takeAttempt: counted('takeAttempt', registry.takeAttempt),
      returnAttempt: counted('returnAttempt', registry.returnAttempt),
    }),
    secret: createSignInSecret(new Uint8Array(32)),
    now: clock.now,
  });
  const code = () => app.generate({ timestamp: clock.now() });
  const attempt = (change: Partial<PasswordAttempt> = {}) =>
    signIn.attempt({
      ...{ name: 'ada l.', password: PASSWORD, code: code(), client: '192.0.2.1', browser: '' },
      ...change,
    });
  return { id, clock, calls, code, codes, attempt, signIn };
}

t.test('the right person signs in, with a code or a recovery code, each once', async (t) => {
  const { id, clock, code, codes, attempt } = await world(t);
  const accepted = { kind: 'accepted', personId: id };
  t.match(await attempt({ name: '  ADA  l. ' }), { ...accepted, usedRecoveryCode: false });
  t.same(await attempt(), { kind: 'refused' }, 'the code was used');
  const before = code();
  await clock.advance(30_000);
  const next = code();
  const both = await Promise.all([attempt({ code: next }), attempt({ code: next })]);
  t.same(both.map(({ kind }) => kind).sort(), ['accepted', 'refused'], 'of two at once one');
  t.same(await attempt({ code: before }), { kind: 'refused' }, 'the one before it');
  await clock.advance(30_000);
  t.match(await attempt({ code: ` ${code().slice(0, 3)} ${code().slice(3)}` }), accepted);
  const recovery = codes[3]?.shown ?? '';
  t.match(await attempt({ code: recovery.toUpperCase() }), { ...accepted, usedRecoveryCode: true });
  t.same(await attempt({ code: recovery }), { kind: 'refused' });
});

t.test('whatever is wrong, the answer and the work are the same', async (t) => {
  const { calls, codes, clock, attempt } = await world(t);
  const rows: readonly Partial<PasswordAttempt>[] = [
    { name: 'eve' },
    { name: 'eve', code: codes[0]?.shown ?? '' },
    { name: '' },
    { name: 'constructor' },
    { password: 'wrong horse battery' },
    { password: 'wrong horse battery', code: codes[0]?.shown ?? '' },
    { password: '' },
    { password: 'x'.repeat(1_000_000) },
    { code: '000000' },
    { code: '' },
    { code: 'aaaa-aaaa-aaaa-aaaa' },
    { code: '7'.repeat(1_000_000) },
    { name: 'eve', password: 'x', code: 'x' },
  ];
  for (const row of rows) {
    calls.length = 0;
    t.same(await attempt({ client: `client ${JSON.stringify(row).length}`, ...row }), { kind: 'refused' });
    t.same(calls, ['takeAttempt', 'findPassword'], JSON.stringify(row).slice(0, 60));
    await clock.advance(86_400_000);
  }
});

t.test('guesses are delayed by name and by client, and never where the person was before', async (t) => {
  const { id, clock, attempt, signIn } = await world(t);
  const browser = await signIn.markBrowser('Ada L.');
  const wrong = { password: 'wrong horse battery' };
  // From many clients, for a name that exists and for one that does not.
  for (const name of ['ada l.', 'eve']) {
    for (let number = 0; number < 5; number++)
      t.same(await attempt({ ...wrong, name, client: `${name} ${number}` }), { kind: 'refused' });
    t.same(await attempt({ ...wrong, name, client: 'another' }), { kind: 'wait', waitMs: 5_000 }, name);
  }
  t.match(await attempt({ client: 'another' }), { kind: 'wait' }, 'also with everything right');
  t.match(await attempt({ browser }), { kind: 'accepted', personId: id }, 'but not in a known browser');
  await clock.advance(30_000);
  for (const forged of [`${browser}x`, 'x', await signIn.markBrowser('eve')]) {
    t.match(await attempt({ ...wrong, client: 'x', browser: forged }), { kind: 'refused' }, 'no mark');
    t.match(await attempt({ ...wrong, client: 'x', browser: forged }), { kind: 'wait' });
    await clock.advance(900_000);
  }
  // A known browser is limited too.
  for (let number = 0; number < 5; number++)
    t.match(await attempt({ ...wrong, browser }), { kind: 'refused' });
  t.match(await attempt({ browser }), { kind: 'wait' });
  t.match(await attempt({ browser: await signIn.markBrowser('ada l.') }), { kind: 'accepted' });
  // One client with many names.
  const kinds: string[] = [];
  for (let number = 0; number < 22; number++)
    kinds.push((await attempt({ ...wrong, name: `name ${number}`, client: 'guesser' })).kind);
  t.same([kinds.indexOf('wait'), kinds.lastIndexOf('refused')], [20, 19]);
});
