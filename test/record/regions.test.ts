/** Results of several regions: one status, one incident and one series of transitions, whatever ends in between. */
import fc from 'fast-check';
import t from 'tap';
import type { CheckResult } from '../../src/domain/result.ts';
import { DEFAULT_CHECK } from '../../src/domain/service.ts';
import type { CurrentStatus } from '../../src/domain/status/current.ts';
import { scopeOf } from '../../src/domain/status/transition.ts';
import type { Verdict } from '../../src/domain/status.ts';
import type { RegionOptions } from '../../src/record/regions.ts';
import { USUAL } from '../support/attempts.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { createRecordedRegistry, type RecordedRegistry } from '../support/recorded-registry.ts';
import {
  createWorld,
  failed503,
  good,
  makeService,
  makeServices,
  START,
  unanswered,
  type World,
} from './record-world.ts';

const REGIONS = ['ap', 'eu', 'us'];
const INTERVAL_MS = 60_000;

/** Three regions, of which those in `voting` have a vote; `asked` gets the questions. */
function threeRegions(voting: () => readonly string[] = () => REGIONS, asked: [string, number[]][] = []) {
  const options: RegionOptions = {
    quorum: 'majority',
    voting,
    requestRechecks: (region, serviceIds) => void asked.push([region, [...serviceIds]]),
  };
  return options;
}

/** Results in one region. */
const within = (region: string, ...results: CheckResult[]) =>
  results.map((result) => ({ result, suspect: false, region }));

/** A world in which every region has called service 1 up, at the start. */
async function createUpWorld(asked: [string, number[]][] = [], clock: FakeClock = createFakeClock(START)) {
  const world = await createWorld({ clock, regions: threeRegions(undefined, asked) });
  for (const region of REGIONS) await take(world, within(region, good(1, START)));
  return world;
}

/** Takes results and waits until all that they change is committed. */
async function take({ record }: World, batch: ReturnType<typeof within>): Promise<void> {
  void record.takeRuled(batch);
  await record.idle();
}

const places = ({ regions = [] }: CurrentStatus) =>
  regions.map(({ region, check }) => `${region} ${check.status}`);

t.test('it publishes and stores the regions and the scope of a service', async (t) => {
  const world = await createUpWorld();
  const { registry, clock, published, told } = world;
  await clock.advance(20_000);
  await take(world, within('eu', failed503(1, clock.now())));
  t.match(published.get(1), { status: 'up', scope: 'partial', latest: { status: 'up' } });
  t.same(places(registry.current(1)), ['ap up', 'eu down', 'us up']);
  t.strictSame(registry.current(1), published.get(1), 'stored as it is published');
  t.same(registry.incidents.size, 0, 'a failure from one place is no incident');
  await clock.advance(3_000);
  await take(world, within('us', unanswered(1, clock.now())));
  t.match(published.get(1), { status: 'down', scope: 'global', since: START + 14_000 });
  t.strictSame(registry.transitions, told, 'listeners get what is stored');
  t.match(told, [
    { seq: 1, from: 'unknown', to: 'up', scope: { from: null, to: null, regions: [] } },
    {
      seq: 2,
      from: 'up',
      to: 'up',
      at: START + 14_000,
      scope: { from: null, to: 'partial', regions: ['eu'] },
      reason: { code: 'check_failed', failure: { class: 'status' } },
    },
    {
      seq: 3,
      from: 'up',
      to: 'down',
      at: START + 14_000,
      scope: { from: 'partial', to: 'global', regions: ['eu', 'us'] },
      reason: { code: 'check_failed', failure: { class: 'refused' } },
    },
  ]);
  t.match(
    [...registry.incidents.values()],
    [{ id: /^own-service-1-\w+-3$/, status: 'investigating', startedAt: START + 14_000 }],
  );
});

t.test('checks from where it still fails do not resolve its incident', async (t) => {
  const world = await createUpWorld();
  const { registry, clock } = world;
  const check = async (region: string, make: typeof good) => {
    await clock.advance(1_000);
    await take(world, within(region, make(1, clock.now())));
    const [incident] = registry.incidents.values();
    return `${scopeOf(registry.current(1))}, ${incident?.status} ${incident?.goodChecks}`;
  };
  await check('eu', failed503);
  t.equal(await check('us', failed503), 'global, investigating 0');
  t.equal(await check('us', good), 'partial, monitoring 1');
  t.equal(await check('eu', failed503), 'partial, monitoring 1');
  t.equal(await check('ap', good), 'partial, monitoring 2');
  t.equal(await check('eu', failed503), 'partial, monitoring 2');
  t.equal(await check('us', good), 'partial, resolved 0');
});

