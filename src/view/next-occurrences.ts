/** The next occurrences of maintenance for pages and calendars, cached. */
import { BoundedMap, getOrInsert } from '../async/bounded-map.ts';
import { MINUTE_MS } from '../domain/durations.ts';
import {
  type Occurrence,
  type OwnerMaintenance,
  occurrencesOf,
} from '../domain/incident/owner-maintenance.ts';

/** Maximum number of maintenances whose occurrences are cached. */
const MAX_CACHED = 2_000;
const cached = new BoundedMap<string, Promise<readonly Occurrence[]>>(MAX_CACHED);

/** The occurrences of a maintenance that end after `at`, at most `limit`, as known within the minute of `at`. */
export async function nextOccurrences(
  maintenance: OwnerMaintenance,
  at: number,
  limit: number,
): Promise<readonly Occurrence[]> {
  const minute = Math.floor(at / MINUTE_MS);
  const { startsAt, durationMs, timeZone, recurrence, changes, cancelledAt } = maintenance;
  const key = JSON.stringify([
    startsAt,
    durationMs,
    timeZone,
    recurrence,
    changes,
    cancelledAt,
    limit,
    minute,
  ]);
  const found = await getOrInsert(cached, key, () => occurrencesOf(maintenance, minute * MINUTE_MS, limit));
  return found.filter(({ endsAt }) => endsAt > at);
}
