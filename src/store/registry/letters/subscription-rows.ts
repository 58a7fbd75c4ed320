/** Subscriptions of visitors. Addresses and secrets are encrypted; digests that need the key of secrets find them. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { domainOf, mailboxKey, recipientKey } from '../../../domain/mail-address.ts';
import {
  MAX_CONFIRMATIONS_OF_CLIENT,
  MAX_CONFIRMATIONS_OF_DOMAIN,
  MAX_CONFIRMATIONS_PER_DAY,
  readTopic,
  SHARED_MAIL_DOMAINS,
} from '../../../domain/subscription.ts';
import { readChannelAddress, stopSecretOf } from '../../../resources/channels/channel-rows.ts';
import { noteRuleChange } from '../../../resources/rules/rule-rows.ts';
import { countToday } from '../../database/fact-rows.ts';
import { addNotice } from '../../database/notice-rows.ts';
import { type Calls, type OpenRegistry, read, write } from '../../database/registry-calls.ts';
import { type Batch, type RegistryStore, sql } from '../../database/registry-store.ts';
import type { Row } from '../../database/schema.ts';
import type { AskedChannel, Subscription, SubscriptionStore, TopicName } from '../../ports/subscriptions.ts';

/** The digits of the channel, and the digest. */
const SECRET = /^([1-9]\d{0,15})\.([A-Za-z0-9_+/=-]{1,200})$/;

