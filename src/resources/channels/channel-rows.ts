/**
 * Channels of accounts. Their settings are encrypted, as the secrets of webhooks are. The secret by which the receiver of an e-mail
 * channel stops it is a digest, so nothing is stored for it.
 */
import type { Channel } from '../../domain/alert/channel.ts';
import { mailboxKey, readMailAddress } from '../../domain/mail-address.ts';
import { addNotice } from '../../store/database/notice-rows.ts';
import {
  type Calls,
  type OpenRegistry,
  read,
  type SecretBox,
  write,
} from '../../store/database/registry-calls.ts';
import { RegistryError, requireRevision } from '../../store/database/registry-error.ts';
import { fromRow, type RegistryStore } from '../../store/database/registry-store.ts';
import type { Row } from '../../store/database/schema.ts';
import { type ChannelStore, MAX_CHANNELS } from '../../store/ports/channels.ts';
import { dropFromRules, noteRuleChange } from '../rules/rule-rows.ts';

export const CHANNEL_CALLS: Calls<ChannelStore> = {
  addChannel: write(async (registry, channel) => {
    const { kysely, queries, secrets } = registry;
    const { accountId, name, kind, settings, language, confirmedAt, createdAt } = channel;
    const rows = await rowsOf(registry, accountId);
    if (rows.length >= MAX_CHANNELS)
      throw new RegistryError('account_limit', { code: 'too_many_channels', max: MAX_CHANNELS });
    refuseName(rows, name);
    const box = await secrets.box();
    const row = await queries.first(
      kysely
        .insertInto('channels')
        .values({
          account_id: accountId,
          name,
          kind,
          settings: box.seal(JSON.stringify(settings)),
          language,
          confirmed_at: confirmedAt,
          created_at: createdAt,
          revision: 1,
        })
        .returningAll(),
    );
    if (row === undefined) throw new Error('the channel was not written');
    await noteRuleChange(registry);
    return toChannel(row, box);
  }),
  channelsOf: read(async (registry, accountId) => {
    const rows = await rowsOf(registry, accountId);
    if (rows.length === 0) return [];
    const box = await registry.secrets.box();
    return rows.map((row) => toChannel(row, box));
  }),
  // biome-ignore lint/complexity/useMaxParams: the store, then the arguments of the port's method
  changeChannel: write(async (registry, accountId, id, edit, revisions) => {
    const { kysely, queries, secrets } = registry;
    const rows = await rowsOf(registry, accountId);
    const before = findRow(rows, id, revisions);
    if (edit.name !== undefined && edit.name !== before.name) refuseName(rows, edit.name);
    const box = await secrets.box();
    const row = {
      ...before,
      name: edit.name ?? before.name,
      settings: edit.settings === undefined ? before.settings : box.seal(JSON.stringify(edit.settings)),
      language: edit.language ?? before.language,
      confirmed_at: edit.confirmedAt === undefined ? before.confirmed_at : edit.confirmedAt,
      // The receiver of another address has stopped nothing.
      stopped_at: edit.confirmedAt === undefined ? before.stopped_at : null,
      revision: before.revision + 1,
    };
    const { id: _, ...values } = row;
    await queries.run(kysely.updateTable('channels').set(values).where('id', '=', id));
    await noteRuleChange(registry);
    return toChannel(row, box);
  }),
  removeChannel: write(async (registry, accountId, id, revisions) => {
    findRow(await rowsOf(registry, accountId), id, revisions);
    await dropFromRules(registry, accountId, [id]);
    await deleteChannel(registry, id);
  }),
};

/** Removes all channels, also from rules, and sends their owners a notice. Returns their number. */
export async function removeAllChannels(store: RegistryStore, now: number): Promise<number> {
  const { kysely, queries } = store;
  const rows = await queries.all(
    kysely.selectFrom('channels').select(['id', 'account_id', 'name']).orderBy('id'),
  );
  for (const { id, account_id, name } of rows) {
    await dropFromRules(store, account_id, [id]);
    await deleteChannel(store, id);
    await addNotice(store, account_id, now, { code: 'channel_removed', name });
  }
  return rows.length;
}

export function toChannel(
  { settings, stopped_at: stoppedAt, ...row }: Row<'channels'>,
  box: SecretBox,
): Channel {
  const stopped = stoppedAt === null ? {} : { stoppedAt };
  return { ...fromRow(row), ...stopped, settings: JSON.parse(box.open(settings)) };
}

async function deleteChannel({ kysely, queries }: RegistryStore, id: number): Promise<void> {
  await queries.run(kysely.deleteFrom('alert_messages').where('channel_id', '=', id));
  await queries.run(kysely.deleteFrom('alert_threads').where('channel_id', '=', id));
  await queries.run(kysely.deleteFrom('channel_failures').where('channel_id', '=', id));
  await queries.run(kysely.deleteFrom('channels').where('id', '=', id));
}

async function rowsOf({ kysely, queries }: OpenRegistry, accountId: number): Promise<Row<'channels'>[]> {
  return await queries.all(
    kysely.selectFrom('channels').selectAll().where('account_id', '=', accountId).orderBy('name'),
  );
}

function findRow(
  rows: readonly Row<'channels'>[],
  id: number,
  revisions?: readonly number[],
): Row<'channels'> {
  return requireRevision(
    rows.find((known) => known.id === id),
    revisions,
    { missing: { code: 'no_channel', id }, stale: { code: 'channel_stale' } },
  );
}

function refuseName(rows: readonly Row<'channels'>[], name: string): void {
  if (rows.some((row) => row.name === name))
    throw new RegistryError('name_taken', { code: 'channel_name_taken', name });
}

/** The secret of the link by which the receiver of a channel stops it; null: the channel has no address. */
export async function stopSecretOf(
  registry: OpenRegistry,
  { id, kind, settings }: Pick<Row<'channels'>, 'id' | 'kind' | 'settings'>,
): Promise<string | null> {
  const address = kind === 'email' ? readMailAddress(await readChannelAddress(registry, settings)) : null;
  return address === null
    ? null
    : `${id}.${await registry.secrets.digest(`stop channel ${id} ${mailboxKey(address)}`)}`;
}

/** The address of an e-mail channel from its encrypted settings. */
export async function readChannelAddress({ secrets }: OpenRegistry, settings: string): Promise<string> {
  const { to } = JSON.parse((await secrets.box()).open(settings)) as { readonly to?: unknown };
  return typeof to === 'string' ? to : '';
}
