/**
 * The calls of the registry: a line for each method of the port, with the function that serves it in the thread. The
 * client has no list of its own (docs/adr/0014-the-registry-is-many-small-ports.md).
 */
import type { Registry } from '../ports/registry.ts';
import {
  createSession,
  dropNotice,
  endSession,
  endSessionsOf,
  ensureAccount,
  ensureIdentity,
  findSession,
  listAccounts,
  noticesOf,
} from './account-rows.ts';
import { getFact, setFact } from './fact-rows.ts';
import {
  countFailingDependencies,
  dependenciesOf,
  failingDependencies,
  recentHeartbeats,
} from './heartbeat-rows.ts';
import { renewLease } from './held-lease.ts';
import { answerInInbox, forgetInbox, inboxAnswers, openInInbox, putInInbox } from './inbox-rows.ts';
import {
  countIncidents,
  findIncident,
  incidentsBeside,
  incidentsOfServices,
  incidentsSince,
  listIncidents,
} from './incident-rows.ts';
import { createKey, findKey, listKeys, revokeKey, touchKeys } from './key-rows.ts';
import {
  countMaintenances,
  listMaintenances,
  loadVendorStates,
  maintenancesOfServices,
} from './maintenance-rows.ts';
import { addService, addServices, type DomainLimits, removeService } from './owner-services.ts';
import {
  addClaim,
  changeService,
  claimAddresses,
  claimDomain,
  claimsOf,
  dropClaim,
  proveDomain,
  servicesOf,
} from './ownership.ts';
import { putCatalogue } from './put-catalogue.ts';
import type { RegistryStore } from './registry-store.ts';
import type { Secrets } from './secret-box.ts';
import { lastChange, loadServices, readChanges } from './service-rows.ts';
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
import { commitUpdates, lastTransition, transitionsAfter, transitionsOf } from './update-rows.ts';
import { advanceMaintenances, endOtherFeeds, putVendorReadings } from './vendor-rows.ts';
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

/** Everything that the calls of the registry need. */
export interface OpenRegistry extends RegistryStore {
  readonly limits: DomainLimits;
  readonly secrets: Secrets;
}

/** Methods of the port that the client makes by polling, and those that need more than a transaction. */
type OtherCalls =
  | 'watchChanges'
  | 'watchOtherProcesses'
  | 'readLease'
  | 'takeLease'
  | 'claimLease'
  | 'markLease'
  | 'releaseLease'
  | 'close';

/** Calls of this adapter alone. */
export interface AdapterCalls {
  /** Rejects with `secrets_key` if the key of stored secrets is missing, or is not the one that sealed them. */
  checkSecrets(): Promise<void>;
  /** Removes all webhooks, whose secrets cannot be read any more, with a notice to their owners. Resolves with their number. */
  resetSecrets(now: number): Promise<number>;
}

/** A call that only reads; it sees no transaction that is still open. */
interface Read<A extends unknown[], R> {
  readonly kind: 'read';
  readonly run: (registry: OpenRegistry, ...args: A) => Promise<R>;
}

/** A call that writes; it runs inside a transaction, and is answered after the commit. */
interface Write<A extends unknown[], R> {
  readonly kind: 'write';
  readonly run: (registry: OpenRegistry, ...args: A) => Promise<R>;
}

/** How each method of `Port` is served. */
type Calls<Port> = {
  readonly [Name in keyof Port]: Port[Name] extends (...args: infer A) => Promise<infer R>
    ? Read<A, R> | Write<A, R>
    : never;
};

/** The methods of a table of calls over an open registry. */
export type Methods<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends Read<infer A, infer R>
    ? (...args: A) => Promise<R>
    : Table[Name] extends Write<infer A, infer R>
      ? (...args: A) => Promise<R>
      : never;
};

function read<A extends unknown[], R>(run: (registry: OpenRegistry, ...args: A) => Promise<R>): Read<A, R> {
  return { kind: 'read', run };
}

