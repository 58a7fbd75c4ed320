/** Webhooks and their deliveries. */
import { randomBytes } from 'node:crypto';
import { systemClock } from '../../../clock.ts';
import { MAX_DELIVERY_WAIT_MS } from '../../../domain/delivery-retries.ts';
import { describeDeliveryProblem, fromStoredDeliveryProblem } from '../../../domain/refusal.ts';
import {
  type EventService,
  messageId,
  type WebhookEvent,
  webhookBody,
} from '../../../domain/webhook-event.ts';
import { getFact, setFact } from '../../database/fact-rows.ts';
import { addNotice } from '../../database/notice-rows.ts';
import { type Calls, type OpenRegistry, read, type SecretBox, write } from '../../database/registry-calls.ts';
import { RegistryError } from '../../database/registry-error.ts';
import { type Batch, fromRow, type RegistryStore, statement } from '../../database/registry-store.ts';
import type { Row } from '../../database/schema.ts';
import { type Delivery, MAX_WEBHOOKS, type Webhook, type WebhookStore } from '../../ports/webhooks.ts';
import { defineOutbox, MAX_DUE_PER_ACCOUNT } from '../outbox-rows.ts';
import { toOwner, trustedAmong } from '../trust.ts';

const OUTBOX = defineOutbox({
  table: 'deliveries',
  receivers: 'webhooks',
  receiver: 'webhook_id',
  noted: ['problem', 'problem_code'],
});
/** Maximum number of stored deliveries of a webhook; the oldest are deleted beyond it, delivered or not. */
const MAX_KEPT = 10_000;

const WAITING = statement<{ readonly webhook_id: number }>(
  `${OUTBOX.waiting} SELECT webhook_id FROM waiting WHERE webhook_id IS NOT NULL`,
);
/** The first deliveries of a webhook that are due within a span. */
const DUE: Batch<Pick<Row<'deliveries'>, 'id' | 'webhook_id'> & { readonly due_at: number }> = {
  types: ['bigint', 'bigint', 'bigint'],
  sql: `SELECT id, webhook_id, due_at FROM deliveries
        WHERE webhook_id = ? AND due_at IS NOT NULL AND due_at > ? AND due_at <= ?
        ORDER BY due_at, id LIMIT ${MAX_DUE_PER_ACCOUNT}`,
};

const DELIVERY: Batch<Row<'deliveries'>> = {
  types: ['bigint'],
  sql: 'SELECT * FROM deliveries WHERE id = ?',
};
const NEWEST_TOO_MANY = statement<{ readonly id: number }>(
  `SELECT id FROM deliveries WHERE webhook_id = ? ORDER BY id DESC LIMIT 1 OFFSET ${MAX_KEPT}`,
);

// Not by the name of the column alone, for which SQLite would read the whole index of webhooks.
/** Deliveries that were added since the last count, by webhook. */
const ADDED = statement<{ readonly webhook_id: number; readonly added: number; readonly newest: number }>(
  'SELECT webhook_id + 0 AS webhook_id, count(*) AS added, max(id) AS newest FROM deliveries WHERE id > ? GROUP BY webhook_id + 0',
);
/** Name of the fact with the counts of deliveries. */
export const COUNTS_FACT = 'delivery-counts';

/** Upper bounds of the webhooks' deliveries, so that only those that may have too many are looked at. */
export interface DeliveryCounts {
  /** The ID up to which they are counted. */
  readonly upTo: number;
  /** By the ID of the webhook. */
  readonly counts: Readonly<Record<string, number>>;
}

