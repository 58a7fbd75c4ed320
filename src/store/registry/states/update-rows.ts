/**
 * Status updates, each of which is one compare-and-set, and the feed of transitions that they produce. The statements
 * are plain text because every evaluated result is written here. And the end of retention of transitions and incidents.
 */
import { eventOfTransition, type NewAlertEvent } from '../../../domain/alert/event.ts';
import { describeReasonOrNull, fromStoredReason } from '../../../domain/incident/incident.ts';
import { NO_MEMORY, type ProbeMemory } from '../../../domain/result.ts';
import {
  type CurrentStatus,
  fromStoredStatus,
  isScopeTransition,
  type NewTransition,
  type Transition,
  unknownStatus,
} from '../../../domain/status/current.ts';
import { type Calls, read, write } from '../../database/registry-calls.ts';
import {
  type Batch,
  type Parameters,
  type RegistryStore,
  statement,
  together,
} from '../../database/registry-store.ts';
import type { Row } from '../../database/schema.ts';
import type { InboxAnswer } from '../../ports/heartbeats.ts';
import type { CommitOutcome, RetentionStore, StatusUpdate, UpdateStore } from '../../ports/updates.ts';
import { addAlertEvents } from '../alerts/alert-rows.ts';
import { writeIncident } from '../incidents/incident-rows.ts';
import { deliverEvent } from '../incidents/webhook-rows.ts';
import {
  type HeartbeatState,
  type NotedHeartbeat,
  noteHeartbeat,
  putHeartbeats,
  readHeartbeatStates,
} from '../services/heartbeat-rows.ts';
import { answerAllInInbox, areOpenInInbox } from './inbox-rows.ts';
import { checkUpdate, type RoutineMethods, toRow } from './packed-states.ts';

/** Maximum number of transitions of one service in a call. */
const MAX_TRANSITIONS = 1_000;

const UPDATE: Batch<unknown> = {
  types: ['bigint', 'bigint', 'text', 'bigint', 'text', 'text', 'text', 'bigint', 'bigint'],
  sql: `UPDATE current SET seq = ?, observed_at = ?, status = ?, since = ?, latest = ?, regions = ?,
     memory = coalesce(?, memory)
   WHERE service_id = ? AND current.seq = ?
     AND EXISTS (SELECT 1 FROM services WHERE services.id = service_id AND removed = 0)`,
};
const READ = statement<Row<'current'>>('SELECT * FROM current WHERE service_id = ?');
const ADD_TRANSITION = statement<{ readonly position: number }>(
  `INSERT INTO transitions (service_id, seq, from_status, to_status, at, recorded_at, reason, reason_code, scope)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING position`,
);

/**
 * Writes updates inside the caller's transaction; the outcomes are in the order of the input. `stale`: another writer was first. Also
 * for a removed or unknown service, and for a heartbeat of an account that no longer has the service; then `current.seq` is the
 * expected one, and there is nothing to evaluate again. Throws for an update that contradicts itself, which is a bug of the caller.
 */
async function commitUpdates(
  store: RegistryStore,
  updates: readonly StatusUpdate[],
): Promise<CommitOutcome[]> {
  for (const update of updates) checkUpdate(update);
  const outcomes: CommitOutcome[] = [];
  for (const round of toRounds(updates)) await commitRound(store, round, outcomes);
  return outcomes;
}

type Entry = readonly [index: number, update: StatusUpdate];

/** Splits updates into groups: updates of different services are written together, those of one service in their order. */
function toRounds(updates: readonly StatusUpdate[]): Entry[][] {
  const rounds: Entry[][] = [];
  const counts = new Map<number, number>();
  for (const [index, update] of updates.entries()) {
    const count = counts.get(update.serviceId) ?? 0;
    counts.set(update.serviceId, count + 1);
    const round = rounds[count];
    if (round === undefined) rounds.push([[index, update]]);
    else round.push([index, update]);
  }
  return rounds;
}

async function commitRound(
  store: RegistryStore,
  round: readonly Entry[],
  outcomes: CommitOutcome[],
): Promise<void> {
  const states = await readStates(store, round);
  const wanted = round.filter(([index, { heartbeat }]) => heartbeat === undefined || states.has(index));
  const changed = await store.queries.runEach(
    UPDATE,
    wanted.map(([, update]) => toRow(update)),
  );
  const written = new Set(wanted.filter((_, place) => changed[place]).map(([index]) => index));
  const noted: NotedHeartbeat[] = [];
  const answers: RoundRows['answers'] = [];
  const events: NewAlertEvent[] = [];
  await store.each(round, async ([index, update]) => {
    outcomes[index] = written.has(index)
      ? await writeRest(store, update, states.get(index), { noted, answers, events })
      : await stale(store, update.serviceId);
  });
  await together(store, [
    () => putHeartbeats(store, noted),
    () => answerAllInInbox(store, answers),
    () => addAlertEvents(store, events),
  ]);
}