t.test('a service is judged by its own regions and times', async (t) => {
  const asked: [string, number[]][] = [];
  const clock = createFakeClock(START);
  const intervals: number[] = [];
  const regions = threeRegions(undefined, asked);
  const own = { intervalMs: 10_000, slowOverMs: 100, regions: ['eu', 'us'] };
  const world = await createWorld({
    clock,
    services: [makeService(1, { check: { ...DEFAULT_CHECK, ...own } }), makeService(2)],
    regions: {
      ...regions,
      voting(intervalMs) {
        intervals.push(intervalMs);
        return REGIONS;
      },
    },
  });
  const { registry } = world;
  // A node of an earlier version checks from everywhere.
  await take(world, within('ap', failed503(1, START), good(2, START)));
  t.match([registry.current(1).status, registry.current(2).status], ['unknown', 'up']);
  for (const region of ['eu', 'us'])
    await take(world, within(region, good(1, START, { responseTimeMs: 101 }), good(2, START)));
  t.same(places(registry.current(1)), ['eu slow', 'us slow']);
  t.equal(registry.current(1).status, 'slow', 'both of its regions agree');
  t.same(new Set(intervals), new Set([10_000, USUAL.intervalMs]));
  const failAt = async (region: string, at: number) => {
    await clock.advance(at - clock.now());
    await take(world, within(region, failed503(1, at)));
  };
  await failAt('eu', START + 5_000);
  t.same(asked, [['us', [1]]], 'only its other region is asked');
  await take(world, within('eu', good(1, START + 6_000)));
  await failAt('eu', START + 14_000);
  t.equal(asked.length, 1, 'once in its interval');
  await take(world, within('eu', good(1, START + 15_000)));
  await failAt('eu', START + 15_500);
  t.equal(asked.length, 2);
  await failAt('us', START + 16_000);
  t.match(registry.current(1), { status: 'down', scope: 'global' }, 'two of two, although three have a vote');
});

t.test('it asks the other regions at once, once an interval and service', async (t) => {
  const asked: [string, number[]][] = [];
  const clock = createFakeClock(START);
  const world = await createWorld({
    clock,
    services: makeServices(3),
    regions: threeRegions(undefined, asked),
  });
  for (const region of REGIONS)
    await take(world, within(region, good(1, START), good(2, START), good(3, START)));
  await clock.advance(20_000);
  const now = clock.now();
  await take(world, within('eu', failed503(1, now), good(2, now), failed503(3, now)));
  t.same(asked.splice(0), [
    ['ap', [1, 3]],
    ['us', [1, 3]],
  ]);
  await take(world, within('eu', good(1, now + 1)));
  await take(world, within('eu', failed503(1, now + 2)));
  t.same(asked, [], 'a service that flaps is not asked about again');
  await take(world, within('us', failed503(3, now + 3)));
  t.same(asked, [], 'what is down needs no questions');
  await clock.advance(INTERVAL_MS);
  await take(world, within('eu', failed503(1, clock.now())));
  t.same(asked, [], 'nor what has failed there for longer');
  await take(world, within('eu', good(1, clock.now() + 1), failed503(1, clock.now() + 2)));
  t.same(asked.splice(0), [
    ['ap', [1]],
    ['us', [1]],
  ]);
});

t.test('a region without a vote opens no incident and asks no other region', async (t) => {
  const asked: [string, number[]][] = [];
  const world = await createWorld({ regions: threeRegions(() => ['ap', 'eu'], asked) });
  const { registry } = world;
  for (const region of REGIONS) await take(world, within(region, good(1, START)));
  await take(world, within('us', failed503(1, START + 10_000)));
  await take(world, within('eu', failed503(1, START + 11_000)));
  t.match(registry.current(1), { status: 'up', scope: 'partial' });
  t.equal(registry.incidents.size, 0);
  t.same(asked, [['ap', [1]]]);
});

t.test('verdicts from before a change of the check do not count', async (t) => {
  const world = await createUpWorld();
  const { record, registry, clock } = world;
  for (const region of ['eu', 'us']) await take(world, within(region, failed503(1, START + 10_000)));
  t.match(registry.current(1), { status: 'down' });
  const service = makeService(1, { revision: 2, domain: 'other.example' });
  record.applyChange({ seq: 2, serviceId: 1, slug: service.slug, service });
  await clock.advance(20_000);
  await take(world, within('us', good(1, clock.now(), { revision: 2 })));
  t.match(registry.current(1), { status: 'up', scope: null });
});

t.test('nor do they after a restart, even if no check was made in between', async (t) => {
  for (const isInFlight of [false, true]) {
    const { record, registry, clock } = await createUpWorld();
    const release = isInFlight ? registry.hold() : null;
    if (isInFlight) void record.takeRuled(within('us', failed503(1, START + 10_000)));
    const service = makeService(1, { revision: 2, domain: 'other.example' });
    record.applyChange({ seq: 2, serviceId: 1, slug: service.slug, service });
    release?.();
    await clock.advance(1_500);
    await record.idle();
    t.strictSame(registry.current(1).regions, []);
  }
});

t.test('nor do those that are being committed when the check changes', async (t) => {
  const world = await createUpWorld();
  const { record, clock, published } = world;
  await clock.advance(10_000);
  void record.takeRuled(within('us', failed503(1, clock.now())));
  const service = makeService(1, { revision: 2, domain: 'other.example' });
  record.applyChange({ seq: 2, serviceId: 1, slug: service.slug, service });
  await record.idle();
  await clock.advance(10_000);
  await take(world, within('eu', failed503(1, clock.now(), { revision: 2 })));
  t.match(published.get(1), { status: 'up', scope: 'partial' });
});

