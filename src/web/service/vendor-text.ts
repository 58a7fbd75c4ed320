/** A vendor's own word, in the language of the page. */
import type { Acknowledgement, LagSummary } from '../../domain/acknowledgement.ts';
import type { VendorStatus, VendorWord } from '../../domain/vendor-word.ts';
import type { Language } from '../language/language.ts';
import { type Phrase, say, time } from '../language/phrase.ts';

/** The look of a vendor's word: that of the status of ours that weighs as much. */
export const VENDOR_LOOKS: Readonly<Record<VendorStatus, 'up' | 'slow' | 'down' | 'unknown'>> = {
  unknown: 'unknown',
  operational: 'up',
  maintenance: 'unknown',
  minor: 'slow',
  major: 'down',
  critical: 'down',
};

/** Completes "Its own status page ..."; null: none is read. */
export function describeVendor(
  word: VendorWord | null,
  now: number,
  { words, formats }: Language,
): Phrase | null {
  if (word === null) return null;
  const { service } = words;
  const { status, since, readAt, stale } = word;
  const plain = service.vendor[status];
  const said = since === null || status === 'operational' ? [plain] : service.vendorSince(plain, time(since));
  if (!stale || (readAt === null && status === 'unknown')) return say`${said}.`;
  if (readAt === null) return say`${service.vendorUnread(said)}.`;
  return say`${service.vendorStale(said, formats.length(now - readAt))}.`;
}

/** How quick the vendor is to say what our checks have seen; null: there was no outage to compare. */
export function describeLag(
  { outages, acknowledged, medianMs, worstMs }: LagSummary,
  { words, formats }: Language,
): string | null {
  const { page } = words;
  if (outages === 0) return null;
  if (medianMs === null || worstMs === null) return page.lagNone(outages);
  const length = formats.length(Math.abs(medianMs));
  const first = medianMs < 0;
  if (outages === 1) return page.lagOne(length, first);
  const worst = worstMs > 0 && acknowledged > 1 ? formats.length(worstMs) : null;
  return page.lagMany(acknowledged, outages, length, first, worst);
}

/** What the vendor has said of the outage that goes on; null: none does. `newest` is that of the newest outage. */
export function describeNow(
  newest: Acknowledgement | undefined,
  isDown: boolean,
  now: number,
  { words, formats }: Language,
): string | null {
  if (!isDown || newest === undefined) return null;
  if (newest.lagMs === null) return words.page.silentNow(formats.length(now - newest.startedAt));
  return words.page.spokeNow(formats.length(Math.abs(newest.lagMs)), newest.lagMs < 0);
}
