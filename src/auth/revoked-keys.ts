/**
 * The API keys that were revoked lately, for processes that reach Redis and not the registry (docs/adr/0021).
 * The monitor reads them from the registry only while there is such a process.
 */
import type { Clock } from '../clock.ts';
import { HOUR_MS } from '../domain/durations.ts';
import type { KeyStore } from '../store/ports/keys.ts';

/** Options of {@link watchRevokedKeys}. */
interface RevokedKeysOptions {
  readonly registry: Pick<KeyStore, 'keysRevokedSince'>;
  /** Returns true if a process is cut off from the registry. */
  readonly isNeeded: () => boolean;
  readonly clock: Clock;
}

export interface RevokedKeys {
  /** The time of each key's revocation, epoch milliseconds, by its ID; empty while they are not needed. */
  all(): ReadonlyMap<number, number>;
  stop(): void;
}

const POLL_MS = 1_000;
/** A process accepts a known key for an hour without the registry; the second hour is for clocks that differ. */
const SPAN_MS = 2 * HOUR_MS;
const NO_KEYS: ReadonlyMap<number, number> = new Map();

/** Reads the keys every second while they are needed. */
export function watchRevokedKeys({ registry, isNeeded, clock }: RevokedKeysOptions): RevokedKeys {
  let keys = NO_KEYS;
  let isReading = false;
  async function read(): Promise<void> {
    isReading = true;
    try {
      keys = new Map(await registry.keysRevokedSince(clock.now() - SPAN_MS));
    } catch {
      // The registry logs it. What was read stays.
    }
    isReading = false;
  }
  const stop = clock.every(POLL_MS, () => {
    if (!isNeeded()) keys = NO_KEYS;
    else if (!isReading) void read();
  });
  return { all: () => keys, stop };
}
