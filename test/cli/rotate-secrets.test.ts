/** `upbeat secrets rotate`: alone with the registry, by the key that the configuration has, and killed at any moment. */

import { spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/clock.ts';
import { openCredential } from '../../src/domain/credential-seal.ts';
import { DEFAULT_CHECK } from '../../src/domain/service.ts';
import { silentLog } from '../../src/log.ts';
import { openRegistryInProcess } from '../../src/store/registry/open-registry.ts';
import type { RegistryClient } from '../../src/store/registry/registry-client.ts';
import { findChecksKey } from '../../src/store/secrets/secret-box.ts';
import { NOON, owned } from '../store/registry-fixtures.ts';
import { NEEDS_POSTGRES } from '../support/postgres-server.ts';
import { install } from '../support/program.ts';
import { createRegistry, usePostgres } from '../support/run-servers.ts';

t.setTimeout(300_000);

const CLI = join(import.meta.dirname, '../../bin/upbeat.mjs');
const SECRET = 'whsec_c2VjcmV0';
const CHANNELS = 50;
const PLACE = { domain: 'a.example', kind: 'http', destination: 'https:443', setting: 'token' };

const hexKey = () => randomBytes(32).toString('hex');

/** An installation whose registry has secrets, and its key of secrets; null: in the data directory. */
async function setUp(t: Test, secretKey: string | null = null, postgresUrl: string | null = null) {
  const secrets = secretKey === null ? {} : { secrets: { key: secretKey } };
  const storage = postgresUrl === null ? {} : { storage: { postgres: { url: postgresUrl } } };
  const installation = await install([], { ...secrets, ...storage });
  t.teardown(installation.remove);
  const dataDir = join(installation.folder, 'data');
  const withRegistry = async <T>(work: (registry: RegistryClient) => Promise<T>, key = secretKey) => {
    const options = { dataDir, postgresUrl, secretKey: key, log: silentLog, clock: systemClock };
    const registry = await openRegistryInProcess(options);
    return await work(registry).finally(registry.close);
  };
  await withRegistry(async (registry) => {
    await registry.checkSecrets();
    await registry.sealSecrets();
    const { id: accountId } = await registry.ensureAccount('ada', NOON);
    for (let index = 0; index < CHANNELS; index++)
      await registry.addChannel({
        ...{ accountId, name: `c${index}`, kind: 'ntfy', settings: { topic: `t${index}` }, language: 'en' },
        ...{ confirmedAt: NOON, createdAt: NOON },
      });
    await registry.addWebhook({ accountId, url: 'https://hooks.example/1', secret: SECRET, createdAt: NOON });
    const [token = ''] = await registry.sealCredentials([{ place: PLACE, text: '"word"' }]);
    const check = { ...DEFAULT_CHECK, kind: 'http', sealed: { token } } as const;
    await registry.addService(owned('a.example', accountId, { check }));
  });
  const config = join(installation.folder, 'upbeat.yaml');
  /** What is not as it was: the secrets as a process with the present configuration reads them. */
  const wrong = (key = secretKey): Promise<string[]> =>
    withRegistry(async (registry) => {
      const [account] = await registry.listAccounts();
      const accountId = account?.id ?? 0;
      const webhooks = await registry.webhooksOf(accountId);
      const topics = (await registry.channelsOf(accountId)).map(({ settings }) => settings.topic);
      const [service] = await registry.servicesOf(accountId);
      const checksKey = findChecksKey(dataDir, { key, checksKey: null });
      const token = openCredential(checksKey, PLACE, service?.check.sealed?.token ?? '');
      return [
        ...(webhooks.every(({ secret }) => secret === SECRET) ? [] : ['webhook']),
        ...(new Set(topics).size === CHANNELS && topics.every((topic) => /^t\d+$/.test(String(topic)))
          ? []
          : ['channels']),
        ...(token.ok && token.text === '"word"' ? [] : ['credentials']),
      ];
    }, key);
  const setKey = (key: string) =>
    writeFileSync(config, readFileSync(config, 'utf8').replace(secretKey ?? '', key));
  return { ...installation, withRegistry, dataDir, config, wrong, setKey };
}

t.test('it makes another key in the data directory, and keeps the former one beside it', async (t) => {
  const { runHere, dataDir, wrong } = await setUp(t);
  const file = join(dataDir, 'secret.key');
  const before = readFileSync(file, 'utf8');
  const rotated = await runHere('secrets', 'rotate');
  t.match(rotated, {
    status: 0,
    stdout: '',
    stderr: /^encrypted with the new key: 51 secrets, and the credentials of 1 checks\nthe key is in/,
  });
  t.not(readFileSync(file, 'utf8'), before);
  t.equal(readFileSync(`${file}.former`, 'utf8'), before);
  t.same(await wrong(), []);
  t.match(JSON.parse((await runHere('secrets', 'rotate', '--json')).stdout), {
    ...{ secrets: 51, checks: 1, unreadable: [] },
  });
  t.same(await wrong(), []);
  t.match(await runHere('secrets', 'rotate', '--key-file', file), {
    status: 2,
    stderr: /leave out --key-file/,
  });
});

t.test('it takes the new key from a file where the present one is a setting', async (t) => {
  const [before, after] = [hexKey(), hexKey()];
  const { runHere, dataDir, folder, setKey, wrong } = await setUp(t, before);
  const file = join(folder, 'new-key');
  const rotate = (...words: string[]) => runHere('secrets', 'rotate', ...words);
  t.match(await rotate(), { status: 2, stderr: /--key-file/ });
  t.match(await rotate('--key-file', file), { status: 1, stderr: /cannot be read/ });
  writeFileSync(file, 'short');
  t.match(await rotate('--key-file', file), { status: 2, stderr: /has no key/ });
  writeFileSync(file, before);
  t.match(await rotate('--key-file', file), { status: 2, stderr: /has already/ });
  t.same(await wrong(), []);
  writeFileSync(file, `${after}\n`);
  t.match(await rotate('--key-file', file), { status: 0, stderr: /set secrets\.key to the content of/ });
  t.match(
    await rotate('--key-file', file),
    { status: 0, stderr: /with that key already/ },
    'as after a kill',
  );
  setKey(after);
  t.same(await wrong(after), []);
  t.equal(existsSync(join(dataDir, 'secret.key')), false);
});

t.test('it refuses while a process has the registry open', async (t) => {
  const { runHere, withRegistry, wrong, dataDir } = await setUp(t);
  const refused = await withRegistry(() => runHere('secrets', 'rotate'));
  t.match(refused, { status: 1, stderr: /is in use: stop all processes of Upbeat first/ });
  t.equal(existsSync(join(dataDir, 'secret.key.new')), false);
  t.same(await wrong(), []);
});

t.test('it refuses while a monitor holds the lease in PostgreSQL', NEEDS_POSTGRES, async (t) => {
  const server = await usePostgres(t);
  const name = `test_${randomBytes(8).toString('hex')}`;
  await createRegistry(server, name);
  const { runHere, withRegistry, wrong, dataDir } = await setUp(t, null, server.url(name));
  const refused = await withRegistry(async (registry) => {
    const { now } = systemClock;
    const { fence: replacing, renewedAt } = await registry.readLease();
    // A process with this number runs on every machine.
    const fence = await registry.takeLease({ pid: 1, host: hostname(), replacing, renewedAt, now: now() });
    if (fence === null) throw new Error('another process has the lease');
    const renewing = setInterval(() => registry.renewLease(fence, now()), 250);
    const outcome = await runHere('secrets', 'rotate');
    clearInterval(renewing);
    await registry.releaseLease(fence);
    return outcome;
  });
  t.match(refused, { status: 1, stderr: /Process 1 on .* is the monitor of the database already/ });
  t.equal(existsSync(join(dataDir, 'secret.key.new')), false);
  t.same(await wrong(), []);
  t.match(await runHere('secrets', 'rotate'), { status: 0, stderr: /51 secrets, .* 1 checks/ });
  t.same(await wrong(), []);
});

t.test('everything is readable after a kill at any moment', async (t) => {
  const { config, dataDir, wrong } = await setUp(t);
  const file = join(dataDir, 'secret.key');
  let [kills, changed] = [0, 0];
  const readNew = () => (existsSync(`${file}.new`) ? readFileSync(`${file}.new`, 'utf8') : '');
  for (let round = 0; round < 6; round++) {
    const [before, left] = [readFileSync(file, 'utf8'), readNew()];
    const child = spawn(process.execPath, [CLI, 'secrets', 'rotate', '--config', config], {
      stdio: 'ignore',
    });
    const ended = once(child, 'exit');
    // The new key is written just before the transaction.
    const begun = setInterval(() => {
      const written = readNew();
      if (written === '' || written === left) return;
      clearInterval(begun);
      setTimeout(() => child.kill('SIGKILL'), randomInt(0, 25));
    }, 1);
    const [, signal] = await ended;
    clearInterval(begun);
    if (signal === 'SIGKILL') kills++;
    t.same(await wrong(), [], `round ${round}`);
    if (readFileSync(file, 'utf8') !== before) changed++;
  }
  t.comment(`${kills} kills, ${changed} keys took effect`);
  t.ok(kills > 0);
});
