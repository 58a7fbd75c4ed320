/**
 * Status updates: each is one compare-and-set, by prepared statements without a query builder, since every evaluated
 * result passes here. Also reads the feed of transitions that they make.
 */
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import {
  type CurrentStatus,
  fromStoredCheck,
  type Transition,
  toStoredCheck,
  unknownStatus,
} from '../../domain/current.ts';
import { describeReasonOrNull, fromStoredReason } from '../../domain/incident-text.ts';
import type { HeartbeatWrite } from '../ports/heartbeats.ts';
import type { CommitOutcome, StatusUpdate } from '../ports/updates.ts';
import { prepareHeartbeatWriter } from './heartbeat-rows.ts';
import { prepareInbox } from './inbox-rows.ts';
import { prepareIncidentWriter } from './incident-rows.ts';
import type { RegistryStore } from './registry-store.ts';
import { prepareWebhookOutbox } from './webhook-outbox.ts';

/**
 * Writes updates inside the caller's transaction; the outcomes are in the order of the input. `stale`: another writer was
 * first. Also for a removed or unknown service, and for a heartbeat of an account that no longer has the service; then
 * `current.seq` is the expected one, and there is nothing to evaluate again. Throws for an update that contradicts
 * itself, which is a bug of the caller.
 */
export type WriteUpdates = (updates: readonly StatusUpdate[]) => CommitOutcome[];

/** Most transitions of one service that one call returns. */
const MAX_TRANSITIONS = 1_000;

type Row = Record<string, SQLOutputValue>;

/** Prepares the statements over an open, migrated database. */
export function prepareUpdateWriter(database: DatabaseSync): WriteUpdates {
  const update = database.prepare(
    `UPDATE current SET seq = ?, observed_at = ?, status = ?, since = ?, latest = ?, memory = coalesce(?, memory)
     WHERE service_id = ? AND seq = ?
       AND EXISTS (SELECT 1 FROM services WHERE services.id = service_id AND removed = 0)`,
  );
  const read = database.prepare('SELECT * FROM current WHERE service_id = ?');
  const addTransition = database.prepare(
    `INSERT INTO transitions (service_id, seq, from_status, to_status, at, recorded_at, reason, reason_code)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const writeIncident = prepareIncidentWriter(database);
  const outbox = prepareWebhookOutbox(database);
  const heartbeats = prepareHeartbeatWriter(database);
  const inbox = prepareInbox(database);
  const readCurrent = (serviceId: number): CurrentStatus => {
    const row = read.get(serviceId);
    return row === undefined ? unknownStatus(serviceId) : toCurrent(row);
  };

  const commitOne = (one: StatusUpdate): CommitOutcome => {
    checkUpdate(one);
    const { serviceId, expectedSeq, current, transition, incident, memory, heartbeat } = one;
    if (heartbeat !== undefined && !accepts(serviceId, heartbeat))
      return { kind: 'stale', current: readCurrent(serviceId) };
    const { changes } = update.run(
      current.seq,
      current.observedAt,
      current.status,
      current.since,
      current.latest === null ? null : JSON.stringify(toStoredCheck(current.latest)),
      memory === null ? null : JSON.stringify(memory),
      serviceId,
      expectedSeq,
    );
    if (changes === 0) return { kind: 'stale', current: readCurrent(serviceId) };
    if (incident !== null) writeIncident(incident);
    const written = transition === null ? null : writeTransition(transition);
    if (heartbeat === undefined) return { kind: 'committed', transition: written };
    const runMs = heartbeats.write(serviceId, heartbeat);
    const { inboxId, responseTimeMs } = heartbeat;
    if (inboxId !== undefined)
      inbox.answer(inboxId, { kind: 'written', serviceId, current, responseTimeMs, runMs });
    return { kind: 'committed', transition: written, runMs };
  };

  /** An answered entry is not written again: its monitor may have ended before it learnt of the answer. */
  const accepts = (serviceId: number, { accountId, inboxId }: HeartbeatWrite): boolean =>
    heartbeats.accepts(serviceId, accountId) && (inboxId === undefined || inbox.isOpen(inboxId));

  const writeTransition = (transition: Omit<Transition, 'position'>): Transition => {
    const { serviceId, seq, from, to, at, recordedAt, reason } = transition;
    const { lastInsertRowid } = addTransition.run(
      serviceId,
      seq,
      from,
      to,
      at,
      recordedAt,
      describeReasonOrNull(reason),
      reason === null ? null : JSON.stringify(reason),
    );
    const subscription = outbox.find(serviceId);
    if (subscription !== null)
      outbox.write(subscription, {
        type: 'service.status_changed',
        service: subscription.service,
        transition,
      });
    return { ...transition, position: Number(lastInsertRowid) };
  };

  return (updates) => updates.map(commitOne);
}

/**
 * Transitions after `position`, in order, each with the present slug of its service. Those of removed services are left
 * out, since another service may have their slugs now.
 */
export function transitionsAfter(store: RegistryStore, position: number, limit: number): Transition[] {
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
): Transition[] {
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
export function lastTransition({ kysely, queries }: RegistryStore): number {
  const newest = kysely.selectFrom('transitions').select('position').orderBy('position', 'desc').limit(1);
  return queries.first(newest)?.position ?? 0;
}

type TransitionQuery = ReturnType<typeof selectTransitions>;

function readTransitions(
  { kysely, queries }: RegistryStore,
  choose: (query: TransitionQuery) => TransitionQuery,
): Transition[] {
  return queries.all(choose(selectTransitions(kysely))).map(({ reason_code, ...row }) => ({
    ...row,
    reason: fromStoredReason(reason_code === null ? null : JSON.parse(reason_code), row.reason),
  }));
}

function selectTransitions(kysely: RegistryStore['kysely']) {
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
export function toCurrent(row: Readonly<Row>): CurrentStatus {
  return {
    serviceId: Number(row.service_id),
    seq: Number(row.seq),
    observedAt: Number(row.observed_at),
    status: row.status as CurrentStatus['status'],
    since: row.since === null ? null : Number(row.since),
    latest: typeof row.latest === 'string' ? fromStoredCheck(JSON.parse(row.latest)) : null,
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
