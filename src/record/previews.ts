/** Previews: while the registry takes no writes, the results of checks are published before they are committed. */
import type { Clock } from '../clock.ts';
import type { CurrentStatus } from '../domain/current.ts';
import { judgeAttempt } from '../domain/judge.ts';
import { nextStatus } from '../domain/transition.ts';
import { isCheckResult, type Observation } from './observation.ts';
import type { Publisher } from './publisher.ts';
import type { TrackedService } from './tracked-services.ts';

/** The previews of services that have an update in flight. */
export interface Previews {
  /** Publishes what the update in flight and the queue of the service say; a second call changes nothing. */
  start(tracked: TrackedService): void;
  /** Publishes what the observation says, if the service has a preview. */
  extend(tracked: TrackedService, observation: Observation): void;
}

/** Makes the previews; they are published with the next flush. */
export function createPreviews(
  publisher: Pick<Publisher, 'addStatus'>,
  clock: Pick<Clock, 'now'>,
  slowOverMs: number,
): Previews {
  /** A preview has the `seq` of the newest committed status, so that the updates to come are newer. */
  function show(tracked: TrackedService, current: CurrentStatus): void {
    tracked.preview = current;
    publisher.addStatus({ ...current, seq: tracked.current.seq });
  }

  function extend(tracked: TrackedService, observation: Observation): void {
    if (!isCheckResult(observation) || tracked.preview === null) return;
    const verdict = judgeAttempt(observation, slowOverMs);
    const next = nextStatus(tracked.preview, observation, verdict, clock.now());
    if (next !== null) show(tracked, next);
  }

  return {
    start(tracked) {
      if (tracked.inFlight === null || tracked.preview !== null) return;
      show(tracked, tracked.inFlight.update.current);
      for (const { observation } of tracked.queue ?? []) extend(tracked, observation);
    },
    extend,
  };
}
