/** The port of the registry as calls to the thread that holds the file. */
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { ThreadClient } from '../../thread/rpc.ts';
import type { Registry } from '../ports/registry.ts';
import type { StorageHealth } from '../ports/storage-health.ts';
import type { RegistryMethods } from './registry-thread.ts';
import { createStorageWatch } from './storage-watch.ts';
import { type ChangeWatch, startChangeWatch } from './watch-changes.ts';
import { watchCommits } from './watch-commits.ts';

/** The port, and what only this adapter has. */
export interface SqliteRegistry extends Registry {
  /** Rejects with `secrets_key` where the key of stored secrets is missing or another one. */
  checkSecrets(): Promise<void>;
  /** Encrypts secrets that an earlier version stored in clear, and leaves nothing of them in the file; how many. */
  sealSecrets(): Promise<number>;
  /** Removes all webhooks, whose secrets cannot be read any more, and tells their owners; how many there were. */
  resetSecrets(now: number): Promise<number>;
  /** The identity of this installation, which its other stores carry too. */
  installation(): Promise<string>;
  /** Whether its disk takes writes. */
  readonly health: StorageHealth;
}

/** What the client needs. */
export interface RegistryClientOptions {
  /** Calls a method of the thread. */
  readonly call: ThreadClient<RegistryMethods>['call'];
  readonly clock: Clock;
  readonly log: Log;
  /** Ends the thread, after the file was closed. */
  readonly end: () => Promise<void>;
}

