/** The feed of events, what was decided about them, and acknowledgements (docs/architecture.md, Alerts). */
import type { Selectable } from 'kysely';
import type { AlertChange, NewAlertEvent } from '../../../domain/alert/event.ts';
import { rulesVersion } from '../../../resources/rules/rule-rows.ts';
import type { AlertSchema } from '../../database/account-schema.ts';
import { getFact, setFact } from '../../database/fact-rows.ts';
import { type Calls, read, write } from '../../database/registry-calls.ts';
import { type Batch, type RegistryStore, sql, together } from '../../database/registry-store.ts';
import type {
  Acknowledgement,
  AlertDecision,
  AlertFacts,
  AlertStore,
  DecidedMessage,
} from '../../ports/alerts.ts';
import { addMessages, countAlerts } from './message-rows.ts';
import { addSubscriptionChanges } from './subscription-changes.ts';

/** Name of the fact with the position of the last decision. */
const POSITION_FACT = 'alert-position';
/** Maximum number of acknowledgements of an account that are read beside its state. */
const MAX_ACKNOWLEDGEMENTS = 100;

const ADD_EVENT: Batch<unknown> = {
  types: ['bigint', 'bigint', 'bigint', 'text'],
  sql: `INSERT INTO alert_events (service_id, at, recorded_at, change)
        SELECT ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM alert_rules WHERE enabled = 1)`,
};

/** The feed of events and what was decided. */
export const ALERT_CALLS: Calls<AlertStore> = {
  alertEventsAfter: read(async ({ kysely, queries }, position, limit) => {
    const rows = await queries.all(
      kysely
        .selectFrom('alert_events')
        .selectAll()
        .where('position', '>', position)
        .orderBy('position')
        .limit(limit),
    );
    return rows.map((row) => ({
      position: row.position,
      serviceId: row.service_id,
      at: row.at,
      recordedAt: row.recorded_at,
      change: JSON.parse(row.change) as AlertChange,
    }));
  }),
  loadAlertStates: read(async (store) => {
    const { kysely, queries } = store;
    const position = await decidedPosition(store);
    const rows = await queries.all(kysely.selectFrom('alert_states').selectAll().orderBy('account_id'));
    const states = rows.map((row) => ({ accountId: row.account_id, state: row.state, dueAt: row.due_at }));
    return { position, states };
  }),
  commitAlerts: write(commitAlerts),
  acknowledge: write(async (store, { accountId, thread, by, at }) => {
    const { kysely, queries } = store;
    // What is over in one channel may go on in another, which was told of more in the same thread.
    const open = kysely
      .selectFrom('alert_messages as told')
      .innerJoin('channels', 'channels.id', 'told.channel_id')
      .select('told.id')
      .where('account_id', '=', accountId)
      .where('told.thread', '=', thread)
      .where('told.type', 'in', ['alert', 'update', 'reminder'])
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('alert_messages as ended')
              .select('ended.id')
              .whereRef('ended.channel_id', '=', 'told.channel_id')
              .whereRef('ended.thread', '=', 'told.thread')
              .where('ended.type', '=', 'recovery'),
          ),
        ),
      )
      .limit(1);
    if ((await queries.first(open)) === undefined) return false;
    await queries.run(
      kysely
        .insertInto('alert_acknowledgements')
        .values({ account_id: accountId, thread, by_name: by, at })
        // A thread that became worse after its acknowledgement is open again.
        .onConflict((conflict) =>
          conflict
            .columns(['account_id', 'thread'])
            .doUpdateSet({ by_name: by, at, decided: 0 })
            .where('alert_acknowledgements.decided', '=', 1),
        ),
    );
    return true;
  }),
  newAcknowledgements: read(async ({ kysely, queries }) => {
    const rows = await queries.all(
      kysely.selectFrom('alert_acknowledgements').selectAll().where('decided', '=', sql.lit(0)).orderBy('id'),
    );
    return rows.map(fromRow);
  }),
  alertsOf: read(async ({ kysely, queries }, accountId) => {
    const state = kysely.selectFrom('alert_states').select('state').where('account_id', '=', accountId);
    const newest = kysely
      .selectFrom('alert_acknowledgements')
      .selectAll()
      .where('account_id', '=', accountId)
      .orderBy('id', 'desc')
      .limit(MAX_ACKNOWLEDGEMENTS);
    const [row, rows] = [await queries.first(state), await queries.all(newest)];
    return { state: row?.state ?? null, acknowledgements: rows.map(fromRow) };
  }),
  accountOfThread: read(async ({ kysely, queries }, thread) => {
    const holder = kysely
      .selectFrom('alert_messages')
      .innerJoin('channels', 'channels.id', 'alert_messages.channel_id')
      .select('account_id')
      .where('thread', '=', thread)
      .limit(1);
    return (await queries.first(holder))?.account_id ?? null;
  }),
  alertFacts: read(alertFacts),
  countAlerts: read(countAlerts),
};

function fromRow(row: Selectable<AlertSchema['alert_acknowledgements']>): Acknowledgement {
  return { id: row.id, accountId: row.account_id, thread: row.thread, by: row.by_name, at: row.at };
}

