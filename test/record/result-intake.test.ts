/** Results of the nodes of a cluster: they have passed the offline rule of their node, and may be delivered twice. */
import fc from 'fast-check';
import t from 'tap';
import type { RuledResult } from '../../src/domain/result.ts';
import { DEFAULT_CHECK } from '../../src/domain/service.ts';
import { silentLog } from '../../src/log.ts';
import { loadSampleRegions, type SampleRegions } from '../../src/record/regions.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { createRecordedRegistry } from '../support/recorded-registry.ts';
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

const ruled = (result: RuledResult['result'], suspect = false, region = 'eu'): RuledResult => ({
  result,
  suspect,
  region,
});

/** What became of a batch; `open`: parts of it are not committed yet. */
function follow(end: Promise<boolean>) {
  const state: { end: boolean | 'open' } = { end: 'open' };
  void end.then((isCommitted) => {
    state.end = isCommitted;
  });
  return state;
}

t.test('it judges a result of a node without asking the control targets itself', async (t) => {
  const { record, registry, clock, samples, questions } = await createWorld();
  t.equal(await record.takeRuled([ruled(good(1, START - 100))]), true);
  await clock.advance(60_000);
  t.equal(await record.takeRuled([ruled(unanswered(1, clock.now()))]), true);
  t.match(registry.transitions, [{ to: 'up' }, { to: 'down', at: START + 54_000 }]);
  t.same(questions, []);
  t.match(samples, [{ status: 'up' }, { status: 'down', suspect: false }]);
});

t.test('it keeps a suspect result as a sample only', async (t) => {
  const { record, registry, samples } = await createWorld();
  t.equal(await record.takeRuled([ruled(unanswered(1, START), true)]), true);
  await record.idle();
  t.same(registry.transitions, []);
  t.match(samples, [{ status: 'down', suspect: true }]);
});

t.test('samples name their region from the second region on', async (t) => {
  const clock = createFakeClock(START);
  const facts = new Map<string, string>();
  let isAway = false;
  const registry = {
    getFact: async (name: string) => facts.get(name) ?? null,
    async setFact(name: string, value: string) {
      if (isAway) throw new Error('the registry is away');
      facts.set(name, value);
    },
  };
  const load = (isClustered = true) =>
    loadSampleRegions({ registry, own: 'local', isClustered, clock, log: silentLog });
  const sampled = async (sampleRegions: SampleRegions, results: readonly RuledResult[]) => {
    const { record, samples } = await createWorld({ services: makeServices(3), sampleRegions });
    await record.takeRuled(results);
    t.teardown(() => record.stop());
    return samples.map(({ serviceId, region }) => [serviceId, region]);
  };
  const single = await load(false);
  const { record, samples } = await createWorld({ sampleRegions: single });
  record.takeResults([good(1, START)]);
  await record.idle();
  t.notOk('region' in (samples[0] ?? {}), 'a single process names no region');
  t.equal(facts.size, 0, 'and stores nothing');

  const first = await load();
  t.same(await sampled(first, [ruled(good(1, START)), ruled(good(2, START))]), [
    [1, undefined],
    [2, undefined],
  ]);
  t.same([...facts], [['samples.regions', 'eu']]);
  isAway = true;
  t.same(
    await sampled(first, [ruled(good(1, START)), ruled(good(2, START), true, 'us'), ruled(good(3, START))]),
    [
      [1, undefined],
      [2, 'us'],
      [3, 'eu'],
    ],
  );
  t.same([...facts], [['samples.regions', 'eu']]);
  isAway = false;
  await clock.advance(1_000);
  t.same([...facts], [['samples.regions', 'eu us']], 'it is stored when the registry is back');
  first.stop();

  t.same(await sampled(await load(), [ruled(good(1, START))]), [[1, 'eu']], 'also when the others have gone');
  const again = await load(false);
  t.equal(again.nameOf(), 'local', 'a single process after a cluster is one more region');
});

t.test('it resolves a batch once its routine updates are committed too', async (t) => {
  const { record, registry, clock } = await createWorld({ services: makeServices(2) });
  await record.takeRuled([ruled(good(1, START - 100)), ruled(good(2, START - 100))]);
  const later = follow(record.takeRuled([ruled(good(1, START)), ruled(failed503(2, START))]));
  await clock.advance(500);
  t.equal(later.end, 'open', 'the plain check is gathered');
  t.match(registry.current(2), { status: 'down' });
  await clock.advance(1_000);
  t.equal(later.end, true);
  t.match(registry.current(1), { observedAt: START });
});