/** The heartbeat summaries of services by index in the input, without those of updates that must not be written. */
async function readStates(
  store: RegistryStore,
  round: readonly Entry[],
): Promise<ReadonlyMap<number, HeartbeatState>> {
  const beats = round.flatMap(([index, { serviceId, heartbeat }]) =>
    heartbeat === undefined ? [] : [{ index, serviceId, ...heartbeat }],
  );
  const states = await readHeartbeatStates(
    store,
    beats.map(({ serviceId, accountId }) => [serviceId, accountId]),
  );
  // An answered entry is not written again, since its monitor may have ended before it received the response to its commit.
  const open = await areOpenInInbox(
    store,
    beats.flatMap(({ inboxId }) => inboxId ?? []),
  );
  const found = new Map<number, HeartbeatState>();
  for (const [place, { index, inboxId }] of beats.entries()) {
    const state = states[place];
    if (state !== undefined && (inboxId === undefined || open.has(inboxId))) found.set(index, state);
  }
  return found;
}

/** Rows that the updates of a round add, written together. */
interface RoundRows {
  readonly noted: NotedHeartbeat[];
  readonly answers: { readonly id: number; readonly answer: InboxAnswer }[];
  readonly events: NewAlertEvent[];
}

/** Writes the parts of an update other than the record. A heartbeat and events are added to the rows of the round. */
async function writeRest(
  store: RegistryStore,
  update: StatusUpdate,
  state: HeartbeatState | undefined,
  { noted, answers, events }: RoundRows,
): Promise<CommitOutcome> {
  const { serviceId, current, transition, incident, heartbeat, recordedAt } = update;
  if (transition !== null) events.push(eventOfTransition(transition, current, update.lastGoodAt ?? null));
  if (incident !== null) events.push(...(await writeIncident(store, incident, recordedAt)));
  const written = transition === null ? null : await writeTransition(store, transition);
  if (heartbeat === undefined || state === undefined) return { kind: 'committed', transition: written };
  const { inboxId, responseTimeMs } = heartbeat;
  const one = await noteHeartbeat(store, serviceId, state, heartbeat);
  noted.push(one);
  const { runMs } = one;
  if (inboxId !== undefined)
    answers.push({
      id: inboxId,
      answer: { kind: 'written', serviceId, current, responseTimeMs, runMs },
    });
  return { kind: 'committed', transition: written, runMs };
}

/** Writes the rows of routine updates, each by its compare-and-set. */
async function commitRows(
  store: RegistryStore,
  rows: readonly Parameters[],
): ReturnType<RoutineMethods['commitRows']> {
  const changed = await store.queries.runEach(UPDATE, rows);
  const missed = rows.flatMap((row, place) =>
    changed[place] ? [] : [{ place, serviceId: Number(row.at(-2)) }],
  );
  return await store.each(missed, async ({ place, serviceId }) => [
    place,
    await readCurrent(store, serviceId),
  ]);
}

async function stale(store: RegistryStore, serviceId: number): Promise<CommitOutcome> {
  return { kind: 'stale', current: await readCurrent(store, serviceId) };
}

async function readCurrent({ queries }: RegistryStore, serviceId: number): Promise<CurrentStatus> {
  const row = await queries.first(READ(serviceId));
  return row === undefined ? unknownStatus(serviceId) : toCurrent(row);
}

async function writeTransition(store: RegistryStore, transition: NewTransition): Promise<Transition> {
  const { serviceId, seq, from, to, at, recordedAt, reason } = transition;
  const text = describeReasonOrNull(reason);
  const code = reason === null ? null : JSON.stringify(reason);
  const scope = transition.scope === undefined ? null : JSON.stringify(transition.scope);
  const type = isScopeTransition(transition) ? 'service.scope_changed' : 'service.status_changed';
  const add = ADD_TRANSITION(serviceId, seq, from, to, at, recordedAt, text, code, scope);
  const [row] = await together(store, [
    () => store.queries.first(add),
    async () => {
      await deliverEvent(store, serviceId, (service) => ({ type, service, transition }));
      return undefined;
    },
  ]);
  if (row === undefined) throw new Error(`transition ${seq} of service ${serviceId} was not written`);
  return { ...transition, position: row.position };
}

