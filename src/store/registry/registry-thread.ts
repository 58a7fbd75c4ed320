/** What the registry's thread serves: the methods of the port and of the lease, over one connection. */
import { statfsSync } from 'node:fs';
import { systemClock } from '../../clock.ts';
import type { CheckKind, Service } from '../../domain/service.ts';
import type { NewSession } from '../ports/accounts.ts';
import type { InboxAnswer, InboxEntry } from '../ports/inbox.ts';
import type { IncidentPlace, IncidentQuery, ServicesIncidentQuery } from '../ports/incidents.ts';
import type { LeaseRequest } from '../ports/lease.ts';
import { type DomainClaim, MAX_REGISTRATIONS_PER_DAY } from '../ports/ownership.ts';
import type { NewService, ServiceEdit } from '../ports/services.ts';
import type { NewPage, PageEdit, StoredLogo } from '../ports/status-pages.ts';
import type { StatusUpdate } from '../ports/updates.ts';
import type { MaintenanceQuery, VendorReading } from '../ports/vendors.ts';
import type { DeliveryOutcome, Webhook } from '../ports/webhooks.ts';
import { dropNotice, noticesOf } from './account-notices.ts';
import { changeService, claimDomain } from './claim-domain.ts';
import {
  countFailingDependencies,
  dependenciesOf,
  failingDependencies,
  recentHeartbeats,
} from './dependency-rows.ts';
import { ensureInstallation, getFact, readInstallation, setFact } from './fact-rows.ts';
import { createGroupCommit, type GroupCommit } from './group-commit.ts';
import { createHeldLease } from './held-lease.ts';
import { prepareInbox } from './inbox-rows.ts';
import {
  countIncidents,
  findIncident,
  incidentsBeside,
  incidentsSince,
  listIncidents,
} from './incident-rows.ts';
import { createJudgements } from './judgements.ts';
import {
  createKey,
  ensureAccount,
  findKey,
  listAccounts,
  listKeys,
  type NewKey,
  revokeKey,
  touchKeys,
} from './key-rows.ts';
import { createQueries } from './kysely-sqlite.ts';
import { releaseLease, renewLease, takeLease, touchLease } from './lease-rows.ts';
import { loadServices } from './load-services.ts';
import { advanceMaintenances, countMaintenances, listMaintenances } from './maintenance-rows.ts';
import { addService, addServices, removeService } from './owner-services.ts';
import { addClaim, claimAddresses, claimsOf, dropClaim, proveDomain, servicesOf } from './ownership.ts';
import { createSecrets, rewriteFile } from './protect-secrets.ts';
import { putCatalogue } from './put-catalogue.ts';
import { openRegistryDatabase, type RegistryDatabase } from './registry-database.ts';
import { explainSqliteError, fullDisk } from './registry-error.ts';
import type { RegistryStore } from './registry-store.ts';
import { lastChange, readChanges } from './service-rows.ts';
import { createSession, endSession, endSessionsOf, ensureIdentity, findSession } from './session-rows.ts';
import { incidentsOfServices, maintenancesOfServices } from './status-page-news.ts';
import {
  addPage,
  changePage,
  findLogo,
  findPage,
  listPages,
  pagesOf,
  putLogo,
  removePage,
} from './status-page-rows.ts';
import { lastTransition, transitionsAfter, transitionsOf } from './transition-rows.ts';
import { endOtherFeeds, putVendorReading } from './vendor-rows.ts';
import { loadVendorStates, readVendorStates } from './vendor-states.ts';
import {
  addDelivery,
  addWebhook,
  deliveriesOf,
  dueDeliveries,
  forgetDeliveries,
  noteDelivery,
  removeAllWebhooks,
  removeWebhook,
  replayDelivery,
  webhooksOf,
} from './webhook-rows.ts';
import { prepareIncidentWriter } from './write-incident.ts';

/** Longest work of one transaction, milliseconds (architecture, The stores). */
const MAX_GROUP_MS = 5;
/** A disk that was full is so until this is free. */
const MIN_FREE_BYTES = 1_048_576;
/** How long writes wait for another process's transaction, milliseconds; those of Upbeat last a few. */
const BUSY_TIMEOUT_MS = 5_000;
/** So long SQLite waits by itself for a lock, and the thread with it, milliseconds. */
const TRY_TIMEOUT_MS = 5;
/** The same when the file is closed. */
const LAST_BUSY_TIMEOUT_MS = 1_000;
/** A file whose disk took no writes is opened anew no more often than this, milliseconds. */
const REOPEN_MS = 500;

