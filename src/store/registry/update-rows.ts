/**
 * Status updates: each is one compare-and-set, by statements without a query builder, since every evaluated result passes
 * here. Also reads the feed of transitions that they make.
 */
import {
  type CurrentStatus,
  fromStoredCheck,
  type Transition,
  toStoredCheck,
  unknownStatus,
} from '../../domain/current.ts';
import { describeReasonOrNull, fromStoredReason } from '../../domain/incident-text.ts';
import type { CommitOutcome, StatusUpdate } from '../ports/updates.ts';
import { readHeartbeatState, writeHeartbeat } from './heartbeat-rows.ts';
import { answerInInbox, isOpenInInbox } from './inbox-rows.ts';
import { writeIncident } from './incident-rows.ts';
import { type RegistryStore, statement } from './registry-store.ts';
import type { CurrentTable, TransitionsTable } from './schema.ts';
import { deliverEvent } from './webhook-outbox.ts';

/** Most transitions of one service that one call returns. */
const MAX_TRANSITIONS = 1_000;

const UPDATE = statement(
  `UPDATE current SET seq = ?, observed_at = ?, status = ?, since = ?, latest = ?, memory = coalesce(?, memory)
   WHERE service_id = ? AND seq = ?
     AND EXISTS (SELECT 1 FROM services WHERE services.id = service_id AND removed = 0)`,
);
const READ = statement<CurrentTable>('SELECT * FROM current WHERE service_id = ?');
const ADD_TRANSITION = statement<{ readonly position: number }>(
  `INSERT INTO transitions (service_id, seq, from_status, to_status, at, recorded_at, reason, reason_code)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING position`,
);

/**
 * Writes updates inside the caller's transaction; the outcomes are in the order of the input. `stale`: another writer was
 * first. Also for a removed or unknown service, and for a heartbeat of an account that no longer has the service; then
 * `current.seq` is the expected one, and there is nothing to evaluate again. Throws for an update that contradicts
 * itself, which is a bug of the caller.
 */
export async function commitUpdates(
  store: RegistryStore,
  updates: readonly StatusUpdate[],
): Promise<CommitOutcome[]> {
  for (const update of updates) checkUpdate(update);
  // Two updates of one service must not interleave.
  if (new Set(updates.map(({ serviceId }) => serviceId)).size === updates.length)
    return await store.each(updates, (update) => commitUpdate(store, update));
  const outcomes: CommitOutcome[] = [];
  for (const update of updates) outcomes.push(await commitUpdate(store, update));
  return outcomes;
}

async function commitUpdate(store: RegistryStore, update: StatusUpdate): Promise<CommitOutcome> {
  const { serviceId, expectedSeq, current, transition, incident, memory, heartbeat } = update;
  const { inboxId } = heartbeat ?? {};
  const state =
    heartbeat === undefined ? null : await readHeartbeatState(store, serviceId, heartbeat.accountId);
  if (state === undefined) return await stale(store, serviceId);
  // An answered entry is not written again: its monitor may have ended before it learnt of the answer.
  if (inboxId !== undefined && !(await isOpenInInbox(store, inboxId))) return await stale(store, serviceId);
  const changed = await store.queries.run(
    UPDATE(
      current.seq,
      current.observedAt,
      current.status,
      current.since,
      current.latest === null ? null : JSON.stringify(toStoredCheck(current.latest)),
      memory === null ? null : JSON.stringify(memory),
      serviceId,
      expectedSeq,
    ),
  );
  if (changed === 0) return await stale(store, serviceId);
  if (incident !== null) await writeIncident(store, incident);
  const written = transition === null ? null : await writeTransition(store, transition);
  if (heartbeat === undefined || state === null) return { kind: 'committed', transition: written };
  const runMs = await writeHeartbeat(store, serviceId, state, heartbeat);
  const { responseTimeMs } = heartbeat;
  if (inboxId !== undefined)
    await answerInInbox(store, inboxId, { kind: 'written', serviceId, current, responseTimeMs, runMs });
  return { kind: 'committed', transition: written, runMs };
}