export const UPDATE_CALLS: Calls<UpdateStore & RoutineMethods> = {
  commitUpdates: write(commitUpdates),
  commitRows: write(commitRows),
  transitionsAfter: read((store, position, limit) =>
    readTransitions(store, (query) =>
      // Transitions of removed services are left out, since other services may have their slugs by now.
      query.where('position', '>', position).where('removed', '=', 0).orderBy('position').limit(limit),
    ),
  ),
  lastTransition: read(async ({ kysely, queries }) => {
    const newest = kysely.selectFrom('transitions').select('position').orderBy('position', 'desc').limit(1);
    return (await queries.first(newest))?.position ?? 0;
  }),
  transitionsOf: read((store, serviceId, from, to) =>
    readTransitions(store, (query) =>
      query
        .where('service_id', '=', serviceId)
        .where('at', '>=', from)
        .where('at', '<', to)
        .orderBy('at', 'desc')
        .orderBy('transitions.seq', 'desc')
        .limit(MAX_TRANSITIONS),
    ),
  ),
};

type TransitionQuery = ReturnType<typeof selectTransitions>;
type TransitionRow = Omit<Transition, 'reason' | 'scope'> &
  Pick<Row<'transitions'>, 'reason' | 'reason_code' | 'scope'>;

async function readTransitions(
  { kysely, queries }: RegistryStore,
  choose: (query: TransitionQuery) => TransitionQuery,
): Promise<Transition[]> {
  return (await queries.all(choose(selectTransitions(kysely)))).map(toTransition);
}

/** The transition in a row of {@link selectTransitions}. */
export function toTransition({ reason_code, scope, ...row }: TransitionRow): Transition {
  return {
    ...row,
    reason: fromStoredReason(reason_code === null ? null : JSON.parse(reason_code), row.reason),
    ...(scope === null ? {} : { scope: JSON.parse(scope) }),
  };
}

/** Transitions with the current slugs of their services. */
export function selectTransitions(kysely: RegistryStore['kysely']) {
  return kysely
    .selectFrom('transitions')
    .innerJoin('services', 'services.id', 'transitions.service_id')
    .select([
      'position',
      'service_id as serviceId',
      'slug',
      'transitions.seq as seq',
      'from_status as from',
      'to_status as to',
      'at',
      'recorded_at as recordedAt',
      'reason',
      'reason_code',
      'scope',
    ]);
}

/** The record in a row of the table `current`. */
export function toCurrent(row: Omit<Row<'current'>, 'memory'>): CurrentStatus {
  const { service_id: serviceId, seq, observed_at: observedAt, status, since, latest, regions } = row;
  return fromStoredStatus(
    { serviceId, seq, observedAt, status, since },
    latest === null ? null : JSON.parse(latest),
    regions === null ? null : JSON.parse(regions),
  );
}

/** The probe memory in a row of the table `current`; null: it is empty. */
export function toMemory(stored: string | null): ProbeMemory {
  return stored === null ? NO_MEMORY : { ...NO_MEMORY, ...JSON.parse(stored) };
}

// Deletion of incidents and transitions that are out of retention, some at a time.

/** Maximum number of incidents, and of transitions, that one call looks at. */
const MAX_ROWS = 1_000;

// A list of the first ones, since neither database limits a DELETE. The literal lets both use the partial index.
const FORGET_INCIDENTS = statement(
  `DELETE FROM incidents WHERE id IN
     (SELECT id FROM incidents WHERE status = 'resolved' AND resolved_at < ? ORDER BY resolved_at LIMIT ${MAX_ROWS})`,
);
const FORGET_SAID = statement("DELETE FROM owner_incidents WHERE status = 'resolved' AND resolved_at < ?");
const FORGET_TRANSITIONS = statement(
  `DELETE FROM transitions WHERE position > ? AND position <= ? AND recorded_at < ?
     AND seq < (SELECT seq FROM current WHERE current.service_id = transitions.service_id)`,
);

export const RETENTION_CALLS: Calls<RetentionStore> = {
  newestObservation: read(async ({ kysely, queries }) => {
    const newest = kysely.selectFrom('current').select(({ fn }) => fn.max('observed_at').as('at'));
    // A service without an observation has 0.
    return (await queries.first(newest))?.at || null;
  }),
  forgetOld: write(async (store, before, position) => {
    const incidents = await store.queries.run(FORGET_INCIDENTS(before));
    // What an owner has written of several services ends with its rows in their lists, which have the same times.
    await store.queries.run(FORGET_SAID(before));
    const page = await readPage(store, position);
    const last = page.at(-1);
    if (last === undefined || !page.some(({ recorded_at }) => recorded_at < before))
      return { incidents, transitions: 0, position: incidents < MAX_ROWS ? null : position };
    const transitions = await store.queries.run(FORGET_TRANSITIONS(position, last.position, before));
    return { incidents, transitions, position: last.position };
  }),
};

async function readPage({ kysely, queries }: RegistryStore, position: number) {
  return await queries.all(
    kysely
      .selectFrom('transitions')
      .select(['position', 'recorded_at'])
      .where('position', '>', position)
      .orderBy('position')
      .limit(MAX_ROWS),
  );
}