/** What the thread is started with. */
export interface RegistryThreadData {
  readonly dataDir: string;
  readonly domainsPerAccount: number;
  /** The setting `secrets.key`; null or absent: the key is in the data directory. */
  readonly secretKey?: string | null;
}

/** The methods of the thread. */
export type RegistryMethods = Awaited<ReturnType<typeof openRegistryMethods>>;

/** Opens the registry; throws what `openRegistryDatabase` throws. */
export async function openRegistryMethods({
  dataDir,
  domainsPerAccount,
  secretKey = null,
}: RegistryThreadData) {
  let opened = await openRegistryDatabase(dataDir);
  const store = storeOf(opened);
  let { judgements, inbox, writeIncident } = prepare(opened);
  const lease = createHeldLease(store, dataDir);
  const secrets = createSecrets(store, dataDir, secretKey);
  const limits = { perAccount: domainsPerAccount, perDay: MAX_REGISTRATIONS_PER_DAY };
  const commits = createGroupCommit(store, {
    maxGroupMs: MAX_GROUP_MS,
    monotonic: systemClock.monotonic,
    guard: lease.guard,
    busyTimeoutMs: BUSY_TIMEOUT_MS,
  });
  let openedAt = systemClock.monotonic();

  /** Opens a file anew that could not be shared when it was opened: its disk may take writes by now. */
  const share = async (): Promise<void> => {
    if (opened.access === 'shared') return;
    const now = systemClock.monotonic();
    if (now - openedAt < REOPEN_MS) throw fullDisk(opened.file);
    openedAt = now;
    opened.database.close();
    opened = await openRegistryDatabase(dataDir);
    Object.assign(store, storeOf(opened));
    ({ judgements, inbox, writeIncident } = prepare(opened));
    if (opened.access !== 'shared') throw fullDisk(opened.file);
  };
  const { read, write } = explaining(opened.file, commits, share);

  return {
    loadServices: () => read(() => loadServices(store)),
    putCatalogue: (services: readonly NewService[]) => write(() => putCatalogue(store, services)),
    addService: (service: NewService): Promise<Service> => write(() => addService(store, service, limits)),
    addServices: (services: readonly Omit<NewService, 'slug'>[]) =>
      write(() => addServices(store, services, limits)),
    removeService: (slug: string) => write(() => removeService(store, slug)),
    claimDomain: (domain: string, accountId: number) =>
      write(() => claimDomain(store, domain, accountId, limits)),
    changeService: (slug: string, edit: ServiceEdit) => write(() => changeService(store, slug, edit)),
    recentHeartbeats: (serviceId: number) => read(() => recentHeartbeats(store, serviceId)),
    dependenciesOf: (serviceId: number, limit: number) => read(() => dependenciesOf(store, serviceId, limit)),
    failingDependencies: (page: { readonly limit: number; readonly offset: number }) =>
      read(() => failingDependencies(store, page)),
    countFailingDependencies: () => read(() => countFailingDependencies(store)),
    putInInbox: (entry: Omit<InboxEntry, 'id'>) => write(() => inbox.put(entry)),
    openInInbox: (after: number) => read(() => inbox.open(after)),
    answerInInbox: (id: number, answer: InboxAnswer) => write(() => inbox.answer(id, answer)),
    inboxAnswers: (ids: readonly number[]) => read(() => inbox.answers(ids)),
    forgetInbox: (before: number) => write(() => inbox.forget(before)),
    commitVersion: () => read(() => inbox.version()),
    changesAfter: (seq: number) => read(() => readChanges(store, seq)),
    lastChange: () => read(() => lastChange(store)),

    commitUpdates: (list: readonly StatusUpdate[]) => write(() => judgements.commit(list)),
    transitionsAfter: (position: number, limit: number) =>
      read(() => transitionsAfter(store, position, limit)),
    lastTransition: () => read(() => lastTransition(store)),
    transitionsOf: (serviceId: number, from: number, to: number) =>
      read(() => transitionsOf(store, serviceId, from, to)),
    listIncidents: (query: IncidentQuery) => read(() => listIncidents(store, query)),
    countIncidents: (query: Omit<IncidentQuery, 'limit' | 'offset'>) =>
      read(() => countIncidents(store, query)),
    findIncident: (id: string) => read(() => findIncident(store, id)),
    incidentsSince: (serviceId: number, from: number) => read(() => incidentsSince(store, serviceId, from)),
    incidentsBeside: (place: IncidentPlace) => read(() => incidentsBeside(store, place)),

    putVendorReadings: (readings: readonly VendorReading[]) =>
      write(() => {
        const changed = readings.filter((reading) => putVendorReading(store, writeIncident, reading));
        return readVendorStates(store, [...new Set(changed.map(({ serviceId }) => serviceId))]);
      }),
    endOtherFeeds: (serviceId: number, feed: string | null, at: number) =>
      write(() => {
        const changed = endOtherFeeds(store, writeIncident, serviceId, feed, at);
        return changed ? (readVendorStates(store, [serviceId])[0] ?? null) : null;
      }),
    advanceMaintenances: (now: number) =>
      write(() => {
        const { serviceIds, nextAt } = advanceMaintenances(store, writeIncident, now);
        return { states: readVendorStates(store, serviceIds), nextAt };
      }),
    loadVendorStates: () => read(() => loadVendorStates(store)),
    listMaintenances: (query: MaintenanceQuery) => read(() => listMaintenances(store, query)),
    countMaintenances: (query: Omit<MaintenanceQuery, 'limit' | 'offset'>) =>
      read(() => countMaintenances(store, query)),

    ensureAccount: (name: string, now: number) => write(() => ensureAccount(store, name, now)),
    listAccounts: () => read(() => listAccounts(store)),
    ensureIdentity: (identity: Parameters<typeof ensureIdentity>[1], now: number) =>
      write(() => ensureIdentity(store, identity, now)),
    servicesOf: (accountId: number) => read(() => servicesOf(store, accountId)),
    addClaim: (accountId: number, claim: DomainClaim) => write(() => addClaim(store, accountId, claim)),
    claimsOf: (accountId: number) => read(() => claimsOf(store, accountId)),
    dropClaim: (accountId: number, domain: string) => write(() => dropClaim(store, accountId, domain)),
    proveDomain: (accountId: number, domain: string, kind: CheckKind, now: number) =>
      write(() => proveDomain(store, accountId, domain, kind, now, limits)),
    claimAddresses: (domain: string, addresses: readonly string[]) =>
      write(() => claimAddresses(store, domain, addresses)),
    noticesOf: (accountId: number) => read(() => noticesOf(store, accountId)),
    dropNotice: (accountId: number, id: number) => write(() => dropNotice(store, accountId, id)),
    addWebhook: (webhook: Omit<Webhook, 'id'>) => write(() => addWebhook(store, secrets.box(), webhook)),
    webhooksOf: (accountId: number) => read(() => webhooksOf(store, secrets.box(), accountId)),
    removeWebhook: (accountId: number, id: number) => write(() => removeWebhook(store, accountId, id)),
    addDelivery: (accountId: number, webhookId: number, delivery: Parameters<typeof addDelivery>[3]) =>
      write(() => addDelivery(store, accountId, webhookId, delivery)),
    deliveriesOf: (accountId: number) => read(() => deliveriesOf(store, accountId)),
    replayDelivery: (accountId: number, id: number, now: number) =>
      write(() => replayDelivery(store, accountId, id, now)),
    dueDeliveries: (now: number, limit: number) => read(() => dueDeliveries(store, secrets.box, now, limit)),
    noteDelivery: (outcome: DeliveryOutcome) => write(() => noteDelivery(store, outcome)),
    forgetDeliveries: (before: number) => write(() => forgetDeliveries(store, before)),
    addPage: (page: NewPage) => write(() => addPage(store, page)),
    findPage: (slug: string) => read(() => findPage(store, slug)),
    pagesOf: (accountId: number) => read(() => pagesOf(store, accountId)),
    listPages: () => read(() => listPages(store)),
    changePage: (accountId: number, slug: string, revision: number, edit: PageEdit, now: number) =>
      write(() => changePage(store, accountId, slug, revision, edit, now)),
    putLogo: (accountId: number, slug: string, logo: StoredLogo | null, now: number) =>
      write(() => putLogo(store, accountId, slug, logo, now)),
    findLogo: (slug: string) => read(() => findLogo(store, slug)),
    removePage: (accountId: number, slug: string) => write(() => removePage(store, accountId, slug)),
    incidentsOfServices: (query: ServicesIncidentQuery) => read(() => incidentsOfServices(store, query)),
    maintenancesOfServices: (serviceIds: readonly number[], limit: number) =>
      read(() => maintenancesOfServices(store, serviceIds, limit)),
    createSession: (session: NewSession) => write(() => createSession(store, session)),
    findSession: (sha256: Uint8Array, now: number) => read(() => findSession(store, sha256, now)),
    endSession: (sha256: Uint8Array) => write(() => endSession(store, sha256)),
    endSessionsOf: (accountId: number) => write(() => endSessionsOf(store, accountId)),
    createKey: (key: NewKey) => write(() => createKey(store, key)),
    findKey: (sha256: Uint8Array) => read(() => findKey(store, sha256)),
    listKeys: (accountId?: number) => read(() => listKeys(store, accountId)),
    revokeKey: (id: number, now: number) => write(() => revokeKey(store, id, now)),
    touchKeys: (uses: readonly (readonly [number, number])[]) => write(() => touchKeys(store, uses)),

    getFact: (name: string) => read(() => getFact(store, name)),
    setFact: (name: string, value: string) => write(() => setFact(store, name, value)),

    checkSecrets: () => read(secrets.check),
    sealSecrets: async () => {
      const sealed = await write(secrets.sealClear);
      if (sealed > 0) rewriteFile(store.database);
      return sealed;
    },
    resetSecrets: (now: number) =>
      write(() => {
        const removed = removeAllWebhooks(store, now);
        secrets.forgetKey();
        return removed;
      }),

    installation: async () =>
      read(() => readInstallation(store)) ?? (await write(() => ensureInstallation(store))),

    readLease: () => read(lease.read),
    takeLease: async (claim: LeaseRequest) => {
      const fence = await write(() => takeLease(store, claim));
      if (fence !== null) lease.hold(claim, fence);
      return fence;
    },
    claimLease: (claim: LeaseRequest) => read(() => lease.claim(claim)),
    renewLease: (fence: number, now: number) => write(() => renewLease(store, fence, now)),
    markLease: (fence: number, now: number) => read(() => lease.mark(fence, now)),
    releaseLease: async (fence: number) => {
      await write(() => releaseLease(store, fence));
      lease.drop();
    },
    /** Resolves where the disk takes a page, and has room for many more: or it would be full again at once. */
    tryWriting: async () => {
      if (freeBytes(dataDir) < MIN_FREE_BYTES) throw fullDisk(opened.file);
      await write(() => touchLease(store));
    },

    /** Commits what waits and closes the file; SQLite then folds the write-ahead log into it. */
    close: async () => {
      store.database.exec(`PRAGMA busy_timeout = ${LAST_BUSY_TIMEOUT_MS}`);
      commits.flush();
      // The answers to what was just committed leave first.
      await new Promise((resolve) => setImmediate(resolve));
      lease.close();
      store.database.close();
    },
  };
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

function storeOf({ database, kysely }: RegistryDatabase): RegistryStore {
  database.exec(`PRAGMA busy_timeout = ${TRY_TIMEOUT_MS}`);
  return { database, kysely, queries: createQueries(database) };
}

function prepare({ database }: RegistryDatabase) {
  return {
    judgements: createJudgements(database),
    inbox: prepareInbox(database),
    writeIncident: prepareIncidentWriter(database),
  };
}

/** Reads run at once, between two transactions; both say in plain words what SQLite complains about. */
function explaining(file: string, commits: GroupCommit, share: () => Promise<void>) {
  return {
    read<T>(work: () => T): T {
      try {
        return work();
      } catch (error) {
        throw explainSqliteError(error, file);
      }
    },
    async write<T>(work: () => T): Promise<T> {
      try {
        await share();
        return await commits.write(work);
      } catch (error) {
        throw explainSqliteError(error, file);
      }
    },
  };
}
