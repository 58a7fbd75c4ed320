/** The registry in an SQLite file of the data directory, served by a thread of its own. */
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { startThread } from '../../thread/rpc.ts';
import type { Registry } from '../ports/registry.ts';
import type { RegistryMethods } from './registry-thread.ts';
import { type ChangeWatch, startChangeWatch } from './watch-changes.ts';
import type { LeaseBook } from './writer-lease.ts';

/** How to open a registry. */
export interface RegistryOptions {
  /** Folder of `registry.sqlite`; it is made where it does not exist. */
  readonly dataDir: string;
  readonly log: Log;
  readonly clock: Clock;
  /** Most live domains of one account (decisions, Ownership). Default 100. */
  readonly domainsPerAccount?: number;
  /** Called if the thread ends unasked; every later call rejects with the same reason. */
  readonly onEnd?: (reason: Error) => void;
}

/** The port, and what the writer lease needs. */
export interface SqliteRegistry extends Registry {
  /** For `acquireLease`. */
  readonly lease: LeaseBook;
}

const ENTRY = new URL('../../../workers/registry.ts', import.meta.url);

/**
 * Opens the registry of a data directory, beside other processes that have it open. Rejects with an error whose
 * message says what to do and whose `code` is `registry_damaged`, `registry_newer`, `registry_foreign`,
 * `registry_unusable` or `registry_busy`.
 */
export async function openRegistry(options: RegistryOptions): Promise<SqliteRegistry> {
  const { dataDir, log, clock, domainsPerAccount = 100, onEnd } = options;
  const thread = startThread<RegistryMethods & { open(): Promise<void> }>(
    ENTRY,
    { dataDir, domainsPerAccount },
    (reason) => {
      log.error({ err: reason }, 'The thread of the registry has ended');
      onEnd?.(reason);
    },
  );
  try {
    await thread.call('open', []);
  } catch (error) {
    await thread.terminate();
    throw error;
  }

  const { call } = thread;
  const watches = new Set<ChangeWatch>();
  /** What was just written here is told at once, not at the next look at the feed. */
  const tell = async <T>(written: Promise<T>): Promise<T> => {
    const value = await written;
    for (const watch of watches) watch.poke();
    return value;
  };
  const changesAfter = (seq: number) => call('changesAfter', [seq]);

  return {
    loadServices: () => call('loadServices', []),
    putCatalogue: (services) => tell(call('putCatalogue', [services])),
    addService: (service) => tell(call('addService', [service])),
    removeService: (slug) => tell(call('removeService', [slug])),
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

    commitJudgements: (judgements) => call('commitJudgements', [judgements]),
    transitionsAfter: (position, limit) => call('transitionsAfter', [position, limit]),
    lastTransition: () => call('lastTransition', []),
    transitionsOf: (serviceId, from, to) => call('transitionsOf', [serviceId, from, to]),
    listIncidents: (query) => call('listIncidents', [query]),

    ensureAccount: (name, now) => call('ensureAccount', [name, now]),
    createKey: (key) => call('createKey', [key]),
    findKey: (sha256) => call('findKey', [sha256]),
    listKeys: () => call('listKeys', []),
    revokeKey: (id, now) => call('revokeKey', [id, now]),
    touchKeys: (uses) => call('touchKeys', [uses]),

    getFact: (name) => call('getFact', [name]),
    setFact: (name, value) => call('setFact', [name, value]),

    lease: {
      read: () => call('readLease', []),
      take: (claim) => call('takeLease', [claim]),
      renew: (fence, now) => call('renewLease', [fence, now]),
      release: (fence) => call('releaseLease', [fence]),
    },

    async close() {
      for (const watch of watches) watch.stop();
      watches.clear();
      await call('close', []);
      await thread.terminate();
    },
  };
}
