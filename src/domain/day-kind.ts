/** What kind of day it was for a service: the one rule of status pages, service pages, heat maps and embeds. Pure. */
import type { Bucket } from './sample.ts';

/** How a day looks: `suspect` had checks, none of which can be trusted; `none` had no checks. */
export type DayKind = 'up' | 'slow' | 'down' | 'suspect' | 'none';

/** Slow checks up to this share make no slow day: one slow answer in a day is no news. */
export const SLOW_DAY_SHARE = 0.05;

/** What kind of day a bucket was; a bucket of another length is judged alike. */
export function dayKindOf({
  count,
  downCount,
  slowCount,
  suspectCount,
}: Pick<Bucket, 'count' | 'downCount' | 'slowCount' | 'suspectCount'>): DayKind {
  if (count === 0) return suspectCount > 0 ? 'suspect' : 'none';
  if (downCount > 0) return 'down';
  return slowCount / count > SLOW_DAY_SHARE ? 'slow' : 'up';
}
