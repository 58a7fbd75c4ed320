/** Random results, faults of the registry and crashes: what must hold after each of them. */
import fc from 'fast-check';
import t from 'tap';
import { ownIncidentId } from '../../src/domain/own-incident.ts';
import type { CheckResult } from '../../src/domain/result.ts';
import type { Verdict } from '../../src/domain/status.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { createRecordedRegistry, type RecordedRegistry } from '../support/recorded-registry.ts';
import { createWorld, failed503, good, makeServices, START, type World } from './record-world.ts';

const SERVICES = 3;

type Step =
  | { readonly kind: 'results'; readonly verdicts: readonly (readonly [number, Verdict])[] }
  /** The process ends while these results are written: before the commit is on disk, or just after. */
  | {
      readonly kind: 'crash';
      readonly verdicts: readonly (readonly [number, Verdict])[];
      readonly committed: boolean;
      readonly again: boolean;
    }
  | { readonly kind: 'fault'; readonly fault: 'refused' | 'answer_lost' }
  | { readonly kind: 'pause'; readonly ms: number };

const verdicts = fc.array(
  fc.tuple(fc.integer({ min: 1, max: SERVICES }), fc.constantFrom<Verdict>('up', 'slow', 'down', 'down')),
  { minLength: 1, maxLength: 4 },
);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('results' as const), verdicts }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('crash' as const),
      verdicts,
      committed: fc.boolean(),
      again: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('fault' as const),
      fault: fc.constantFrom('refused' as const, 'answer_lost' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('pause' as const), ms: fc.integer({ max: 5_000, min: 0 }) }),
  },
);

t.test('it writes each change once, whatever ends in between', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const run = await play(steps);
      checkTransitions(run.registry);
      checkIncidents(run.registry);
      for (const world of run.worlds) checkTold(world);
      checkOutcome(run);
      await run.registry.close();
    }),
    { numRuns: propertyRuns(50) },
  );
});

interface Run {
  readonly registry: RecordedRegistry;
  readonly worlds: readonly World[];
  /** What each service said last, to a process that lived on. */
  readonly last: ReadonlyMap<number, Verdict>;
}

async function play(steps: readonly Step[]): Promise<Run> {
  const clock = createFakeClock(START);
  const registry = await createRecordedRegistry(makeServices(SERVICES));
  const worlds: World[] = [];
  const last = new Map<number, Verdict>();
  let process = createProcess(registry);
  const begin = async (): Promise<World> => {
    process = createProcess(registry);
    const world = await createWorld({ registry: process.registry, clock });
    worlds.push(world);
    return world;
  };
  let world = await begin();
  const take = async (given: readonly (readonly [number, Verdict])[]): Promise<CheckResult[]> => {
    await clock.advance(10_000);
    const results = given.map(([id, verdict], index) => makeResult(id, verdict, clock.now() - 9_000 + index));
    world.record.takeResults(results);
    return results;
  };
  for (const step of steps) {
    if (step.kind === 'pause') {
      await clock.advance(step.ms);
    } else if (step.kind === 'fault') {
      registry.meet(step.fault);
    } else if (step.kind === 'results') {
      await take(step.verdicts);
      for (const [id, verdict] of step.verdicts) last.set(id, verdict);
    } else {
      // What waits for a retry is lost with the process; so the oracle would not know what came of it.
      await clock.advance(20_000);
      process.end(step.committed);
      const results = await take(step.verdicts);
      await world.settle();
      world = await begin();
      for (const id of registry.ids) last.delete(id);
      if (step.again) {
        world.record.takeResults(results);
        for (const [id, verdict] of step.verdicts) last.set(id, verdict);
      }
    }
  }
  await clock.advance(60_000);
  await world.record.idle();
  return { registry, worlds, last };
}

/** The registry as one process sees it; after `end` its commits get no answer any more. */
function createProcess(registry: RecordedRegistry) {
  let ended: 'no' | 'before' | 'after' = 'no';
  return {
    end(committed: boolean) {
      ended = committed ? 'after' : 'before';
    },
    registry: {
      ...registry,
      async commitUpdates(judgements: Parameters<RecordedRegistry['commitUpdates']>[0]) {
        if (ended === 'no') return registry.commitUpdates(judgements);
        if (ended === 'after') {
          ended = 'before';
          await registry.commitUpdates(judgements);
        }
        return new Promise<never>(() => {});
      },
    },
  };
}

function makeResult(id: number, verdict: Verdict, at: number): CheckResult {
  if (verdict === 'down') return failed503(id, at);
  return good(id, at, { responseTimeMs: verdict === 'slow' ? 3_001 : 3_000 });
}

function checkTransitions({ transitions, ids }: RecordedRegistry): void {
  for (const id of ids) {
    let before = { seq: 0, to: 'unknown', at: 0 };
    for (const transition of transitions.filter(({ serviceId }) => serviceId === id)) {
      const { seq, from, to, at } = transition;
      if (seq !== before.seq + 1 || from !== before.to || from === (to as string) || at < before.at)
        throw new Error(`${JSON.stringify(transition)} after ${JSON.stringify(before)}`);
      before = transition;
    }
  }
}

function checkIncidents({ transitions, incidents, committed, ids, current }: RecordedRegistry): void {
  for (const id of ids) {
    const own = [...incidents.values()].filter(({ serviceId }) => serviceId === id);
    const open = own.filter(({ status }) => status !== 'resolved');
    if (open.length > 1) throw new Error(`service ${id} has ${open.length} open incidents`);
    if (current(id).status === 'down' && open[0]?.status !== 'investigating')
      throw new Error(`service ${id} is down without an incident`);
    for (const incident of own) {
      const opener = transitions.find(({ seq, slug, at }) => incident.id === ownIncidentId(slug, at, seq));
      if (opener?.to !== 'down' || opener.at !== incident.startedAt)
        throw new Error(`no transition opened ${incident.id}`);
    }
  }
  // At no moment did two stand open together.
  const openIds = new Map<number, Set<string>>();
  for (const { incident } of committed) {
    if (incident === null) continue;
    const ofService = openIds.get(incident.serviceId) ?? new Set();
    openIds.set(incident.serviceId, ofService);
    if (incident.status === 'resolved') ofService.delete(incident.id);
    else ofService.add(incident.id);
    if (ofService.size > 1) throw new Error(`two incidents of service ${incident.serviceId} stood open`);
  }
}

function checkTold({ told }: World): void {
  for (const [index, { position }] of told.entries())
    if (index > 0 && position !== (told[index - 1]?.position ?? 0) + 1)
      throw new Error(`told ${told.map((transition) => transition.position)}`);
}

function checkOutcome({ registry, worlds, last }: Run): void {
  const published = worlds.at(-1)?.published;
  for (const [id, verdict] of last) {
    if (registry.current(id).status !== verdict) throw new Error(`service ${id} is not ${verdict}`);
    if (JSON.stringify(published?.get(id)) !== JSON.stringify(registry.current(id)))
      throw new Error(`the status store differs for service ${id}`);
  }
}
