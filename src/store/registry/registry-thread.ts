/** What the registry's thread serves: the methods of the port and of the lease, over one connection. */

import { systemClock } from '../../clock.ts';
import type { CheckKind, Service } from '../../domain/service.ts';
import type { ServiceEdit } from '../ports/heartbeats.ts';
import type { InboxAnswer, InboxEntry } from '../ports/inbox.ts';
import { type DomainClaim, MAX_REGISTRATIONS_PER_DAY } from '../ports/ownership.ts';
import type {
  IncidentPlace,
  IncidentQuery,
  Judgement,
  MaintenanceQuery,
  NewService,
  NewSession,
  VendorReading,
} from '../ports/registry.ts';
import type { NewPage, PageEdit, PageIncidentQuery, StoredLogo } from '../ports/status-pages.ts';
import type { DeliveryOutcome, Webhook } from '../ports/webhooks.ts';
import { dropNotice, noticesOf } from './account-notices.ts';
import { changeService, claimDomain } from './claim-domain.ts';
import { dependenciesOf, failingDependencies, recentHeartbeats } from './dependency-rows.ts';
import { getFact, setFact } from './fact-rows.ts';
import { createGroupCommit, type GroupCommit } from './group-commit.ts';
import { prepareInbox } from './inbox-rows.ts';
import { findIncident, incidentsBeside, incidentsSince, listIncidents } from './incident-rows.ts';
import { createJudgements } from './judgements.ts';
import {
  createKey,
  ensureAccount,
  findKey,
  listKeys,
  type NewKey,
  revokeKey,
  touchKeys,
} from './key-rows.ts';
import { createQueries } from './kysely-sqlite.ts';
import { guardLease, type LeaseClaim, readLease, releaseLease, renewLease, takeLease } from './lease-rows.ts';
import { loadServices } from './load-services.ts';
import { advanceMaintenances, listMaintenances } from './maintenance-rows.ts';
import { addService, removeService } from './owner-services.ts';
import { addClaim, claimAddresses, claimsOf, dropClaim, proveDomain, servicesOf } from './ownership.ts';
import { putCatalogue } from './put-catalogue.ts';
import { openRegistryDatabase, type RegistryDatabase } from './registry-database.ts';
import { explainSqliteError } from './registry-error.ts';
import type { RegistryStore } from './registry-store.ts';
import { lastChange, readChanges } from './service-rows.ts';
import { createSession, endSession, ensureIdentity, findSession } from './session-rows.ts';
import { incidentsOfPage, maintenancesOfPage } from './status-page-news.ts';
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
  removeWebhook,
  replayDelivery,
  webhooksOf,
} from './webhook-rows.ts';
import { prepareIncidentWriter } from './write-incident.ts';

/** Longest work of one transaction, milliseconds (architecture, The stores). */
const MAX_GROUP_MS = 5;

/** What the thread is started with. */
export interface RegistryThreadData {
  readonly dataDir: string;
  readonly domainsPerAccount: number;
}

/** The methods of the thread. */
export type RegistryMethods = Awaited<ReturnType<typeof openRegistryMethods>>;