function write<A extends unknown[], R>(run: (registry: OpenRegistry, ...args: A) => Promise<R>): Write<A, R> {
  return { kind: 'write', run };
}

/** The table. */
export const REGISTRY_CALLS = {
  loadServices: read(loadServices),
  servicesOf: read(servicesOf),
  putCatalogue: write(putCatalogue),
  addService: write((registry, service) => addService(registry, service, registry.limits)),
  addServices: write((registry, services) => addServices(registry, services, registry.limits)),
  removeService: write(removeService),
  changeService: write(changeService),
  changesAfter: read(readChanges),
  lastChange: read(lastChange),

  commitUpdates: write(commitUpdates),
  transitionsAfter: read(transitionsAfter),
  lastTransition: read(lastTransition),
  transitionsOf: read(transitionsOf),

  listIncidents: read(listIncidents),
  countIncidents: read(countIncidents),
  findIncident: read(findIncident),
  incidentsSince: read(incidentsSince),
  incidentsBeside: read(incidentsBeside),
  incidentsOfServices: read(incidentsOfServices),

  putVendorReadings: write(putVendorReadings),
  endOtherFeeds: write(endOtherFeeds),
  advanceMaintenances: write(advanceMaintenances),
  loadVendorStates: read(loadVendorStates),
  listMaintenances: read(listMaintenances),
  countMaintenances: read(countMaintenances),
  maintenancesOfServices: read(maintenancesOfServices),

  recentHeartbeats: read(recentHeartbeats),
  dependenciesOf: read(dependenciesOf),
  failingDependencies: read(failingDependencies),
  countFailingDependencies: read(countFailingDependencies),

  putInInbox: write(putInInbox),
  openInInbox: read(openInInbox),
  answerInInbox: write(answerInInbox),
  inboxAnswers: read(inboxAnswers),
  forgetInbox: write(forgetInbox),

  ensureAccount: write(ensureAccount),
  listAccounts: read(listAccounts),
  ensureIdentity: write(ensureIdentity),
  createSession: write(createSession),
  findSession: read(findSession),
  endSession: write(endSession),
  endSessionsOf: write(endSessionsOf),
  noticesOf: read(noticesOf),
  dropNotice: write(dropNotice),

  claimDomain: write((registry, domain, accountId) =>
    claimDomain(registry, domain, accountId, registry.limits),
  ),
  addClaim: write(addClaim),
  claimsOf: read(claimsOf),
  dropClaim: write(dropClaim),
  proveDomain: write((registry, accountId, domain, kind, now) =>
    proveDomain(registry, accountId, domain, kind, now, registry.limits),
  ),
  claimAddresses: write(claimAddresses),

  createKey: write(createKey),
  findKey: read(findKey),
  listKeys: read(listKeys),
  revokeKey: write(revokeKey),
  touchKeys: write(touchKeys),

  addWebhook: write(addWebhook),
  webhooksOf: read(webhooksOf),
  removeWebhook: write(removeWebhook),
  addDelivery: write(addDelivery),
  deliveriesOf: read(deliveriesOf),
  replayDelivery: write(replayDelivery),
  dueDeliveries: read(dueDeliveries),
  noteDelivery: write(noteDelivery),
  forgetDeliveries: write(forgetDeliveries),
  checkSecrets: read(({ secrets }) => secrets.check()),
  resetSecrets: write(async (registry, now) => {
    const removed = await removeAllWebhooks(registry, now);
    await registry.secrets.forgetKey(registry);
    return removed;
  }),

  addPage: write(addPage),
  findPage: read(findPage),
  pagesOf: read(pagesOf),
  listPages: read(listPages),
  changePage: write(changePage),
  putLogo: write(putLogo),
  findLogo: read(findLogo),
  removePage: write(removePage),

  renewLease: write(renewLease),
  getFact: read(getFact),
  setFact: write(setFact),
} satisfies Calls<Omit<Registry, OtherCalls> & AdapterCalls>;
