/** Routine updates that exist only in memory, until the newest state of each service is committed with others. */
import type { ResultBatch } from './result-batch.ts';
import type { TrackedService } from './tracked-services.ts';

const MAX_GROUP = 1_000;

/** Services with routine updates that are committed together. */
export interface RoutineGroup {
  readonly services: readonly TrackedService[];
  /** Released when the group, and everything collected before it, is committed. */
  readonly batches: readonly ResultBatch[];
}

/** The collected updates. */
export class RoutineUpdates {
  readonly #services = new Set<TrackedService>();
  /** Batches with results among these updates; held once each. */
  readonly #batches = new Set<ResultBatch>();

  add(tracked: TrackedService): void {
    this.#services.add(tracked);
  }

  /** Another update of the service includes the collected ones. */
  remove(tracked: TrackedService): void {
    this.#services.delete(tracked);
  }

  hold(batch: ResultBatch): void {
    if (this.#batches.has(batch)) return;
    this.#batches.add(batch);
    batch.hold();
  }

  /** Takes all of them, in groups for one commit each. */
  take(): RoutineGroup[] {
    const services = [...this.#services];
    const batches = [...this.#batches];
    this.#services.clear();
    this.#batches.clear();
    const groups: RoutineGroup[] = [];
    for (let at = 0; at < services.length; at += MAX_GROUP)
      groups.push({ services: services.slice(at, at + MAX_GROUP), batches: [] });
    // A separate group after all others: changes that include collected updates precede it.
    if (batches.length > 0) groups.push({ services: [], batches });
    return groups;
  }
}
