/** Requests for pictures that the client has already: they are free, but finding that out is not. */
import { BoundedMap } from '../async/bounded-map.ts';
import { createClientCounts } from './client-address.ts';
import { matches } from './conditional.ts';

/** Maximum number of stored targets, at most 500 bytes each; when there are more, that whose tag was stored first is dropped. */
const MAX_TARGETS = 20_000;
/** Maximum length of a stored target. Longer ones are possible, because unknown query parameters are ignored. */
const MAX_TARGET_LENGTH = 400;

/**
 * Requests for pictures that are handled before they are charged. A 304 for a picture is not charged (decisions, Keys
 * and limits), but the picture must be drawn to compare its tag. So the number of concurrent uncharged requests of a
 * client is limited to the number of its remaining requests. Beyond it, only a tag that was sent for the same target is
 * compared.
 */
export function createUnchargedRequests() {
  const sent = new BoundedMap<string, string>(MAX_TARGETS);
  const inFlight = createClientCounts();
  return {
    /** Stores the tag that was sent for a target (path and query). */
    note(target: string, etag: string): void {
      if (target.length <= MAX_TARGET_LENGTH && sent.get(target) !== etag) sent.set(target, etag);
    },
    /**
     * Returns true if `If-None-Match` contains the last tag that was sent for the target, so that the picture is probably
     * cached.
     */
    isKnown(target: string, ifNoneMatch: string): boolean {
      const etag = sent.get(target);
      return etag !== undefined && ifNoneMatch.trim() !== '*' && matches(ifNoneMatch, etag);
    },
    /** Calls `find`. Returns null if the payer already has `remaining` calls in flight. */
    async attempt<Found>(
      payer: string,
      remaining: number,
      find: () => Promise<Found>,
    ): Promise<Found | null> {
      if (inFlight.of(payer) >= remaining) return null;
      inFlight.add(payer);
      try {
        return await find();
      } finally {
        inFlight.remove(payer);
      }
    },
  };
}
