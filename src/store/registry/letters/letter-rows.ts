/** Letters that are not messages of channels: changes for subscribers, and requests for confirmations. */
import type { AlertChange } from '../../../domain/alert/event.ts';
import { MAX_DELIVERY_WAIT_MS } from '../../../domain/delivery-retries.ts';
import { DAY_MS, MINUTE_MS } from '../../../domain/durations.ts';
import { readMailAddress } from '../../../domain/mail-address.ts';
import { MAX_REFUSALS, ownersNews, topicsOf, withoutCause } from '../../../domain/subscription.ts';
import { readChannelAddress } from '../../../resources/channels/channel-rows.ts';
import { type Calls, type OpenRegistry, read, write } from '../../database/registry-calls.ts';
import { type RegistryStore, sql } from '../../database/registry-store.ts';
import type { Row } from '../../database/schema.ts';
import { RETRY_FOR_NEW_MS } from '../../ports/channels.ts';
import type { DueLetter, LetterOutcome, LetterStore } from '../../ports/subscriptions.ts';
import { toService } from '../services/service-rows.ts';
import { askChannels, turnOffChannels } from './channel-letter-rows.ts';
import { deleteSubscription, nameTopic } from './subscription-rows.ts';
import { findAlias, pagesWith, tidySubscriptions } from './tidy-subscriptions.ts';

/** Maximum number of changes whose letters are written in a call. */
const MAX_CHANGES = 100;

export const LETTER_CALLS: Calls<LetterStore> = {
  writeLetters: write(writeLetters),
  askChannels: write(askChannels),
  turnOffChannels: write(turnOffChannels),
  dueLetters: read(dueLetters),
  hastenLetters: write(async ({ kysely, queries }, now) => {
    await queries.run(
      kysely.updateTable('letters').set({ due_at: now }).where('attempts', '>', 0).where('due_at', '>', now),
    );
  }),
  noteLetters: write(async (store, outcomes) => {
    for (const outcome of outcomes) await noteLetter(store, outcome);
  }),
  tidySubscriptions: write(tidySubscriptions),
};

async function writeLetters(store: RegistryStore, now: number, limit: number): Promise<number> {
  const { kysely, queries } = store;
  const changes = await queries.all(
    kysely
      .selectFrom('subscription_changes')
      .selectAll()
      .where('written', '=', sql.lit(0))
      .orderBy('id')
      .limit(MAX_CHANGES),
  );
  if (changes.length === 0) return 0;
  const waiting = await queries.all(
    kysely.selectFrom('letters').select('id').where('change_id', 'is not', null).limit(limit),
  );
  if (waiting.length >= limit) return 0;
  let written = 0;
  for (const change of changes) {
    if (written >= limit) break;
    const ids = await findSubscribers(store, change, now, limit - written);
    if (ids.length > 0)
      await queries.run(
        kysely
          .insertInto('letters')
          .values(
            ids.map((id) => ({ subscription_id: id, change_id: change.id, due_at: now, created_at: now })),
          ),
      );
    const isWhole = ids.length < limit - written;
    await queries.run(
      kysely
        .updateTable('subscription_changes')
        .set({ after_id: ids.at(-1) ?? change.after_id, written: isWhole ? 1 : 0 })
        .where('id', '=', change.id),
    );
    written += ids.length;
  }
  return written;
}

/** The next subscribers of a change, each address once, in the order of their IDs; none whom an earlier change tells the same. */
async function findSubscribers(
  store: RegistryStore,
  change: Row<'subscription_changes'>,
  now: number,
  limit: number,
): Promise<number[]> {
  const { kysely, queries } = store;
  if (change.recorded_at < now - DAY_MS) return [];
  const topics = await topicsOfChange(store, change.service_id, change.change);
  if (topics.length === 0) return [];
  const told = await topicsTold(store, change);
  const confirmed = kysely
    .selectFrom('subscriptions')
    .where('subscriptions.topic', 'in', topics)
    .where('subscriptions.confirmed_at', '<=', change.recorded_at);
  const rows = await queries.all(
    confirmed
      .select('subscriptions.id')
      .where('subscriptions.id', '>', change.after_id)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('subscriptions as other')
              .select('other.id')
              .whereRef('other.mailbox', '=', 'subscriptions.mailbox')
              .where('other.confirmed_at', '<=', change.recorded_at)
              .where(({ or, and, eb, ref }) =>
                or([
                  and([eb('other.topic', 'in', topics), eb('other.id', '<', ref('subscriptions.id'))]),
                  ...(told.length === 0 ? [] : [eb('other.topic', 'in', told)]),
                ]),
              ),
          ),
        ),
      )
      .orderBy('subscriptions.id')
      .limit(limit),
  );
  return rows.map(({ id }) => id);
}

