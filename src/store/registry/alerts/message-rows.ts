/** Messages to channels. Each channel has a queue: `turn` is the place in it, and `due_at` is null once a message is settled. */
import { randomBytes } from 'node:crypto';
import { type ChannelProblem, MAX_RETRY_WAIT_MS } from '../../../domain/alert/channel.ts';
import { foldQueue } from '../../../domain/alert/fold-queue.ts';
import type { AlertMessage } from '../../../domain/alert/message.ts';
import { DAY_MS } from '../../../domain/durations.ts';
import { messageId } from '../../../domain/webhook-event.ts';
import { stopSecretOf, toChannel } from '../../../resources/channels/channel-rows.ts';
import { type Calls, read, write } from '../../database/registry-calls.ts';
import {
  type Batch,
  type Parameters,
  type RegistryStore,
  sql,
  statement,
} from '../../database/registry-store.ts';
import type { Row } from '../../database/schema.ts';
import type { AlertCounts, DecidedMessage } from '../../ports/alerts.ts';
import {
  type AlertDelay,
  MAX_WAITING_MESSAGES,
  type MessageStore,
  RETRY_FOR_NEW_MS,
  type StoredMessage,
} from '../../ports/channels.ts';
import { defineOutbox, MAX_DUE_PER_ACCOUNT } from '../outbox-rows.ts';
import { toOwner, trustedAmong } from '../trust.ts';

const OUTBOX = defineOutbox({
  table: 'alert_messages',
  receivers: 'channels',
  receiver: 'channel_id',
  noted: ['tried_at', 'problem'],
});
const OUTBOX_FULL: ChannelProblem = { code: 'outbox_full' };

const HEADS = `${OUTBOX.waiting},
   heads AS (
     SELECT alert_messages.* FROM waiting
     JOIN alert_messages ON alert_messages.channel_id = waiting.channel_id AND alert_messages.turn =
       (SELECT min(turn) FROM alert_messages AS head
        WHERE head.channel_id = waiting.channel_id AND head.due_at IS NOT NULL))`;
const DUE = statement<Row<'alert_messages'>>(
  `${HEADS},
   placed AS (
     SELECT heads.*, row_number() OVER (PARTITION BY account_id ORDER BY due_at, heads.id) AS place
     FROM heads JOIN channels ON channels.id = heads.channel_id
     WHERE due_at <= ? OR attempts = 0 OR due_at > ? OR (tried_at <= ? AND problem NOT LIKE '{"code":"too_many"%' AND tried_at <
       (SELECT newest.created_at FROM alert_messages AS newest
        WHERE newest.channel_id = heads.channel_id AND newest.due_at IS NOT NULL ORDER BY newest.turn DESC LIMIT 1)))
   SELECT * FROM placed WHERE place <= ${MAX_DUE_PER_ACCOUNT} ORDER BY due_at, id LIMIT ?`,
);
const COUNTS = statement<
  Omit<AlertCounts, 'delivered' | 'failed' | 'dropped' | 'overdueMs'> & { readonly since: number | null }
>(
  `${HEADS}
   SELECT (SELECT count(*) FROM alert_events) AS events,
     (SELECT count(*) FROM alert_messages WHERE due_at IS NOT NULL) AS waiting,
     (SELECT count(*) FROM heads WHERE attempts > 0) AS retrying,
     (SELECT min(due_at) FROM heads) AS since`,
);
const SETTLED = statement<Pick<AlertCounts, 'delivered' | 'failed' | 'dropped'>>(
  `SELECT count(delivered_at) AS delivered, count(*) - count(delivered_at) AS failed,
     count(CASE WHEN problem = ? THEN 1 END) AS dropped
   FROM alert_messages WHERE due_at IS NULL AND created_at >= ?`,
);

