/** `upbeat keys`: API keys without a browser. `upbeat secrets`: the key of secrets. */

import { systemClock } from '../clock.ts';
import { formatTime, formatTimeOrNull } from '../domain/durations.ts';
import { addKey, listKeys, readKeyInput, revokeKey } from '../resources/keys/keys.ts';
import type { Registry } from '../store/ports/registry.ts';
import { findChecksKey } from '../store/secrets/secret-box.ts';
import { type AccountChoice, changeAccount, readAccountChoice } from './accounts.ts';
import {
  CommandError,
  type CommonOptions,
  filterRows,
  type ListOptions,
  NOTHING_MATCHES,
} from './command.ts';
import { readConfig, withRegistry } from './open-stores.ts';
import { OPERATOR, resultOf } from './outcome.ts';
import { printJson, printNote, printRows } from './output.ts';

/** Creates a key and prints it on standard output, or with its properties as JSON. It is shown only once. */
export async function createKey(
  options: CommonOptions & AccountChoice & { name: string; expires?: string; scope?: readonly string[] },
): Promise<void> {
  const { config, expires = 'never', scope: scopes, json = false } = options;
  const choice = readAccountChoice(options);
  const input = { name: options.name, expires, ...(scopes === undefined ? {} : { scopes }) };
  // The arguments are validated first, so that wrong ones open no registry.
  resultOf(readKeyInput(input));
  const { account, key, record } = await withRegistry(config, (registry) =>
    changeAccount(registry, choice, async (account) => {
      const principal = { role: 'operator', accountId: account.id } as const;
      return { account, ...resultOf(await addKey(contextOf(registry), principal, input)) };
    }),
  );
  const { id, name, prefix, scopes: given, expiresAt } = record;
  const view = { id, account: account.name, account_id: account.id, name, prefix, scopes: given };
  if (json) printJson({ ...view, expires: formatTimeOrNull(expiresAt), key });
  else console.log(key);
}

/** Prints the keys, oldest first. */
export async function printKeys({ config, json = false, ...filters }: ListOptions): Promise<void> {
  const keys = await withRegistry(config, (registry) => listKeys(contextOf(registry), OPERATOR));
  const rows = keys.map((key) => ({
    id: key.id,
    account: key.accountName,
    account_id: key.accountId,
    name: key.name,
    prefix: key.prefix,
    scopes: key.scopes.join(' '),
    created: formatTime(key.createdAt),
    last_used: formatTimeOrNull(key.lastUsedAt),
    expires: formatTimeOrNull(key.expiresAt),
    state: key.state,
  }));
  const empty = 'There are no keys. Make one: upbeat keys create --account NAME --name NAME';
  const shown = filterRows(rows, filters, ['account', 'name']);
  printRows(shown, json, rows.length === 0 ? empty : NOTHING_MATCHES);
}

export async function endKey(id: number, { config }: CommonOptions): Promise<void> {
  await withRegistry(config, async (registry) =>
    resultOf(await revokeKey(contextOf(registry), OPERATOR, id)),
  );
  printNote(`key ${id} is revoked`);
}

function contextOf(registry: Registry) {
  return { registry, now: systemClock.now };
}

/**
 * Removes all webhooks, channels and subscriptions, the credentials of checks and the passwords of people, because they can no longer be decrypted. The
 * next start creates a new key if there is none.
 */
export async function resetSecrets({ config }: CommonOptions): Promise<void> {
  const { webhooks, channels, subscriptions, checks, passwords } = await withRegistry(config, (registry) =>
    registry.resetSecrets(systemClock.now()),
  );
  console.error(
    webhooks === 1
      ? '1 webhook is removed, and its owner is notified'
      : `${webhooks} webhooks are removed, and their owners are notified`,
  );
  if (channels > 0)
    console.error(
      channels === 1
        ? '1 channel is removed, and its owner is notified'
        : `${channels} channels are removed, and their owners are notified`,
    );
  if (subscriptions > 0)
    console.error(
      `${subscriptions === 1 ? '1 subscription by e-mail is' : `${subscriptions} subscriptions by e-mail are`} removed; the subscribers cannot be notified, since their addresses are lost`,
    );
  if (checks > 0)
    console.error(
      checks === 1
        ? 'the credentials of 1 check are removed, and its owner is notified'
        : `the credentials of ${checks} checks are removed, and their owners are notified`,
    );
  if (passwords > 0)
    console.error(
      `the passwords of ${passwords === 1 ? '1 person' : `${passwords} people`} are removed: people without another way to sign in need a link from "upbeat accounts reset"`,
    );
}

/** Prints the key of the credentials of checks, for `secrets.checksKey` of nodes that only make checks. */
export async function printChecksKey({ config: file, json = false }: CommonOptions): Promise<void> {
  const { storage, secrets } = readConfig(file);
  const key = findChecksKey(storage.dataDir, secrets);
  if (key === null)
    throw new CommandError('There is no key yet: start the program once, or set secrets.key.');
  if (json) printJson({ checks_key: key.toString('hex') });
  else console.log(key.toString('hex'));
}
