/** The port of the registry as calls to the thread that holds the file. */
import { createListeners } from '../../async/listeners.ts';
import type { Clock } from '../../clock.ts';
import { errorCodeOf, messageOf } from '../../error.ts';
import type { Log } from '../../log.ts';
import { type Call, createRemote, type Methods } from '../../thread/rpc.ts';
import { SILENCE_MS } from '../../thread/silence-watch.ts';
import type { RegistryFaultCode } from '../database/registry-error.ts';
import type { Registry } from '../ports/registry.ts';
import { loadInPages } from '../ports/services.ts';
import { type RegistryHealth, refusalOf, type StorageProblem } from '../ports/storage-health.ts';
import type { SecretMethods } from './registry-methods.ts';
import type { RegistryMethods } from './registry-thread.ts';
import { outcomesOf, toRoutineRows, unpackStates } from './states/packed-states.ts';
import { type ChangeWatch, followCommits, startChangeWatch } from './watch-changes.ts';

/** The port, with additional methods of this adapter. */
export interface RegistryClient extends Registry, SecretMethods {
  /**
   * Encrypts secrets that an earlier version stored in clear text, and removes all copies of the clear text from the
   * file. Resolves with their number.
   */
  sealSecrets(): Promise<number>;
  /** The identity of this installation, which its other stores contain too. */
  installation(): Promise<string>;
  readonly health: RegistryHealth;
  /** The same registry, whose calls are refused while its thread hangs, for requests. What may wait uses the registry itself. */
  readonly forRequests: Registry;
}

export interface RegistryClientOptions {
  /** Names of the methods that the thread serves. */
  readonly methods: readonly string[];
  /** Calls a method of the thread. */
  readonly call: Call;
  /** Names of the methods after which there may be work for what watches the registry. */
  readonly writes: ReadonlySet<string>;
  /** True if processes on other machines write too, of which not all commits are noticed. */
  readonly isShared: boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** Calls `listener` when the thread begins to hang, and when it answers again; returns the end of it. Absent: there is no thread. */
  readonly watchSilence?: (listener: (isSilent: boolean) => void) => () => void;
  /** Ends the thread after the registry was closed. */
  readonly end: () => Promise<void>;
}

/** Methods after which this process reads the feed of changes at once, instead of at the next poll. */
const CHANGES_SERVICES: ReadonlySet<string> = new Set<keyof Registry>([
  'putCatalogue',
  'putCataloguePage',
  'endCatalogue',
  'addService',
  'addServices',
  'removeService',
  'changeService',
  'claimDomain',
  'proveDomain',
  'registerService',
  'putContent',
  'mergeAccounts',
]);

export function createRegistryClient(options: RegistryClientOptions): RegistryClient {
  const { methods, writes, isShared, clock, log, end } = options;
  const watches = new Set<ChangeWatch>();
  const listeners = createListeners<[]>();
  const pokeWatches = async () => {
    await Promise.all([...watches].map((watch) => watch.poke()));
  };
  let written = 0;
  const noteWrite = () => {
    written += 1;
    for (const watch of watches) watch.pokeSoon();
  };

  const remote = createRemote<RegistryMethods>(methods, async (method, args) => {
    try {
      const value = await options.call(method, args);
      // What was answered is visible to the next read (decisions, Services).
      const [, made = ''] = method === 'callIdempotent' ? args : [];
      if (CHANGES_SERVICES.has(method) || CHANGES_SERVICES.has(made)) {
        written += 1;
        await pokeWatches();
      } else if (writes.has(method)) noteWrite();
      return value;
    } catch (error) {
      if (method !== 'tryWriting') health.note(error);
      throw error;
    }
  });
  const health = createStorageWatch({ tryWriting: remote.tryWriting, clock, log });
  const unwatchSilence = options.watchSilence?.(health.noteSilence);

  let stopFollowing: (() => void) | null = null;
  /** A commit of another process may have changed services. The feed of changes is read before listeners are called. */
  const follow = () => {
    if (closing !== null) return;
    stopFollowing ??= followCommits(remote.commitAfter, clock, (isNews) => {
      written += 1;
      void pokeWatches();
      if (isNews) listeners.notify();
    });
  };
  let closing: Promise<void> | null = null;
  const close = async () => {
    stopFollowing?.();
    unwatchSilence?.();
    health.stop();
    listeners.clear();
    for (const watch of watches) watch.stop();
    watches.clear();
    await remote.close();
    await end();
  };

  const servicesBetween = async (afterId: number, untilId: number) =>
    unpackStates(await remote.packedBetween(afterId, untilId));
  const registry: Omit<RegistryClient, 'forRequests'> = {
    ...remote,
    async commitUpdates(updates) {
      const rows = toRoutineRows(updates);
      if (rows === null) return await remote.commitUpdates(updates);
      return outcomesOf(rows.length, await remote.commitRows(rows));
    },
    servicesBetween,
    loadServices: () => loadInPages({ lastServiceId: remote.lastServiceId, servicesBetween }),
    watchOtherProcesses(listener) {
      follow();
      return listeners.add(listener);
    },
    writes() {
      follow();
      return isShared ? ++written : written;
    },
    watchChanges(seq, listener) {
      const { changesAfter } = remote;
      follow();
      const watch = startChangeWatch({ changesAfter, clock, log }, seq, listener);
      watches.add(watch);
      return () => {
        watch.stop();
        watches.delete(watch);
      };
    },
    health,
    close() {
      closing ??= close();
      return closing;
    },
  };
  const calls = methods.filter((name) => name !== 'close');
  return { ...registry, forRequests: refuseWhileSilent(registry, calls, health.silence) };
}

