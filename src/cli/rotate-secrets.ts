/** `upbeat secrets rotate`: encrypts all secrets of the registry with a new key, while no process of Upbeat runs. */

import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { systemClock } from '../clock.ts';
import { type Config, isClustered } from '../config/resolve-config.ts';
import { deriveChecksKey, NONCE_BYTES, openCredential, sealCredential } from '../domain/credential-seal.ts';
import { errorCodeOf, messageOf } from '../error.ts';
import { destinationOf } from '../kinds/settings.ts';
import { acquireLease, identityOf, isRunning } from '../store/lease/writer-lease.ts';
import type { ServiceStateStore } from '../store/ports/services.ts';
import type { RegistryClient } from '../store/registry/registry-client.ts';
import type { ResealedCheck, RotatedSecrets } from '../store/registry/rotate-secrets.ts';
import {
  CHECK_FACT,
  findChecksKey,
  formerKeyFile,
  keyFile,
  makeNewKey,
  readKeyText,
} from '../store/secrets/secret-box.ts';
import { CommandError, type CommonOptions, UsageError } from './command.ts';
import { readCluster } from './nodes.ts';
import { readConfig, withRegistry } from './open-stores.ts';
import { printJson, printNote } from './output.ts';

/** The outcome of the command. */
interface Rotation extends RotatedSecrets {
  /** Services whose credentials could not be decrypted before, and stay as they are. */
  readonly unreadable: readonly string[];
}

/** Encrypts all secrets with a new key, and says what to do next. Throws {@link CommandError} while Upbeat runs. */
export async function rotateSecrets({
  config: file,
  keyFile: path,
  json = false,
}: CommonOptions & {
  /** File with the new key, where the present one is the setting `secrets.key`. */
  readonly keyFile?: string;
}): Promise<void> {
  const config = readConfig(file);
  const given = readGivenKey(config, path);
  await refuseLiveNodes(config);
  const rotation = await withRegistry(file, (registry) => rotate(registry, config, given), {
    alone: true,
  }).catch((error: unknown) => explain(error, file, config, given));
  if (json) printJson(rotation);
  else if (rotation === null) printNote('the secrets are encrypted with that key already');
  else printNote(describe(rotation));
  for (const note of describeNext(config, path)) printNote(note);
}

