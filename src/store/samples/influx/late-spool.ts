/** A spool whose disk may take no writes when it is opened: it is then opened later, and refuses lines until it is. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isDiskRefusal } from '../../sqlite/open-full.ts';
import { openSpool, SPOOL_FILE, type Spool } from './spool.ts';

/** Opens the spool of a data directory, now or at the first use for which its disk has room. Throws other faults. */
export function openLateSpool(dataDir: string, maxBytes: number): Spool {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  let opened: Spool | null = null;
  /** Throws where the disk still takes no writes: the writer keeps the lines in memory then, and tries again. */
  const open = (): Spool => {
    opened ??= openSpool(dataDir, maxBytes);
    return opened;
  };
  try {
    open();
  } catch (error) {
    if (!isDiskRefusal(error, join(dataDir, SPOOL_FILE))) throw error;
  }
  return {
    put: (lines) => open().put(lines),
    first: (maxLines) => open().first(maxLines),
    remove: (batch, rest) => open().remove(batch, rest),
    oldestCheckAt: () => opened?.oldestCheckAt() ?? null,
    get samples() {
      return opened?.samples ?? 0;
    },
    get bytes() {
      return opened?.bytes ?? 0;
    },
    get dropped() {
      return opened?.dropped ?? 0;
    },
    close: () => opened?.close(),
  };
}
