/** Reads what the registry of a cluster contains, past the program. */
import pg from 'pg';
import type { Scope } from '../../support/run-servers.ts';

/** A row of `transitions`. Times are epoch milliseconds. */
export interface TransitionRow {
  readonly position: number;
  readonly slug: string;
  readonly serviceId: number;
  readonly seq: number;
  readonly from: string;
  readonly to: string;
  readonly at: number;
  readonly recordedAt: number;
  /** JSON of the change of scope. */
  readonly scope: string | null;
  readonly reason: string | null;
}

/** A row of `incidents`. */
export interface IncidentRow {
  readonly id: string;
  readonly slug: string;
  readonly serviceId: number;
  readonly status: string;
  readonly startedAt: number;
  readonly resolvedAt: number | null;
}

/** A row of `deliveries`. */
export interface DeliveryRow {
  readonly id: number;
  readonly message: string;
  readonly type: string;
  readonly body: string;
  readonly deliveredAt: number | null;
}

/** A row of `heartbeats`. */
export interface HeartbeatRow {
  readonly slug: string;
  readonly number: number;
  readonly timestamp: number;
}

/** A connection to the registry. */
export interface RegistryReader {
  transitions(): Promise<readonly TransitionRow[]>;
  incidents(): Promise<readonly IncidentRow[]>;
  deliveries(): Promise<readonly DeliveryRow[]>;
  /** The last hundred of each service. */
  heartbeats(): Promise<readonly HeartbeatRow[]>;
  /** The slugs of all services by domain. */
  slugs(): Promise<ReadonlyMap<string, string>>;
}

/** Connects; the connection is closed after the test. */
export async function openRegistryReader(scope: Scope, url: string): Promise<RegistryReader> {
  const client = new pg.Client({
    connectionString: url,
    // Whole numbers as numbers: all are below 2^53.
    types: { getTypeParser: (id) => (id === 20 ? Number : (text: string) => text) },
  });
  await client.connect();
  scope.teardown(() => client.end());
  const all = async <Row extends pg.QueryResultRow>(sql: string) => (await client.query<Row>(sql)).rows;
  return {
    transitions: () =>
      all(`SELECT position, slug, service_id AS "serviceId", seq, from_status AS "from", to_status AS "to", at,
             recorded_at AS "recordedAt", scope, reason
           FROM transitions JOIN services ON services.id = service_id ORDER BY position`),
    incidents: () =>
      all(`SELECT incidents.id, slug, service_id AS "serviceId", status, started_at AS "startedAt",
             resolved_at AS "resolvedAt"
           FROM incidents JOIN services ON services.id = service_id WHERE source = 'own' ORDER BY started_at`),
    deliveries: () =>
      all(`SELECT id, message, type, body, delivered_at AS "deliveredAt" FROM deliveries ORDER BY id`),
    heartbeats: () =>
      all(`SELECT slug, number, timestamp FROM heartbeats JOIN services ON services.id = heartbeats.id / 100
           ORDER BY heartbeats.id`),
    async slugs() {
      const rows = await all<{ domain: string; slug: string }>('SELECT domain, slug FROM services');
      return new Map(rows.map(({ domain, slug }) => [domain, slug]));
    },
  };
}
