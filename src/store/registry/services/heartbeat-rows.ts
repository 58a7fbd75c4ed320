/** Heartbeats and the dependencies that they report. They are written as a part of each status update. */
import type { DependencyReport } from '../../../domain/heartbeat/heartbeat-body.ts';
import { type Calls, read, write } from '../../database/registry-calls.ts';
import {
  type Batch,
  fromRow,
  type Parameters,
  type RegistryStore,
  sql,
  statement,
} from '../../database/registry-store.ts';
import type { DependencyState, HeartbeatStore, HeartbeatWrite } from '../../ports/heartbeats.ts';

/** Maximum number of stored heartbeats of a service. */
const MAX_HEARTBEATS_KEPT = 100;
/** Maximum number of open runs of a service; the oldest are deleted beyond it. */
const MAX_RUNS_KEPT = 100;
/** Maximum number of stored logs of a service. */
const MAX_LOGS_KEPT = 100;
/** Maximum number of stored dependency changes of a service. */
const MAX_CHANGES_KEPT = 1_000;

/** The stored summary of a service's heartbeats; all null: it has not sent any. */
export interface HeartbeatState {
  readonly count: number | null;
  readonly arrived_at: number | null;
  readonly timestamp: number | null;
  readonly reported_at: number | null;
  readonly dependencies: string | null;
}

const READ_STATE: Batch<HeartbeatState> = {
  types: ['bigint', 'bigint'],
  sql: `SELECT count, arrived_at, timestamp, reported_at, dependencies
   FROM services LEFT JOIN heartbeat_services ON heartbeat_services.service_id = services.id
   WHERE services.id = ? AND removed = 0 AND account_id = ?`,
};
/** One of the stored heartbeats of `state`, by a condition and a column. */
const newestOf = (column: string, condition: string) =>
  `(SELECT ${column} FROM heartbeats WHERE id >= state.service_id * ${MAX_HEARTBEATS_KEPT}
     AND id < (state.service_id + 1) * ${MAX_HEARTBEATS_KEPT}${condition} ORDER BY number DESC LIMIT 1)`;
const READ_SUMMARY: Batch<{
  readonly count: number;
  readonly ended_at: number | null;
  readonly run_ms: number | null;
  readonly newest: string;
}> = {
  types: ['bigint'],
  sql: `SELECT count, ${newestOf('arrived_at', " AND kind <> 'start'")} AS ended_at,
     ${newestOf('run_ms', " AND kind <> 'start'")} AS run_ms, ${newestOf('kind', '')} AS newest
   FROM heartbeat_services AS state WHERE service_id = ?`,
};
const PUT_STATE: Batch<unknown> = {
  types: ['bigint', 'bigint', 'bigint', 'bigint', 'bigint', 'text'],
  sql: `INSERT INTO heartbeat_services (service_id, count, arrived_at, timestamp, reported_at, dependencies)
   VALUES (?, ?, ?, ?, ?, ?)
   ON CONFLICT (service_id) DO UPDATE SET count = excluded.count, arrived_at = excluded.arrived_at,
     timestamp = excluded.timestamp, reported_at = excluded.reported_at, dependencies = excluded.dependencies`,
};
const PUT_HEARTBEAT: Batch<unknown> = {
  types: [
    'bigint',
    'bigint',
    'text',
    'bigint',
    'bigint',
    'bigint',
    'text',
    'bigint',
    'text',
    'bigint',
    'text',
  ],
  sql: `INSERT INTO heartbeats
     (id, number, kind, arrived_at, timestamp, counted, verdict, response_time, run, run_ms, body)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
   ON CONFLICT (id) DO UPDATE SET number = excluded.number, kind = excluded.kind, arrived_at = excluded.arrived_at,
     timestamp = excluded.timestamp, counted = excluded.counted, verdict = excluded.verdict,
     response_time = excluded.response_time, run = excluded.run, run_ms = excluded.run_ms, body = excluded.body`,
};
// A run that starts again becomes the newest one, so it gets a new ID.
const FORGET_RUN = statement<{ readonly started_at: number }>(
  'DELETE FROM heartbeat_runs WHERE service_id = ? AND run = ? RETURNING started_at',
);
const START_RUN = statement('INSERT INTO heartbeat_runs (service_id, run, started_at) VALUES (?, ?, ?)');
const TRIM_RUNS = statement(
  `DELETE FROM heartbeat_runs WHERE service_id = ? AND id <=
     (SELECT id FROM heartbeat_runs WHERE service_id = ? ORDER BY id DESC LIMIT 1 OFFSET ${MAX_RUNS_KEPT})`,
);
const TRIM_LOGS = statement(
  `DELETE FROM heartbeat_logs WHERE service_id = ? AND id <=
     (SELECT id FROM heartbeat_logs WHERE service_id = ? ORDER BY id DESC LIMIT 1 OFFSET ${MAX_LOGS_KEPT})`,
);
const ADD_CHANGE = statement(
  'INSERT INTO dependency_changes (service_id, name, status, at) VALUES (?, ?, ?, ?)',
);
const TRIM_CHANGES = statement(
  `DELETE FROM dependency_changes WHERE service_id = ? AND id <=
     (SELECT id FROM dependency_changes WHERE service_id = ? ORDER BY id DESC LIMIT 1 OFFSET ${MAX_CHANGES_KEPT})`,
);
const ADD_FAILING = statement(
  `INSERT INTO failing_dependencies (service_id, name, folded, since) VALUES (?, ?, ?, ?)
   ON CONFLICT (service_id, name) DO UPDATE SET folded = excluded.folded, since = excluded.since`,
);
const REMOVE_FAILING = statement('DELETE FROM failing_dependencies WHERE service_id = ? AND name = ?');