/** Makes the client. */
export function createRegistryClient(options: RegistryClientOptions): SqliteRegistry {
  const { clock, log, end } = options;
  const health = createStorageWatch({ tryWriting: () => options.call('tryWriting', []), clock, log });
  const call: RegistryClientOptions['call'] = (...args) => {
    const answer = options.call(...args);
    answer.catch(health.note);
    return answer;
  };
  const watches = new Set<ChangeWatch>();
  /** What was just written here is told at once, not at the next look at the feed. */
  const tell = async <T>(written: Promise<T>): Promise<T> => {
    const value = await written;
    for (const watch of watches) watch.poke();
    return value;
  };
  const listeners = new Set<() => void>();
  let stopWatching: (() => void) | null = null;
  /** What others have committed may be a change of the services; that is told before anything else. */
  const onCommit = () => {
    for (const watch of watches) watch.poke();
    for (const listener of listeners) listener();
  };
  let closing: Promise<void> | null = null;
  const close = async () => {
    stopWatching?.();
    health.stop();
    listeners.clear();
    for (const watch of watches) watch.stop();
    watches.clear();
    await call('close', []);
    await end();
  };
  const changesAfter = (seq: number) => call('changesAfter', [seq]);

  return {
    loadServices: () => call('loadServices', []),
    putCatalogue: (services) => tell(call('putCatalogue', [services])),
    addService: (service) => tell(call('addService', [service])),
    addServices: (services) => call('addServices', [services]),
    removeService: (slug) => tell(call('removeService', [slug])),
    claimDomain: (domain, accountId) => tell(call('claimDomain', [domain, accountId])),
    changeService: (slug, edit) => tell(call('changeService', [slug, edit])),
    recentHeartbeats: (serviceId) => call('recentHeartbeats', [serviceId]),
    dependenciesOf: (serviceId, limit) => call('dependenciesOf', [serviceId, limit]),
    failingDependencies: (page) => call('failingDependencies', [page]),
    countFailingDependencies: () => call('countFailingDependencies', []),
    putInInbox: (entry) => call('putInInbox', [entry]),
    openInInbox: (after) => call('openInInbox', [after]),
    answerInInbox: (id, answer) => call('answerInInbox', [id, answer]),
    inboxAnswers: (ids) => call('inboxAnswers', [ids]),
    forgetInbox: (before) => call('forgetInbox', [before]),
    watchOtherProcesses(listener) {
      const entry = () => listener();
      listeners.add(entry);
      stopWatching ??= watchCommits({ version: () => call('commitVersion', []), clock, onCommit });
      return () => {
        listeners.delete(entry);
        if (listeners.size > 0) return;
        stopWatching?.();
        stopWatching = null;
      };
    },
    changesAfter,
    watchChanges(seq, listener) {
      const watch = startChangeWatch({ changesAfter, clock, log }, seq, listener);
      watches.add(watch);
      return () => {
        watch.stop();
        watches.delete(watch);
      };
    },
    lastChange: () => call('lastChange', []),

    commitUpdates: (judgements) => call('commitUpdates', [judgements]),
    transitionsAfter: (position, limit) => call('transitionsAfter', [position, limit]),
    lastTransition: () => call('lastTransition', []),
    transitionsOf: (serviceId, from, to) => call('transitionsOf', [serviceId, from, to]),
    listIncidents: (query) => call('listIncidents', [query]),
    countIncidents: (query) => call('countIncidents', [query]),
    findIncident: (id) => call('findIncident', [id]),
    incidentsSince: (serviceId, from) => call('incidentsSince', [serviceId, from]),
    incidentsBeside: ({ id, serviceId, startedAt }) =>
      call('incidentsBeside', [{ id, serviceId, startedAt }]),

    putVendorReadings: (readings) => call('putVendorReadings', [readings]),
    endOtherFeeds: (serviceId, feed, at) => call('endOtherFeeds', [serviceId, feed, at]),
    advanceMaintenances: (now) => call('advanceMaintenances', [now]),
    loadVendorStates: () => call('loadVendorStates', []),
    listMaintenances: (query) => call('listMaintenances', [query]),
    countMaintenances: (query) => call('countMaintenances', [query]),

    ensureAccount: (name, now) => call('ensureAccount', [name, now]),
    listAccounts: () => call('listAccounts', []),
    ensureIdentity: (identity, now) => call('ensureIdentity', [identity, now]),
    servicesOf: (accountId) => call('servicesOf', [accountId]),
    addClaim: (accountId, claim) => call('addClaim', [accountId, claim]),
    claimsOf: (accountId) => call('claimsOf', [accountId]),
    dropClaim: (accountId, domain) => call('dropClaim', [accountId, domain]),
    proveDomain: (accountId, domain, kind, now) => tell(call('proveDomain', [accountId, domain, kind, now])),
    claimAddresses: (domain, addresses) => call('claimAddresses', [domain, addresses]),
    noticesOf: (accountId) => call('noticesOf', [accountId]),
    dropNotice: (accountId, id) => call('dropNotice', [accountId, id]),
    addWebhook: (webhook) => call('addWebhook', [webhook]),
    webhooksOf: (accountId) => call('webhooksOf', [accountId]),
    removeWebhook: (accountId, id) => call('removeWebhook', [accountId, id]),
    addDelivery: (accountId, webhookId, delivery) => call('addDelivery', [accountId, webhookId, delivery]),
    deliveriesOf: (accountId) => call('deliveriesOf', [accountId]),
    replayDelivery: (accountId, id, now) => call('replayDelivery', [accountId, id, now]),
    dueDeliveries: (now, limit) => call('dueDeliveries', [now, limit]),
    noteDelivery: (outcome) => call('noteDelivery', [outcome]),
    forgetDeliveries: (before) => call('forgetDeliveries', [before]),
    addPage: (page) => call('addPage', [page]),
    findPage: (slug) => call('findPage', [slug]),
    pagesOf: (accountId) => call('pagesOf', [accountId]),
    listPages: () => call('listPages', []),
    changePage: (accountId, slug, revision, edit, now) =>
      call('changePage', [accountId, slug, revision, edit, now]),
    putLogo: (accountId, slug, logo, now) => call('putLogo', [accountId, slug, logo, now]),
    findLogo: (slug) => call('findLogo', [slug]),
    removePage: (accountId, slug) => call('removePage', [accountId, slug]),
    incidentsOfServices: (query) => call('incidentsOfServices', [query]),
    maintenancesOfServices: (serviceIds, limit) => call('maintenancesOfServices', [serviceIds, limit]),
    createSession: (session) => call('createSession', [session]),
    findSession: (sha256, now) => call('findSession', [sha256, now]),
    endSession: (sha256) => call('endSession', [sha256]),
    endSessionsOf: (accountId) => call('endSessionsOf', [accountId]),
    createKey: (key) => call('createKey', [key]),
    findKey: (sha256) => call('findKey', [sha256]),
    listKeys: (accountId) => call('listKeys', [accountId]),
    revokeKey: (id, now) => call('revokeKey', [id, now]),
    touchKeys: (uses) => call('touchKeys', [uses]),

    getFact: (name) => call('getFact', [name]),
    setFact: (name, value) => call('setFact', [name, value]),

    checkSecrets: () => call('checkSecrets', []),
    sealSecrets: () => call('sealSecrets', []),
    resetSecrets: (now) => call('resetSecrets', [now]),
    installation: () => call('installation', []),
    readLease: () => call('readLease', []),
    takeLease: (request) => call('takeLease', [request]),
    claimLease: (request) => call('claimLease', [request]),
    renewLease: (fence, now) => call('renewLease', [fence, now]),
    markLease: (fence, now) => call('markLease', [fence, now]),
    releaseLease: (fence) => call('releaseLease', [fence]),
    health,

    close() {
      closing ??= close();
      return closing;
    },
  };
}
