/** `upbeat keys`: API keys without a browser. */
import { createApiKey } from '../auth/api-keys.ts';
import { systemClock } from '../clock.ts';
import { formatTime } from '../domain/durations.ts';
import type { CommonOptions } from './commands.ts';
import { withRegistry } from './open-stores.ts';
import { printRows } from './output.ts';
import { CommandError, readName } from './services.ts';

const COLUMNS = ['id', 'account', 'name', 'prefix', 'created', 'last_used', 'expires', 'state'];

/**
 * Makes a key and prints it alone on standard output, or with what is known of it as JSON; it is shown this once.
 * `expires`: its lifetime, milliseconds above 0 and at most 1000 years; absent: it does not expire.
 */
export async function createKey(
  options: CommonOptions & { account: string; name: string; expires?: number },
): Promise<void> {
  const { config, expires, json = false } = options;
  const account = readName('--account', options.account);
  const name = readName('--name', options.name);
  const now = systemClock.now();
  const expiresAt = expires === undefined ? null : now + expires;
  const { key, record } = await withRegistry(config, (registry) =>
    createApiKey(registry, { account, name, expiresAt, now }),
  );
  const expiry = expiresAt === null ? null : formatTime(expiresAt);
  const view = { id: record.id, account, name, prefix: record.prefix, expires: expiry, key };
  console.log(json ? JSON.stringify(view, null, 2) : key);
}

/** Prints the keys, oldest first. */
export async function listKeys({ config, json = false }: CommonOptions): Promise<void> {
  const keys = await withRegistry(config, (registry) => registry.listKeys());
  const now = systemClock.now();
  const time = (at: number | null) => (at === null ? null : formatTime(at));
  const rows = keys.map((key) => ({
    id: key.id,
    account: key.accountName,
    name: key.name,
    prefix: key.prefix,
    created: time(key.createdAt),
    last_used: time(key.lastUsedAt),
    expires: time(key.expiresAt),
    state:
      key.revokedAt !== null
        ? 'revoked'
        : key.expiresAt !== null && key.expiresAt <= now
          ? 'expired'
          : 'valid',
  }));
  printRows(
    COLUMNS,
    rows,
    json,
    'There are no keys. Make one: upbeat keys create --account NAME --name NAME',
  );
}

/** Revokes a key by its number, in decimal digits as `keys list` shows it: no other notation may hit a key by chance. */
export async function revokeKey(idText: string, { config }: CommonOptions): Promise<void> {
  const id = /^\d+$/.test(idText) ? Number(idText) : Number.NaN;
  const revoked =
    Number.isSafeInteger(id) &&
    (await withRegistry(config, (registry) => registry.revokeKey(id, systemClock.now())));
  if (!revoked) throw new CommandError(`there is no key ${idText}; "upbeat keys list" shows their numbers`);
  console.error(`key ${id} is revoked`);
}
