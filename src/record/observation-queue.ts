/** The queue of a service: observations that wait while an update of it is in flight, so that their order is kept. */
import type { StorageRefusal } from '../store/ports/storage-health.ts';
import { isCheckResult } from './observation.ts';
import type { PendingObservation, TrackedService } from './tracked-services.ts';

/** Queued observations of a service where the newest is a result: they must not fill the memory. */
const MAX_WITH_RESULT = 16;
/** Queued observations of a service where the newest is a heartbeat; each sender waits too. */
const MAX_WITH_HEARTBEAT = 1_000;

/** Adds an observation; beyond the bound the oldest one is dropped, and its sender refused. */
export function enqueue(tracked: TrackedService, pending: PendingObservation): void {
  tracked.queue ??= [];
  tracked.queue.push(pending);
  const bound = isCheckResult(pending.observation) ? MAX_WITH_RESULT : MAX_WITH_HEARTBEAT;
  if (tracked.queue.length > bound) tracked.queue.shift()?.reply?.('unavailable');
}

/** Puts an observation back, before all others. */
export function enqueueFirst(tracked: TrackedService, pending: PendingObservation): void {
  tracked.queue ??= [];
  tracked.queue.unshift(pending);
}

/** Takes the oldest observation out; undefined: the queue is empty. */
export function dequeue(tracked: TrackedService): PendingObservation | undefined {
  const next = tracked.queue?.shift();
  if (tracked.queue?.length === 0) tracked.queue = null;
  return next;
}

/** Takes all heartbeats out and refuses them. */
export function refuseQueuedHeartbeats(tracked: TrackedService, refusal: StorageRefusal): void {
  const all = tracked.queue ?? [];
  const left = all.filter(({ reply }) => reply === null);
  tracked.queue = left.length === 0 ? null : left;
  for (const { reply } of all) reply?.(refusal);
}
