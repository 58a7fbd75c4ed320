/** Secrets of webhooks in the registry's files: nothing but what AES-256-GCM made of them, and a key that is elsewhere. */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { registryFile } from '../../src/store/registry/registry-database.ts';
import { openRegistryMethods, type RegistryMethods } from '../../src/store/registry/registry-thread.ts';
import { createSecretBox, findKey, keyFile } from '../../src/store/registry/secret-box.ts';
import { testOverBoth } from '../support/both-registries.ts';
import { NOON } from './registry-fixtures.ts';

const SECRET = `whsec_${randomBytes(32).toString('base64')}`;
const URL = 'https://hooks.example/1';
const open = (dataDir: string, secretKey: string | null = null) =>
  openRegistryMethods({ dataDir, domainsPerAccount: 10, secretKey });

/** A registry with a webhook; the id of its account. */
async function withWebhook(opening: Promise<RegistryMethods>) {
  const registry = await opening;
  await registry.checkSecrets();
  await registry.sealSecrets();
  const { id: accountId } = await registry.ensureAccount('ada', NOON);
  await registry.addWebhook({ accountId, url: URL, secret: SECRET, createdAt: NOON });
  return { registry, accountId };
}

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
    database.close();
    t.same(filesWith(dataDir, SECRET), ['registry.sqlite'], 'as an earlier version had it');
    const registry = await open(dataDir);
    await registry.checkSecrets();
    t.equal(await registry.sealSecrets(), 1);
    t.same(filesWith(dataDir, SECRET.slice(6)), [], 'in the log neither');
    t.equal(await registry.sealSecrets(), 0);
    t.match(await registry.webhooksOf(accountId), [{ secret: SECRET }]);
    await registry.close();
    t.same(filesWith(dataDir, SECRET.slice(6)), []);
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
    t.equal(await reset.resetSecrets(NOON), 1);
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