/** Opens the registry; throws what `openRegistryDatabase` throws. */
export async function openRegistryMethods({ dataDir, domainsPerAccount }: RegistryThreadData) {
  const opened = await openRegistryDatabase(dataDir);
  const { database, kysely } = opened;
  const store: RegistryStore = { database, kysely, queries: createQueries(database) };
  const limits = { perAccount: domainsPerAccount, perDay: MAX_REGISTRATIONS_PER_DAY };
  const judgements = createJudgements(database);
  const inbox = prepareInbox(database);
  const writeIncident = prepareIncidentWriter(database);
  let heldFence: number | null = null;
  const commits = createGroupCommit(database, {
    maxGroupMs: MAX_GROUP_MS,
    monotonic: systemClock.monotonic,
    // A process that lost its lease while it slept writes nothing more, whatever it still believes.
    guard: () => {
      if (heldFence !== null) guardLease(store, heldFence);
    },
  });
  const { read, write } = explaining(opened, commits);

  return {
    loadServices: () => read(() => loadServices(store)),
    putCatalogue: (services: readonly NewService[]) => write(() => putCatalogue(store, services)),
    addService: (service: NewService): Promise<Service> => write(() => addService(store, service, limits)),
    removeService: (slug: string) => write(() => removeService(store, slug)),
    claimDomain: (domain: string, accountId: number) =>
      write(() => claimDomain(store, domain, accountId, limits)),
    changeService: (slug: string, edit: ServiceEdit) => write(() => changeService(store, slug, edit)),
    recentHeartbeats: (serviceId: number) => read(() => recentHeartbeats(store, serviceId)),
    dependenciesOf: (serviceId: number, limit: number) => read(() => dependenciesOf(store, serviceId, limit)),
    failingDependencies: (page: { readonly limit: number; readonly offset: number }) =>
      read(() => failingDependencies(store, page)),
    putInInbox: (entry: Omit<InboxEntry, 'id'>) => write(() => inbox.put(entry)),
    openInInbox: (after: number) => read(() => inbox.open(after)),
    answerInInbox: (id: number, answer: InboxAnswer) => write(() => inbox.answer(id, answer)),
    inboxAnswers: (ids: readonly number[]) => read(() => inbox.answers(ids)),
    forgetInbox: (before: number) => write(() => inbox.forget(before)),
    commitVersion: () => read(() => inbox.version()),
    changesAfter: (seq: number) => read(() => readChanges(store, seq)),
    lastChange: () => read(() => lastChange(store)),

    commitJudgements: (list: readonly Judgement[]) => write(() => judgements.commit(list)),
    transitionsAfter: (position: number, limit: number) =>
      read(() => transitionsAfter(store, position, limit)),
    lastTransition: () => read(() => lastTransition(store)),
    transitionsOf: (serviceId: number, from: number, to: number) =>
      read(() => transitionsOf(store, serviceId, from, to)),
    listIncidents: (query: IncidentQuery) => read(() => listIncidents(store, query)),
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

    ensureAccount: (name: string, now: number) => write(() => ensureAccount(store, name, now)),
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
    addWebhook: (webhook: Omit<Webhook, 'id'>) => write(() => addWebhook(store, webhook)),
    webhooksOf: (accountId: number) => read(() => webhooksOf(store, accountId)),
    removeWebhook: (accountId: number, id: number) => write(() => removeWebhook(store, accountId, id)),
    addDelivery: (accountId: number, webhookId: number, delivery: Parameters<typeof addDelivery>[3]) =>
      write(() => addDelivery(store, accountId, webhookId, delivery)),
    deliveriesOf: (accountId: number) => read(() => deliveriesOf(store, accountId)),
    replayDelivery: (accountId: number, id: number, now: number) =>
      write(() => replayDelivery(store, accountId, id, now)),
    dueDeliveries: (now: number, limit: number) => read(() => dueDeliveries(store, now, limit)),
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
    incidentsOfPage: (query: PageIncidentQuery) => read(() => incidentsOfPage(store, query)),
    maintenancesOfPage: (serviceIds: readonly number[], limit: number) =>
      read(() => maintenancesOfPage(store, serviceIds, limit)),
    createSession: (session: NewSession) => write(() => createSession(store, session)),
    findSession: (sha256: Uint8Array, now: number) => read(() => findSession(store, sha256, now)),
    endSession: (sha256: Uint8Array) => write(() => endSession(store, sha256)),
    createKey: (key: NewKey) => write(() => createKey(store, key)),
    findKey: (sha256: Uint8Array) => read(() => findKey(store, sha256)),
    listKeys: (accountId?: number) => read(() => listKeys(store, accountId)),
    revokeKey: (id: number, now: number) => write(() => revokeKey(store, id, now)),
    touchKeys: (uses: readonly (readonly [number, number])[]) => write(() => touchKeys(store, uses)),

    getFact: (name: string) => read(() => getFact(store, name)),
    setFact: (name: string, value: string) => write(() => setFact(store, name, value)),

    readLease: () => read(() => readLease(store)),
    takeLease: async (claim: LeaseClaim) => {
      heldFence = await write(() => takeLease(store, claim));
      return heldFence;
    },
    renewLease: (fence: number, now: number) => write(() => renewLease(store, fence, now)),
    releaseLease: async (fence: number) => {
      await write(() => releaseLease(store, fence));
      heldFence = null;
    },

    /** Commits what waits and closes the file; SQLite then folds the write-ahead log into it. */
    close: async () => {
      commits.flush();
      // The answers to what was just committed leave first.
      await new Promise((resolve) => setImmediate(resolve));
      database.close();
    },
  };
}

/** Reads run at once, between two transactions; both say in plain words what SQLite complains about. */
function explaining({ file }: RegistryDatabase, commits: GroupCommit) {
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
        return await commits.write(work);
      } catch (error) {
        throw explainSqliteError(error, file);
      }
    },
  };
}