t.test('while the registry is away, each region is seen at once', async (t) => {
  const { record, registry, clock, published } = await createUpWorld();
  registry.meet(...Array.from({ length: 3 }, () => 'full' as const));
  for (const [index, region] of ['eu', 'us'].entries())
    void record.takeRuled(within(region, failed503(1, START + 10_000 + index)));
  await clock.advance(50);
  t.match(published.get(1), { status: 'down', scope: 'global', seq: 1 }, 'a preview');
  await clock.advance(10_000);
  t.match(published.get(1), { status: 'down', scope: 'global', seq: 3 });
  t.match(registry.transitions, [{ seq: 1 }, { seq: 2, to: 'up' }, { seq: 3, to: 'down' }]);
});

// ---- Three regions in any order, and a judge that ends in between.

type Step =
  | { readonly kind: 'check'; readonly region: string; readonly serviceId: number; readonly verdict: Verdict }
  /** The judge ends, before or after the next commit is on disk; its successor gets what was not acknowledged again. */
  | { readonly kind: 'kill'; readonly committed: boolean }
  | { readonly kind: 'fault' };

const SERVICES = 2;
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('check' as const),
      region: fc.constantFrom(...REGIONS),
      serviceId: fc.integer({ min: 1, max: SERVICES }),
      verdict: fc.constantFrom<Verdict>('up', 'slow', 'down', 'down'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('kill' as const), committed: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fault' as const) }) },
);

t.test('three regions in any order and judges that end: one series of transitions', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 30 }), async (steps) => {
      const { registry, last } = await play(steps);
      for (let serviceId = 1; serviceId <= SERVICES; serviceId++) checkSeries(registry, serviceId);
      // What each region said last is what is stored, whatever ended in between.
      for (const [key, verdict] of last) {
        const [region, serviceId] = key.split(' ');
        const stored = registry.current(Number(serviceId)).regions?.find((one) => one.region === region);
        if (stored?.check.status !== verdict)
          throw new Error(`${key}: ${stored?.check.status}, not ${verdict}`);
      }
      await registry.close();
    }),
    { numRuns: propertyRuns(25) },
  );
});

async function play(steps: readonly Step[]) {
  const clock = createFakeClock(START);
  const registry = await createRecordedRegistry(makeServices(SERVICES));
  const last = new Map<string, Verdict>();
  const start = () => createWorld({ clock, registry, regions: threeRegions() });
  let world: World = await start();
  /** What the judge has not acknowledged, in order. */
  let pending: ReturnType<typeof within>[] = [];
  const deliver = (batch: ReturnType<typeof within>) => {
    pending.push(batch);
    const taker = world;
    void world.record.takeRuled(batch).then((isTaken) => {
      if (isTaken && taker === world) pending = pending.filter((one) => one !== batch);
    });
  };
  for (const step of steps) {
    await clock.advance(700);
    if (step.kind === 'check') {
      const { region, serviceId, verdict } = step;
      deliver(within(region, resultOf(serviceId, verdict, clock.now())));
      last.set(`${region} ${serviceId}`, verdict);
    } else if (step.kind === 'fault') {
      registry.meet('refused');
    } else {
      const old = world;
      registry.meet(
        step.committed ? 'answer_lost' : 'refused',
        ...Array.from({ length: 9 }, () => 'refused' as const),
      );
      await old.record.stop();
      registry.recover();
      world = await start();
      const again = pending;
      pending = [];
      for (const batch of again) deliver(batch);
    }
  }
  await clock.advance(30_000);
  await world.record.idle();
  return { registry, last };
}

function resultOf(serviceId: number, verdict: Verdict, at: number): CheckResult {
  if (verdict === 'down') return failed503(serviceId, at);
  return good(serviceId, at, { responseTimeMs: verdict === 'slow' ? 4_000 : 120 });
}

/** Every transition follows the one before it, and the stored status is what the last one left. */
function checkSeries(registry: RecordedRegistry, serviceId: number): void {
  const all = registry.transitions.filter((one) => one.serviceId === serviceId);
  let [status, scope, seq]: [string, string | null, number] = ['unknown', null, 0];
  for (const transition of all) {
    const { from, to, scope: change } = transition;
    if (transition.seq !== seq + 1) throw new Error(`seq ${transition.seq} after ${seq}`);
    if (from !== status) throw new Error(`from ${from} after ${status}`);
    if (change !== undefined && change.from !== scope) throw new Error(`from ${change.from} after ${scope}`);
    if (from === to && change?.from === change?.to) throw new Error('a transition that changes nothing');
    [status, scope, seq] = [
      to,
      change === undefined ? (to === 'down' ? 'global' : null) : change.to,
      transition.seq,
    ];
  }
  const current = registry.current(serviceId);
  if (current.status !== status || scopeOf(current) !== scope || current.seq !== seq)
    throw new Error(`${current.seq} ${current.status} ${scopeOf(current)}, not ${seq} ${status} ${scope}`);
}
