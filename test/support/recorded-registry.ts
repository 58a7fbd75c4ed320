/**
 * The embedded registry in the process of a test, for tests of what writes to it: its own rules and tables, with a
 * record of the commits and with faults that a test chooses. It has no rules of its own.
 */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Compilable } from 'kysely';
import type { Clock } from '../../src/clock.ts';
import type { Incident } from '../../src/domain/incident/incident.ts';
import { NO_MEMORY, type ProbeMemory } from '../../src/domain/result.ts';
import type { Service } from '../../src/domain/service.ts';
import { type CurrentStatus, type Transition, unknownStatus } from '../../src/domain/status/current.ts';
import { openRegistryDatabase } from '../../src/store/database/registry-database.ts';
import type { Row } from '../../src/store/database/schema.ts';
import { createSqliteStore, toInputs } from '../../src/store/database/sqlite-store.ts';
import type { HeartbeatWrite } from '../../src/store/ports/heartbeats.ts';
import type { IncidentStore } from '../../src/store/ports/incidents.ts';
import type { OwnershipStore, ServiceStateStore } from '../../src/store/ports/services.ts';
import type { StatusUpdate, UpdateStore } from '../../src/store/ports/updates.ts';
import { ensureAccount } from '../../src/store/registry/accounts/account-rows.ts';
import { toIncident } from '../../src/store/registry/incidents/incident-rows.ts';
import type { RegistryClient } from '../../src/store/registry/registry-client.ts';
import { openRegistryMethods } from '../../src/store/registry/registry-thread.ts';
import { insertService } from '../../src/store/registry/services/service-rows.ts';
import { selectTransitions, toCurrent, toTransition } from '../../src/store/registry/states/update-rows.ts';
import { registryFile } from '../../src/store/sqlite/private-files.ts';
import { double } from './double.ts';
import { registryHere } from './registry-here.ts';

/** The part of the port that the record uses. */
export type JudgementRegistry = ServiceStateStore & OwnershipStore & UpdateStore & IncidentStore;

/**
 * What a commit meets: it works, is refused before anything is written (`full`: for want of room; `damaged`: it cannot read a row), or is written and
 * then its answer is lost.
 */
export type CommitFault = 'none' | 'refused' | 'full' | 'damaged' | 'answer_lost';

/** The registry, and what a test may look at and do. */
export interface RecordedRegistry extends JudgementRegistry {
  /** The ids of the services that it was made with. */
  readonly ids: readonly number[];
  /** As they are stored now, in order. */
  readonly transitions: readonly Transition[];
  /** As they are stored now, by id, the first one to start first. */
  readonly incidents: ReadonlyMap<string, Incident>;
  /** Every judgement that was committed, in order. */
  readonly committed: readonly StatusUpdate[];
  /** The heartbeats of these judgements, in order. */
  readonly heartbeats: readonly (HeartbeatWrite & { readonly serviceId: number })[];
  /** Calls of `commitUpdates`, refused ones included. */
  readonly calls: readonly (readonly StatusUpdate[])[];
  /** As it is stored now. */
  current(serviceId: number): CurrentStatus;
  /** As it is stored now. */
  memory(serviceId: number): ProbeMemory;
  /** What the next commits meet, in order; `none` afterwards. */
  meet(...faults: readonly CommitFault[]): void;
  /** Forgets the faults that the next commits were to meet. */
  recover(): void;
  /** Commits wait until the returned function is called. */
  hold(): () => void;
  /** The whole port over the same connection. */
  client(clock: Clock): RegistryClient;
  /** The whole port over a connection of its own, as another process has it; the caller closes it. */
  openOther(clock: Clock): Promise<RegistryClient>;
  /** Closes the registry and removes its files. */
  close(): Promise<void>;
}

/** Accounts 1 to this number are there. */
const ACCOUNTS = 8;
const DOMAINS_PER_ACCOUNT = 100;

/** In memory where the system has such a folder: the tests of the record commit many thousand times. */
const FOLDER = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'upbeat-registry-'));
process.once('exit', () => rmSync(FOLDER, { recursive: true, force: true }));
let made = 0;
const templates = new Map<string, Promise<string>>();

