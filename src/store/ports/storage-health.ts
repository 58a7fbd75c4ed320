/** The health of a store on disk: at times the disk refuses writes, although the data itself is valid. */

/**
 * Codes of temporary errors, which pass on their own or when an operator frees disk space. Clients may retry later.
 * `storage_full`: the disk is full, read-only or fails to write. `storage_busy`: another process holds the lock.
 * `storage_unreachable`: the server does not respond.
 */
export type StorageRefusal = (typeof REFUSALS)[number];
const REFUSALS = ['storage_full', 'storage_busy', 'storage_unreachable'] as const;

/** Why a store refuses writes at present. */
export interface StorageProblem {
  readonly code: StorageRefusal;
  /** For operators, one sentence that names the file or the server. */
  readonly message: string;
}

export interface StorageHealth {
  /** Null: the store accepts writes. */
  problem(): StorageProblem | null;
  /** Calls `listener` when the store begins to refuse writes, and with null when it accepts them again. */
  watch(listener: (problem: StorageProblem | null) => void): () => void;
}

export interface RegistryHealth extends StorageHealth {
  /** The damage that was found since the start, one sentence; null: none. */
  damage(): string | null;
}

/** The refusal that an error represents; null: the error has another cause. */
export function refusalOf(error: unknown): StorageProblem | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  const { code, message } = error;
  return isRefusal(code) ? { code, message } : null;
}

function isRefusal(code: unknown): code is StorageRefusal {
  return REFUSALS.some((one) => one === code);
}

/** A counter that shows if there may be something new in the registry. */
export interface WriteCounter {
  /**
   * A number that grows after each write of this process or of another one, but for routine updates and the lease. It grows with each
   * call where not all writes are noticed.
   */
  writes(): number;
}
