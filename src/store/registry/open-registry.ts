/** The registry, in an SQLite file of the data directory or in PostgreSQL. */
import type { MessagePort } from 'node:worker_threads';
import { type Clock, systemClock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { Methods } from '../../thread/rpc.ts';
import { watchSilence } from '../../thread/silence-watch.ts';
import { FATAL, superviseThread } from '../../thread/supervised-thread.ts';
import { createRegistryClient, type RegistryClient, type RegistryClientOptions } from './registry-client.ts';
import type { RegistryMethods, RegistryThreadData } from './registry-thread.ts';

export interface RegistryOptions extends Omit<RegistryThreadData, 'domainsPerAccount'> {
  readonly log: Log;
  readonly clock: Clock;
  /** Maximum number of live domains of an account (decisions, Ownership). Default 100. */
  readonly domainsPerAccount?: number;
  /** Called if the thread ends because of a fault. All later calls reject with the same reason. */
  readonly onEnd?: (reason: Error) => void;
}

const ENTRY = new URL('../../../workers/registry.ts', import.meta.url);

/**
 * Opens the registry in its own thread. Other processes may have it open too. Rejects with an error whose message says
 * what to do and whose `code` is `registry_damaged`, `registry_newer`, `registry_foreign`, `registry_unusable`,
 * `storage_busy` or `storage_unreachable`.
 */
export async function openRegistry(options: RegistryOptions): Promise<HostingRegistry> {
  const { log, clock, onEnd } = options;
  const thread = superviseThread<ThreadMethods>({
    name: 'the registry thread',
    entry: ENTRY,
    workerData: threadData(options),
    policy: FATAL,
    clock,
    onEnd(reason) {
      log.error({ error: reason }, 'the registry thread ended');
      onEnd?.(reason);
    },
  });
  let opened: OpenedMethods;
  try {
    opened = await thread.call('open', []);
  } catch (error) {
    await thread.stop();
    throw error;
  }
  const client = createRegistryClient({
    ...{ ...opened, call: thread.call, clock, log, end: thread.stop },
    // Threads live in the time of the system, also in tests.
    watchSilence: (onChange) => watchSilence({ ping: thread.ping, clock: systemClock, onChange }),
  });
  return {
    ...client,
    hostSamples: (data, port) => thread.call('serveSamples', [data, port], [port]),
  };
}

/** The registry in its own thread. */
export interface HostingRegistry extends RegistryClient {
  /** Lets the thread serve samples at a port, too; `data`: of their thread. */
  hostSamples(data: unknown, port: MessagePort): Promise<unknown>;
}

type ThreadMethods = Methods & {
  readonly open: () => Promise<OpenedMethods>;
  readonly serveSamples: (data: unknown, port: MessagePort) => Promise<void>;
};

/**
 * Opens the registry in this thread, for commands, which are too short to benefit from a separate thread. Rejects
 * as {@link openRegistry} does.
 */
export async function openRegistryInProcess(
  options: Omit<RegistryOptions, 'onEnd'>,
): Promise<RegistryClient> {
  const { methods, described } = await openDescribed(threadData(options));
  const named: Record<string, (...args: never[]) => unknown> = methods;
  return createRegistryClient({
    ...described,
    call: async (method, args) => named[method]?.(...args),
    clock: options.clock,
    log: options.log,
    end: async () => {},
  });
}

/** The description of the methods that a thread has opened, for its client. */
export type OpenedMethods = Pick<RegistryClientOptions, 'methods' | 'writes' | 'isShared'>;

/** Opens the database in this thread, and describes what the thread then serves. */
export async function openDescribed(
  data: RegistryThreadData,
): Promise<{ readonly methods: RegistryMethods; readonly described: OpenedMethods }> {
  const methods = await openMethods(data);
  const { WRITING_METHODS: writes } = await import('./registry-methods.ts');
  return {
    methods,
    described: { methods: Object.keys(methods), writes, isShared: data.postgresUrl != null },
  };
}

/** Opens the database of a registry in this thread. The driver of each database is loaded only if it is used. */
export async function openMethods(data: RegistryThreadData): Promise<RegistryMethods> {
  const { postgresUrl = null } = data;
  if (postgresUrl === null) return await (await import('./registry-thread.ts')).openRegistryMethods(data);
  const { openPostgresMethods } = await import('./postgres-methods.ts');
  return await openPostgresMethods(postgresUrl, data);
}

function threadData(options: RegistryOptions): RegistryThreadData {
  const { dataDir, domainsPerAccount = 100, postgresUrl = null } = options;
  const { secretKey = null, checksKey = null, alone = false } = options;
  return { dataDir, domainsPerAccount, postgresUrl, secretKey, checksKey, alone };
}
