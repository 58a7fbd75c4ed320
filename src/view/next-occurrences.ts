/** The next occurrences of maintenance for pages and calendars, cached. */
import { BoundedMap, getOrInsert } from '../async/bounded-map.ts';
import { DAY_MS } from '../domain/durations.ts';
import {
  type Occurrence,
  type OwnerMaintenance,
  occurrencesOf,
} from '../domain/incident/owner-maintenance.ts';

/** Maximum number of maintenances whose occurrences are cached. */
const MAX_CACHED = 2_000;
const cached = new BoundedMap<string, Promise<readonly Occurrence[]>>(MAX_CACHED);
let last: Promise<unknown> = Promise.resolve();

/** Searches in a turn of the event loop of its own, one after the other: a page may have hundreds that recur. */
function search(...of: Parameters<typeof occurrencesOf>): Promise<readonly Occurrence[]> {
  const found = last
    .catch(() => {})
    .then(() => new Promise((resolve) => setImmediate(resolve)))
    .then(() => occurrencesOf(...of));
  last = found;
  return found;
}

/** The occurrences of a maintenance that end after `at`, at most `limit`. They are searched for once a day. */
export async function nextOccurrences(
  maintenance: OwnerMaintenance,
  at: number,
  limit: number,
): Promise<readonly Occurrence[]> {
  const day = Math.floor(at / DAY_MS);
  const { startsAt, durationMs, timeZone, recurrence, changes, cancelledAt } = maintenance;
  const key = JSON.stringify([
    ...[startsAt, durationMs, timeZone, recurrence, changes, cancelledAt, limit, day],
  ]);
  // One begins in a day at most, and another may end then, as may those whose ends were changed.
  const wanted = limit + 2 + changes.length;
  const found = await getOrInsert(cached, key, () => search(maintenance, day * DAY_MS, wanted));
  return found.filter(({ endsAt }) => endsAt > at).slice(0, limit);
}
