/** Secrets in the registry's files: nothing but what AES-256-GCM made of them. */

import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { openCredential } from '../../../src/domain/credential-seal.ts';
import { DEFAULT_CHECK } from '../../../src/domain/service.ts';
import type { NewService } from '../../../src/store/ports/services.ts';
import { openRegistryMethods } from '../../../src/store/registry/registry-thread.ts';
import { createSecretBox, findChecksKey, findKey, keyFile } from '../../../src/store/secrets/secret-box.ts';
import { registryFile } from '../../../src/store/sqlite/private-files.ts';
import { testOverBoth } from '../../support/both-registries.ts';
import { NOON } from '../registry-fixtures.ts';
import { SECRET, URL, withWebhook } from '../webhook-secrets.ts';

const open = (dataDir: string, secretKey: string | null = null) =>
  openRegistryMethods({ dataDir, domainsPerAccount: 10, secretKey });

/** Names of the files of a folder in which a text stands. */
function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes(text));
}

t.test('it writes no secret in clear into any file, and reads each again', async (t) => {
  const dataDir = t.testdir();
  const { registry, accountId } = await withWebhook(open(dataDir));
  t.match(await registry.webhooksOf(accountId), [{ secret: SECRET }]);
  t.same(filesWith(dataDir, SECRET.slice(6)), [], 'beside the running program');
  t.not(filesWith(dataDir, URL).length, 0, 'the files are those that are written');
  await registry.close();
  t.same(filesWith(dataDir, SECRET.slice(6)), []);
  t.equal(statSync(keyFile(dataDir)).mode & 0o777, 0o600);
  const again = await open(dataDir);
  await again.checkSecrets();
  t.match(await again.webhooksOf(accountId), [{ secret: SECRET }]);
  await again.close();
});

t.test(
  'it encrypts what an earlier version stored in clear, and leaves nothing of it in the files',
  async (t) => {
    const dataDir = t.testdir();
    const first = await withWebhook(open(dataDir));
    const { accountId } = first;
    await first.registry.close();
    rmSync(keyFile(dataDir));
    const database = new DatabaseSync(registryFile(dataDir));
    database.exec("DELETE FROM facts WHERE name = 'secrets-check'");
    database.prepare('UPDATE webhooks SET secret = ?').run(SECRET);
    for (const name of ['domain-proof-secret', 'sign-in-secret'])
      database.prepare('INSERT INTO facts (name, value) VALUES (?, ?)').run(name, SECRET);
    database.close();
    t.same(filesWith(dataDir, SECRET), ['registry.sqlite'], 'as an earlier version had it');
    const registry = await open(dataDir);
    await registry.checkSecrets();
    t.equal(await registry.sealSecrets(), 1);
    t.same(filesWith(dataDir, SECRET.slice(6)), [], 'in the log neither');
    t.equal(await registry.sealSecrets(), 0);
    t.match(await registry.webhooksOf(accountId), [{ secret: SECRET }]);
    t.equal(await registry.getFact('domain-proof-secret'), SECRET);
    t.equal(await registry.getFact('sign-in-secret'), null, 'passes are made with the key');
    await registry.close();
    t.same(filesWith(dataDir, SECRET.slice(6)), []);
  },
);

t.test('it makes another text of each sealing, and refuses one that was changed', (t) => {
  const box = createSecretBox(randomBytes(32));
  const sealed = box.seal(SECRET);
  t.not(sealed, box.seal(SECRET));
  t.equal(box.open(sealed), SECRET);
  t.equal(box.open(SECRET), SECRET, 'what an earlier version stored');
  const bytes = Buffer.from(sealed.slice('sealed:v1:'.length), 'base64');
  for (const at of [0, 13, bytes.length - 1]) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    t.throws(
      () => box.open(`sealed:v1:${changed.toString('base64')}`),
      { code: 'secrets_key' },
      `byte ${at}`,
    );
  }
  t.throws(() => box.open('sealed:v1:'), { code: 'secrets_key' });
  t.match(findKey(t.testdir(), null), { kind: 'none' });
  t.end();
});

const PLACE = { domain: 'a.example', kind: 'http', destination: 'https:443', setting: 'token' };

/** A verified service with a sealed token. */
const withToken = (accountId: number, domain: string, token: string): NewService => ({
  ...{ slug: domain.replaceAll('.', '-'), name: domain, domain, category: 'developer', origin: 'owner' },
  ...{ accountId, verified: true, paused: false, statusPage: null },
  check: { ...DEFAULT_CHECK, kind: 'http', settings: { path: '/in' }, sealed: { token } },
});

testOverBoth('it encrypts credentials of checks with a key of their own', async (t, makePlace) => {
  const secretKey = randomBytes(32).toString('hex');
  const place = await makePlace(t);
  const registry = await place.open({ secretKey });
  const [token = ''] = await registry.sealCredentials([{ place: PLACE, text: SECRET }]);
  const key = findChecksKey(place.dataDir, { key: secretKey, checksKey: null });
  t.strictSame(openCredential(key, PLACE, token), { ok: true, text: SECRET });
  t.strictSame(openCredential(Buffer.from(secretKey, 'hex'), PLACE, token), {
    ok: false,
    problem: 'other_key',
  });
  const { id } = await registry.ensureAccount('ada', NOON);
  await registry.addService(withToken(id, 'a.example', token));
  t.same(filesWith(place.dataDir, SECRET.slice(6)), [], 'no file has it');
  // A node that only makes checks has the derived key alone.
  const checksKey = key?.toString('hex') ?? null;
  t.same(findChecksKey(t.testdir(), { key: null, checksKey }), key);
  t.equal(findChecksKey(t.testdir(), { key: null, checksKey: null }), null);
  const other = await place.open({ secretKey: randomBytes(32).toString('hex'), checksKey });
  const [again = ''] = await other.sealCredentials([{ place: PLACE, text: SECRET }]);
  t.strictSame(openCredential(key, PLACE, again), { ok: true, text: SECRET }, 'the setting counts');
});