/** The topics of a change, JSON; empty: what it is about is gone. `subject`: ID of a service, or of a page (`pageSubject`). */
async function topicsOfChange(
  store: RegistryStore,
  subject: number,
  change: string,
): Promise<readonly string[]> {
  const { kysely, queries } = store;
  if (subject < 0) return [`page:${-subject}`];
  const row = await queries.first(
    kysely.selectFrom('services').selectAll().where('id', '=', subject).where('removed', '=', 0),
  );
  if (row === undefined) return [];
  if (row.visibility === 'private' && withoutCause(JSON.parse(change)) === null) return [];
  const service = toService(row);
  return topicsOf(service, await pagesWith(store, service));
}

/**
 * The topics whose subscribers are told the same by earlier changes: words of an owner are a change of each service and page that
 * they concern.
 */
async function topicsTold(
  store: RegistryStore,
  { id, at, recorded_at: recordedAt, change }: Row<'subscription_changes'>,
): Promise<readonly string[]> {
  const { kysely, queries } = store;
  const own = ownersNews({ change: JSON.parse(change), at });
  if (own === null) return [];
  const earlier = await queries.all(
    kysely
      .selectFrom('subscription_changes')
      .select(['service_id', 'at', 'change'])
      .where('id', '<', id)
      .where('recorded_at', '>=', recordedAt - DAY_MS)
      .where('change', 'like', `%"${own.subject}%`),
  );
  const same = earlier.filter(
    (one) => ownersNews({ change: JSON.parse(one.change), at: one.at })?.news === own.news,
  );
  const topics: string[] = [];
  for (const one of same) topics.push(...(await topicsOfChange(store, one.service_id, one.change)));
  return [...new Set(topics)];
}

async function dueLetters(
  registry: OpenRegistry,
  now: number,
  limit: number,
  isAway = false,
): Promise<DueLetter[]> {
  const { kysely, queries, secrets } = registry;
  const rows = await queries.all(
    kysely
      .selectFrom('letters')
      .selectAll()
      // What was not tried is due at once, and no attempt asks for a longer wait: such times are those of a clock that was ahead.
      .where((eb) =>
        eb.or([
          eb('due_at', '<=', now),
          eb('due_at', '>', now + MAX_DELIVERY_WAIT_MS),
          eb('attempts', '=', 0),
          eb.and([
            eb('tried_at', '<=', now - RETRY_FOR_NEW_MS),
            eb.exists(
              eb
                .selectFrom('letters as newer')
                .select('newer.id')
                .whereRef('newer.subscription_id', '=', 'letters.subscription_id')
                .whereRef('newer.created_at', '>', 'letters.tried_at'),
            ),
          ]),
          ...(isAway
            ? [
                eb.and([
                  eb('tried_at', '<=', now - MINUTE_MS),
                  eb(
                    'id',
                    '=',
                    eb
                      .selectFrom('letters as failed')
                      .select(({ fn }) => fn.min('failed.id').as('id'))
                      .where('failed.attempts', '>', 0),
                  ),
                ]),
              ]
            : []),
        ]),
      )
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('letters as earlier')
              .select('earlier.id')
              .whereRef('earlier.subscription_id', '=', 'letters.subscription_id')
              .whereRef('earlier.id', '<', 'letters.id'),
          ),
        ),
      )
      .orderBy(sql`CASE WHEN change_id IS NULL THEN 0 ELSE 1 END`)
      .orderBy('id')
      .limit(limit),
  );
  if (rows.length === 0) return [];
  const box = await secrets.box();
  const letters: DueLetter[] = [];
  const events = new Map<string, Promise<ToldChange | null>>();
  for (const row of rows) {
    const letter =
      row.channel_id === null
        ? await toSubscriberLetter(registry, row, box.open, events)
        : await toChannelLetter(registry, row, box.open);
    if (letter !== null) letters.push(letter);
  }
  return letters;
}

type LetterRow = Row<'letters'>;
type Open = (text: string) => string;
type ToldChange = Pick<Extract<DueLetter, { kind: 'change' }>, 'event' | 'service' | 'beganAt'>;

