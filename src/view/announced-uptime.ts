/**
 * Checks within the maintenance that an owner has announced, for uptime without it. A check counts as within it from the moment
 * on at which the maintenance was announced, so that a past outage cannot be declared maintenance.
 */
import type { Bucket } from '../domain/sample.ts';
import type { AnnouncedWindow } from '../store/ports/incidents.ts';
import type { PublicReads } from '../store/ports/registry.ts';
import type { SampleQuery, SampleReads } from '../store/ports/samples.ts';

/** Maximum number of windows whose checks are read. */
const MAX_WINDOWS = 60;
/** Shorter windows contain no check that could be told apart. */
const MIN_WINDOW_MS = 1_000;

export interface AnnouncedChecks extends AnnouncedWindow, Pick<Bucket, 'count' | 'downCount'> {}

/**
 * Reads the checks of a service within announced maintenance in `[from, to)`. Null: there was none, or more than 60 windows.
 * Throws the errors of the sample store. `narrow` adds the region to the queries.
 */
export async function readAnnouncedChecks(
  {
    registry,
    samples,
  }: {
    readonly registry: PublicReads;
    readonly samples: SampleReads;
  },
  serviceId: number,
  { from, to }: { readonly from: number; readonly to: number },
  narrow: (query: SampleQuery) => SampleQuery = (query) => query,
): Promise<readonly AnnouncedChecks[] | null> {
  const windows = joinWindows(await registry.announcedWindows(serviceId, from, to));
  if (windows.length === 0 || windows.length > MAX_WINDOWS) return null;
  return await Promise.all(
    windows.map(async (window) => {
      const stepMs = window.to - window.from;
      const buckets = await samples.query(narrow({ serviceId, ...window, stepMs }));
      const sum = (of: 'count' | 'downCount') => buckets.reduce((all, bucket) => all + bucket[of], 0);
      return { ...window, count: sum('count'), downCount: sum('downCount') };
    }),
  );
}

/** Ratio of good checks over buckets without those in windows that begin at `from` or later; null: no check is left. */
export function uptimeWithout(
  buckets: readonly Bucket[],
  windows: readonly AnnouncedChecks[],
  from: number,
): number | null {
  let count = 0;
  let down = 0;
  for (const bucket of buckets) {
    count += bucket.count;
    down += bucket.downCount;
  }
  for (const window of windows) {
    if (window.from < from) continue;
    count -= window.count;
    down -= window.downCount;
  }
  // Summaries of hours and single checks may differ at the edges of a window.
  return count <= 0 ? null : Math.min(1, Math.max(0, (count - Math.max(0, down)) / count));
}

/** Joins windows that overlap; they are ordered by their starts. */
function joinWindows(windows: readonly AnnouncedWindow[]): AnnouncedWindow[] {
  const joined: AnnouncedWindow[] = [];
  for (const window of windows) {
    const last = joined.at(-1);
    if (last !== undefined && window.from <= last.to)
      joined[joined.length - 1] = { from: last.from, to: Math.max(last.to, window.to) };
    else if (window.to - window.from >= MIN_WINDOW_MS) joined.push(window);
  }
  return joined;
}
