/** How many services have which status, kept up to date with each stored record. */
import { failingRegions } from '../../domain/status/agree.ts';
import type { CurrentStatus } from '../../domain/status/current.ts';
import type { StatusCounts } from '../ports/status.ts';

/** What is counted of a record. */
type Counted = Pick<CurrentStatus, 'status'> & Partial<Pick<CurrentStatus, 'scope' | 'regions'>>;

/** Creates the counts of an empty store. A change costs the same with ten services as with a million. */
export function createStatusTally() {
  const byStatus = new Map<string, number>();
  const byScope = new Map<string, number>();
  const failingByRegion = new Map<string, number>();
  const counts: StatusCounts = {
    withStatus: (status) => byStatus.get(status) ?? 0,
    withScope: (scope) => byScope.get(scope) ?? 0,
    failing: () => failingByRegion,
  };

  function count(record: Counted | undefined, by: 1 | -1): void {
    if (record === undefined) return;
    add(byStatus, record.status, by);
    if (record.scope) add(byScope, record.scope, by);
    if (record.regions === undefined) return;
    for (const { region } of failingRegions(record)) add(failingByRegion, region, by);
  }

  return {
    counts,
    /** Replaces a record; undefined: there is none. */
    change(before: Counted | undefined, after: Counted | undefined): void {
      count(before, -1);
      count(after, 1);
    },
  };
}

function add(counts: Map<string, number>, label: string, by: number): void {
  const count = (counts.get(label) ?? 0) + by;
  if (count === 0) counts.delete(label);
  else counts.set(label, count);
}