/** The calls of the links in the letters of channels. */
const CHANNEL_STOP_CALLS = {
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
function toAsked({
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

/** Bytes of the secret in links. */
const SECRET_BYTES = 24;

export const SUBSCRIPTION_CALLS: Calls<SubscriptionStore> = {
  requestSubscription: write(async (registry, { topic, address, language, client, now }) => {
    const { kysely, queries, secrets } = registry;
    if ((await nameTopic(registry, topic)) === null) return;
    const mailbox = await digestMailbox(registry, address);
    const known = await queries.first(
      kysely
        .selectFrom('subscriptions')
        .select(['id', 'confirmed_at'])
        .where('mailbox', '=', mailbox)
        .where('topic', '=', topic),
    );
    if (known !== undefined && (await isRequestWaiting(registry, known.id))) return;
    if (client !== undefined && !(await countClient(registry, client, now))) return;
    if (!(await countRecipient(registry, address, now))) return;
    if (known !== undefined) {
      // The time within which it has to be confirmed counts from the newest letter.
      if (known.confirmed_at === null)
        await queries.run(
          kysely.updateTable('subscriptions').set({ created_at: now, language }).where('id', '=', known.id),
        );
      await addRequestLetter(registry, known.id, now);
      return;
    }
    const box = await secrets.box();
    const { secret, sha256 } = makeSecret();
    const row = await queries.first(
      kysely
        .insertInto('subscriptions')
        .values({
          topic,
          mailbox,
          address: box.seal(address),
          language,
          sha256,
          secret: box.seal(secret),
          created_at: now,
        })
        .returning('id'),
    );
    if (row !== undefined) await addRequestLetter(registry, row.id, now);
  }),
  findSubscription: read(async (store, secret) => {
    const row = await findRow(store, secret);
    return row === undefined ? null : toSubscription(row, await nameTopic(store, row.topic));
  }),
  confirmSubscription: write(async (store, secret, now) => {
    const row = await findRow(store, secret);
    if (row === undefined) return null;
    const { kysely, queries } = store;
    await queries.run(
      kysely
        .updateTable('subscriptions')
        .set({ confirmed_at: now })
        .where('id', '=', row.id)
        .where('confirmed_at', 'is', null),
    );
    await queries.run(
      kysely.deleteFrom('letters').where('subscription_id', '=', row.id).where('change_id', 'is', null),
    );
    return toSubscription(
      { ...row, confirmed_at: row.confirmed_at ?? now },
      await nameTopic(store, row.topic),
    );
  }),
  endSubscription: write(async (store, secret) => {
    const row = await findRow(store, secret);
    if (row === undefined) return false;
    await deleteSubscription(store, row.id);
    return true;
  }),
  countSubscriptions: read(async ({ kysely, queries }, topics) => {
    if (topics.length === 0) return [];
    const rows = await queries.all(
      kysely
        .selectFrom('subscriptions')
        .select(({ fn }) => ['topic', fn.countAll<number>().as('count')])
        .where('topic', 'in', [...topics])
        .where('confirmed_at', 'is not', null)
        .groupBy('topic'),
    );
    const counts = new Map(rows.map(({ topic, count }) => [topic, Number(count)]));
    return topics.map((topic) => counts.get(topic) ?? 0);
  }),
  findAskedChannel: read(async (registry, secret) => (await findChannel(registry, secret))?.asked ?? null),
  askChannelAgain: write(async ({ kysely, queries }, accountId, id) => {
    const own = kysely
      .selectFrom('channels')
      .select('id')
      .where('account_id', '=', accountId)
      .where('id', '=', id);
    if ((await queries.first(own)) === undefined) return false;
    await queries.run(kysely.deleteFrom('letters').where('channel_id', '=', id));
    await queries.run(kysely.deleteFrom('channel_confirmations').where('channel_id', '=', id));
    return true;
  }),
  confirmChannel: write(async (registry, secret, now) => {
    const found = await findChannel(registry, secret);
    if (found === null) return null;
    const { kysely, queries } = registry;
    if (!found.asked.isConfirmed)
      await queries.run(
        kysely
          .updateTable('channels')
          .set(({ eb }) => ({ confirmed_at: now, stopped_at: null, revision: eb('revision', '+', 1) }))
          .where('id', '=', found.id),
      );
    return { ...found.asked, isConfirmed: true, isStopped: false };
  }),
  ...CHANNEL_STOP_CALLS,
};

/** A secret for a link, with its digest. */
export function makeSecret(): { readonly secret: string; readonly sha256: string } {
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  return { secret, sha256: digestSecret(secret) };
}

function digestSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

export function mailboxText(address: string): string {
  return `mailbox ${mailboxKey(address)}`;
}

export async function digestMailbox({ secrets }: OpenRegistry, address: string): Promise<string> {
  return await secrets.digest(mailboxText(address));
}

async function countClient(registry: OpenRegistry, client: string, now: number): Promise<boolean> {
  const digest = await registry.secrets.digest(`client ${client}`);
  return await countToday(registry, `client ${digest}`, now, MAX_CONFIRMATIONS_OF_CLIENT);
}

/** Counts a request for a confirmation by the mailbox and the domain that it goes to; false: one of them has had enough of the day. */
export async function countRecipient(registry: OpenRegistry, address: string, now: number): Promise<boolean> {
  const mailbox = await registry.secrets.digest(`recipient ${recipientKey(address)}`);
  if (!(await countToday(registry, `mailbox ${mailbox}`, now, MAX_CONFIRMATIONS_PER_DAY))) return false;
  const domain = domainOf(address);
  if (SHARED_MAIL_DOMAINS.has(domain)) return true;
  const digest = await registry.secrets.digest(`domain ${domain}`);
  return await countToday(registry, `domain ${digest}`, now, MAX_CONFIRMATIONS_OF_DOMAIN);
}

/** Returns true if a letter about the subscription itself waits. */
async function isRequestWaiting({ kysely, queries }: RegistryStore, id: number): Promise<boolean> {
  const waiting = kysely
    .selectFrom('letters')
    .select('id')
    .where('subscription_id', '=', id)
    .where('change_id', 'is', null);
  return (await queries.first(waiting)) !== undefined;
}

async function addRequestLetter({ kysely, queries }: RegistryStore, id: number, now: number): Promise<void> {
  await queries.run(
    kysely.insertInto('letters').values({ subscription_id: id, due_at: now, created_at: now }),
  );
}

/** Deletes a subscription with its letters, inside the caller's transaction. */
export async function deleteSubscription({ kysely, queries }: RegistryStore, id: number): Promise<void> {
  await queries.run(kysely.deleteFrom('letters').where('subscription_id', '=', id));
  await queries.run(kysely.deleteFrom('subscriptions').where('id', '=', id));
}

/** Removes all subscriptions and letters, because the addresses can no longer be decrypted. Returns their number. */
export async function removeAllSubscriptions({ kysely, queries }: RegistryStore): Promise<number> {
  for (const table of ['letters', 'letter_counts', 'channel_confirmations', 'subscription_changes'] as const)
    await queries.run(kysely.deleteFrom(table));
  return await queries.run(kysely.deleteFrom('subscriptions'));
}

/** The name of what a topic is about; null: it is gone or private, or this version does not know it. */
export async function nameTopic(
  { kysely, queries }: RegistryStore,
  topic: string,
): Promise<TopicName | null> {
  const parts = readTopic(topic);
  if (parts === null) return null;
  if (parts.kind === 'category') {
    const { category } = parts;
    return { kind: 'category', name: category, plainName: category };
  }
  if (parts.kind === 'service') {
    const service = await queries.first(
      kysely
        .selectFrom('services')
        .select(['name', 'slug', 'account_id'])
        .where('id', '=', parts.id)
        .where('removed', '=', 0)
        .where(({ eb, or }) => or([eb('visibility', 'is', null), eb('visibility', '<>', 'private')])),
    );
    if (service === undefined) return null;
    const { name, slug, account_id: owner } = service;
    return { kind: 'service', name, plainName: owner === null ? name : slug };
  }
  const page = await queries.first(
    kysely
      .selectFrom('status_pages')
      .select(['title', 'slug'])
      .where('id', '=', parts.id)
      .where('removed', '=', 0)
      .where('members_only', '=', 0),
  );
  return page === undefined ? null : { kind: 'page', name: page.title, plainName: `/p/${page.slug}` };
}

const LIVE_SERVICE: Batch<unknown> = {
  types: ['bigint'],
  sql: "SELECT 1 AS found FROM services WHERE id = ? AND removed = 0 AND coalesce(visibility, '') <> 'private'",
};
const LIVE_PAGE: Batch<unknown> = {
  types: ['bigint'],
  sql: 'SELECT 1 AS found FROM status_pages WHERE id = ? AND removed = 0 AND members_only = 0',
};

/** Those of topics that {@link nameTopic} has no name for. */
export async function goneAmong(
  { queries }: RegistryStore,
  topics: readonly string[],
): Promise<readonly string[]> {
  const gone: string[] = [];
  const subjects = { service: new Map<string, number>(), page: new Map<string, number>() };
  for (const topic of topics) {
    const parts = readTopic(topic);
    if (parts === null) gone.push(topic);
    else if (parts.kind !== 'category') subjects[parts.kind].set(topic, parts.id);
  }
  for (const [batch, ids] of [
    [LIVE_SERVICE, subjects.service],
    [LIVE_PAGE, subjects.page],
  ] as const) {
    const found = await queries.firstEach(
      batch,
      [...ids.values()].map((id) => [id]),
    );
    gone.push(...[...ids.keys()].filter((_, index) => found[index] === undefined));
  }
  return gone;
}

async function findRow(
  { kysely, queries }: RegistryStore,
  secret: string,
): Promise<Row<'subscriptions'> | undefined> {
  return await queries.first(
    kysely.selectFrom('subscriptions').selectAll().where('sha256', '=', digestSecret(secret)),
  );
}

function toSubscription(row: Row<'subscriptions'>, topic: TopicName | null): Subscription | null {
  return topic === null ? null : { topic, language: row.language, isConfirmed: row.confirmed_at !== null };
}

async function findChannel(
  registry: OpenRegistry,
  secret: string,
): Promise<{ readonly id: number; readonly asked: AskedChannel } | null> {
  const { kysely, queries } = registry;
  const row = await queries.first(
    kysely
      .selectFrom('channel_confirmations')
      .innerJoin('channels', 'channels.id', 'channel_confirmations.channel_id')
      .innerJoin('accounts', 'accounts.id', 'channels.account_id')
      .select(['channels.id', 'mailbox', 'settings', 'language', 'confirmed_at', 'stopped_at'])
      .select(sql.ref<string>('channels.name').as('channel'))
      .select(sql.ref<string>('accounts.name').as('account'))
      .where('sha256', '=', digestSecret(secret)),
  );
  if (row === undefined) return null;
  // The owner may have written another address meanwhile.
  if (row.mailbox !== (await digestMailbox(registry, await readChannelAddress(registry, row.settings))))
    return null;
  return { id: row.id, asked: toAsked(row) };
}