t.test('it resolves a batch whose gathered update went with a change of the same service', async (t) => {
  const { record, clock } = await createWorld();
  await record.takeRuled([ruled(good(1, START - 100))]);
  const first = follow(record.takeRuled([ruled(good(1, START))]));
  const second = follow(record.takeRuled([ruled(failed503(1, START + 100))]));
  await clock.advance(1_500);
  t.same([first.end, second.end], [true, true]);
});

t.test('it resolves a batch of which nothing is left to judge', async (t) => {
  const { record, clock } = await createWorld({
    services: [makeService(1, { revision: 2 }), makeService(2, { paused: true })],
  });
  t.equal(await record.takeRuled([]), true);
  t.equal(await record.takeRuled([ruled(good(1, START)), ruled(good(2, START))]), true, 'outdated, paused');
  await clock.advance(0);
});

t.test('a batch that is delivered again changes nothing', async (t) => {
  const { record, registry, clock } = await createWorld();
  // The clock of the node is 900 ms ahead, which is not corrected.
  const batches = [900, 910, 920].map((at, index) => [
    ruled(index === 1 ? failed503(1, START + at) : good(1, START + at)),
  ]);
  for (const batch of batches) t.equal(await record.takeRuled(batch), true);
  const before = JSON.stringify([registry.transitions, [...registry.incidents], registry.current(1)]);
  for (const batch of batches) t.equal(await record.takeRuled(batch), true);
  await clock.advance(2_000);
  t.equal(JSON.stringify([registry.transitions, [...registry.incidents], registry.current(1)]), before);
});

t.test('a service that turned often while no judge was there keeps each transition', async (t) => {
  const { record, registry } = await createWorld();
  const results = Array.from({ length: 60 }, (_, index) => {
    const at = START + index * 10_000;
    return ruled(index % 2 === 0 ? good(1, at) : failed503(1, at, { firstFailedAt: at }));
  });
  t.equal(await record.takeRuled(results, START + 600_000), true);
  t.same(
    registry.transitions.map(({ at }) => at),
    results.map(({ result }) => result.endedAt),
  );
});

t.test('a judge whose own clock is far behind takes no result twice either', async (t) => {
  const { record, registry, clock } = await createWorld();
  const ahead = START + 3_600_000;
  const batches = [good(1, ahead), failed503(1, ahead + 10_000), good(1, ahead + 20_000)].map((one) => [
    ruled(one),
  ]);
  for (const batch of [...batches, ...batches]) await record.takeRuled(batch, ahead + 20_000);
  await clock.advance(2_000);
  t.match(registry.transitions, [{ to: 'up' }, { to: 'down' }, { to: 'up' }]);
  t.equal(registry.transitions.length, 3);
});

t.test('after the wall clock was set back, results count as newer', async (t) => {
  const { record, registry, clock } = await createWorld();
  await record.takeRuled([ruled(good(1, START + 3_600_000))]);
  await clock.advance(1_000);
  await record.takeRuled([ruled(failed503(1, clock.now()))]);
  t.match(registry.transitions, [{ to: 'up' }, { to: 'down' }]);
});

t.test('it resolves no batch before a registry that was away has taken it', async (t) => {
  const { record, registry, clock } = await createWorld();
  registry.meet('refused', 'refused', 'answer_lost');
  const batch = follow(record.takeRuled([ruled(good(1, START - 100)), ruled(failed503(1, START))]));
  await clock.advance(200);
  t.equal(batch.end, 'open');
  await clock.advance(20_000);
  t.equal(batch.end, true);
  t.match(registry.transitions, [{ to: 'up' }, { to: 'down' }]);
});

t.test('a batch that is given up at stop is not taken', async (t) => {
  const { record, registry, clock } = await createWorld();
  await record.takeRuled([ruled(good(1, START - 100))]);
  registry.meet(...Array.from({ length: 9 }, () => 'refused' as const));
  const routine = follow(record.takeRuled([ruled(good(1, START))]));
  const change = follow(record.takeRuled([ruled(failed503(1, START + 100))]));
  await record.stop();
  await clock.advance(0);
  t.same([routine.end, change.end], [false, false]);
  t.equal(await record.takeRuled([ruled(good(1, START + 200))]), false, 'stopped');
});

t.test('a result of a revision that is not known yet waits for it for five seconds', async (t) => {
  const { record, registry, clock } = await createWorld();
  const [one] = await registry.loadServices();
  if (one === undefined) throw new Error('there is no service');
  const { service } = one;
  const early = follow(record.takeRuled([ruled(good(1, START, { revision: 2 }))]));
  const unknown = follow(record.takeRuled([ruled(good(99, START))]));
  await clock.advance(1_000);
  t.equal(early.end, 'open');
  record.applyChange({ seq: 2, serviceId: 1, slug: service.slug, service: { ...service, revision: 2 } });
  await clock.advance(500);
  t.equal(early.end, true);
  t.match(registry.current(1), { status: 'up' });
  t.equal(unknown.end, 'open');
  await clock.advance(4_000);
  t.equal(unknown.end, true, 'it was removed');
});