export const WEBHOOK_CALLS: Calls<WebhookStore> = {
  addWebhook: write(async (registry, webhook) => {
    const { kysely, queries, secrets } = registry;
    const { accountId, url, secret, createdAt, format = null } = webhook;
    if ((await webhooksOf(registry, accountId)).length >= MAX_WEBHOOKS)
      throw new RegistryError('account_limit', { code: 'too_many_webhooks', max: MAX_WEBHOOKS });
    const box = await secrets.box();
    const row = await queries.first(
      kysely
        .insertInto('webhooks')
        .values({ account_id: accountId, url, secret: box.seal(secret), created_at: createdAt, format })
        .returningAll(),
    );
    if (row === undefined) throw new Error('the webhook was not written');
    return toWebhook(row, box);
  }),
  webhooksOf: read(webhooksOf),
  removeWebhook: write(async (store, accountId, id) => {
    if (!(await OUTBOX.owns(store, accountId, id))) return false;
    const { kysely, queries } = store;
    await queries.run(kysely.deleteFrom('deliveries').where('webhook_id', '=', id));
    return (await queries.run(kysely.deleteFrom('webhooks').where('id', '=', id))) > 0;
  }),
  addDelivery: write(async (store, accountId, webhookId, { message, type, body, now }) => {
    if (!(await OUTBOX.owns(store, accountId, webhookId))) return false;
    await store.queries.run(ADD_DELIVERY(message, webhookId, type, body, now, now));
    return true;
  }),
  deliveriesOf: read(async (store, accountId) => (await OUTBOX.shownTo(store, accountId)).map(toDelivery)),
  replayDelivery: write(
    async (store, accountId, id, now) => (await OUTBOX.replay(store, accountId, id, now)) !== undefined,
  ),
  dueDeliveries: read(async (registry, now, limit) => {
    const { kysely, queries, secrets } = registry;
    const due = await firstDue(registry, now);
    if (due.length === 0) return [];
    const ids = [...new Set(due.map(({ webhook_id }) => webhook_id))];
    const webhooks = await queries.all(kysely.selectFrom('webhooks').selectAll().where('id', 'in', ids));
    const byId = new Map(webhooks.map((row) => [row.id, row]));
    const taken = new Map<number, number>();
    const chosen = due.filter(({ webhook_id: id }) => {
      const account = byId.get(id)?.account_id ?? 0;
      const place = (taken.get(account) ?? 0) + 1;
      taken.set(account, place);
      return place <= MAX_DUE_PER_ACCOUNT;
    });
    const taking = chosen.slice(0, limit);
    const rows = await queries.firstEach(
      DELIVERY,
      taking.map(({ id }) => [id]),
    );
    const trusted = await trustedAmong(registry, webhooks.map(toOwner));
    const box = await secrets.box();
    return rows.flatMap((row, index) => {
      const webhook = row === undefined ? undefined : byId.get(row.webhook_id);
      // Its outcome may have been stored meanwhile.
      if (row === undefined || webhook === undefined || row.due_at !== taking[index]?.due_at) return [];
      const trust = trusted.has(webhook.account_id) ? { isTrusted: true } : {};
      const { url, secret, format } = toWebhook(webhook, box);
      return { ...toDelivery(row), ...trust, url, secret, ...(format === undefined ? {} : { format }) };
    });
  }),
  hasDeliveries: read(OUTBOX.hasWaiting),
  noteDelivery: write(async (store, outcome) => {
    const { kysely, queries } = store;
    const { deliveredAt, problem } = outcome;
    const said =
      problem === null ? [null, null] : [describeDeliveryProblem(problem), JSON.stringify(problem)];
    const row = await OUTBOX.noteAttempt(store, outcome, said);
    if (row === undefined || deliveredAt === null) return;
    // The receiver is back: what has failed for it need not wait for hours. What is due may be on its way.
    await queries.run(
      kysely
        .updateTable('deliveries')
        .set({ due_at: deliveredAt })
        .where('webhook_id', '=', row.webhook_id)
        .where('due_at', '>', deliveredAt)
        .where('due_at', '<=', deliveredAt + MAX_DELIVERY_WAIT_MS),
    );
  }),
  forgetDeliveries: write(async (store, before) => {
    const { kysely, queries } = store;
    await OUTBOX.forgetSettled(store, before);
    const { upTo, counts } = await countDeliveries(store);
    let dropped = 0;
    for (const [id, count] of Object.entries(counts)) {
      if (count <= MAX_KEPT) continue;
      dropped += await dropOldest(store, Number(id));
      const left = kysely
        .selectFrom('deliveries')
        .select((eb) => eb.fn.countAll<number>().as('n'))
        .where('webhook_id', '=', Number(id));
      counts[id] = (await queries.first(left))?.n ?? 0;
    }
    await setFact(store, COUNTS_FACT, JSON.stringify({ upTo, counts } satisfies DeliveryCounts));
    return dropped;
  }),
};

/** Counts deliveries on from the last count. Those that were deleted since then still count. */
async function countDeliveries(store: RegistryStore) {
  const { kysely, queries } = store;
  const fact = await getFact(store, COUNTS_FACT);
  const known: DeliveryCounts = fact === null ? { upTo: 0, counts: {} } : JSON.parse(fact);
  const added = new Map<number, number>();
  let { upTo } = known;
  for (const row of await queries.all(ADDED(upTo))) {
    added.set(row.webhook_id, Number(row.added));
    upTo = Math.max(upTo, row.newest);
  }
  const counts: Record<string, number> = {};
  for (const { id } of await queries.all(kysely.selectFrom('webhooks').select('id'))) {
    const count = (known.counts[id] ?? 0) + (added.get(id) ?? 0);
    if (count > 0) counts[id] = count;
  }
  return { upTo, counts };
}

