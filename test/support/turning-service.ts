/** A service in the embedded registry whose status turns whenever a test wants it to. */
import type { Test } from 'tap';
import { createListeners } from '../../src/async/listeners.ts';
import type { Incident } from '../../src/domain/incident/incident.ts';
import { type CurrentStatus, type Transition, unknownStatus } from '../../src/domain/status/current.ts';
import { entry, NOON, turn } from '../store/registry-fixtures.ts';
import { createRecordedRegistry, type RecordedRegistry } from './recorded-registry.ts';

/** The service, number 1, and its registry, where a service 2 stands beside it. */
export interface TurningService {
  readonly registry: RecordedRegistry;
  /** Calls `listener` with each transition that {@link TurningService.turn} has committed. */
  watchTransitions(listener: (transition: Transition) => void): () => void;
  /** Its present status. */
  readonly current: CurrentStatus;
  /**
   * Commits `count` transitions, a millisecond apart, and `incident` with the last one. `notify` false: no listener is
   * called.
   */
  turn(count: number, notify?: boolean, incident?: Incident | null): Promise<void>;
}

/** Makes the service and turns it `count` times. The registry is closed after the test. */
export async function openTurningService(t: Test, count = 0): Promise<TurningService> {
  const registry = await createRecordedRegistry(
    ['shop', 'other'].map((slug, index) => ({ ...entry(slug), id: index + 1, revision: 1 })),
  );
  t.teardown(() => registry.close());
  const listeners = createListeners<[transition: Transition]>();
  let current = unknownStatus(1);

  async function commit(turns: number, notify = true, incident: Incident | null = null): Promise<void> {
    const updates = Array.from({ length: turns }, (_, index) => {
      const update = turn(current, current.status === 'down' ? 'up' : 'down', NOON + current.seq + 1);
      current = update.current;
      return index === turns - 1 ? { ...update, incident } : update;
    });
    const before = await registry.lastTransition();
    await registry.commitUpdates(updates);
    if (!notify) return;
    for (const transition of await registry.transitionsAfter(before, turns)) listeners.notify(transition);
  }

  await commit(count, false);
  return {
    registry,
    watchTransitions: listeners.add,
    get current() {
      return current;
    },
    turn: commit,
  };
}