t.test('a judge that is offline itself judges results of nodes, but no missed heartbeat', async (t) => {
  const check = { ...DEFAULT_CHECK, kind: 'heartbeat' } as const;
  const reporting = makeService(2, { origin: 'owner', accountId: 7, domain: 's2.example', check });
  const world = await createWorld({ services: [makeService(1), reporting], silenceMs: 10_000 });
  const { record, registry, clock } = world;
  record.startListening();
  const report = {
    kind: 'beat',
    domain: 's2.example',
    word: 'up',
    reported: null,
    timestamp: null,
    dependencies: null,
    run: null,
  } as const;
  const beat = record.takeHeartbeat({ report, accountId: 7, arrivedAt: clock.now(), body: '' });
  await clock.advance(0);
  await beat;
  world.control = async () => false;
  record.noteDoubt(clock.now());
  await clock.advance(30_000);
  t.equal(record.prober().online, false);
  t.equal(await record.takeRuled([ruled(unanswered(1, clock.now()))]), true);
  t.match(registry.transitions, [
    { serviceId: 2, to: 'up' },
    { serviceId: 1, to: 'down' },
  ]);
  t.equal(registry.transitions.length, 2);
});

interface Delivery {
  readonly verdicts: readonly (readonly [serviceId: number, isGood: boolean])[];
  /** The judge ends while it has these: before their commit is on disk, or after it. */
  readonly crash: 'none' | 'before' | 'after';
}

const deliveries = fc.array(
  fc.record<Delivery>({
    verdicts: fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.boolean()), {
      minLength: 1,
      maxLength: 5,
    }),
    crash: fc.constantFrom('none', 'none', 'none', 'before', 'after'),
  }),
  { minLength: 1, maxLength: 20 },
);

t.test('judges that die between commit and acknowledgement leave each transition once', async () => {
  await fc.assert(
    fc.asyncProperty(deliveries, async (plan) => {
      const whole = await play(plan.map(({ verdicts }) => ({ verdicts, crash: 'none' as const })));
      const broken = await play(plan);
      if (whole !== broken) throw new Error(`${broken}\ninstead of\n${whole}`);
    }),
    { numRuns: propertyRuns(20) },
  );
});

/** Delivers batches as the reader does: what was not acknowledged goes to the next judge first. Returns the transitions. */
async function play(plan: readonly Delivery[]): Promise<string> {
  const clock = createFakeClock(START);
  const stored = await createRecordedRegistry(makeServices(3));
  let end: Delivery['crash'] = 'none';
  const begin = (): Promise<World> => {
    const own = { isDead: false };
    const commitUpdates: typeof stored.commitUpdates = async (updates) => {
      if (own.isDead || end === 'before') return await new Promise<never>(() => {});
      const outcomes = await stored.commitUpdates(updates);
      if (end === 'none') return outcomes;
      own.isDead = true;
      return await new Promise<never>(() => {});
    };
    return createWorld({ clock, registry: { ...stored, commitUpdates } });
  };
  let world = await begin();
  let pending: RuledResult[][] = [];
  let at = START;
  for (const { verdicts, crash } of plan) {
    end = crash;
    const batch = verdicts.map(([id, isGood]) => ruled(isGood ? good(id, ++at) : failed503(id, ++at)));
    pending.push(batch);
    const { ended } = deliver(world, batch, () => {
      pending = pending.filter((one) => one !== batch);
    });
    await clock.advance(2_000);
    if (crash === 'none') {
      await ended;
    } else {
      end = 'none';
      world = await begin();
      for (const one of [...pending])
        deliver(world, one, () => {
          pending = pending.filter((other) => other !== one);
        });
    }
    await clock.advance(2_000);
    at = clock.now();
  }
  await clock.advance(60_000);
  await world.record.idle();
  if (pending.length > 0) throw new Error(`${pending.length} batches were not acknowledged`);
  // Changes of different services in one batch may be committed in any order.
  const transitions = stored.transitions
    .map(({ serviceId, seq, to, at: began }) => [serviceId, seq, to, began] as const)
    .sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const incidents = [...stored.incidents.values()].map(({ id, status, startedAt }) => [
    id,
    status,
    startedAt,
  ]);
  await stored.close();
  return JSON.stringify([transitions, incidents]);
}

function deliver({ record }: World, batch: readonly RuledResult[], acknowledge: () => void) {
  const ended = record.takeRuled(batch).then((isCommitted) => {
    if (isCommitted) acknowledge();
  });
  return { ended };
}
