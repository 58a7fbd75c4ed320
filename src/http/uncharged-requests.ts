/**
 * Who may look at a picture before it is charged. A 304 of a picture costs nothing (decisions, Keys and limits), but
 * whether it is one can only be told by a picture, which costs us its drawing: so of an address at most as many are
 * looked for at a time as it has requests left, and beyond that those alone whose tag we have sent for this very address.
 */
import { matches } from './conditional.ts';

/** The looks of all clients. */
export interface UnchargedRequests {
  /** Notes what was sent for an address: `target` is its path and query. */
  note(target: string, etag: string): void;
  /** Whether `If-None-Match` names what was sent last for it: the picture is likely to be kept still. */
  isKnown(target: string, ifNoneMatch: string): boolean;
  /** Looks, unless `payer` looks for `remaining` pictures at this time already: then null. */
  look<Found>(payer: string, remaining: number, find: () => Promise<Found>): Promise<Found | null>;
}

/** Addresses of pictures that are remembered, at most 500 bytes each; beyond, the one sent first goes. */
const TARGETS_KEPT = 20_000;
/** Unknown query parameters are ignored, however long they are; nothing is remembered for them. */
const MAX_TARGET_LENGTH = 400;

/** Makes the memory. */
export function createUnchargedRequests(): UnchargedRequests {
  const sent = new Map<string, string>();
  const looking = new Map<string, number>();
  return {
    note(target, etag) {
      if (target.length > MAX_TARGET_LENGTH) return;
      sent.delete(target);
      sent.set(target, etag);
      if (sent.size > TARGETS_KEPT) sent.delete(sent.keys().next().value ?? target);
    },
    isKnown(target, ifNoneMatch) {
      const etag = sent.get(target);
      return etag !== undefined && ifNoneMatch.trim() !== '*' && matches(ifNoneMatch, etag);
    },
    async look(payer, remaining, find) {
      const held = looking.get(payer) ?? 0;
      if (held >= remaining) return null;
      looking.set(payer, held + 1);
      try {
        return await find();
      } finally {
        const left = (looking.get(payer) ?? 1) - 1;
        if (left === 0) looking.delete(payer);
        else looking.set(payer, left);
      }
    },
  };
}
