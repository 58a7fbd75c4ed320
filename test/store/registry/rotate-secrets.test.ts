/** A new key for everything that is sealed in the registry: all of it or nothing, wherever the work is interrupted. */

import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { deriveChecksKey, openCredential, sealCredential } from '../../../src/domain/credential-seal.ts';
import { DEFAULT_CHECK } from '../../../src/domain/service.ts';
import { openRegistryMethods, type RegistryMethods } from '../../../src/store/registry/registry-thread.ts';
import {
  createSecretBox,
  formerKeyFile,
  keyFile,
  makeNewKey,
} from '../../../src/store/secrets/secret-box.ts';
import { registryFile } from '../../../src/store/sqlite/private-files.ts';
import { type RegistryPlace, testOverBoth } from '../../support/both-registries.ts';
import { NOON, owned } from '../registry-fixtures.ts';

const SECRET = `whsec_${randomBytes(32).toString('base64')}`;
const PLACE = { domain: 'a.example', kind: 'http', destination: 'https:443', setting: 'token' };
const TOPIC = 'service:1';
const REQUEST = { key: 'one', fingerprint: 'f', secret: null, now: NOON };
const ALL = 1_000;

/** Fills a registry with one of everything that is sealed. */
async function fill(registry: RegistryMethods) {
  await registry.checkSecrets();
  await registry.sealSecrets();
  const { id: accountId } = await registry.ensureAccount('ada', NOON);
  const [token = ''] = await registry.sealCredentials([{ place: PLACE, text: SECRET }]);
  const check = { ...DEFAULT_CHECK, kind: 'http', settings: { path: '/in' }, sealed: { token } } as const;
  await registry.addService(owned('a.example', accountId, { check }));
  const webhook = { accountId, url: 'https://hooks.example/1', secret: SECRET, createdAt: NOON };
  await registry.addWebhook(webhook);
  await registry.callIdempotent({ ...REQUEST, accountId }, 'addWebhook', [webhook]);
  const settings = { to: 'ops@example.com' };
  const common = { accountId, name: 'ops', kind: 'email', language: 'en', createdAt: NOON } as const;
  await registry.addChannel({ ...common, settings, confirmedAt: null });
  await registry.askChannels(NOON);
  const subscription = { topic: TOPIC, address: 'eve@example.com', language: 'en', now: NOON } as const;
  await registry.requestSubscription(subscription);
  const { id: personId } = await registry.addPerson('ada', NOON);
  const totpSecret = new Uint8Array(20).fill(7);
  await registry.setPassword(
    personId,
    { name: 'ada', nameKey: 'ADA', hash: 'hash', totpSecret, totpStep: 1, recoveryCodes: [] },
    NOON,
  );
  await registry.setFact('domain-proof-secret', SECRET);
  return { accountId };
}

/** Everything that {@link fill} has sealed, as the registry reads it. */
async function readAll(registry: RegistryMethods, accountId: number) {
  const letters = await registry.dueLetters(NOON, ALL);
  return {
    webhooks: (await registry.webhooksOf(accountId)).map(({ secret }) => secret),
    channels: (await registry.channelsOf(accountId)).map(({ settings }) => settings),
    letters: letters.map(({ kind, to }) => `${kind} ${to}`).sort(),
    totp: (await registry.findPassword('ADA'))?.totpSecret,
    proofs: await registry.getFact('domain-proof-secret'),
  };
}

const WHOLE = {
  webhooks: [SECRET, SECRET],
  channels: [{ to: 'ops@example.com' }],
  letters: ['channel ops@example.com', 'subscribe eve@example.com'],
  totp: new Uint8Array(20).fill(7),
  proofs: SECRET,
};

/** The tables and columns of a registry that have texts. */
async function textColumns(place: RegistryPlace): Promise<readonly (readonly [string, string])[]> {
  const rows = await place.read(
    place.postgresUrl === null
      ? `SELECT tables.name AS "table", columns.name AS "column"
         FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
         WHERE tables.type = 'table' AND columns.type = 'TEXT'`
      : `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
         WHERE table_schema = 'public' AND data_type = 'text'`,
  );
  return rows.map(({ table, column }) => [String(table), String(column)] as const);
}

/** The sealed texts of a registry, by the columns in which they are. */
async function sealedTexts(place: RegistryPlace): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, readonly string[]>();
  for (const [table, column] of await textColumns(place)) {
    const rows = await place.read(
      `SELECT "${column}" AS text FROM "${table}" WHERE "${column}" LIKE 'sealed:v1:%'`,
    );
    if (rows.length > 0)
      found.set(
        `${table}.${column}`,
        rows.map(({ text }) => String(text)),
      );
  }
  return found;
}

const newKeyFile = (dataDir: string) => join(dataDir, 'secret.key.new');
const hexOf = (key: Uint8Array) => Buffer.from(key).toString('hex');