const ADD: Batch<unknown> = {
  types: ['text', 'bigint', 'bigint', 'text', 'text', 'text', 'bigint', 'bigint', 'bigint'],
  sql: `INSERT INTO alert_messages (key, channel_id, turn, thread, type, message, failed_at, created_at, due_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
};

const LAST_TURN = statement<{ readonly turn: number | null }>(
  'SELECT max(turn) AS turn FROM alert_messages WHERE channel_id = ?',
);
const OLDEST_WAITING = statement<{ readonly turn: number; readonly dropped: number }>(
  'SELECT turn, dropped FROM alert_messages WHERE channel_id = ? AND due_at IS NOT NULL ORDER BY turn LIMIT ?',
);
const COUNT_WAITING = statement<{ readonly n: number }>(
  'SELECT count(*) AS n FROM alert_messages WHERE channel_id = ? AND due_at IS NOT NULL',
);
const DROP = statement(
  `UPDATE alert_messages SET due_at = NULL, problem = ?
   WHERE channel_id = ? AND due_at IS NOT NULL AND turn > ? AND turn < ?`,
);
const SET_DROPPED = statement('UPDATE alert_messages SET dropped = ? WHERE channel_id = ? AND turn = ?');
const PUT_THREAD = statement(
  `INSERT INTO alert_threads (channel_id, thread, reference, updated_at) VALUES (?, ?, ?, ?)
   ON CONFLICT (channel_id, thread) DO UPDATE SET reference = excluded.reference, updated_at = excluded.updated_at`,
);
const REFERENCE: Batch<{ readonly reference: string }> = {
  types: ['bigint', 'text'],
  sql: 'SELECT reference FROM alert_threads WHERE channel_id = ? AND thread = ?',
};
const FAILED = statement(
  `INSERT INTO channel_failures (channel_id, since, problem) VALUES (?, ?, ?)
   ON CONFLICT (channel_id) DO UPDATE SET problem = excluded.problem`,
);
const DELIVERED = statement('DELETE FROM channel_failures WHERE channel_id = ?');
const FORGET_THREADS = statement(
  `DELETE FROM alert_threads WHERE updated_at < ? AND NOT EXISTS
     (SELECT 1 FROM alert_messages
      WHERE alert_messages.channel_id = alert_threads.channel_id AND alert_messages.thread = alert_threads.thread)`,
);

export const MESSAGE_CALLS = {
  // biome-ignore lint/complexity/useMaxParams: the store, then the arguments of the port's method
  addMessage: write(async (store, accountId, channelId, message, now) => {
    if (!(await OUTBOX.owns(store, accountId, channelId))) return false;
    await addMessages(store, [{ channelId, message, isDelayed: true }], now);
    return true;
  }),
  dueMessages: read(async (registry, now, limit) => {
    const { kysely, queries, secrets } = registry;
    // What was not tried is due at once, and nothing is put off for two hours: such times are those of a clock that was ahead.
    const due = await queries.all(DUE(now, now + 2 * MAX_RETRY_WAIT_MS, now - RETRY_FOR_NEW_MS, limit));
    if (due.length === 0) return [];
    const box = await secrets.box();
    const ids = due.map((row) => row.channel_id);
    const urgent = await queries.all(
      kysely
        .selectFrom('alert_messages')
        .select('channel_id')
        .distinct()
        .where('channel_id', 'in', ids)
        .where('due_at', 'is not', null)
        .where('message', 'like', '%"urgency":"high"%'),
    );
    const channels = await queries.all(kysely.selectFrom('channels').selectAll().where('id', 'in', ids));
    const trusted = await trustedAmong(registry, channels.map(toOwner));
    const references = await queries.firstEach(
      REFERENCE,
      due.map((row) => [row.channel_id, row.thread]),
    );
    const messages = due.map(async (row, index) => {
      const channel = channels.find(({ id }) => id === row.channel_id);
      if (channel === undefined) return [];
      const stopSecret = await stopSecretOf(registry, channel);
      return {
        ...toMessage(row),
        key: row.key,
        channel: toChannel(channel, box),
        ...(trusted.has(channel.account_id) ? { isTrusted: true } : {}),
        ...(stopSecret === null ? {} : { stopSecret }),
        reference: references[index]?.reference ?? null,
        isUrgent: urgent.some(({ channel_id }) => channel_id === row.channel_id),
      };
    });
    return (await Promise.all(messages)).flat();
  }),
  hasMessages: read(OUTBOX.hasWaiting),
  noteMessage: write(async (store, outcome) => {
    const { queries } = store;
    const { id, triedAt, at, dueAt, reference } = outcome;
    const problem = outcome.problem === null ? null : JSON.stringify(outcome.problem);
    const row = await OUTBOX.noteAttempt(store, outcome, [triedAt, problem]);
    if (row === undefined) return;
    await queries.run(problem === null ? DELIVERED(row.channel_id) : FAILED(row.channel_id, at, problem));
    // Nothing of the channel is on its way now.
    if (dueAt !== null) await foldWaiting(store, row.channel_id, id);
    if (reference !== undefined) await queries.run(PUT_THREAD(row.channel_id, row.thread, reference, at));
  }),
  messagesOf: read(async (store, accountId, channelId) =>
    (await OUTBOX.shownTo(store, accountId, channelId)).map(toMessage),
  ),
  replayMessage: write(async (store, accountId, id, now) => {
    const { kysely, queries } = store;
    const row = await OUTBOX.replay(store, accountId, id, now);
    if (row === undefined) return false;
    const last = await queries.first(LAST_TURN(row.channel_id));
    await queries.run(
      kysely
        .updateTable('alert_messages')
        .set({ turn: (last?.turn ?? 0) + 1, failed_at: null, dropped: 0 })
        .where('id', '=', id),
    );
    return true;
  }),
  alertDelay: read(alertDelay),
  forgetMessages: write(async (store, before) => {
    const { kysely, queries } = store;
    const forgotten = await OUTBOX.forgetSettled(store, before);
    await queries.run(FORGET_THREADS(before));
    await queries.run(
      kysely.deleteFrom('alert_acknowledgements').where('decided', '=', sql.lit(1)).where('at', '<', before),
    );
    return forgotten;
  }),
} satisfies Partial<Calls<MessageStore>>;

/**
 * Appends messages to the queues of their channels inside the caller's transaction, due at once. Where more than
 * {@link MAX_WAITING_MESSAGES} wait then, the oldest but the first are dropped, since the first may be on its way.
 */
export async function addMessages(
  store: RegistryStore,
  messages: readonly DecidedMessage[],
  now: number,
): Promise<void> {
  if (messages.length === 0) return;
  const { queries } = store;
  const turns = new Map<number, number>();
  const lists: Parameters[] = [];
  for (const { channelId, message, isDelayed = false } of messages) {
    const last = turns.get(channelId) ?? (await queries.first(LAST_TURN(channelId)))?.turn ?? 0;
    const turn = last + 1;
    turns.set(channelId, turn);
    const { thread, type, at } = message;
    const failedAt = type === 'alert' && message.urgency === 'high' && !isDelayed ? at : null;
    const key = messageId(randomBytes(16));
    lists.push([key, channelId, turn, thread, type, toText(message), failedAt, now, now]);
  }
  await queries.runEach(ADD, lists);
  for (const channelId of turns.keys()) await dropOldest(store, channelId);
}

async function dropOldest({ queries }: RegistryStore, channelId: number): Promise<void> {
  const count = (await queries.first(COUNT_WAITING(channelId)))?.n ?? 0;
  const excess = count - MAX_WAITING_MESSAGES;
  if (excess <= 0) return;
  const waiting = await queries.all(OLDEST_WAITING(channelId, excess + 2));
  const [head, next] = [waiting[0], waiting[1 + excess]];
  if (head === undefined || next === undefined) return;
  const lost = waiting.slice(1, 1 + excess).reduce((sum, { dropped }) => sum + 1 + dropped, 0);
  await queries.run(DROP(JSON.stringify(OUTBOX_FULL), channelId, head.turn, next.turn));
  await queries.run(SET_DROPPED(next.dropped + lost, channelId, next.turn));
}

/**
 * Leaves what waits for a channel to later messages that say it as well ({@link foldQueue}). If the message `tried` is among them, the one
 * that is first then waits as it would have done.
 */
async function foldWaiting(
  { kysely, queries }: RegistryStore,
  channelId: number,
  tried: number,
): Promise<void> {
  const ofChannel = kysely.selectFrom('alert_messages').where('channel_id', '=', channelId);
  const rows = await queries.all(ofChannel.selectAll().where('due_at', 'is not', null).orderBy('turn'));
  if (rows.length < 2) return;
  const seen = await queries.all(
    ofChannel
      .select('thread')
      .distinct()
      .where('attempts', '>', 0)
      .where('thread', 'in', [...new Set(rows.map(({ thread }) => thread))]),
  );
  const queue = rows.map(({ id, attempts, message }) => ({ id, attempts, message: JSON.parse(message) }));
  const { changed, removed } = foldQueue(queue, new Set(seen.map(({ thread }) => thread)));
  const parts = Map.groupBy(rows, ({ id }) => endOf(removed, id));
  for (const [id, those] of parts) {
    if (those.length === 1) continue;
    const message = changed.get(id);
    const failed = those.map((row) => row.failed_at).filter((at) => at !== null);
    const failedAt = message?.type === 'alert' && failed.length > 0 ? Math.min(...failed) : null;
    const words =
      message === undefined ? {} : { type: message.type, message: toText(message), failed_at: failedAt };
    const dropped = those.reduce((sum, row) => sum + row.dropped, 0);
    await queries.run(
      kysely
        .updateTable('alert_messages')
        .set({ dropped, ...words })
        .where('id', '=', id),
    );
  }
  const head = rows.find(({ id }) => !removed.has(id));
  const before = rows.find(({ id }) => id === tried);
  if (head !== undefined && before !== undefined && removed.has(tried)) {
    const { due_at, attempts, tried_at, problem } = before;
    await queries.run(
      kysely
        .updateTable('alert_messages')
        .set({ due_at, attempts, tried_at, problem })
        .where('id', '=', head.id),
    );
  }
  if (removed.size > 0)
    await queries.run(kysely.deleteFrom('alert_messages').where('id', 'in', [...removed.keys()]));
}

/** The message that says another one as well, which may have been left to a third. */
function endOf(removed: ReadonlyMap<number, number>, id: number): number {
  const next = removed.get(id);
  return next === undefined ? id : endOf(removed, next);
}

/** The counts of what waits at `now`, as the port describes it. */
export async function countAlerts({ queries }: RegistryStore, now: number): Promise<AlertCounts> {
  const waiting = await queries.first(COUNTS());
  const settled = await queries.first(SETTLED(JSON.stringify(OUTBOX_FULL), now - DAY_MS));
  if (waiting === undefined || settled === undefined) throw new Error('the alerts were not counted');
  const { since, ...counts } = waiting;
  return { ...counts, ...settled, overdueMs: since === null ? 0 : Math.max(0, now - since) };
}

async function alertDelay(
  { kysely, queries }: RegistryStore,
  accountId: number | null,
  since: number,
): Promise<AlertDelay> {
  let found = kysely
    .selectFrom('alert_messages')
    .where('failed_at', 'is not', null)
    .where('delivered_at', '>=', since);
  if (accountId !== null) {
    const own = kysely.selectFrom('channels').select('id').where('account_id', '=', accountId);
    found = found.where('channel_id', 'in', own);
  }
  const counted = await queries.first(found.select(({ fn }) => fn.countAll<number>().as('count')));
  const count = counted?.count ?? 0;
  const quantile = async (ratio: number): Promise<number | null> => {
    if (count === 0) return null;
    const row = await queries.first(
      found
        .select((eb) => eb('delivered_at', '-', eb.ref('failed_at')).as('ms'))
        .orderBy('ms')
        .limit(1)
        .offset(Math.min(count - 1, Math.floor(count * ratio))),
    );
    return row === undefined ? null : Math.max(0, Number(row.ms));
  };
  return { count, p50Ms: await quantile(0.5), p99Ms: await quantile(0.99) };
}

/** JSON without unpaired surrogates, which have no UTF-8. */
function toText(message: AlertMessage): string {
  return JSON.stringify(message, (_, value) => (typeof value === 'string' ? value.toWellFormed() : value));
}

function toMessage(row: Row<'alert_messages'>): StoredMessage {
  const message: AlertMessage = JSON.parse(row.message);
  return {
    id: row.id,
    channelId: row.channel_id,
    message: row.dropped === 0 ? message : { ...message, dropped: row.dropped },
    createdAt: row.created_at,
    dueAt: row.due_at,
    attempts: row.attempts,
    deliveredAt: row.delivered_at,
    problem: row.problem === null ? null : JSON.parse(row.problem),
  };
}
