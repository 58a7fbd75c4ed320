/**
 * Updates that only refresh records, as rows. Most updates are, and a list of texts and numbers crosses to the thread of the
 * registry at a fraction of what the objects cost.
 */
import { type CurrentStatus, toStoredCheck, toStoredRegions } from '../../../domain/status/current.ts';
import type { Parameters } from '../../database/registry-store.ts';
import type { CommitOutcome, StatusUpdate } from '../../ports/updates.ts';

/** A method of this adapter only. */
export interface RoutineMethods {
  /** Writes the rows of {@link toRoutineRows}. Resolves with the records that another writer has changed, by their place. */
  commitRows(
    rows: readonly Parameters[],
  ): Promise<readonly (readonly [place: number, current: CurrentStatus])[]>;
}

/** The rows of updates; null: some do more than to refresh the record of a service, or there are several of one service. */
export function toRoutineRows(updates: readonly StatusUpdate[]): readonly Parameters[] | null {
  const services = new Set<number>();
  for (const { serviceId, transition, incident, heartbeat } of updates) {
    if (transition !== null || incident !== null || heartbeat !== undefined) return null;
    services.add(serviceId);
  }
  if (services.size < updates.length) return null;
  return updates.map(toRow);
}

/** The outcomes of `count` updates, from what {@link RoutineMethods.commitRows} resolves with. */
export function outcomesOf(
  count: number,
  stale: Awaited<ReturnType<RoutineMethods['commitRows']>>,
): CommitOutcome[] {
  const outcomes = Array.from({ length: count }, (): CommitOutcome => COMMITTED);
  for (const [place, current] of stale) outcomes[place] = { kind: 'stale', current };
  return outcomes;
}

const COMMITTED = { kind: 'committed', transition: null } as const;

/** The parameters of the statement that writes the record of an update. Throws for an update that contradicts itself. */
export function toRow(update: StatusUpdate): Parameters {
  checkUpdate(update);
  const { serviceId, expectedSeq, current, memory } = update;
  const { seq, observedAt, status, since, latest } = current;
  const check = latest === null ? null : JSON.stringify(toStoredCheck(latest));
  const learnt = memory === null ? null : JSON.stringify(memory);
  const kept = toStoredRegions(current);
  const regions = kept === null ? null : JSON.stringify(kept);
  return [seq, observedAt, status, since, check, regions, learnt, serviceId, expectedSeq];
}

/** Throws for an update that contradicts itself, which is a bug of the caller. */
export function checkUpdate({ serviceId, expectedSeq, current, transition, incident }: StatusUpdate): void {
  const steps = current.seq - expectedSeq;
  const consistent =
    current.serviceId === serviceId &&
    (transition === null
      ? steps === 0
      : steps === 1 &&
        transition.serviceId === serviceId &&
        transition.seq === current.seq &&
        transition.to === current.status) &&
    (incident === null || incident.serviceId === serviceId);
  if (!consistent)
    throw new Error(
      `update of service ${serviceId} contradicts itself: seq ${expectedSeq} to ${current.seq}, ${transition === null ? 'no transition' : `transition ${transition.seq} to ${transition.to}`}`,
    );
}
