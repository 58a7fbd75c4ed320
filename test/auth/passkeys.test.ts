/** Passkeys against an authenticator in software: what is accepted, and every answer that is not. */
import t from 'tap';
import { allowsPasskeys, createPasskeys } from '../../src/auth/passkeys.ts';
import { createSignInSecret } from '../../src/auth/sign-in-secret.ts';
import { silentLog } from '../../src/log.ts';
import type { NewPasskey, Passkey } from '../../src/store/ports/sign-in.ts';
import { type AnswerParts, createAuthenticator } from '../support/authenticator.ts';
import { double } from '../support/double.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const SITE = 'https://status.example.com:8443';
const ORIGIN = { origin: SITE, rpId: 'status.example.com' };
const ADA = { subject: 'person 7', name: 'ada', passkeys: [] };

/** Passkeys of a site over a registry in memory. */
function world(siteUrl = SITE) {
  const clock = createFakeClock();
  const stored = new Map<string, Passkey>();
  const used = new Set<string>();
  const secret = createSignInSecret(new Uint8Array(32));
  const passkeys = createPasskeys({
    siteUrl,
    secret,
    now: clock.now,
    log: silentLog,
    registry: double({
      findPasskey: async (id) => stored.get(id) ?? null,
      async usePasskey(id, counter, now) {
        const found = stored.get(id);
        if (found === undefined || (found.counter >= counter && counter + found.counter > 0)) return false;
        stored.set(id, { ...found, counter, lastUsedAt: now });
        return true;
      },
      async useOnce(sha256) {
        const key = Buffer.from(sha256).toString('hex');
        const isNew = !used.has(key);
        used.add(key);
        return isNew;
      },
    }),
  });
  const store = (passkey: NewPasskey, personId: number) =>
    stored.set(passkey.id, { ...passkey, personId, createdAt: 0, lastUsedAt: null });
  /** Registers a passkey of the person 7. */
  const enrol = async () => {
    const authenticator = createAuthenticator();
    const { options, state } = await passkeys.begin(ADA);
    const answer = authenticator.register({ ...ORIGIN, challenge: options.challenge }, options.user.id);
    const passkey = await passkeys.finish(ADA, state, answer, 'phone');
    if (passkey === null) throw new Error('the passkey was refused');
    store(passkey, 7);
    return { authenticator, passkey, answer, state };
  };
  /** Signs in, with some parts of the answer changed. */
  const signIn = async (
    authenticator: ReturnType<typeof createAuthenticator>,
    parts: Partial<AnswerParts> = {},
  ) => {
    const { options, state } = await passkeys.beginSignIn();
    const answer = authenticator.signIn({ ...ORIGIN, challenge: options.challenge, ...parts });
    return { personId: await passkeys.finishSignIn(state, answer), answer, state };
  };
  return { passkeys, clock, stored, store, enrol, signIn };
}