/** The signal that the registry's thread hangs. */
interface Silence {
  /** Null: the thread answers. */
  problem(): StorageProblem | null;
  /** Calls `listener` when the thread is found to hang. Returns what removes the listener. */
  watch(listener: (problem: StorageProblem) => void): () => void;
}

/**
 * Wraps the methods in `names` of a registry: while its thread hangs, a call rejects at once with `storage_unreachable`, as it does while
 * PostgreSQL is away, and so do the calls that are under way when that is noticed. What those were to write may still be written, when the
 * thread goes on: as after any time-out, it is safe to repeat them. The other members are unchanged.
 */
export function refuseWhileSilent<Store extends object>(
  store: Store,
  names: readonly string[],
  silence: Silence,
): Store {
  const waiting = new Set<(error: Error) => void>();
  silence.watch((problem) => {
    for (const reject of waiting) reject(errorOf(problem));
    waiting.clear();
  });
  const bounded = (call: () => Promise<unknown>): Promise<unknown> => {
    const problem = silence.problem();
    if (problem !== null) return Promise.reject(errorOf(problem));
    return new Promise((resolve, reject) => {
      waiting.add(reject);
      call()
        .then(resolve, reject)
        .finally(() => waiting.delete(reject));
    });
  };
  const methods = store as Methods;
  const wrapped = names.flatMap((name) => {
    const method = methods[name];
    return typeof method !== 'function'
      ? []
      : [[name, (...args: never[]) => bounded(async () => await method(...args))] as const];
  });
  return { ...store, ...Object.fromEntries(wrapped) };
}

function errorOf({ code, message }: StorageProblem): Error {
  return Object.assign(new Error(message), { code });
}

// Tracks whether the registry accepts writes: a refused call shows that it does not, a successful retry that it does again. A
// thread that hangs accepts none. What was found damaged stays so until the process ends.

/** The code of an error about content that is damaged. */
const DAMAGED: RegistryFaultCode = 'registry_damaged';
/** Pause between two attempts, milliseconds. */
const TRY_MS = 500;

const SILENT: StorageProblem = {
  code: 'storage_unreachable',
  message: `the registry thread has not answered for ${SILENCE_MS / 1_000} s`,
};

interface StorageWatchOptions {
  /** Makes a test write; resolves when it is on disk. */
  readonly tryWriting: () => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Creates the health of a registry from the results of its calls. It is assumed to accept writes at first. */
export function createStorageWatch({ tryWriting, clock, log }: StorageWatchOptions) {
  const listeners = createListeners<[StorageProblem | null]>();
  let problem: StorageProblem | null = null;
  let silence: StorageProblem | null = null;
  const silenceListeners = createListeners<[StorageProblem]>();
  let damage: string | null = null;
  let cancel = (): void => {};
  let stopped = false;

  const change = (next: StorageProblem | null): void => {
    problem = next;
    listeners.notify(silence ?? next);
  };

  const noteDamage = (error: unknown): void => {
    if (errorCodeOf(error) !== DAMAGED || damage !== null) return;
    damage = messageOf(error);
    log.error({ problem: damage }, 'the registry is damaged; what cannot be read is refused');
  };

  const note = (error: unknown): void => {
    noteDamage(error);
    const found = refusalOf(error);
    if (found === null || stopped || problem?.code === found.code) return;
    const isNew = problem === null;
    log.error({ problem: found.message }, 'the registry accepts no writes; reads and checks continue');
    change(found);
    if (isNew) cancel = clock.after(TRY_MS, () => void tryAgain());
  };

  const tryAgain = async (): Promise<void> => {
    try {
      await tryWriting();
      if (stopped) return;
      log.info({}, 'the registry accepts writes again');
      change(null);
    } catch (error) {
      note(error);
      if (!stopped) cancel = clock.after(TRY_MS, () => void tryAgain());
    }
  };

  return {
    problem: () => silence ?? problem,
    damage: () => damage,
    watch: listeners.add,
    silence: { problem: () => silence, watch: silenceListeners.add },
    /** Notes that the thread hangs, or that it answers again. */
    noteSilence(isSilent: boolean): void {
      if (stopped) return;
      silence = isSilent ? SILENT : null;
      if (silence === null) log.info({}, 'the registry thread answers again');
      else {
        log.error({}, 'the registry thread does not answer; requests that need it are refused');
        silenceListeners.notify(silence);
      }
      listeners.notify(silence ?? problem);
    },
    /** Examines the error of a call, of any kind. */
    note,
    stop(): void {
      stopped = true;
      cancel();
      listeners.clear();
      silenceListeners.clear();
    },
  };
}