async function toSubscriberLetter(
  store: RegistryStore,
  { id, attempts, created_at: createdAt, subscription_id: subscriptionId, change_id: changeId }: LetterRow,
  open: Open,
  events: Map<string, Promise<ToldChange | null>>,
): Promise<DueLetter | null> {
  const { kysely, queries } = store;
  const row = await queries.first(
    kysely.selectFrom('subscriptions').selectAll().where('id', '=', subscriptionId),
  );
  const topic = row === undefined ? null : await nameTopic(store, row.topic);
  if (row === undefined || topic === null) return null;
  const { language } = row;
  const base = { id, attempts, createdAt, to: open(row.address), language, secret: open(row.secret), topic };
  if (changeId === null) return { ...base, kind: row.confirmed_at === null ? 'subscribe' : 'already' };
  const known = events.get(`${changeId} ${row.topic}`) ?? findChange(store, changeId, row.topic);
  events.set(`${changeId} ${row.topic}`, known);
  const told = await known;
  return told === null ? null : { ...base, kind: 'change', subscriptionId: row.id, ...told };
}

async function findChange(store: RegistryStore, changeId: number, topic: string): Promise<ToldChange | null> {
  const { kysely, queries } = store;
  const row = await queries.first(
    kysely
      .selectFrom('subscription_changes')
      .leftJoin('services', 'services.id', 'service_id')
      .leftJoin('status_pages', (join) =>
        join.on(({ eb }) => eb('status_pages.id', '=', eb.neg(eb.ref('service_id')))),
      )
      .select(['change', 'at', 'service_id', 'services.slug', 'name', 'services.domain', 'visibility'])
      .select(['status_pages.slug as page', 'status_pages.title'])
      .where('subscription_changes.id', '=', changeId),
  );
  if (row === undefined) return null;
  const { service_id: serviceId, at, slug, name, domain, page, title } = row;
  const told = JSON.parse(row.change) as AlertChange;
  // It may have turned private since the letter was written.
  const isPrivate = row.visibility === 'private';
  const change = isPrivate ? withoutCause(told) : told;
  const alias = isPrivate ? await findAlias(store, serviceId, topic) : null;
  if (change === null || (isPrivate && alias === null)) return null;
  const began =
    change.type !== 'status' || change.to === 'down'
      ? undefined
      : await queries.first(
          kysely
            .selectFrom('transitions')
            .select('at')
            .where('service_id', '=', serviceId)
            .where('to_status', '=', 'down')
            .where('at', '<=', at)
            .orderBy('position', 'desc')
            .limit(1),
        );
  if (page !== null && title !== null) {
    const about = { id: serviceId, slug: page, name: title, domain: '', isPage: true } as const;
    return { event: { id: changeId, change, at }, service: about, beganAt: null };
  }
  if (slug === null || name === null || domain === null) return null;
  const service = alias ?? { id: serviceId, slug, name, domain };
  return { event: { id: changeId, change, at }, service, beganAt: began?.at ?? null };
}

async function toChannelLetter(
  registry: OpenRegistry,
  { id, attempts, created_at: createdAt, channel_id: channelId, secret }: LetterRow,
  open: Open,
): Promise<DueLetter | null> {
  const { kysely, queries } = registry;
  const row = await queries.first(
    kysely
      .selectFrom('channels')
      .innerJoin('accounts', 'accounts.id', 'account_id')
      .select(['settings', 'language', 'channels.name as channel', 'accounts.name as account'])
      .where('channels.id', '=', channelId),
  );
  if (row === undefined || secret === null) return null;
  const to = readMailAddress(await readChannelAddress(registry, row.settings)) ?? '';
  const { language, channel, account } = row;
  return { kind: 'channel', id, attempts, createdAt, to, language, secret: open(secret), channel, account };
}

async function noteLetter(
  store: RegistryStore,
  { id, outcome, triedAt, dueAt }: LetterOutcome,
): Promise<void> {
  const { kysely, queries } = store;
  if (outcome === 'failed' && dueAt !== null) {
    await queries.run(
      kysely
        .updateTable('letters')
        .set(({ eb }) => ({ attempts: eb('attempts', '+', 1), due_at: dueAt, tried_at: triedAt ?? null }))
        .where('id', '=', id),
    );
    return;
  }
  const letter = await queries.first(
    kysely
      .selectFrom('letters')
      .innerJoin('subscriptions', 'subscriptions.id', 'subscription_id')
      .select(['subscription_id', 'refusals', 'confirmed_at'])
      .where('letters.id', '=', id),
  );
  await queries.run(kysely.deleteFrom('letters').where('id', '=', id));
  if (letter === undefined || letter.subscription_id === null || outcome === 'failed') return;
  const refusals = outcome === 'refused' ? letter.refusals + 1 : 0;
  if (refusals >= MAX_REFUSALS || (refusals > 0 && letter.confirmed_at === null))
    await deleteSubscription(store, letter.subscription_id);
  else if (refusals !== letter.refusals)
    await queries.run(
      kysely.updateTable('subscriptions').set({ refusals }).where('id', '=', letter.subscription_id),
    );
}