async function stale({ queries }: RegistryStore, serviceId: number): Promise<CommitOutcome> {
  const row = await queries.first(READ(serviceId));
  return { kind: 'stale', current: row === undefined ? unknownStatus(serviceId) : toCurrent(row) };
}

async function writeTransition(
  store: RegistryStore,
  transition: Omit<Transition, 'position'>,
): Promise<Transition> {
  const { serviceId, seq, from, to, at, recordedAt, reason } = transition;
  const text = describeReasonOrNull(reason);
  const code = reason === null ? null : JSON.stringify(reason);
  const row = await store.queries.first(ADD_TRANSITION(serviceId, seq, from, to, at, recordedAt, text, code));
  if (row === undefined) throw new Error(`transition ${seq} of service ${serviceId} was not written`);
  const type = 'service.status_changed';
  await deliverEvent(store, serviceId, (service) => ({ type, service, transition }));
  return { ...transition, position: row.position };
}

/**
 * Transitions after `position`, in order, each with the present slug of its service. Those of removed services are left
 * out, since another service may have their slugs now.
 */
export function transitionsAfter(
  store: RegistryStore,
  position: number,
  limit: number,
): Promise<Transition[]> {
  return readTransitions(store, (query) =>
    query.where('position', '>', position).where('removed', '=', 0).orderBy('position').limit(limit),
  );
}

/** Transitions of one service that began in `[from, to)`, oldest first, at most 1,000. */
export function transitionsOf(
  store: RegistryStore,
  serviceId: number,
  from: number,
  to: number,
): Promise<Transition[]> {
  return readTransitions(store, (query) =>
    query
      .where('service_id', '=', serviceId)
      .where('at', '>=', from)
      .where('at', '<', to)
      .orderBy('at')
      .orderBy('transitions.seq')
      .limit(MAX_TRANSITIONS),
  );
}

/** Newest position of the feed; 0: none. */
export async function lastTransition({ kysely, queries }: RegistryStore): Promise<number> {
  const newest = kysely.selectFrom('transitions').select('position').orderBy('position', 'desc').limit(1);
  return (await queries.first(newest))?.position ?? 0;
}

type TransitionQuery = ReturnType<typeof selectTransitions>;
type TransitionRow = Omit<Transition, 'reason'> & Pick<TransitionsTable, 'reason' | 'reason_code'>;

async function readTransitions(
  { kysely, queries }: RegistryStore,
  choose: (query: TransitionQuery) => TransitionQuery,
): Promise<Transition[]> {
  return (await queries.all(choose(selectTransitions(kysely)))).map(toTransition);
}

/** The transition in a row of {@link selectTransitions}. */
export function toTransition({ reason_code, ...row }: TransitionRow): Transition {
  return {
    ...row,
    reason: fromStoredReason(reason_code === null ? null : JSON.parse(reason_code), row.reason),
  };
}

/** Transitions with the present slugs of their services. */
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
    ]);
}

/** The record in a row of the table `current`. */
export function toCurrent(row: Omit<CurrentTable, 'memory'>): CurrentStatus {
  return {
    serviceId: row.service_id,
    seq: row.seq,
    observedAt: row.observed_at,
    status: row.status,
    since: row.since,
    latest: row.latest === null ? null : fromStoredCheck(JSON.parse(row.latest)),
  };
}

function checkUpdate({ serviceId, expectedSeq, current, transition, incident }: StatusUpdate): void {
  const steps = current.seq - expectedSeq;
  const consistent =
    current.serviceId === serviceId &&
    (transition === null
      ? steps === 0
      : steps === 1 &&
        transition.serviceId === serviceId &&
        transition.seq === current.seq &&
        transition.to === current.status) &&
    (incident === null || incident.serviceId === serviceId);
  if (!consistent)
    throw new Error(
      `update of service ${serviceId} contradicts itself: seq ${expectedSeq} to ${current.seq}, ${transition === null ? 'no transition' : `transition ${transition.seq} to ${transition.to}`}`,
    );
}