testOverBoth('credentials end with the service, and with its owner', async (t, makePlace) => {
  const place = await makePlace(t);
  const registry = await place.open();
  const { id: ada } = await registry.ensureAccount('ada', NOON);
  const { id: grace } = await registry.ensureAccount('grace', NOON);
  const [token = ''] = await registry.sealCredentials([{ place: PLACE, text: SECRET }]);
  await registry.addService(withToken(ada, 'a.example', token));
  await registry.addService(withToken(ada, 'b.example', token));
  await registry.addService(withToken(ada, 'c.example', token));
  const checkOf = async (slug: string) =>
    (await registry.loadServices()).find(({ service }) => service.slug === slug)?.service.check;
  t.match(await checkOf('a-example'), { sealed: { token } });
  t.match(
    (await registry.loadTargets([...Array(64).keys()], 'local')).map(({ check }) => check.sealed),
    [{ token }, { token }, { token }],
    'nodes that make checks get them',
  );
  await registry.proveDomain(grace, 'a.example', 'http', NOON);
  t.notOk((await checkOf('a-example'))?.sealed, 'the domain was verified by another account');
  await registry.claimDomain('b.example', ada);
  t.match(await checkOf('b-example'), { kind: 'heartbeat', sealed: undefined, settings: undefined });
  await registry.removeService('c-example');
  const rows = await place.read("SELECT check_definition FROM services WHERE domain = 'c.example'");
  t.notMatch(JSON.stringify(rows), /sealed/);
});

testOverBoth(
  'a reset removes the credentials whose key is lost, and tells their owners',
  async (t, makePlace) => {
    const place = await makePlace(t);
    const lost = await place.open({ secretKey: randomBytes(32).toString('hex') });
    const { id: ada } = await lost.ensureAccount('ada', NOON);
    const [token = ''] = await lost.sealCredentials([{ place: PLACE, text: SECRET }]);
    await lost.addService(withToken(ada, 'a.example', token));
    await lost.close();
    const registry = await place.open({ secretKey: randomBytes(32).toString('hex') });
    const sealed = await registry.sealCredentials([
      { place: { ...PLACE, domain: 'b.example' }, text: SECRET },
    ]);
    await registry.addService(withToken(ada, 'b.example', sealed[0] ?? ''));
    t.same(await registry.resetSecrets(NOON), {
      webhooks: 0,
      channels: 0,
      subscriptions: 0,
      checks: 1,
      passwords: 0,
    });
    t.match(
      (await registry.loadServices()).map(({ service }) => [service.slug, service.check.sealed]),
      [
        ['a-example', undefined],
        ['b-example', { token: sealed[0] }],
      ],
    );
    t.match(await registry.noticesOf(ada), [{ text: /credentials of the check of a\.example were removed/ }]);
    t.same(await registry.resetSecrets(NOON), {
      webhooks: 0,
      channels: 0,
      subscriptions: 0,
      checks: 0,
      passwords: 0,
    });
  },
);

testOverBoth('it takes the key of the setting before that of the file', async (t, makePlace) => {
  for (const key of [randomBytes(32).toString('hex'), randomBytes(32).toString('base64')]) {
    const place = await makePlace(t);
    const { registry, accountId } = await withWebhook(place.open({ secretKey: key }));
    t.throws(() => statSync(keyFile(place.dataDir)), 'no file is made');
    t.notMatch(JSON.stringify(await place.read('SELECT * FROM webhooks')), SECRET.slice(6));
    await registry.close();
    const without = await place.open();
    await t.rejects(without.checkSecrets(), { code: 'secrets_key', message: /is missing\..*secrets\.key/ });
    await without.close();
    const other = await place.open({ secretKey: randomBytes(32).toString('hex') });
    await t.rejects(other.checkSecrets(), { code: 'secrets_key', message: /does not fit/ });
    await t.rejects(other.webhooksOf(accountId), { code: 'secrets_key' });
    await other.close();
  }
});

testOverBoth(
  'it says what to do where the key is lost, and begins anew when it is told to',
  async (t, makePlace) => {
    const place = await makePlace(t);
    const { registry, accountId } = await withWebhook(place.open());
    await registry.close();
    for (const damage of [
      () => rmSync(keyFile(place.dataDir)),
      () => writeFileSync(keyFile(place.dataDir), 'no key'),
      () => writeFileSync(keyFile(place.dataDir), randomBytes(32).toString('hex')),
    ]) {
      damage();
      const broken = await place.open();
      await t.rejects(broken.checkSecrets(), {
        code: 'secrets_key',
        message: /backup.*npx upbeat secrets reset/,
      });
      await broken.close();
    }
    const reset = await place.open();
    t.same(await reset.resetSecrets(NOON), {
      webhooks: 1,
      channels: 0,
      subscriptions: 0,
      checks: 0,
      passwords: 0,
    });
    t.match(await reset.noticesOf(accountId), [
      { text: /webhook to https:\/\/hooks\.example\/1 was removed/ },
    ]);
    await reset.checkSecrets();
    t.same(await reset.webhooksOf(accountId), []);
    await reset.addWebhook({ accountId, url: URL, secret: SECRET, createdAt: NOON });
    t.match(await reset.webhooksOf(accountId), [{ secret: SECRET }]);
    await reset.close();
  },
);