/** A heartbeat with the new summary of its service. */
export interface NotedHeartbeat {
  /** Duration of the run that it ends, milliseconds; null: it ends none. */
  readonly runMs: number | null;
  readonly state: Parameters;
  readonly row: Parameters;
}

/**
 * The summaries of services' heartbeats, in the order of the input; undefined: the service does not exist or belongs to
 * another account.
 */
export function readHeartbeatStates(
  { queries }: RegistryStore,
  services: readonly (readonly [serviceId: number, accountId: number])[],
): Promise<(HeartbeatState | undefined)[]> {
  return queries.firstEach(READ_STATE, services);
}

/** Writes the run and the report of dependencies of a heartbeat; {@link putHeartbeats} writes the rest. */
export async function noteHeartbeat(
  store: RegistryStore,
  serviceId: number,
  state: HeartbeatState,
  heartbeat: HeartbeatWrite,
): Promise<NotedHeartbeat> {
  const { kind, arrivedAt, timestamp, counted, verdict, responseTimeMs, dependencies, run, body } = heartbeat;
  const number = state.count ?? 0;
  const runMs = await noteRun(store, serviceId, heartbeat);
  const stored = state.dependencies ?? '[]';
  const reports = counted && dependencies !== null ? dependencies : null;
  const written =
    reports === null
      ? stored
      : JSON.stringify(await noteReport(store, serviceId, { known: JSON.parse(stored), reports }, arrivedAt));
  const reportTimestamp = counted && kind !== 'start' ? timestamp : null;
  const lastArrivedAt = counted ? arrivedAt : state.arrived_at;
  const newestTimestamp = newest(reportTimestamp, state.timestamp);
  const reportedAt = reports === null ? state.reported_at : arrivedAt;
  const place = serviceId * MAX_HEARTBEATS_KEPT + (number % MAX_HEARTBEATS_KEPT);
  const count = counted ? 1 : 0;
  return {
    runMs,
    state: [serviceId, number + 1, lastArrivedAt, newestTimestamp, reportedAt, written],
    row: [place, number, kind, arrivedAt, timestamp, count, verdict, responseTimeMs, run, runMs, body],
  };
}

/** Writes heartbeats of different services. */
export async function putHeartbeats(
  { queries }: RegistryStore,
  noted: readonly NotedHeartbeat[],
): Promise<void> {
  // These are separate tables, so the writes run concurrently.
  await Promise.all([
    queries.runEach(
      PUT_STATE,
      noted.map(({ state }) => state),
    ),
    queries.runEach(
      PUT_HEARTBEAT,
      noted.map(({ row }) => row),
    ),
  ]);
}

async function noteRun(
  { queries }: RegistryStore,
  serviceId: number,
  { kind, run, arrivedAt }: HeartbeatWrite,
): Promise<number | null> {
  if (run === null) return null;
  const known = await queries.first(FORGET_RUN(serviceId, run));
  if (kind !== 'start') return known === undefined ? null : Math.max(0, arrivedAt - known.started_at);
  await queries.run(START_RUN(serviceId, run, arrivedAt));
  await queries.run(TRIM_RUNS(serviceId, serviceId));
  return null;
}

/** The states by the last report of dependencies, and the next report. */
interface TwoReports {
  readonly known: readonly DependencyState[];
  readonly reports: readonly DependencyReport[];
}

/** Writes the changes from one report to the next; returns the new states. */
async function noteReport(
  { queries }: RegistryStore,
  serviceId: number,
  { known, reports }: TwoReports,
  at: number,
): Promise<DependencyState[]> {
  const before = new Map(known.map((state) => [state.name, state]));
  const changes: { readonly name: string; readonly status: DependencyState['status'] | null }[] = [];
  const states = reports.map((one) => {
    const last = before.get(one.name);
    before.delete(one.name);
    if (last?.status === one.status) return { ...one, since: last.since };
    changes.push(one);
    return { ...one, since: at };
  });
  changes.push(...[...before.keys()].map((name) => ({ name, status: null })));
  for (const { name, status } of changes) {
    await queries.run(ADD_CHANGE(serviceId, name, status, at));
    await queries.run(
      status === 'down'
        ? ADD_FAILING(serviceId, name, name.trim().toLowerCase(), at)
        : REMOVE_FAILING(serviceId, name),
    );
  }
  if (changes.length > 0) await queries.run(TRIM_CHANGES(serviceId, serviceId));
  return states;
}

