/** A fleet of services and a network that fails by a script, checked as the engine would check it. */
import type { CheckResult } from '../../src/domain/result.ts';
import { createWorld, good, makeServices, unanswered, type World } from './record-world.ts';

/** Re-checks after a failure come this long after the failure before, as by default (`checks.confirmAfter`). */
const CONFIRM_AFTER_MS = [2_000, 4_000];
/** Results leave a host in batches of this length. */
const STEP_MS = 250;

/** How the fleet is, and what happens to it. Times are milliseconds since the beginning. */
export interface FleetScript {
  readonly services: number;
  readonly intervalMs: number;
  readonly controlTargets: number;
  /** Times without network, `[from, to)`. */
  readonly outages: readonly (readonly [number, number])[];
  /** Services that stop answering, with the time from which on. */
  readonly dead: ReadonlyMap<number, number>;
}

/** A fleet under check. */
export interface FleetSimulation extends World {
  /** Lets the fleet run until `untilMs` after the beginning. */
  runTo(untilMs: number): Promise<void>;
  /** Services that were ever told to be down, in the order in which they went. */
  downs(): number[];
}

/** Builds the fleet; nothing has been checked yet. */
export async function simulateFleet(script: FleetScript): Promise<FleetSimulation> {
  const world = await createWorld({
    services: makeServices(script.services),
    controlTargets: script.controlTargets,
  });
  const { clock, record } = world;
  const beginAt = clock.now();
  const elapsed = (): number => clock.now() - beginAt;
  const isCut = (at: number): boolean => script.outages.some(([from, to]) => at >= from && at < to);
  const answers = (id: number, at: number): boolean =>
    !isCut(at) && at < (script.dead.get(id) ?? Number.POSITIVE_INFINITY);
  world.control = async () => !isCut(elapsed());

  /** Due checks and results on their way, each with its time. */
  let due: { readonly at: number; readonly id: number }[] = world.registry.ids.map((id, index) => ({
    id,
    at: Math.floor((index * script.intervalMs) / script.services),
  }));
  let results: { readonly at: number; readonly result: CheckResult }[] = [];
  let doubts: number[] = [];
  let rechecksSeen = 0;

  function check(id: number, at: number): void {
    let attemptAt = at;
    for (const [index, waitMs] of [...CONFIRM_AFTER_MS, 0].entries()) {
      if (answers(id, attemptAt)) {
        const firstFailedAt = index === 0 ? null : beginAt + at;
        const result = good(id, beginAt + attemptAt, { attempts: index + 1, firstFailedAt });
        results.push({ at: attemptAt, result });
        return;
      }
      if (index === 0) doubts.push(attemptAt);
      if (waitMs === 0) {
        const result = unanswered(id, beginAt + attemptAt, { firstFailedAt: beginAt + at });
        results.push({ at: attemptAt, result });
      }
      attemptAt += waitMs;
    }
  }

  function takeDue<T extends { readonly at: number }>(list: readonly T[], now: number): [T[], T[]] {
    return [list.filter(({ at }) => at <= now), list.filter(({ at }) => at > now)];
  }

  async function step(): Promise<void> {
    await clock.advance(STEP_MS);
    const now = elapsed();
    const [begun, later] = takeDue(due, now);
    due = later;
    for (const { id, at } of begun) {
      check(id, at);
      due.push({ id, at: at + script.intervalMs });
    }
    for (const at of doubts.filter((doubt) => doubt <= now)) record.noteDoubt(beginAt + at);
    doubts = doubts.filter((doubt) => doubt > now);
    const [ended, open] = takeDue(results, now);
    results = open;
    record.takeResults(ended.sort((a, b) => a.at - b.at).map(({ result }) => result));
    for (const { serviceIds, spreadMs } of world.rechecks.slice(rechecksSeen))
      for (const [index, id] of serviceIds.entries())
        check(id, now + Math.floor((index * spreadMs) / serviceIds.length));
    rechecksSeen = world.rechecks.length;
  }

  return {
    ...world,
    async runTo(untilMs) {
      while (elapsed() < untilMs) await step();
      await record.idle();
    },
    downs: () =>
      world.registry.transitions.filter(({ to }) => to === 'down').map(({ serviceId }) => serviceId),
  };
}
