/** Encrypts everything that is sealed in the registry with another key, inside the caller's transaction, and removes credentials of a lost key. */
import { isKeyOf } from '../../domain/credential-seal.ts';
import { addNotice } from '../database/notice-rows.ts';
import type { KeyChange, OpenRegistry } from '../database/registry-calls.ts';
import {
  type Batch,
  eachPage,
  type RegistryStore,
  ROWS_PER_PAGE,
  statement,
} from '../database/registry-store.ts';
import { forgetIdempotent } from './idempotency-rows.ts';
import { mailboxText } from './letters/subscription-rows.ts';
import { ownedServices } from './services/owner-services.ts';
import { toDefinition, updateService, updateServices } from './services/service-rows.ts';

/** Credentials of a check that are encrypted with the next key. */
export interface ResealedCheck {
  readonly serviceId: number;
  /** All credentials of the check by the names of their settings. */
  readonly sealed: Readonly<Record<string, string>>;
}

/** The counts of what a rotation has encrypted. */
export interface RotatedSecrets {
  /** Number of secrets of webhooks, channels, subscriptions, letters and passwords. */
  readonly secrets: number;
  /** Number of checks with credentials. */
  readonly checks: number;
}

/** A column of texts, and that of the IDs. */
type TextColumn = readonly [table: string, id: string, column: string];

/** Columns with sealed texts, each with the number that identifies its row. */
const SEALED_COLUMNS: readonly TextColumn[] = [
  ['webhooks', 'id', 'secret'],
  ['channels', 'id', 'settings'],
  ['subscriptions', 'id', 'address'],
  ['subscriptions', 'id', 'secret'],
  ['letters', 'id', 'secret'],
  ['passwords', 'person_id', 'totp_secret'],
];

/** As `SecretMethods` describes it. Outcomes of requests are forgotten, since their digests cannot be made again. */
export async function rotateSecrets(
  registry: OpenRegistry,
  newKey: string,
  checks: readonly ResealedCheck[],
): Promise<RotatedSecrets> {
  const key = Buffer.from(newKey, 'hex');
  const change = await registry.secrets.changeTo(key);
  await digestMailboxes(registry, change);
  await digestAskedMailboxes(registry, change);
  let secrets = 0;
  for (const place of SEALED_COLUMNS) secrets += await resealColumn(registry, place, change);
  await putCredentials(registry, checks);
  await forgetIdempotent(registry);
  await registry.secrets.recordKey(registry, key);
  return { secrets, checks: checks.length };
}

interface TextRow {
  readonly id: number;
  readonly text: string;
}

async function resealColumn(store: RegistryStore, place: TextColumn, { reseal }: KeyChange): Promise<number> {
  const [table, id, column] = place;
  const update: Batch<unknown> = {
    types: ['text', 'bigint'],
    sql: `UPDATE ${table} SET ${column} = ? WHERE ${id} = ?`,
  };
  let count = 0;
  await eachText(store, place, async (page) => {
    count += page.length;
    await store.queries.runEach(
      update,
      page.map((row) => [reseal(row.text), row.id]),
    );
  });
  return count;
}

async function eachText(
  { queries }: RegistryStore,
  [table, id, column]: TextColumn,
  visit: (page: readonly TextRow[]) => Promise<void>,
): Promise<void> {
  const select = statement<TextRow>(
    `SELECT ${id} AS id, ${column} AS text FROM ${table} WHERE ${id} > ? AND ${column} IS NOT NULL ORDER BY ${id} LIMIT ?`,
  );
  await eachPage((afterId) => queries.all(select(afterId, ROWS_PER_PAGE)), visit);
}

const SET_MAILBOX: Batch<unknown> = {
  types: ['text', 'bigint'],
  sql: 'UPDATE subscriptions SET mailbox = ? WHERE id = ?',
};

/** Gives subscriptions the digest of their address with the next key. */
async function digestMailboxes(store: RegistryStore, { open, digestAfter }: KeyChange): Promise<void> {
  await eachText(store, ['subscriptions', 'id', 'address'], async (page) => {
    await store.queries.runEach(
      SET_MAILBOX,
      page.map(({ id, text }) => [digestAfter(mailboxText(open(text))), id]),
    );
  });
}

/** The same for channels whose receiver was asked, unless the channel has another address by now. */
async function digestAskedMailboxes(
  { kysely, queries }: RegistryStore,
  { open, digestBefore, digestAfter }: KeyChange,
): Promise<void> {
  const rows = await queries.all(
    kysely
      .selectFrom('channel_confirmations')
      .innerJoin('channels', 'channels.id', 'channel_confirmations.channel_id')
      .select(['sha256', 'mailbox', 'settings']),
  );
  for (const { sha256, mailbox, settings } of rows) {
    const { to } = JSON.parse(open(settings)) as { readonly to?: unknown };
    if (typeof to !== 'string' || mailbox !== digestBefore(mailboxText(to))) continue;
    await queries.run(
      kysely
        .updateTable('channel_confirmations')
        .set({ mailbox: digestAfter(mailboxText(to)) })
        .where('sha256', '=', sha256),
    );
  }
}

async function putCredentials(store: RegistryStore, checks: readonly ResealedCheck[]): Promise<void> {
  const { kysely, queries } = store;
  for (let at = 0; at < checks.length; at += CHECKS_PER_STATEMENT) {
    const byId = new Map(
      checks.slice(at, at + CHECKS_PER_STATEMENT).map(({ serviceId, sealed }) => [serviceId, sealed]),
    );
    const rows = await queries.all(
      kysely
        .selectFrom('services')
        .selectAll()
        .where('id', 'in', [...byId.keys()])
        .where('removed', '=', 0),
    );
    await updateServices(
      store,
      rows.map((row) => {
        const { check, ...definition } = toDefinition(row);
        return { row, service: { ...definition, check: { ...check, sealed: byId.get(row.id) ?? {} } } };
      }),
    );
  }
}

const CHECKS_PER_STATEMENT = 500;

/**
 * Removes the credentials of checks that were sealed with another key than the present one, inside the caller's transaction,
 * with a notice to the owners of the services. Returns the number of services.
 */
export async function removeLostCredentials(registry: OpenRegistry, now: number): Promise<number> {
  const { kysely, queries, secrets } = registry;
  const key = secrets.checksKey();
  const rows = await queries.all(
    ownedServices(kysely).selectAll().where('check_definition', 'like', '%"sealed":%'),
  );
  let removed = 0;
  for (const row of rows) {
    const { check, ...definition } = toDefinition(row);
    const { sealed = {}, ...rest } = check;
    const kept = Object.entries(sealed).filter(([, text]) => key !== null && isKeyOf(key, text));
    if (kept.length === Object.keys(sealed).length) continue;
    removed++;
    const left = kept.length === 0 ? rest : { ...rest, sealed: Object.fromEntries(kept) };
    await updateService(registry, row, { ...definition, check: left });
    if (row.account_id !== null)
      await addNotice(registry, row.account_id, now, { code: 'credentials_removed', domain: row.domain });
  }
  return removed;
}
