/** Checks the proofs of domains of status pages again: a proof that stays away for three days does not count any longer. */
import { createCoalescingLoop } from '../async/coalescing-loop.ts';
import type { Clock } from '../clock.ts';
import { DAY_MS, HOUR_MS } from '../domain/durations.ts';
import type { Log } from '../log.ts';
import type { PageStore } from '../store/ports/status-pages.ts';
import type { DomainProofs } from './domain-proof.ts';

/** How often a proof is checked, milliseconds. One that is missing is checked every hour. */
const CHECK_AFTER_MS = DAY_MS;
/** How long a proof may be missing, milliseconds: longer than outages of name servers last. */
const LAPSES_AFTER_MS = 3 * DAY_MS;

/** Options of the checks. */
export interface RecheckOptions {
  readonly registry: Pick<PageStore, 'provedPageDomains' | 'notePageProof'>;
  readonly proofs: Pick<DomainProofs, 'check'>;
  readonly clock: Pick<Clock, 'now' | 'every'>;
  readonly log: Log;
  /** Whether this process makes the checks now: it is the monitor, and its own connection works. */
  readonly isAble: () => boolean;
}

/** Starts the checks; returns a function that stops them and resolves when none is in progress. */
export function startDomainRechecks(options: RecheckOptions): () => Promise<void> {
  const { clock, log } = options;
  const loop = createCoalescingLoop(async () => {
    try {
      await recheckDomains(options);
    } catch (error) {
      log.warn({ error }, 'the proofs of domains of status pages could not be checked');
    }
  });
  const stop = clock.every(HOUR_MS, () => void loop.run());
  return async () => {
    stop();
    await loop.idle();
  };
}

/** Checks the proofs that are due, one after the other. */
export async function recheckDomains({
  registry,
  proofs,
  clock,
  isAble,
}: Pick<RecheckOptions, 'registry' | 'proofs' | 'isAble'> & {
  readonly clock: Pick<Clock, 'now'>;
}): Promise<void> {
  for (const { accountId, domain, checkedAt, missingSince } of await registry.provedPageDomains()) {
    const now = clock.now();
    if (missingSince === null && now - checkedAt < CHECK_AFTER_MS) continue;
    const isFound = (await proofs.check(accountId, domain)) === null;
    // Without a connection, every proof would seem to be missing.
    if (!isAble()) return;
    const isLate = missingSince !== null && now - missingSince >= LAPSES_AFTER_MS;
    await registry.notePageProof(accountId, domain, isFound ? 'found' : isLate ? 'lapses' : 'missing', now);
  }
}