/** Deletes the deliveries of a webhook beyond {@link MAX_KEPT}; returns how many of them were still to be made. */
async function dropOldest({ kysely, queries }: RegistryStore, webhookId: number): Promise<number> {
  const newestTooMany = await queries.first(NEWEST_TOO_MANY(webhookId));
  if (newestTooMany === undefined) return 0;
  const tooMany = kysely
    .deleteFrom('deliveries')
    .where('webhook_id', '=', webhookId)
    .where('id', '<=', newestTooMany.id);
  const dropped = await queries.run(tooMany.where('due_at', 'is not', null));
  await queries.run(tooMany);
  return dropped;
}

/** The first due deliveries of each webhook, in their order. */
async function firstDue({ queries }: RegistryStore, now: number) {
  const waiting = await queries.all(WAITING());
  // No attempt asks for a longer wait: a later time is that of a clock that was ahead.
  const longest = now + MAX_DELIVERY_WAIT_MS;
  const spans = waiting.flatMap(({ webhook_id: id }) => [
    [id, -1, now],
    [id, longest, Number.MAX_SAFE_INTEGER],
  ]);
  const due = (await queries.allEach(DUE, spans)).flat();
  return due.sort((a, b) => a.due_at - b.due_at || a.id - b.id);
}

/** Webhooks of an account, oldest first. */
async function webhooksOf({ kysely, queries, secrets }: OpenRegistry, accountId: number): Promise<Webhook[]> {
  const box = await secrets.box();
  const rows = await queries.all(
    kysely.selectFrom('webhooks').selectAll().where('account_id', '=', accountId).orderBy('id'),
  );
  return rows.map((row) => toWebhook(row, box));
}

/** Removes all webhooks with their deliveries, and sends their owners a notice. Returns the number of webhooks. */
export async function removeAllWebhooks(store: RegistryStore, now: number): Promise<number> {
  const { kysely, queries } = store;
  const rows = await queries.all(kysely.selectFrom('webhooks').select(['account_id', 'url']));
  for (const { account_id, url } of rows)
    await addNotice(store, account_id, now, { code: 'webhook_removed', url });
  await queries.run(kysely.deleteFrom('deliveries'));
  await queries.run(kysely.deleteFrom('webhooks'));
  return rows.length;
}

function toWebhook({ format, ...row }: Row<'webhooks'>, box: SecretBox): Webhook {
  return { ...fromRow(row), secret: box.open(row.secret), ...(format === null ? {} : { format }) };
}

function toDelivery({ problem, problem_code: code, ...row }: Row<'deliveries'>): Delivery {
  return {
    ...fromRow(row),
    problem: fromStoredDeliveryProblem(code === null ? null : JSON.parse(code), problem),
  };
}

const FIND_WEBHOOKS = statement<EventService & { readonly id: number }>(
  `SELECT webhooks.id AS id, slug, name, domain FROM services
   JOIN webhooks ON webhooks.account_id = services.account_id WHERE services.id = ? ORDER BY webhooks.id`,
);
const ADD_DELIVERY = statement(
  'INSERT INTO deliveries (message, webhook_id, type, body, created_at, due_at) VALUES (?, ?, ?, ?, ?, ?)',
);

/**
 * Writes a delivery of the event for each webhook of the service's owner, due at once, inside the transaction of the transition or
 * incident that it reports: none is lost or created twice (docs/adr/0016-deliveries-are-written-beside-their-change.md). For a service
 * whose owner has no webhook, this costs one index lookup.
 */
export async function deliverEvent(
  { queries }: RegistryStore,
  serviceId: number,
  eventOf: (service: EventService) => WebhookEvent,
): Promise<void> {
  const webhooks = await queries.all(FIND_WEBHOOKS(serviceId));
  const [first] = webhooks;
  if (first === undefined) return;
  const { slug, name, domain } = first;
  const event = eventOf({ slug, name, domain });
  const now = systemClock.now();
  const body = webhookBody(event, now);
  for (const { id } of webhooks)
    await queries.run(ADD_DELIVERY(messageId(randomBytes(16)), id, event.type, body, now, now));
}