/** Makes a registry that knows `known`, whose ids are 1, 2, 3 and so on. Its accounts are 1 to 8. */
export async function createRecordedRegistry(known: readonly Service[]): Promise<RecordedRegistry> {
  const dataDir = await makeDataDir(known);
  const methods = await openRegistryMethods({ dataDir, domainsPerAccount: DOMAINS_PER_ACCOUNT });
  const committed: StatusUpdate[] = [];
  const calls: (readonly StatusUpdate[])[] = [];
  const faults: CommitFault[] = [];
  let gate = Promise.resolve();
  /** Reads what is stored without a turn of the event loop. */
  const view = await openRegistryDatabase(dataDir);
  const rowsOf = <Row>(query: Compilable<Row>): Row[] => {
    const { sql, parameters } = query.compile();
    return view.database.prepare(sql).all(...toInputs(parameters)) as Row[];
  };
  // Prepared once: worlds of many days ask for it a million times.
  const state = view.database.prepare(
    `SELECT current.* FROM current JOIN services ON services.id = current.service_id
     WHERE services.id = ? AND services.removed = 0`,
  );
  const stateOf = (id: number) => state.get(id) as Row<'current'> | undefined;

  return {
    ids: known.map(({ id }) => id),
    committed,
    calls,
    get transitions() {
      return rowsOf(selectTransitions(view.kysely).where('removed', '=', 0).orderBy('position')).map(
        toTransition,
      );
    },
    get incidents() {
      const listed = view.kysely.selectFrom('incidents').selectAll().where('listed', '=', 1);
      const rows = rowsOf(listed.orderBy('started_at').orderBy('id', 'desc'));
      return new Map(rows.map((row) => [row.id, toIncident(row)]));
    },
    get heartbeats() {
      return committed.flatMap(({ serviceId, heartbeat }) =>
        heartbeat === undefined ? [] : [{ ...heartbeat, serviceId }],
      );
    },
    current(serviceId) {
      const row = stateOf(serviceId);
      return row === undefined ? unknownStatus(serviceId) : toCurrent(row);
    },
    memory(serviceId) {
      const memory = stateOf(serviceId)?.memory ?? null;
      return memory === null ? NO_MEMORY : { ...NO_MEMORY, ...JSON.parse(memory) };
    },
    meet: (...next) => void faults.push(...next),
    recover: () => void faults.splice(0),
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return resolve;
    },
    client: (clock) => registryHere(methods, clock),
    openOther: async (clock) =>
      registryHere(await openRegistryMethods({ dataDir, domainsPerAccount: DOMAINS_PER_ACCOUNT }), clock),
    async close() {
      view.database.close();
      await methods.close();
      rmSync(dataDir, { recursive: true });
    },

    ...double<JudgementRegistry>({
      loadServices: async () => methods.loadServices(),
      claimDomain: async (domain, accountId) => methods.claimDomain(domain, accountId),
      async commitUpdates(judgements) {
        calls.push(judgements);
        await gate;
        const fault = faults.shift() ?? 'none';
        if (fault === 'full') throw Object.assign(new Error('no room'), { code: 'storage_full' });
        if (fault === 'damaged') throw Object.assign(new Error('bad page'), { code: 'registry_damaged' });
        if (fault === 'refused') throw new Error('the registry is away');
        const copies = structuredClone(judgements);
        const outcomes = await methods.commitUpdates(copies);
        committed.push(...copies.filter((_, index) => outcomes[index]?.kind === 'committed'));
        if (fault === 'answer_lost') throw new Error('the answer was lost');
        return structuredClone(outcomes);
      },
      transitionsAfter: async (position, limit) => methods.transitionsAfter(position, limit),
      lastTransition: async () => methods.lastTransition(),
      listIncidents: async (query) => methods.listIncidents(query),
    }),
  };
}

/** A new data directory whose registry has these services, as they are. */
async function makeDataDir(services: readonly Service[]): Promise<string> {
  const key = JSON.stringify(services);
  const template = templates.get(key) ?? makeTemplate(services);
  templates.set(key, template);
  const dataDir = newFolder();
  copyFileSync(await template, registryFile(dataDir));
  return dataDir;
}

/** Makes the tables once for all the registries of the process that begin with these services; the path of the file. */
async function makeTemplate(services: readonly Service[]): Promise<string> {
  const dataDir = newFolder();
  const opened = await openRegistryDatabase(dataDir);
  const { file, database } = opened;
  const { store } = createSqliteStore(() => opened, { monotonic: () => 0, busyTimeoutMs: () => 0 });
  const revise = database.prepare('UPDATE services SET revision = ? WHERE id = ?');
  database.exec('BEGIN');
  for (let id = 1; id <= ACCOUNTS; id++) await ensureAccount(store, `account ${id}`, 0);
  for (const { id, revision, ...service } of services) {
    const given = await insertService(store, service);
    if (given.id !== id) throw new Error(`service ${id} became ${given.id}`);
    revise.run(revision, id);
  }
  database.exec('COMMIT');
  database.close();
  return file;
}

function newFolder(): string {
  made += 1;
  const folder = join(FOLDER, String(made));
  mkdirSync(folder);
  return folder;
}
