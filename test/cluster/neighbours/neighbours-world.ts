/** A node and its neighbour, over messages that arrive or get lost. */
import { createNeighbours } from '../../../src/cluster/neighbours/neighbours.ts';
import type { CheckTarget } from '../../../src/domain/check-target.ts';
import type { CheckResult, RuledResult } from '../../../src/domain/result.ts';
import { silentLog } from '../../../src/log.ts';
import { targetOf } from '../../engine/attempt.ts';
import { START } from '../../record/record-world.ts';
import { USUAL } from '../../support/attempts.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

/** Two nodes of a region, of which `one` checks all services and asks `two`, whose fleet makes the attempts of `looks`. */
export function createWorld() {
  const clock = createFakeClock(START);
  const handlers = new Map<string, (text: string) => void>();
  const passed: RuledResult[] = [];
  const looks = new Map<number, CheckTarget>();
  const own = new Set<number>();
  const warnings: object[] = [];
  const world = {
    /** Names that `one` takes for its neighbours. */
    names: ['two'],
    /** What `two` reads from the registry. */
    targets: async (serviceIds: readonly number[]): Promise<readonly CheckTarget[]> =>
      serviceIds.map((serviceId) => targetOf(serviceId)),
    sent: 0,
  };
  const join = (name: string, onResults: (results: readonly RuledResult[]) => void) => {
    const node = createNeighbours({
      ...{ prefix: 'test', name, region: 'eu', usual: USUAL, clock, onResults },
      log: { ...silentLog, warn: (fields: object) => void warnings.push(fields) },
      neighbours: () => world.names,
      targetsOf: (serviceIds) => world.targets(serviceIds),
      isOwn: (serviceId) => own.has(serviceId),
      fleet: {
        checkOnce: (targets) => {
          for (const target of targets) looks.set(target.serviceId, target);
        },
        apply: ({ serviceId }) => void looks.delete(serviceId),
        targetOf: (serviceId) => looks.get(serviceId),
      },
      publish: (channel, text) => {
        world.sent++;
        handlers.get(channel)?.(text);
      },
    });
    for (const [channel, handler] of node.handlers) handlers.set(channel, handler);
    return node;
  };
  const one = join('one', (results) => passed.push(...results));
  const two = join('two', () => {});
  return {
    ...{ clock, one, two, looks, own, passed, warnings, world },
    take: (...results: readonly CheckResult[]) =>
      one.confirmation.take(results.map((result) => ({ result, suspect: false, region: 'eu' }))),
    /** Lets questions and reads of the registry arrive. */
    settle: () => clock.advance(0),
    /** What `two`'s fleet has found at a service. */
    find: (result: CheckResult) => two.looks.takeResults([{ ...result, revision: -result.revision }]),
    /** `down 1`, `up 2?` and so on. */
    said: () =>
      passed
        .splice(0)
        .map(
          ({ result, suspect }) =>
            `${result.failure === null ? 'up' : 'down'} ${result.serviceId}${suspect ? '?' : ''}`,
        ),
  };
}
