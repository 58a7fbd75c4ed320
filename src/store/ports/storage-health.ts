/** What every store on disk has in common: at times its disk takes no writes, though nothing is wrong with them. */

/**
 * Codes of errors that pass by themselves or when an operator makes room, so that clients may try again later.
 * `storage_full`: the disk is full, read-only or fails to write. `storage_busy`: another process holds the lock.
 * `storage_unreachable`: the server does not answer.
 */
export type StorageRefusal = (typeof REFUSALS)[number];
const REFUSALS = ['storage_full', 'storage_busy', 'storage_unreachable'] as const;

/** Why a store takes no writes at present. */
export interface StorageProblem {
  readonly code: StorageRefusal;
  /** For operators, one sentence that names the file or the server. */
  readonly message: string;
}

/** Whether a store takes writes. */
export interface StorageHealth {
  /** Null: it takes writes. */
  problem(): StorageProblem | null;
  /** Calls `listener` when it stops taking writes, and with null when it takes them again. */
  watch(listener: (problem: StorageProblem | null) => void): () => void;
}

/** The refusal that an error stands for; null: it is another error. */
export function refusalOf(error: unknown): StorageProblem | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  const { code, message } = error;
  return isRefusal(code) ? { code, message } : null;
}

function isRefusal(code: unknown): code is StorageRefusal {
  return REFUSALS.some((one) => one === code);
}
