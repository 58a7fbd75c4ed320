/**
 * Requests for pictures that are answered before they are charged. A 304 of a picture costs nothing (decisions, Keys and
 * limits), but the picture must be drawn to know whether a request is one. So a client gets at most
 * as many uncharged attempts at a time as it has requests left; beyond them, only a tag that was sent for that address.
 */
import { BoundedMap } from '../async/bounded-map.ts';
import { createClientCounts } from './client-address.ts';
import { matches } from './conditional.ts';

/** The uncharged requests of all clients. */
export interface UnchargedRequests {
  /** Remembers the tag that was sent for a target, its path and query. */
  note(target: string, etag: string): void;
  /** Whether `If-None-Match` names the tag that was sent last for the target: the picture is likely to be cached. */
  isKnown(target: string, ifNoneMatch: string): boolean;
  /** Calls `find`; null if the payer has `remaining` calls in flight already. */
  attempt<Found>(payer: string, remaining: number, find: () => Promise<Found>): Promise<Found | null>;
}

/** Targets that are remembered, at most 500 bytes each; beyond, the one sent first is dropped. */
const TARGETS_KEPT = 20_000;
/** Unknown query parameters are ignored, however long they are; nothing is remembered for longer targets. */
const MAX_TARGET_LENGTH = 400;

/** Makes the memory. */
export function createUnchargedRequests(): UnchargedRequests {
  const sent = new BoundedMap<string, string>(TARGETS_KEPT);
  const inFlight = createClientCounts();
  return {
    note(target, etag) {
      if (target.length > MAX_TARGET_LENGTH) return;
      sent.set(target, etag);
    },
    isKnown(target, ifNoneMatch) {
      const etag = sent.get(target);
      return etag !== undefined && ifNoneMatch.trim() !== '*' && matches(ifNoneMatch, etag);
    },
    async attempt(payer, remaining, find) {
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
