/** The registry, in an SQLite file of the data directory or in PostgreSQL, served by a thread of its own. */
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { Methods } from '../../thread/rpc.ts';
import { FATAL, superviseThread } from '../../thread/supervised-thread.ts';
import { createRegistryClient, type RegistryClient } from './registry-client.ts';
import type { RegistryThreadData } from './registry-thread.ts';

/** How to open a registry. */
export interface RegistryOptions {
  /** Folder of `registry.sqlite` and of the key of secrets; it is made where it does not exist. */
  readonly dataDir: string;
  readonly log: Log;
  readonly clock: Clock;
  /** Most live domains of one account (decisions, Ownership). Default 100. */
  readonly domainsPerAccount?: number;
  /** The setting `storage.postgres.url`; null or absent: the registry is in the data directory. */
  readonly postgresUrl?: string | null;
  /** The setting `secrets.key`; null or absent: the key is in the data directory. */
  readonly secretKey?: string | null;
  /** Called if the thread ends by a fault; every later call rejects with the same reason. */
  readonly onEnd?: (reason: Error) => void;
}

const ENTRY = new URL('../../../workers/registry.ts', import.meta.url);

/**
 * Opens the registry, beside other processes that have it open. Rejects with an error whose
 * message says what to do and whose `code` is `registry_damaged`, `registry_newer`, `registry_foreign`,
 * `registry_unusable`, `storage_busy` or `storage_unreachable`.
 */
export async function openRegistry(options: RegistryOptions): Promise<RegistryClient> {
  const {
    dataDir,
    log,
    clock,
    domainsPerAccount = 100,
    postgresUrl = null,
    secretKey = null,
    onEnd,
  } = options;
  const thread = superviseThread<Methods & { readonly open: () => Promise<string[]> }>({
    name: 'the registry thread',
    entry: ENTRY,
    workerData: { dataDir, domainsPerAccount, postgresUrl, secretKey } satisfies RegistryThreadData,
    policy: FATAL,
    clock,
    onEnd(reason) {
      log.error({ error: reason }, 'the registry thread ended');
      onEnd?.(reason);
    },
  });
  let methods: readonly string[];
  try {
    methods = await thread.call('open', []);
  } catch (error) {
    await thread.stop();
    throw error;
  }

  return createRegistryClient({ methods, call: thread.call, clock, log, end: thread.stop });
}
