/**
 * Tracks whether the registry accepts writes: a refused call shows that it does not, a successful retry that it does
 * again. A thread that hangs accepts none. What was found damaged stays so until the process ends.
 */
import { createListeners } from '../../async/listeners.ts';
import type { Clock } from '../../clock.ts';
import { errorCodeOf, messageOf } from '../../error.ts';
import type { Log } from '../../log.ts';
import { SILENCE_MS } from '../../thread/silence-watch.ts';
import type { RegistryFaultCode } from '../database/registry-error.ts';
import { refusalOf, type StorageProblem } from '../ports/storage-health.ts';

/** The code of an error about content that is damaged. */
const DAMAGED: RegistryFaultCode = 'registry_damaged';
/** Pause between two attempts, milliseconds. */
const TRY_MS = 500;

const SILENT: StorageProblem = {
  code: 'storage_unreachable',
  message: `the registry thread has not answered for ${SILENCE_MS / 1_000} s`,
};

export interface StorageWatchOptions {
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
    /** The silence of a thread that hangs. */
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
