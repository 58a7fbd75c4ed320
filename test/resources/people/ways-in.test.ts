/** Changes of what a person signs in with need a recent sign-in, and end the person's other sessions. */
import t from 'tap';
import { createLocalSignIn } from '../../../src/auth/password-sign-in.ts';
import { createSessions } from '../../../src/auth/sessions.ts';
import { silentLog } from '../../../src/log.ts';
import {
  addPasskey,
  changePassword,
  removePasskey,
  removePassword,
  renewRecoveryCodes,
  type SignedInPerson,
} from '../../../src/resources/people/ways-in.ts';
import { openRegistryMethods } from '../../../src/store/registry/registry-thread.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { registryHere } from '../../support/registry-here.ts';

t.test('a sign-in of long ago changes nothing, and a recent one ends the other sessions', async (t) => {
  const clock = createFakeClock();
  const methods = await openRegistryMethods({ dataDir: t.testdir(), domainsPerAccount: 1 });
  const registry = registryHere(methods, clock);
  t.teardown(() => registry.close());
  const siteUrl = 'https://status.example.com';
  const local = createLocalSignIn({
    registry,
    secretKey: new Uint8Array(32),
    siteUrl,
    now: clock.now,
    log: silentLog,
  });
  const context = { registry, ...local, providers: [], now: clock.now };
  const { id: personId } = await registry.addPerson('ada', clock.now());
  const passkey = {
    publicKey: new Uint8Array(1),
    counter: 0,
    transports: [],
    userHandle: 'h',
    name: 'phone',
  };
  for (const id of ['a', 'b', 'c']) await registry.addPasskey(personId, { ...passkey, id }, clock.now());
  const sessions = createSessions({ registry, clock });
  const open = async (): Promise<SignedInPerson> => {
    const { token } = await sessions.open(personId);
    const session = await sessions.find(token);
    if (session === null) throw new Error('no session');
    return { personId, session: session.sha256, signedInAt: session.createdAt };
  };
  const before = await open();
  const password = { name: 'ada', password: 'correct horse battery', code: '000000', seed: 'x' };
  const answer = { subject: `person ${personId}`, name: 'phone', state: '', answer: '' };
  const changes = {
    'a password': (person: SignedInPerson) => changePassword(context, person, password),
    'no password': (person: SignedInPerson) => removePassword(context, person),
    'recovery codes': (person: SignedInPerson) => renewRecoveryCodes(context, person),
    'a passkey': (person: SignedInPerson) => addPasskey(context, person, answer),
    'no passkey': (person: SignedInPerson) => removePasskey(context, person, 'a'),
  };
  await clock.advance(15 * 60_000 + 1);
  for (const [what, change] of Object.entries(changes))
    t.same(
      await change(before),
      { ok: false, refusals: [{ field: null, refusal: { code: 'sign_in_again', minutes: 15 } }] },
      what,
    );
  const recent = await open();
  await clock.advance(15 * 60_000);
  t.match(await changes['a password'](recent), { refusals: [{ field: 'code' }] });
  t.match(await changes['a passkey'](recent), { refusals: [{ refusal: { code: 'passkey_refused' } }] });
  t.equal((await registry.sessionsOf(personId, clock.now())).length, 2, 'a refused change ends none');
  t.match(await changes['no passkey'](recent), { ok: true });
  t.same(
    (await registry.sessionsOf(personId, clock.now())).map(({ sha256 }) => sha256),
    [recent.session],
  );
  await open();
  t.match(await changes['no password'](recent), { ok: true });
  t.equal((await registry.sessionsOf(personId, clock.now())).length, 1);
});
