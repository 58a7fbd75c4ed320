/** The receivers of e-mail channels stop them by a link in each letter. Its secret is a digest, so nothing is stored for it. */
import { timingSafeEqual } from 'node:crypto';
import { noteRuleChange } from '../../../resources/rules/rule-rows.ts';
import { addNotice } from '../../database/notice-rows.ts';
import { type Calls, type OpenRegistry, read, write } from '../../database/registry-calls.ts';
import { sql } from '../../database/registry-store.ts';
import type { Row } from '../../database/schema.ts';
import type { AskedChannel, SubscriptionStore } from '../../ports/subscriptions.ts';
import { stopSecretOf } from '../alerts/channel-address.ts';

/** The digits of the channel, and the digest. */
const SECRET = /^([1-9]\d{0,15})\.([A-Za-z0-9_+/=-]{1,200})$/;

/** The calls of the links in the letters of channels. */
export const CHANNEL_STOP_CALLS = {
  findChannelOfStop: read(async (registry, secret) => {
    const row = await findStopped(registry, secret);
    return row === null ? null : toAsked(row);
  }),
  stopChannel: write(async (registry, secret, isStopped, now) => {
    const row = await findStopped(registry, secret);
    if (row === null) return null;
    const { kysely, queries } = registry;
    const changes = isStopped ? row.confirmed_at !== null : row.stopped_at !== null;
    if (!changes) return toAsked(row);
    const times = isStopped
      ? { confirmed_at: null, stopped_at: now }
      : { confirmed_at: now, stopped_at: null };
    await queries.run(
      kysely
        .updateTable('channels')
        .set(({ eb }) => ({ ...times, revision: eb('revision', '+', 1) }))
        .where('id', '=', row.id),
    );
    await noteRuleChange(registry);
    const code = isStopped ? 'channel_stopped' : 'channel_resumed';
    await addNotice(registry, row.account_id, now, { code, name: row.channel });
    return toAsked({ ...row, ...times });
  }),
} satisfies Partial<Calls<SubscriptionStore>>;

/** A channel of a link as the link shows it. */
export function toAsked({
  account,
  channel,
  language,
  ...row
}: Pick<AskedChannel, 'account' | 'channel'> &
  Pick<Row<'channels'>, 'language' | 'confirmed_at' | 'stopped_at'>): AskedChannel {
  const [isConfirmed, isStopped] = [row.confirmed_at !== null, row.stopped_at !== null];
  return { account, channel, language, isConfirmed, isStopped };
}

async function findStopped(registry: OpenRegistry, secret: string) {
  const [, id] = SECRET.exec(secret) ?? [];
  if (id === undefined) return null;
  const row = await registry.queries.first(
    registry.kysely
      .selectFrom('channels')
      .innerJoin('accounts', 'accounts.id', 'channels.account_id')
      .select(['channels.id', 'account_id', 'kind', 'settings', 'language', 'confirmed_at', 'stopped_at'])
      .select(sql.ref<string>('channels.name').as('channel'))
      .select(sql.ref<string>('accounts.name').as('account'))
      .where('channels.id', '=', Number(id)),
  );
  const known = row === undefined ? null : await stopSecretOf(registry, row);
  if (row === undefined || known === null || !isSame(known, secret)) return null;
  return row;
}

function isSame(known: string, given: string): boolean {
  const [one, other] = [Buffer.from(known), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}
