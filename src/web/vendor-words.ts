/** What a vendor says of itself, in sentences. */
import type { LagSummary } from '../domain/acknowledgement.ts';
import type { VendorStatus, VendorWord } from '../domain/vendor-word.ts';
import { describeLength, describeTime } from './words.ts';

const SENTENCES: Readonly<Record<VendorStatus, string>> = {
  unknown: 'has not been read yet',
  operational: 'says that all is well',
  maintenance: 'speaks of maintenance',
  minor: 'speaks of a minor incident',
  major: 'speaks of a major incident',
  critical: 'speaks of a critical incident',
};

/** Completes "The vendor's own status page ..."; null: none is read. */
export function describeVendor(word: VendorWord | null, now: number): string | null {
  if (word === null) return null;
  const { status, since, readAt, stale } = word;
  const from = since === null || status === 'operational' ? '' : `, since ${describeTime(since)}`;
  const age =
    stale && readAt !== null ? `, ${describeLength(now - readAt)} ago; it could not be read since` : '';
  const unread = stale && readAt === null && status !== 'unknown' ? ' when it was last read' : '';
  return `${SENTENCES[status]}${from}${age}${unread}.`;
}

/** How quick the vendor is to say what our checks have seen; null: there was no outage to compare. */
export function describeLag({ outages, acknowledged, medianMs, worstMs }: LagSummary): string | null {
  if (outages === 0) return null;
  const seen = outages === 1 ? 'the one outage' : `the ${outages} outages`;
  if (medianMs === null || worstMs === null)
    return `It said nothing of ${seen} that our checks saw in a year.`;
  const how = medianMs < 0 ? `${describeLength(-medianMs)} before` : `${describeLength(medianMs)} after`;
  const worst = worstMs > 0 && acknowledged > 1 ? `, at worst ${describeLength(worstMs)} after it` : '';
  const which =
    outages === 1
      ? `${seen} that our checks saw, `
      : `${acknowledged} of ${seen} that our checks saw, typically `;
  return `In a year it spoke of ${which}${how} our first failed check${worst}.`;
}
