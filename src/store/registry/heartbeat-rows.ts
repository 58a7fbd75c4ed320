/** Writing heartbeats: a part of each status update, by prepared statements inside the caller's transaction. */
import type { DatabaseSync } from 'node:sqlite';
import type { DependencyReport } from '../../domain/heartbeat-body.ts';
import type { DependencyState, HeartbeatWrite } from '../ports/heartbeats.ts';

/** Heartbeats that are kept of a service. */
export const KEPT_HEARTBEATS = 100;
/** Runs that have begun and not ended, kept of a service; of more, the oldest are forgotten. */
const KEPT_RUNS = 100;
/** Changes of dependencies kept of a service. */
const KEPT_CHANGES = 1_000;

/** Writes heartbeats. */
export interface HeartbeatWriter {
  /** Whether the service is there and the account's. */
  accepts(serviceId: number, accountId: number): boolean;
  /** Writes one; how long the run that it ends has lasted, milliseconds, null: it ends none. */
  write(serviceId: number, heartbeat: HeartbeatWrite): number | null;
}

/** Prepares the statements over an open, migrated database. */
export function prepareHeartbeatWriter(database: DatabaseSync): HeartbeatWriter {
  const owner = database.prepare('SELECT 1 FROM services WHERE id = ? AND removed = 0 AND account_id = ?');
  const readState = database.prepare(
    'SELECT count, arrived_at, timestamp, reported_at, dependencies FROM heartbeat_services WHERE service_id = ?',
  );
  const putState = database.prepare(
    `INSERT INTO heartbeat_services (service_id, count, arrived_at, timestamp, reported_at, dependencies)
     VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (service_id) DO UPDATE SET count = excluded.count, arrived_at = excluded.arrived_at,
       timestamp = excluded.timestamp, reported_at = excluded.reported_at, dependencies = excluded.dependencies`,
  );
  const putHeartbeat = database.prepare(
    `INSERT OR REPLACE INTO heartbeats
       (id, number, kind, arrived_at, timestamp, counted, verdict, response_time, run, run_ms, body)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const startRun = database.prepare(
    'INSERT OR REPLACE INTO heartbeat_runs (service_id, run, started_at) VALUES (?, ?, ?)',
  );
  const trimRuns = database.prepare(
    `DELETE FROM heartbeat_runs WHERE service_id = ?1 AND id <=
       (SELECT id FROM heartbeat_runs WHERE service_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ${KEPT_RUNS})`,
  );
  const endRun = database.prepare(
    'DELETE FROM heartbeat_runs WHERE service_id = ? AND run = ? RETURNING started_at',
  );
  const addChange = database.prepare(
    'INSERT INTO dependency_changes (service_id, name, status, at) VALUES (?, ?, ?, ?)',
  );
  const trimChanges = database.prepare(
    `DELETE FROM dependency_changes WHERE service_id = ?1 AND id <=
       (SELECT id FROM dependency_changes WHERE service_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ${KEPT_CHANGES})`,
  );
  const addFailing = database.prepare(
    'INSERT OR REPLACE INTO failing_dependencies (service_id, name, folded, since) VALUES (?, ?, ?, ?)',
  );
  const removeFailing = database.prepare(
    'DELETE FROM failing_dependencies WHERE service_id = ? AND name = ?',
  );

  const noteRun = (serviceId: number, { kind, run, arrivedAt }: HeartbeatWrite): number | null => {
    if (run === null) return null;
    if (kind === 'start') {
      startRun.run(serviceId, run, arrivedAt);
      trimRuns.run(serviceId);
      return null;
    }
    const started = endRun.get(serviceId, run);
    return started === undefined ? null : Math.max(0, arrivedAt - Number(started.started_at));
  };

  /** Writes what has changed from one report to the next; the new states. */
  const report = (
    serviceId: number,
    known: readonly DependencyState[],
    reports: readonly DependencyReport[],
    at: number,
  ): DependencyState[] => {
    const before = new Map(known.map((state) => [state.name, state]));
    let changes = 0;
    const change = (name: string, status: DependencyState['status'] | null) => {
      changes += 1;
      addChange.run(serviceId, name, status, at);
      if (status === 'down') addFailing.run(serviceId, name, name.trim().toLowerCase(), at);
      else removeFailing.run(serviceId, name);
    };
    const states = reports.map((one) => {
      const last = before.get(one.name);
      before.delete(one.name);
      if (last?.status === one.status) return { ...one, since: last.since };
      change(one.name, one.status);
      return { ...one, since: at };
    });
    for (const name of before.keys()) change(name, null);
    if (changes > 0) trimChanges.run(serviceId);
    return states;
  };

  return {
    accepts: (serviceId, accountId) => owner.get(serviceId, accountId) !== undefined,
    write(serviceId, heartbeat) {
      const { kind, arrivedAt, timestamp, counted, dependencies } = heartbeat;
      const state = readState.get(serviceId);
      const number = Number(state?.count ?? 0);
      const runMs = noteRun(serviceId, heartbeat);
      const stored = String(state?.dependencies ?? '[]');
      const reports = counted && dependencies !== null ? dependencies : null;
      const written =
        reports === null ? stored : JSON.stringify(report(serviceId, JSON.parse(stored), reports, arrivedAt));
      const told = counted && kind !== 'start' ? timestamp : null;
      putState.run(
        serviceId,
        number + 1,
        counted ? arrivedAt : (state?.arrived_at ?? null),
        newest(told, state?.timestamp == null ? null : Number(state.timestamp)),
        reports === null ? (state?.reported_at ?? null) : arrivedAt,
        written,
      );
      putHeartbeat.run(
        serviceId * KEPT_HEARTBEATS + (number % KEPT_HEARTBEATS),
        number,
        kind,
        arrivedAt,
        timestamp,
        counted ? 1 : 0,
        heartbeat.verdict,
        heartbeat.responseTimeMs,
        heartbeat.run,
        runMs,
        heartbeat.body,
      );
      return runMs;
    },
  };
}

/** Forgets all that a service has reported, inside the caller's transaction. */
export function forgetHeartbeats(database: DatabaseSync, serviceId: number): void {
  const first = serviceId * KEPT_HEARTBEATS;
  database.prepare('DELETE FROM heartbeats WHERE id >= ? AND id < ?').run(first, first + KEPT_HEARTBEATS);
  for (const table of ['heartbeat_services', 'heartbeat_runs', 'dependency_changes', 'failing_dependencies'])
    database.prepare(`DELETE FROM ${table} WHERE service_id = ?`).run(serviceId);
}

function newest(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}