/**
 * Appends events to the feed inside the transaction of their changes, if there is anything that alerts are made for. This
 * costs two index lookups where there is not.
 */
export async function addAlertEvents(store: RegistryStore, events: readonly NewAlertEvent[]): Promise<void> {
  if (events.length === 0) return;
  await together(store, [() => addSubscriptionChanges(store, events), () => appendEvents(store, events)]);
}

async function appendEvents(store: RegistryStore, events: readonly NewAlertEvent[]): Promise<void> {
  await store.queries.runEach(
    ADD_EVENT,
    events.map(({ serviceId, at, recordedAt, change }) => [serviceId, at, recordedAt, toText(change)]),
  );
}

async function decidedPosition(store: RegistryStore): Promise<number> {
  return Number((await getFact(store, POSITION_FACT)) ?? 0);
}

async function commitAlerts(store: RegistryStore, decision: AlertDecision): Promise<boolean> {
  const { kysely, queries } = store;
  const { position, states, messages, acknowledgements, now } = decision;
  if ((await rulesVersion(store)) !== decision.rulesVersion) return false;
  if (position > (await decidedPosition(store))) {
    await setFact(store, POSITION_FACT, String(position));
    await queries.run(kysely.deleteFrom('alert_events').where('position', '<=', position));
  }
  for (const { accountId, state, dueAt } of states) {
    const values = { state, due_at: dueAt };
    await queries.run(
      kysely
        .insertInto('alert_states')
        .values({ account_id: accountId, ...values })
        .onConflict((conflict) => conflict.column('account_id').doUpdateSet(values)),
    );
  }
  if (acknowledgements.length > 0)
    await queries.run(
      kysely
        .updateTable('alert_acknowledgements')
        .set({ decided: 1 })
        .where('id', 'in', [...acknowledgements]),
    );
  await addMessages(store, await toKnownChannels(store, messages), now);
  return true;
}

/** The messages to channels that exist and have agreed. */
async function toKnownChannels(
  { kysely, queries }: RegistryStore,
  messages: readonly DecidedMessage[],
): Promise<DecidedMessage[]> {
  if (messages.length === 0) return [];
  const rows = await queries.all(
    kysely
      .selectFrom('channels')
      .select('id')
      .where('id', 'in', [...new Set(messages.map(({ channelId }) => channelId))])
      .where('confirmed_at', 'is not', null),
  );
  const known = new Set(rows.map(({ id }) => id));
  return messages.filter(({ channelId }) => known.has(channelId));
}

/** Maximum number of services in one query. */
const MAX_IDS = 1_000;

async function alertFacts(store: RegistryStore, serviceIds: readonly number[]): Promise<AlertFacts[]> {
  const facts = new Map<number, AlertFacts>();
  const put = (serviceId: number, add: (known: AlertFacts) => Partial<AlertFacts>) => {
    const known = facts.get(serviceId) ?? { serviceId, ...NO_FACTS };
    facts.set(serviceId, { ...known, ...add(known) });
  };
  for (let at = 0; at < serviceIds.length; at += MAX_IDS)
    await readFacts(store, serviceIds.slice(at, at + MAX_IDS), put);
  return [...facts.values()];
}

const NO_FACTS = { addresses: [], failingDependencies: [], vendor: null, isInMaintenance: false } as const;

async function readFacts(
  { kysely, queries }: RegistryStore,
  ids: readonly number[],
  put: (serviceId: number, add: (known: AlertFacts) => Partial<AlertFacts>) => void,
): Promise<void> {
  const addresses = kysely.selectFrom('owner_addresses').selectAll().where('service_id', 'in', ids);
  for (const row of await queries.all(addresses.orderBy('address')))
    put(row.service_id, (known) => ({ addresses: [...known.addresses, row.address] }));
  const failing = kysely
    .selectFrom('failing_dependencies')
    .select(['service_id', 'name'])
    .where('service_id', 'in', ids)
    .orderBy('name');
  for (const row of await queries.all(failing))
    put(row.service_id, (known) => ({ failingDependencies: [...known.failingDependencies, row.name] }));
  // Literals, not parameters, because SQLite otherwise does not use the partial indexes.
  const incidents = kysely
    .selectFrom('incidents')
    .select(['service_id', 'title', 'source_url'])
    .where('service_id', 'in', ids)
    .where('source', '=', sql.lit('vendor'))
    .where('resolved_at', 'is', null)
    .where('by_owner', '=', sql.lit(0))
    .where('severity', '<>', 'maintenance')
    .orderBy('started_at');
  for (const row of await queries.all(incidents))
    put(row.service_id, () => ({ vendor: { title: row.title, url: row.source_url } }));
  const maintenances = kysely
    .selectFrom('maintenances')
    .select('service_id')
    .where('service_id', 'in', ids)
    .where('phase', '=', 'running')
    .where('owner_id', 'is not', null);
  for (const row of await queries.all(maintenances)) put(row.service_id, () => ({ isInMaintenance: true }));
}

/** JSON without unpaired surrogates, which have no UTF-8. */
function toText(change: AlertChange): string {
  return JSON.stringify(change, (_, value) => (typeof value === 'string' ? value.toWellFormed() : value));
}