/** Deletes all reports of a service, inside the caller's transaction. */
export async function forgetHeartbeats({ kysely, queries }: RegistryStore, serviceId: number): Promise<void> {
  const first = serviceId * MAX_HEARTBEATS_KEPT;
  await queries.run(
    kysely
      .deleteFrom('heartbeats')
      .where('id', '>=', first)
      .where('id', '<', first + MAX_HEARTBEATS_KEPT),
  );
  for (const table of [
    'heartbeat_services',
    'heartbeat_runs',
    'heartbeat_logs',
    'dependency_changes',
    'failing_dependencies',
  ] as const)
    await queries.run(kysely.deleteFrom(table).where('service_id', '=', serviceId));
}

function newest(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}

/** Stored heartbeats, and the dependencies that they report. */
export const HEARTBEAT_CALLS: Calls<HeartbeatStore> = {
  recentHeartbeats: read(async ({ kysely, queries }, serviceId) => {
    const first = serviceId * MAX_HEARTBEATS_KEPT;
    const rows = await queries.all(
      kysely
        .selectFrom('heartbeats')
        .selectAll()
        .where('id', '>=', first)
        .where('id', '<', first + MAX_HEARTBEATS_KEPT)
        .orderBy('number', 'desc'),
    );
    return rows.map(({ id: _, number: __, counted, response_time: responseTimeMs, ...row }) => ({
      ...fromRow(row),
      counted: counted === 1,
      responseTimeMs,
    }));
  }),
  summariesOf: read(async ({ queries }, serviceIds) => {
    const rows = await queries.firstEach(
      READ_SUMMARY,
      serviceIds.map((id) => [id]),
    );
    return rows.map((row) =>
      row === undefined
        ? null
        : { count: row.count, endedAt: row.ended_at, runMs: row.run_ms, isStarted: row.newest === 'start' },
    );
  }),
  addHeartbeatLog: write(async ({ kysely, queries }, serviceId, accountId, { at, run, text }) => {
    const service = await queries.first(
      kysely
        .selectFrom('services')
        .select('id')
        .where('id', '=', serviceId)
        .where('account_id', '=', accountId)
        .where('removed', '=', 0),
    );
    if (service === undefined) return;
    await queries.run(kysely.insertInto('heartbeat_logs').values({ service_id: serviceId, at, run, text }));
    await queries.run(TRIM_LOGS(serviceId, serviceId));
  }),
  heartbeatLogs: read(
    async ({ kysely, queries }, serviceId) =>
      await queries.all(
        kysely
          .selectFrom('heartbeat_logs')
          .select(['at', 'run', 'text'])
          .where('service_id', '=', serviceId)
          .orderBy('id', 'desc'),
      ),
  ),
  dependenciesOf: read(async ({ kysely, queries }, serviceId, limit) => {
    const row = await queries.first(
      kysely
        .selectFrom('heartbeat_services')
        .select(['reported_at', 'dependencies'])
        .where('service_id', '=', serviceId),
    );
    const changes = await queries.all(
      kysely
        .selectFrom('dependency_changes')
        .select(['name', 'status', 'at'])
        .where('service_id', '=', serviceId)
        .orderBy('id', 'desc')
        .limit(limit),
    );
    return {
      reportedAt: row?.reported_at ?? null,
      dependencies: JSON.parse(row?.dependencies ?? '[]'),
      changes: changes.map(({ name, status, at }) => ({ name, status, at })),
    };
  }),
  failingDependencies: read(async ({ kysely, queries }, { limit, offset }) => {
    const rows = await queries.all(
      failingPublicly(kysely)
        .select((eb) => [
          'folded as name',
          eb.fn.count<number>('services.id').distinct().as('services'),
          eb.fn.min('failing_dependencies.since').as('since'),
        ])
        .groupBy('folded')
        .orderBy('services', 'desc')
        .orderBy('name')
        .limit(limit)
        .offset(offset),
    );
    return rows.map(({ name, services, since }) => ({ name, services, since }));
  }),
  countFailingDependencies: read(async ({ kysely, queries }) => {
    const counted = failingPublicly(kysely).select((eb) =>
      eb.fn.count<number>('folded').distinct().as('total'),
    );
    return (await queries.first(counted))?.total ?? 0;
  }),
};

/**
 * Dependencies that are reported as failing by public, verified services that are not paused or silent and that publish their
 * dependencies.
 */
function failingPublicly(kysely: RegistryStore['kysely']) {
  return kysely
    .selectFrom('failing_dependencies')
    .innerJoin('services', 'services.id', 'failing_dependencies.service_id')
    .innerJoin('current', 'current.service_id', 'services.id')
    .where('services.removed', '=', 0)
    .where('services.paused', '=', 0)
    .where('services.verified', '=', 1)
    .where('services.public_dependencies', '=', 1)
    .where('services.visibility', 'is', null)
    .where(sql`json_extract(services.check_definition, '$.kind')`, '=', 'heartbeat')
    .where(sql`coalesce(json_extract(current.latest, '$.source'), '')`, '<>', 'silence');
}
