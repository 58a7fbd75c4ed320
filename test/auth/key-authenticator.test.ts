import t, { type Test } from 'tap';
import {
  createApiKey,
  createKeyAuthenticator,
  generateKeyText,
  type KeyRequest,
  readKey,
} from '../../src/auth/api-keys.ts';
import { type Log, silentLog } from '../../src/log.ts';
import type { AccountStore, ApiKey, KeyStore } from '../../src/store/ports/accounts.ts';
import { openRegistryMethods } from '../../src/store/registry/registry-thread.ts';
import { double } from '../support/double.ts';
import { createFakeClock } from '../support/fake-clock.ts';

/** An authenticator over a real registry that counts look-ups and can be made to fail. */
async function setUp(
  t: Test,
  options: {
    readonly maxCachedKeys?: number;
    readonly log?: Log;
    readonly isRevoked?: (keyId: number) => Promise<boolean>;
  } = {},
) {
  const clock = createFakeClock();
  const methods = await openRegistryMethods({ dataDir: t.testdir(), domainsPerAccount: 1 });
  const calls = { find: 0, touch: [] as (readonly [number, number])[][] };
  const fault: { error: Error | null; wait: Promise<void> } = { error: null, wait: Promise.resolve() };
  const registry = double<KeyStore & AccountStore>({
    ensureAccount: methods.ensureAccount,
    createKey: methods.createKey,
    async findKey(sha256: Uint8Array): Promise<ApiKey | null> {
      calls.find++;
      const found = methods.findKey(sha256);
      await fault.wait;
      if (fault.error !== null) throw fault.error;
      return found;
    },
    async touchKeys(uses: readonly (readonly [number, number])[]) {
      if (fault.error !== null) throw fault.error;
      calls.touch.push([...uses]);
      await methods.touchKeys(uses);
    },
  });
  const authenticator = createKeyAuthenticator({ registry, clock, log: silentLog, ...options });
  t.teardown(async () => {
    fault.error = null;
    await authenticator.close();
    await methods.close();
  });
  const create = (change: Partial<KeyRequest> = {}) =>
    createApiKey(registry, { account: 'acme', name: 'ci', expiresAt: null, now: clock.now(), ...change });
  return { clock, methods, calls, fault, authenticator, create };
}

t.test('it makes a key that works at once, and stores no secret', async (t) => {
  const { authenticator, create, methods, clock } = await setUp(t);
  const { key, record } = await create({ expiresAt: clock.now() + 1_000 });
  t.same(record, {
    id: 1,
    accountId: 1,
    scopes: ['read', 'heartbeat'],
    accountName: 'acme',
    name: 'ci',
    prefix: key.slice(0, 8),
    createdAt: clock.now(),
    lastUsedAt: null,
    expiresAt: clock.now() + 1_000,
    revokedAt: null,
  });
  t.notOk(JSON.stringify(methods.listKeys()).includes(key.slice(8)));
  t.same(await authenticator.authenticate(`Bearer ${key}`), { kind: 'key', key: record });
});

t.test('it reads the Bearer scheme and nothing else', async (t) => {
  const { authenticator, create, calls } = await setUp(t);
  const { key } = await create();
  const table: [string | undefined, 'anonymous' | 'key' | 'invalid'][] = [
    [undefined, 'anonymous'],
    ['', 'anonymous'],
    [`Basic ${key}`, 'anonymous'],
    ['Basic dXNlcjpwYXNz', 'anonymous'],
    [key, 'anonymous'],
    [`Bearer${key}`, 'anonymous'],
    [`Bearer ${key}`, 'key'],
    [`bearer ${key}`, 'key'],
    [`BEARER   ${key}  `, 'key'],
    [` Bearer ${key}`, 'key'],
    ['Bearer', 'invalid'],
    ['Bearer ', 'invalid'],
    [`Bearer ${key} ${key}`, 'invalid'],
    [`Bearer ${key},`, 'invalid'],
    [`Bearer ${key.slice(0, -1)}`, 'invalid'],
    [`Bearer ${key.toLowerCase()}`, 'invalid'],
    [`Bearer ${' '.repeat(10_000)}x`, 'invalid'],
  ];
  for (const [header, kind] of table)
    t.equal((await authenticator.authenticate(header)).kind, kind, JSON.stringify(header)?.slice(0, 60));
  t.equal(calls.find, 1, 'only one of these needed a look-up');
  t.same(await authenticator.authenticate(`Bearer ${generateKeyText()}`), { kind: 'invalid' });
  t.equal(calls.find, 2);
});