testOverBoth('it encrypts everything that is sealed with another key', async (t, makePlace) => {
  const [before, after] = [randomBytes(32), randomBytes(32)];
  const place = await makePlace(t);
  const registry = await place.open({ secretKey: hexOf(before) });
  const { accountId } = await fill(registry);
  const columns = [...(await sealedTexts(place)).keys()].sort();
  const secrets = (await registry.dueLetters(NOON, ALL)).map(({ secret }) => secret);
  const sealed = {
    token: sealCredential(deriveChecksKey(after), PLACE, JSON.stringify(SECRET), randomBytes(12)),
  };
  t.strictSame(await registry.rotateSecrets(hexOf(after), [{ serviceId: 1, sealed }]), {
    secrets: 7,
    checks: 1,
  });
  await registry.close();

  const texts = await sealedTexts(place);
  // Outcomes of requests are forgotten.
  t.same(
    [...texts.keys()].sort(),
    columns.filter((column) => column !== 'idempotent_changes.outcome'),
  );
  for (const [column, sealed] of texts)
    for (const text of sealed) t.doesNotThrow(() => createSecretBox(after).open(text), column);
  const former = await place.open({ secretKey: hexOf(before) });
  await t.rejects(former.checkSecrets(), { code: 'secrets_key', message: /does not fit/ });
  await former.close();

  const again = await place.open({ secretKey: hexOf(after) });
  await again.checkSecrets();
  t.same(await readAll(again, accountId), WHOLE);
  const [{ check = null } = {}] = await again.servicesOf(accountId);
  t.same(openCredential(deriveChecksKey(after), PLACE, check?.sealed?.token ?? ''), {
    ok: true,
    text: JSON.stringify(SECRET),
  });
  t.equal(await again.findIdempotent({ ...REQUEST, accountId }), null);
  const links = await Promise.all(
    secrets.map(async (secret) => (await again.findAskedChannel(secret)) ?? again.findSubscription(secret)),
  );
  t.notOk(links.includes(null), 'links in letters stay good');
  // The digest of its address is the one that the new key makes.
  await again.requestSubscription({
    topic: TOPIC,
    address: 'Eve@example.com',
    language: 'en',
    now: NOON + 1,
  });
  t.equal((await place.read('SELECT id FROM subscriptions')).length, 1);
  t.equal(await again.askChannels(NOON), 0, 'the receiver of the channel was asked already');
});

t.test('it changes nothing where one secret cannot be decrypted', async (t) => {
  const dataDir = t.testdir();
  const registry = await openRegistryMethods({ dataDir, domainsPerAccount: 9 });
  await fill(registry);
  const database = new DatabaseSync(registryFile(dataDir));
  t.teardown(() => database.close());
  const foreign = createSecretBox(randomBytes(32)).seal('x');
  database.prepare('UPDATE passwords SET totp_secret = ?').run(foreign);
  const rows = () =>
    ['webhooks', 'channels', 'subscriptions', 'channel_confirmations', 'letters', 'services', 'facts'].map(
      (table) => database.prepare(`SELECT * FROM ${table}`).all(),
    );
  const before = rows();
  await t.rejects(registry.rotateSecrets(hexOf(randomBytes(32)), []), { code: 'secrets_key' });
  t.same(rows(), before);
  await registry.checkSecrets();
  await registry.close();
});

testOverBoth('an interrupted rotation ends with one key for everything', async (t, makePlace) => {
  const interruptions: readonly (readonly [title: string, isCommitted: boolean, cut: Cut])[] = [
    ['before the commit', false, () => {}],
    ['while the key is written', false, (dataDir) => writeFileSync(newKeyFile(dataDir), '12')],
    ['after the commit', true, () => {}],
    ['between the files', true, (dataDir) => renameSync(keyFile(dataDir), formerKeyFile(dataDir))],
  ];
  for (const [title, isCommitted, cut] of interruptions) {
    const place = await makePlace(t);
    const { dataDir } = place;
    const registry = await place.open();
    const { accountId } = await fill(registry);
    const before = readFileSync(keyFile(dataDir), 'utf8').trim();
    const after = hexOf(makeNewKey(dataDir));
    if (isCommitted) await registry.rotateSecrets(after, []);
    await registry.close();
    cut(dataDir);
    const again = await place.open();
    await again.checkSecrets();
    t.same(await readAll(again, accountId), WHOLE, title);
    t.equal(readFileSync(keyFile(dataDir), 'utf8').trim(), isCommitted ? after : before, title);
    t.equal(existsSync(formerKeyFile(dataDir)), isCommitted, title);
    t.equal(existsSync(newKeyFile(dataDir)), !isCommitted, title);
    await again.close();
  }
});

type Cut = (dataDir: string) => void;

t.test('nothing opens a registry that must be alone', async (t) => {
  const dataDir = t.testdir();
  const open = (alone: boolean) => openRegistryMethods({ dataDir, domainsPerAccount: 1, alone });
  const running = await open(false);
  await t.rejects(open(true), { code: 'storage_busy' });
  await running.ensureAccount('ada', NOON);
  await running.close();
  const alone = await open(true);
  t.match(await alone.listAccounts(), [{ name: 'ada' }]);
  await t.rejects(open(false), { code: 'storage_busy' });
  await alone.close();
  await (await open(false)).close();
});
