/** The hot path: judgements, each compare-and-set on its own, by prepared statements without a query builder. */
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { type CurrentStatus, completeCheck, type Transition, unknownStatus } from '../../domain/current.ts';
import type { HeartbeatWrite } from '../ports/heartbeats.ts';
import type { CommitOutcome, StatusUpdate } from '../ports/updates.ts';
import { prepareHeartbeatWriter } from './heartbeat-rows.ts';
import { prepareInbox } from './inbox-rows.ts';
import { prepareIncidentWriter } from './write-incident.ts';

/** Commits judgements inside the caller's transaction. */
export interface Judgements {
  /**
   * Outcomes in the order of the input. `stale` where another writer was first; for a removed or unknown service,
   * and for a heartbeat of an account that no longer has it, too, and then `current.seq` is the expected one: there is nothing to judge again. Throws for a judgement that
   * contradicts itself, which is a bug of the caller.
   */
  commit(judgements: readonly StatusUpdate[]): CommitOutcome[];
}

type Row = Record<string, SQLOutputValue>;

/** Prepares the statements over an open, migrated database. */
export function createJudgements(database: DatabaseSync): Judgements {
  const update = database.prepare(
    `UPDATE current SET seq = ?, observed_at = ?, status = ?, since = ?, latest = ?, memory = coalesce(?, memory)
     WHERE service_id = ? AND seq = ?
       AND EXISTS (SELECT 1 FROM services WHERE services.id = service_id AND removed = 0)`,
  );
  const read = database.prepare('SELECT * FROM current WHERE service_id = ?');
  const addTransition = database.prepare(
    `INSERT INTO transitions (service_id, seq, from_status, to_status, at, recorded_at, reason)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const writeIncident = prepareIncidentWriter(database);
  const heartbeats = prepareHeartbeatWriter(database);
  const inbox = prepareInbox(database);
  const readCurrent = (serviceId: number): CurrentStatus => {
    const row = read.get(serviceId);
    return row === undefined ? unknownStatus(serviceId) : toCurrent(row);
  };

  const commitOne = (judgement: StatusUpdate): CommitOutcome => {
    checkJudgement(judgement);
    const { serviceId, expectedSeq, current, transition, incident, memory, heartbeat } = judgement;
    if (heartbeat !== undefined && !accepts(serviceId, heartbeat))
      return { kind: 'stale', current: readCurrent(serviceId) };
    const { changes } = update.run(
      current.seq,
      current.observedAt,
      current.status,
      current.since,
      current.latest === null ? null : JSON.stringify(current.latest),
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

  /** One that was answered already is not written again: its monitor may have ended before it heard of that. */
  const accepts = (serviceId: number, { accountId, inboxId }: HeartbeatWrite): boolean =>
    heartbeats.accepts(serviceId, accountId) && (inboxId === undefined || inbox.isOpen(inboxId));

  const writeTransition = (transition: Omit<Transition, 'position'>): Transition => {
    const { serviceId, seq, from, to, at, recordedAt, reason } = transition;
    const { lastInsertRowid } = addTransition.run(serviceId, seq, from, to, at, recordedAt, reason);
    return { ...transition, position: Number(lastInsertRowid) };
  };

  return { commit: (judgements) => judgements.map(commitOne) };
}

/** The record that a row of the table `current` holds. */
export function toCurrent(row: Readonly<Row>): CurrentStatus {
  return {
    serviceId: Number(row.service_id),
    seq: Number(row.seq),
    observedAt: Number(row.observed_at),
    status: row.status as CurrentStatus['status'],
    since: row.since === null ? null : Number(row.since),
    latest: typeof row.latest === 'string' ? completeCheck(JSON.parse(row.latest)) : null,
  };
}

function checkJudgement({ serviceId, expectedSeq, current, transition, incident }: StatusUpdate): void {
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
      `judgement of service ${serviceId} contradicts itself: seq ${expectedSeq} to ${current.seq}, ${transition === null ? 'no transition' : `transition ${transition.seq} to ${transition.to}`}`,
    );
}