t.test('a passkey that was registered signs its person in', async (t) => {
  const { passkeys, enrol, signIn, stored } = world();
  const { options } = await passkeys.begin(ADA);
  t.match(options, {
    rp: { id: 'status.example.com' },
    user: { name: 'ada' },
    attestation: 'none',
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
  const { authenticator, passkey } = await enrol();
  t.match(passkey, { id: authenticator.id, name: 'phone', counter: 0, transports: ['internal'] });
  t.equal((await signIn(authenticator)).personId, 7);
  t.equal((await signIn(authenticator)).personId, 7, 'without a counter');
  t.equal((await signIn(authenticator, { counter: 5 })).personId, 7);
  t.equal(stored.get(passkey.id)?.counter, 5);
  t.match((await passkeys.beginSignIn()).options, {
    userVerification: 'required',
    allowCredentials: undefined,
  });
  const again = await passkeys.begin({ ...ADA, passkeys: [passkey] });
  t.same(again.options.excludeCredentials, [
    { id: passkey.id, transports: ['internal'], type: 'public-key' },
  ]);
  t.equal(again.options.user.id, passkey.userHandle, 'all passkeys of a person have one handle');
});

t.test('it refuses every answer that is not for this sign-in', async (t) => {
  const { enrol, signIn, passkeys, clock, store } = world();
  const { authenticator, passkey } = await enrol();
  const first = await signIn(authenticator, { counter: 9 });
  t.equal(first.personId, 7);
  t.equal(await passkeys.finishSignIn(first.state, first.answer), null, 'replayed');
  const rows: readonly (readonly [what: string, parts: Partial<AnswerParts>])[] = [
    ['another origin', { origin: 'https://evil.example' }],
    ['another port of the host', { origin: 'https://status.example.com' }],
    ['plain http', { origin: 'http://status.example.com:8443' }],
    ['another relying party', { rpId: 'example.com' }],
    ['another challenge', { challenge: Buffer.alloc(32).toString('base64url') }],
    ['an old counter', { counter: 9 }],
    ['a counter that was reset', { counter: 0 }],
    ['no verification of the person', { isVerified: false }],
    ['a registration', { type: 'webauthn.create' }],
    ['the handle of another person', { userHandle: Buffer.from('other').toString('base64url') }],
  ];
  for (const [what, parts] of rows)
    t.equal((await signIn(authenticator, { counter: 10, ...parts })).personId, null, what);
  t.equal((await signIn(createAuthenticator(), { counter: 10 })).personId, null, 'unknown');
  const other = createAuthenticator();
  store({ ...passkey, id: other.id }, 8);
  t.equal((await signIn(other, { counter: 10 })).personId, null, 'the key of another passkey');

  const { options, state } = await passkeys.beginSignIn();
  const answer = authenticator.signIn({ ...ORIGIN, challenge: options.challenge, counter: 11 });
  const [content = '', mac = ''] = state.split('.');
  for (const [what, changed] of [
    ['a state of nobody', 'e30.AAAA'],
    ['no state', ''],
    ['a state without its signature', content],
    ['a changed state', `${content.slice(0, -2)}AA.${mac}`],
    ['a state for a registration', (await passkeys.begin(ADA)).state],
  ] as const)
    t.equal(await passkeys.finishSignIn(changed, answer), null, what);
  for (const text of [
    '',
    '{}',
    'null',
    '[]',
    '{"id":7}',
    answer.replace('"id"', '"di"'),
    `${answer}x`,
    `"${'x'.repeat(20_000)}"`,
  ])
    t.equal(await passkeys.finishSignIn(state, text), null, text.slice(0, 20));
  await clock.advance(300_000);
  t.equal(await passkeys.finishSignIn(state, answer), null, 'too late');
});

t.test('it refuses every answer that is not for this registration', async (t) => {
  const { passkeys, enrol } = world();
  const made = await enrol();
  t.equal(await passkeys.finish(ADA, made.state, made.answer, 'phone'), null, 'replayed');
  const rows: readonly (readonly [what: string, parts: Partial<AnswerParts>])[] = [
    ['another origin', { origin: 'https://evil.example' }],
    ['another relying party', { rpId: 'evil.example' }],
    ['another challenge', { challenge: 'AAAA' }],
    ['no verification of the person', { isVerified: false }],
    ['a sign-in', { type: 'webauthn.get' }],
  ];
  for (const [what, parts] of rows) {
    const { options, state } = await passkeys.begin(ADA);
    const answer = createAuthenticator().register(
      { ...ORIGIN, challenge: options.challenge, ...parts },
      options.user.id,
    );
    t.equal(await passkeys.finish(ADA, state, answer, 'phone'), null, what);
  }
  const { options, state } = await passkeys.begin(ADA);
  const answer = createAuthenticator().register({ ...ORIGIN, challenge: options.challenge }, options.user.id);
  t.equal(
    await passkeys.finish({ subject: 'person 8' }, state, answer, 'x'),
    null,
    'begun by another person',
  );
  t.equal(await passkeys.finish(ADA, (await passkeys.beginSignIn()).state, answer, 'x'), null);
  t.ok(await passkeys.finish(ADA, state, answer, 'x'), 'the same answer for its person');
});

t.test('browsers allow passkeys on sites with a name, over TLS or on this machine', async (t) => {
  const rows: readonly (readonly [siteUrl: string, allowed: boolean])[] = [
    ['https://status.example.com', true],
    ['http://status.example.com', false],
    ['http://localhost:8080', true],
    ['http://upbeat.localhost', true],
    ['http://127.0.0.1:8080', false],
    ['https://192.0.2.7', false],
    ['https://[2001:db8::1]', false],
  ];
  for (const [siteUrl, allowed] of rows) t.equal(allowsPasskeys(siteUrl), allowed, siteUrl);
});