/** The new key; null: the present one is a file of the data directory, and the command makes another. */
function readGivenKey({ secrets, storage }: Config, path: string | undefined): Buffer | null {
  if (secrets.key === null) {
    if (path === undefined) return null;
    throw new UsageError(
      `the key is ${keyFile(storage.dataDir)}, which the command replaces: leave out --key-file`,
    );
  }
  if (path === undefined)
    throw new UsageError(
      'the key is the setting secrets.key: name a file with the new one by --key-file, such as one of "openssl rand -hex 32"',
    );
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${messageOf(error)}`);
  }
  const key = readKeyText(text);
  if (key === null)
    throw new UsageError(`${path} has no key: expected 64 hexadecimal digits, or base64 of 32 bytes`);
  if (readKeyText(secrets.key)?.equals(key) === true)
    throw new UsageError(`${path} has the key that secrets.key has already`);
  return key;
}

/** Processes of a cluster that only serve or check hold no lease, but they use the key. */
async function refuseLiveNodes(config: Config): Promise<void> {
  const { url } = config.storage.redis;
  if (!isClustered(config) || url === null) return;
  const { nodes } = await readCluster(url);
  if (nodes.length > 0)
    throw new CommandError(
      `stop all nodes first, and start none until the command has ended: ${nodes.map(({ name }) => name).join(', ')}`,
    );
}

async function rotate(registry: RegistryClient, config: Config, given: Buffer | null): Promise<Rotation> {
  const { storage, secrets } = config;
  const lease = await holdLease(registry, config);
  try {
    // Ends a rotation that was interrupted after its commit.
    await registry.checkSecrets();
    const present = findChecksKey(storage.dataDir, secrets);
    const key = given ?? makeNewKey(storage.dataDir);
    // A key of credentials that is set stays as it is.
    const next = secrets.checksKey === null ? deriveChecksKey(key) : null;
    const { resealed, unreadable } =
      present === null || next === null
        ? { resealed: [], unreadable: [] }
        : await resealCredentials(registry, present, next);
    const rotated = await registry.rotateSecrets(key.toString('hex'), resealed);
    // Everything is encrypted with the new key: its file takes the place of the former one.
    if (given === null) await registry.checkSecrets();
    return { ...rotated, unreadable };
  } finally {
    await lease.release();
  }
}

/** While this process holds the lease, no other one becomes the monitor. A holder that hangs is not ended. */
async function holdLease(registry: RegistryClient, { storage }: Config) {
  const { pid } = process;
  return await acquireLease({
    store: registry,
    place: storage.postgres.url === null ? storage.dataDir : 'the database',
    clock: systemClock,
    onLost: () => {},
    self: { pid, host: hostname(), isAlive: isRunning, identity: identityOf(pid), identityOf },
  });
}

async function resealCredentials(
  registry: ServiceStateStore,
  present: Buffer,
  next: Buffer,
): Promise<{ readonly resealed: readonly ResealedCheck[]; readonly unreadable: readonly string[] }> {
  const resealed: ResealedCheck[] = [];
  const unreadable: string[] = [];
  for (const { service } of await registry.loadServices()) {
    const { id, domain, check } = service;
    const { sealed } = check;
    if (sealed === undefined) continue;
    const destination = destinationOf(check);
    const texts = Object.entries(sealed).map(([setting, text]) => {
      const place = { domain, kind: check.kind, destination, setting };
      const reading = openCredential(present, place, text);
      return reading.ok
        ? ([setting, sealCredential(next, place, reading.text, randomBytes(NONCE_BYTES))] as const)
        : null;
    });
    const read = texts.filter((text) => text !== null);
    if (read.length < texts.length) unreadable.push(domain);
    if (read.length > 0) resealed.push({ serviceId: id, sealed: { ...sealed, ...Object.fromEntries(read) } });
  }
  return { resealed, unreadable };
}

/** Null: an earlier run has encrypted the secrets with the given key. Otherwise throws what to do. */
async function explain(
  error: unknown,
  file: string,
  { storage }: Config,
  given: Buffer | null,
): Promise<null> {
  const code = errorCodeOf(error);
  if (code === 'storage_busy')
    throw new CommandError(
      `${storage.dataDir} is in use: stop all processes of Upbeat first, and start none until the command has ended`,
    );
  if (code !== 'secrets_key' || given === null) throw error;
  const isDone = async (registry: RegistryClient) => {
    await registry.checkSecrets();
    // Without this fact, any key would pass.
    return (await registry.getFact(CHECK_FACT)) !== null;
  };
  const done = withRegistry(file, isDone, { alone: true, secretKey: given.toString('hex') });
  if (!(await done.catch(() => false))) throw error;
  return null;
}

function describe({ secrets, checks, unreadable }: Rotation): string {
  const left =
    unreadable.length === 0
      ? ''
      : `; the credentials of ${unreadable.join(', ')} cannot be decrypted and stay as they are`;
  return `encrypted with the new key: ${secrets} secrets, and the credentials of ${checks} checks${left}`;
}

function describeNext(config: Config, path: string | undefined): string[] {
  const { secrets, storage } = config;
  const { dataDir } = storage;
  return [
    path === undefined
      ? `the key is in ${keyFile(dataDir)}, and the former one in ${formerKeyFile(dataDir)}: backups from before need it; move it to where you keep them`
      : `set secrets.key to the content of ${path} before the next start; backups from before need the former key`,
    ...(secrets.checksKey === null && isClustered(config)
      ? [
          'nodes that only make checks need the new secrets.checksKey: "npx upbeat secrets checks-key" prints it',
        ]
      : []),
  ];
}
