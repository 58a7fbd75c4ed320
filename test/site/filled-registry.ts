/**
 * The embedded registry, opened in the process of the test over a file of its own, and what fills it: the registry's own
 * writers over a second connection, which let a test choose the ids.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { DependencyReport } from '../../src/domain/heartbeat/heartbeat-body.ts';
import type { Incident } from '../../src/domain/incident/incident.ts';
import type { Maintenance } from '../../src/domain/incident/maintenance.ts';
import { DEFAULT_SCOPES } from '../../src/domain/role.ts';
import type { Service } from '../../src/domain/service.ts';
import type { Transition } from '../../src/domain/status/current.ts';
import { openRegistryDatabase } from '../../src/store/database/registry-database.ts';
import { createSqliteStore } from '../../src/store/database/sqlite-store.ts';
import type { NewKey } from '../../src/store/ports/accounts.ts';
import type { Registry } from '../../src/store/ports/registry.ts';
import { writeIncident } from '../../src/store/registry/incidents/incident-rows.ts';
import { writeMaintenance } from '../../src/store/registry/incidents/maintenance-rows.ts';
import { openRegistryMethods } from '../../src/store/registry/registry-thread.ts';
import {
  type HeartbeatState,
  noteHeartbeat,
  putHeartbeats,
} from '../../src/store/registry/services/heartbeat-rows.ts';
import { insertService } from '../../src/store/registry/services/service-rows.ts';
import { registryFile } from '../../src/store/sqlite/private-files.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { registryHere } from '../support/registry-here.ts';

const NO_HEARTBEATS: HeartbeatState = {
  count: null,
  arrived_at: null,
  timestamp: null,
  reported_at: null,
  dependencies: null,
};

/** The file of an empty registry: its tables are made once in a process, and copied from then on. */
let emptyFile: Promise<{ readonly name: string; readonly bytes: Uint8Array }> | null = null;

/** Opens an empty registry. `now`: the time at which its clock stands, epoch milliseconds. */
export async function openFilledRegistry(now: number) {
  const dataDir = makeFolder();
  emptyFile ??= makeEmptyFile();
  const { name, bytes } = await emptyFile;
  writeFileSync(join(dataDir, name), bytes);
  const methods = await openRegistryMethods({ dataDir, domainsPerAccount: 100 });
  const client = registryHere(methods, createFakeClock(now));
  const registry: Registry = client;

  const opened = await openRegistryDatabase(dataDir);
  const { database } = opened;
  // A test whose machine fails has failed.
  database.exec('PRAGMA synchronous = OFF');
  const { store } = createSqliteStore(() => opened, { monotonic: () => 0, busyTimeoutMs: () => 0 });
  const addAccount = database.prepare(
    'INSERT OR IGNORE INTO accounts (id, name, created_at) VALUES (?, ?, ?)',
  );
  const readState = database.prepare('SELECT * FROM heartbeat_services WHERE service_id = ?');
  const forgetLastId = database.prepare("DELETE FROM sqlite_sequence WHERE name = 'services'");
  const setLastId = database.prepare("INSERT INTO sqlite_sequence (name, seq) VALUES ('services', ?)");
  const addTransition = database.prepare(
    `INSERT INTO transitions (position, service_id, seq, from_status, to_status, at, recorded_at, reason, reason_code)
     VALUES (?, ?, ?, ?, ?, ?, ?, NULL, ?)`,
  );
  const insertKey = database.prepare(
    `INSERT INTO api_keys (account_id, name, prefix, sha256, created_at, expires_at, revoked_at, scopes)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const ensureAccount = (id: number) => void addAccount.run(id, id === 1 ? 'ada' : `account ${id}`, now);

  return {
    registry,
    /** Makes the account of that id, where there is none. */
    ensureAccount,
    /** Adds services with the ids that they have, which are above those of all that are there. */
    async addServices(services: readonly Service[]) {
      database.exec('BEGIN IMMEDIATE');
      for (const { id, revision: _, ...service } of services.toSorted((a, b) => a.id - b.id)) {
        if (service.accountId !== null) ensureAccount(service.accountId);
        forgetLastId.run();
        setLastId.run(id - 1);
        const added = await insertService(store, service);
        if (added.id !== id) throw new Error(`service ${id} got the id ${added.id}`);
      }
      database.exec('COMMIT');
    },
    /** Writes incidents, new or changed; the registry drops those of services that it does not have. */
    async putIncidents(...incidents: readonly Incident[]) {
      for (const incident of incidents) await writeIncident(store, incident, now);
    },
    /** Writes maintenances, new or changed. */
    async putMaintenances(...maintenances: readonly Maintenance[]) {
      for (const maintenance of maintenances) await writeMaintenance(store, maintenance, now);
    },
    /** Writes what a service says of its dependencies at `arrivedAt`, by a heartbeat with this body. */
    async report(serviceId: number, arrivedAt: number, dependencies: readonly DependencyReport[], body = '') {
      const state = (readState.get(serviceId) as HeartbeatState | undefined) ?? NO_HEARTBEATS;
      const noted = await noteHeartbeat(store, serviceId, state, {
        accountId: 1,
        kind: 'beat',
        arrivedAt,
        timestamp: null,
        counted: true,
        verdict: 'up',
        responseTimeMs: null,
        dependencies,
        run: null,
        body,
      });
      await putHeartbeats(store, [noted]);
    },
    /** Writes transitions at the positions that they have. */
    addTransitions(transitions: readonly Transition[]) {
      database.exec('BEGIN IMMEDIATE');
      for (const { position, serviceId, seq, from, to, at, recordedAt, reason } of transitions)
        addTransition.run(position, serviceId, seq, from, to, at, recordedAt, JSON.stringify(reason));
      database.exec('COMMIT');
    },
    /** Stores a key, of an account that is made where there is none. */
    addKey(key: NewKey & { readonly revokedAt: number | null }) {
      ensureAccount(key.accountId);
      const { accountId, name, prefix, sha256, createdAt, expiresAt, revokedAt } = key;
      const scopes = (key.scopes ?? DEFAULT_SCOPES).join(' ');
      insertKey.run(accountId, name, prefix, sha256, createdAt, expiresAt, revokedAt, scopes);
    },
    /** Closes it and removes its file; a second call does nothing. */
    async close() {
      if (!database.isOpen) return;
      database.close();
      await registry.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function makeEmptyFile() {
  const dataDir = makeFolder();
  const { database } = await openRegistryDatabase(dataDir);
  // The last connection writes the log into the file.
  database.close();
  const file = registryFile(dataDir);
  const bytes = readFileSync(file);
  rmSync(dataDir, { recursive: true, force: true });
  return { name: basename(file), bytes };
}

function makeFolder(): string {
  return mkdtempSync(join(tmpdir(), 'upbeat-registry-'));
}