t.test('it answers without waiting what it knows, and says where it must ask', async (t) => {
  const { authenticator, create, clock } = await setUp(t);
  const { key, record } = await create();
  const header = `Bearer ${key}`;
  t.same(authenticator.peek(undefined), { kind: 'anonymous' });
  t.same(authenticator.peek('Basic x'), { kind: 'anonymous' });
  t.same(authenticator.peek('Bearer x'), { kind: 'invalid' });
  t.equal(authenticator.peek(header), undefined);
  await authenticator.authenticate(header);
  t.same(authenticator.peek(header), { kind: 'key', key: record });
  await clock.advance(499);
  t.same(authenticator.peek(header), { kind: 'key', key: record });
  await clock.advance(1);
  t.equal(authenticator.peek(header), undefined, 'half a second later it must ask again');
});

t.test('it hears of a revocation by any process within one second', async (t) => {
  const { authenticator, create, clock, methods, calls } = await setUp(t);
  const { key, record } = await create();
  await authenticator.authenticate(`Bearer ${key}`);
  await methods.revokeKey(record.id, clock.now());
  for (let use = 0; use < 10; use++) {
    await clock.advance(40);
    t.equal(
      (await authenticator.authenticate(`Bearer ${key}`)).kind,
      'key',
      'a hot key is believed meanwhile',
    );
  }
  t.equal(calls.find, 1, 'and costs no look-up');
  await clock.advance(100);
  t.same(
    await authenticator.authenticate(`Bearer ${key}`),
    { kind: 'invalid' },
    'its use does not prolong that',
  );
  t.equal(authenticator.peek(`Bearer ${key}`), undefined, 'a bad answer is not remembered');
});

t.test('it believes an answer from the time of the question on', async (t) => {
  const { authenticator, create, clock, fault } = await setUp(t);
  const { key } = await create();
  const gate = Promise.withResolvers<void>();
  fault.wait = gate.promise;
  const asked = authenticator.authenticate(`Bearer ${key}`);
  await clock.advance(450);
  gate.resolve();
  t.equal((await asked).kind, 'key');
  await clock.advance(49);
  t.ok(authenticator.peek(`Bearer ${key}`));
  await clock.advance(1);
  t.equal(authenticator.peek(`Bearer ${key}`), undefined);
});

t.test('it refuses a key from the moment it expires, remembered or not', async (t) => {
  const { authenticator, create, clock } = await setUp(t);
  const { key } = await create({ expiresAt: clock.now() + 100 });
  await clock.advance(99);
  t.equal((await authenticator.authenticate(`Bearer ${key}`)).kind, 'key');
  await clock.advance(1);
  t.same(authenticator.peek(`Bearer ${key}`), { kind: 'invalid' });
  t.same(await authenticator.authenticate(`Bearer ${key}`), { kind: 'invalid' });
  await clock.advance(1_000);
  t.same(await authenticator.authenticate(`Bearer ${key}`), { kind: 'invalid' });
});

t.test('it remembers no bad answer: a key stored a moment later works', async (t) => {
  const { authenticator, methods, clock, calls } = await setUp(t);
  const key = generateKeyText();
  const header = `Bearer ${key}`;
  t.same(await authenticator.authenticate(header), { kind: 'invalid' });
  const { id } = await methods.ensureAccount('acme', 0);
  const sha256 = readKey(key)?.sha256 ?? new Uint8Array();
  await methods.createKey({ accountId: id, name: 'n', prefix: 'p', sha256, createdAt: 0, expiresAt: null });
  t.equal((await authenticator.authenticate(header)).kind, 'key');
  t.equal(calls.find, 2);
  await clock.advance(0);
});

t.test('it shares one question among requests that come together', async (t) => {
  const { authenticator, create, calls } = await setUp(t);
  const [one, two] = [await create(), await create()];
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, n) =>
      authenticator.authenticate(`Bearer ${n % 2 === 0 ? one.key : two.key}`),
    ),
  );
  t.equal(calls.find, 2);
  t.same(answers[0], { kind: 'key', key: one.record });
  t.same(answers[99], { kind: 'key', key: two.record });
});

t.test('it joins no question that is older than an answer may be', async (t) => {
  const { authenticator, create, clock, calls, fault, methods } = await setUp(t);
  const { key, record } = await create();
  const gate = Promise.withResolvers<void>();
  fault.wait = gate.promise;
  const early = authenticator.authenticate(`Bearer ${key}`);
  await methods.revokeKey(record.id, clock.now());
  await clock.advance(500);
  const late = authenticator.authenticate(`Bearer ${key}`);
  gate.resolve();
  t.equal((await early).kind, 'key');
  t.equal((await late).kind, 'invalid');
  t.equal(calls.find, 2);
});

