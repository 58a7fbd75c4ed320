/** `upbeat keys`: API keys without a browser. */
import { createApiKey } from '../auth/api-keys.ts';
import { systemClock } from '../clock.ts';
import { formatTime } from '../domain/durations.ts';
import { type AccountChoice, chooseAccount, readAccountChoice } from './accounts.ts';
import { CommandError, type CommonOptions } from './command.ts';
import { withRegistry } from './open-stores.ts';
import { printJson, printNote, printRows } from './output.ts';
import { readName } from './services.ts';

const COLUMNS = ['id', 'account', 'account_id', 'name', 'prefix', 'created', 'last_used', 'expires', 'state'];

/**
 * Makes a key and prints it alone on standard output, or with what is known of it as JSON; it is shown this once.
 * `expires`: its lifetime, milliseconds above 0 and at most 1000 years; absent: it does not expire.
 */
export async function createKey(
  options: CommonOptions & AccountChoice & { name: string; expires?: number },
): Promise<void> {
  const { config, expires, json = false } = options;
  const choice = readAccountChoice(options);
  const name = readName('--name', options.name);
  const now = systemClock.now();
  const expiresAt = expires === undefined ? null : now + expires;
  const { account, key, record } = await withRegistry(config, async (registry) => {
    const account = await chooseAccount(registry, choice);
    return { account, ...(await createApiKey(registry, { account: account.id, name, expiresAt, now })) };
  });
  const expiry = expiresAt === null ? null : formatTime(expiresAt);
  const { id, prefix } = record;
  const view = { id, account: account.name, account_id: account.id, name, prefix, expires: expiry, key };
  if (json) printJson(view);
  else console.log(key);
}

/** Prints the keys, oldest first. */
export async function listKeys({ config, json = false }: CommonOptions): Promise<void> {
  const keys = await withRegistry(config, (registry) => registry.listKeys());
  const now = systemClock.now();
  const time = (at: number | null) => (at === null ? null : formatTime(at));
  const rows = keys.map((key) => ({
    id: key.id,
    account: key.accountName,
    account_id: key.accountId,
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

/** Revokes a key by its number. */
export async function revokeKey(id: number, { config }: CommonOptions): Promise<void> {
  const revoked = await withRegistry(config, (registry) => registry.revokeKey(id, systemClock.now()));
  if (!revoked) throw new CommandError(`there is no key ${id}; "upbeat keys list" shows their numbers`);
  printNote(`key ${id} is revoked`);
}