t.test('it remembers a bounded number of keys', async (t) => {
  const { authenticator, create, clock } = await setUp(t, { maxCachedKeys: 3 });
  const headers: string[] = [];
  for (let n = 0; n < 5; n++) {
    const header = `Bearer ${(await create()).key}`;
    headers.push(header);
    await authenticator.authenticate(header);
    await clock.advance(1);
  }
  t.same(
    headers.map((header) => authenticator.peek(header)?.kind),
    [undefined, undefined, 'key', 'key', 'key'],
  );
});

t.test('it rejects while the registry is out of reach, and asks again afterwards', async (t) => {
  const { authenticator, create, fault } = await setUp(t);
  const { key } = await create();
  fault.error = new Error('away');
  await t.rejects(authenticator.authenticate(`Bearer ${key}`), { message: 'away' });
  t.same(await authenticator.authenticate('Bearer upb_typo'), { kind: 'invalid' });
  fault.error = null;
  t.equal((await authenticator.authenticate(`Bearer ${key}`)).kind, 'key');
});

t.test('it knows a key for an hour while the server of the registry is away', async (t) => {
  const { clock, fault, authenticator, create, methods } = await setUp(t);
  const { key } = await create();
  const { key: revoked, record } = await create({ name: 'revoked' });
  for (const one of [key, revoked]) await authenticator.authenticate(`Bearer ${one}`);
  await methods.revokeKey(record.id, clock.now());
  await clock.advance(1_000);
  t.match(await authenticator.authenticate(`Bearer ${revoked}`), { kind: 'invalid' });
  fault.error = Object.assign(new Error('away'), { code: 'storage_unreachable' });
  await clock.advance(3_598_000);
  t.match(await authenticator.authenticate(`Bearer ${key}`), { kind: 'key' });
  await t.rejects(authenticator.authenticate(`Bearer ${revoked}`), fault.error, 'it was known to be revoked');
  await t.rejects(authenticator.authenticate(`Bearer ${generateKeyText()}`), fault.error, 'never seen');
  await clock.advance(2_000);
  await t.rejects(authenticator.authenticate(`Bearer ${key}`), fault.error);
});

t.test('it refuses a key of which it hears elsewhere that it was revoked', async (t) => {
  const revokedIds = new Set<number>();
  const isRevoked = async (id: number) => revokedIds.has(id);
  const { clock, fault, authenticator, create } = await setUp(t, { isRevoked });
  const { key } = await create();
  const { key: revoked, record } = await create({ name: 'revoked' });
  for (const one of [key, revoked]) await authenticator.authenticate(`Bearer ${one}`);
  await clock.advance(1_000);
  fault.error = Object.assign(new Error('away'), { code: 'storage_unreachable' });
  t.match(await authenticator.authenticate(`Bearer ${revoked}`), { kind: 'key' }, 'not heard of yet');
  revokedIds.add(record.id);
  t.match(await authenticator.authenticate(`Bearer ${revoked}`), { kind: 'invalid' });
  t.match(await authenticator.authenticate(`Bearer ${key}`), { kind: 'key' });
  revokedIds.clear();
  t.match(await authenticator.authenticate(`Bearer ${revoked}`), { kind: 'invalid' }, 'it remembers it');
});

t.test('it writes last-used times in batches, and the rest when it stops', async (t) => {
  const { authenticator, create, clock, calls, methods } = await setUp(t);
  const [one, two] = [await create(), await create()];
  const startAt = clock.now();
  for (let use = 0; use < 4; use++) {
    await authenticator.authenticate(`Bearer ${one.key}`);
    await clock.advance(1_000);
  }
  await authenticator.authenticate(`Bearer ${two.key}`);
  t.same(calls.touch, []);
  await clock.advance(1_000);
  t.same(calls.touch, [
    [
      [one.record.id, startAt + 3_000],
      [two.record.id, startAt + 4_000],
    ],
  ]);
  await clock.advance(10_000);
  t.equal(calls.touch.length, 1, 'nothing to write, nothing written');
  await authenticator.authenticate(`Bearer ${one.key}`);
  await authenticator.close();
  t.same(
    (await methods.listKeys()).map(({ lastUsedAt }) => lastUsedAt),
    [startAt + 15_000, startAt + 4_000],
  );
});

t.test('it keeps times of last use that could not be written', async (t) => {
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (_, message) => void warnings.push(message) };
  const { authenticator, create, clock, calls, fault } = await setUp(t, { log });
  const [one, two] = [await create(), await create()];
  const startAt = clock.now();
  await authenticator.authenticate(`Bearer ${one.key}`);
  await authenticator.authenticate(`Bearer ${two.key}`);
  fault.error = new Error('away');
  await clock.advance(5_000);
  fault.error = null;
  t.equal(warnings.length, 1);
  await authenticator.authenticate(`Bearer ${one.key}`);
  await clock.advance(5_000);
  t.same(calls.touch, [
    [
      [one.record.id, startAt + 5_000],
      [two.record.id, startAt],
    ],
  ]);
});
