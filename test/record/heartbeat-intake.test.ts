/** Heartbeats in the record (decisions, Heartbeats; contract 3). */
import t from 'tap';
import type { HeartbeatReport } from '../../src/domain/heartbeat/heartbeat-body.ts';
import { NO_TIMING } from '../../src/domain/result.ts';
import { DEFAULT_CHECK } from '../../src/domain/service.ts';
import type { HeartbeatReceipt, ReceivedHeartbeat } from '../../src/record/observation.ts';
import { createRecordedRegistry } from '../support/recorded-registry.ts';
import { createWorld, good, makeService, START, type World, type WorldOptions } from './record-world.ts';

const DOMAIN = 'shop.example';
const SERVICE = makeService(1, {
  slug: 'shop-example',
  name: DOMAIN,
  domain: DOMAIN,
  origin: 'owner',
  accountId: 7,
  verified: false,
  check: { ...DEFAULT_CHECK, kind: 'heartbeat' },
});

function received(world: World, more: Partial<HeartbeatReport> = {}, accountId = 7): ReceivedHeartbeat {
  const report = {
    ...{ kind: 'beat', domain: DOMAIN, word: 'up', reported: 'OK' },
    ...{ timestamp: null, dependencies: null, run: null },
  };
  return {
    report: { ...report, ...more } as HeartbeatReport,
    accountId,
    arrivedAt: world.clock.now(),
    body: JSON.stringify(more),
  };
}

const latency = (latencyMs: number | null, status: 'up' | 'down' = 'up') =>
  ({ dependencies: [{ name: 'db', status, latencyMs }] }) as const;

/** A world that listens, with one service that reports by itself. */
async function listening(options: WorldOptions = {}) {
  const world = await createWorld({ services: [SERVICE], ...options });
  world.record.startListening();
  const send = async (more: Partial<HeartbeatReport> = {}): Promise<HeartbeatReceipt> => {
    const receipt = world.record.takeHeartbeat(received(world, more));
    await world.settle();
    return receipt;
  };
  return { world, send };
}

t.test('it registers a service by its first heartbeat, judged at once', async (t) => {
  const { world, send } = await listening({ services: [] });
  const receipt = await send({ ...latency(42), timestamp: START - 1_000 });
  t.match(receipt, {
    service: { slug: 'shop-example', accountId: 7 },
    status: 'up',
    responseTimeMs: 42,
    checkedAt: START - 1_000,
    runMs: null,
  });
  t.strictSame(world.published.get(1), {
    serviceId: 1,
    seq: 1,
    observedAt: START,
    status: 'up',
    since: START - 1_000,
    latest: {
      source: 'heartbeat',
      reported: 'OK',
      failure: null,
      blocked: false,
      timing: NO_TIMING,
      certificateExpiresAt: null,
      status: 'up',
      responseTimeMs: 42,
      statusCode: 200,
      checkedAt: START - 1_000,
    },
  });
  t.match(world.told, [{ from: 'unknown', to: 'up', at: START - 1_000, reason: null }]);
  t.strictSame(world.samples, [
    { serviceId: 1, at: START - 1_000, status: 'up', latencyMs: 42, statusCode: 200, suspect: false },
  ]);
  t.match(world.registry.heartbeats, [{ serviceId: 1, accountId: 7, kind: 'beat', counted: true }]);
});

t.test('it sets the status by the word of the owner, with transition and incident', async (t) => {
  const { world, send } = await listening();
  const status = async (more: Partial<HeartbeatReport>) => {
    await world.clock.advance(1_000);
    return (await send(more)).status;
  };
  t.equal(await status({}), 'up');
  t.equal(await status(latency(3_000, 'down')), 'up', 'a failing dependency does not overrule');
  t.equal(await status(latency(3_001)), 'slow');
  t.equal(await status({ word: 'slow' }), 'slow');
  t.equal(await status({ word: 'down' }), 'down');
  t.equal(await status({ kind: 'fail', word: 'down' }), 'down');
  for (let n = 0; n < 3; n++) await status({});
  t.equal(await status({ kind: 'fail', word: 'down', exitCode: 3 }), 'down');
  for (let n = 0; n < 3; n++) await status({});
  t.equal(await status({ word: 'down', message: 'no space left' }), 'down');
  t.same(
    world.told.map(({ to, reason }) => [to, reason]),
    [
      ['up', null],
      ['slow', { code: 'reported_response_time', responseTimeMs: 3_001 }],
      ['down', { code: 'reported_down' }],
      ['up', null],
      ['down', { code: 'run_failed', exitCode: 3 }],
      ['up', null],
      ['down', { code: 'reported_down', message: 'no space left' }],
    ],
  );
  t.match(
    [...world.registry.incidents.values()],
    [
      {
        title: 'shop.example reports a failure',
        description: 'shop.example is down: it reports that it is down.',
        status: 'resolved',
        updates: [{}, { status: 'monitoring' }, { status: 'resolved' }],
      },
      { status: 'resolved', severity: 'major' },
      { description: 'shop.example is down: it reports that it is down: no space left.' },
    ],
  );
});

t.test('it leaves no latency where none was reported', async (t) => {
  const { world, send } = await listening();
  t.equal((await send()).responseTimeMs, null);
  t.equal(world.published.get(1)?.latest?.responseTimeMs, 0);
  t.equal(world.samples[0]?.latencyMs, null);
});

t.test('it answers after the write, and what it answers can be read', async (t) => {
  const { world } = await listening();
  const release = world.registry.hold();
  let answered = false;
  const receipt = world.record.takeHeartbeat(received(world)).then((given) => {
    answered = true;
    t.equal(world.published.get(1)?.status, 'up');
    return given;
  });
  await world.settle();
  t.equal(answered, false);
  release();
  await world.settle();
  t.match(await receipt, { status: 'up' });
});

t.test('it writes a heartbeat at once, though it changes nothing', async (t) => {
  const { world, send } = await listening();
  await send();
  const calls = world.registry.calls.length;
  await send();
  t.equal(world.registry.calls.length, calls + 1);
  t.match(world.registry.committed.at(-1), { transition: null, current: { seq: 1, observedAt: START + 1 } });
});

t.test('it keeps an older heartbeat as a sample, and lets it change nothing', async (t) => {
  const { world, send } = await listening();
  await send({ timestamp: START - 100 });
  await world.clock.advance(300_000);
  const late = await send({ word: 'down', timestamp: START - 101, ...latency(5) });
  t.match(late, { status: 'up', responseTimeMs: 5, checkedAt: START - 101 });
  t.same(
    world.samples.map(({ at, status }) => [at, status]),
    [
      [START - 100, 'up'],
      [START - 101, 'down'],
    ],
  );
  t.match(world.registry.heartbeats.at(-1), { counted: false, verdict: 'down' });
  await world.clock.advance(301_000);
  t.match(
    world.published.get(1)?.latest,
    { source: 'silence', checkedAt: START + 600_000 },
    'nor the deadline',
  );

  const { world: other, send: sendOther } = await listening();
  await sendOther({ timestamp: START });
  t.match(
    await sendOther({ word: 'slow', timestamp: START }),
    { status: 'slow' },
    'the same time is not older',
  );
  t.match(await sendOther({ word: 'down' }), { status: 'down' }, 'nor is one without a time');
  t.match(await sendOther({ timestamp: START - 1 }), { status: 'down' }, 'which is no younger for that');
  t.equal(other.told.length, 3);
});

t.test('it remembers the newest timestamp across a restart', async (t) => {
  const { world: first, send } = await listening();
  await send({ timestamp: START });
  const { send: again } = await listening({ registry: first.registry });
  t.match(await again({ word: 'down', timestamp: START - 1 }), { status: 'up' });
});

t.test('it judges heartbeats of one service in the order of their arrival', async (t) => {
  const { world } = await listening();
  const words = ['up', 'down', 'slow', 'up', 'down', 'slow'] as const;
  const answers = words.map((word) => world.record.takeHeartbeat(received(world, { word })));
  await world.settle();
  await world.settle();
  t.same(
    (await Promise.all(answers)).map(({ status }) => status),
    words,
  );
  t.same(
    world.told.map(({ to }) => to),
    words,
  );
});

t.test(
  'it changes the status exactly once where another writer or a lost answer comes between',
  async (t) => {
    const { world, send } = await listening();
    world.registry.meet('answer_lost');
    const receipt = world.record.takeHeartbeat(received(world, { word: 'down' }));
    await world.clock.advance(1_000);
    t.match(await receipt, { status: 'down' });
    t.equal(world.registry.transitions.length, 1);
    t.equal(world.registry.incidents.size, 1);
    t.same(
      world.told.map(({ to }) => to),
      ['down'],
    );
    t.match(await send(), { status: 'up' });
  },
);

t.test('it tells the sender of what we cannot write, and gives silence a full period then', async (t) => {
  const { world, send } = await listening();
  await send();
  await world.clock.advance(595_000);
  const release = world.registry.hold();
  const refused = t.rejects(world.record.takeHeartbeat(received(world)), { code: 'unavailable' });
  await world.clock.advance(10_000);
  await refused;
  release();
  await world.clock.advance(594_000);
  t.equal(world.published.get(1)?.status, 'up');
  await world.record.stop();
  await t.rejects(world.record.takeHeartbeat(received(world)), { code: 'unavailable' });
});

t.test('it refuses the domain of another account with the word of the registry', async (t) => {
  const { world, send } = await listening();
  await t.rejects(world.record.takeHeartbeat(received(world, {}, 8)), { code: 'foreign_domain' });
  t.match(await send(), { status: 'up' });
});

t.test('it refuses where the registry, asked again, still has no such service', async (t) => {
  const registry = await createRecordedRegistry([SERVICE]);
  let isForeign = true;
  const { world } = await listening({
    registry: {
      ...registry,
      commitUpdates: (judgements) =>
        registry.commitUpdates(
          judgements.map(({ heartbeat, ...judgement }) =>
            heartbeat === undefined
              ? judgement
              : { ...judgement, heartbeat: { ...heartbeat, accountId: isForeign ? 8 : 7 } },
          ),
        ),
    },
  });
  const refused = t.rejects(world.record.takeHeartbeat(received(world)), { code: 'unavailable' });
  await world.settle();
  await world.settle();
  await refused;
  t.same(registry.committed, []);
  isForeign = false;
  const taken = world.record.takeHeartbeat(received(world));
  await world.settle();
  t.match(await taken, { status: 'up' });
});

t.test('it stores heartbeats of a paused service, and of one whose owner chose to be probed', async (t) => {
  for (const change of [{ paused: true }, { check: { ...DEFAULT_CHECK, keepsKind: true as const } }]) {
    const { world, send } = await listening({ services: [{ ...SERVICE, ...change }] });
    t.match(await send({ word: 'down' }), { status: 'unknown' });
    t.match(world.registry.heartbeats, [{ counted: false, verdict: 'down' }]);
    t.same(world.samples, []);
    await world.clock.advance(700_000);
    t.equal(world.published.get(1)?.status, 'unknown');
  }
});

t.test('it counts a heartbeat of a service whose pause another process has just ended', async (t) => {
  const { world, send } = await listening({ services: [{ ...SERVICE, paused: true }] });
  await world.registry.client(world.clock).changeService(SERVICE.slug, { paused: false });
  t.match(await send(), { status: 'up' });
  t.match(world.registry.heartbeats, [{ counted: true }]);
});

t.test(
  'it makes a probed service heartbeat-monitored, and drops checks that were on their way',
  async (t) => {
    const { world, send } = await listening({ services: [{ ...SERVICE, check: DEFAULT_CHECK }] });
    world.record.takeResults([good(1, START)]);
    await world.settle();
    t.match(await send({ word: 'down' }), {
      status: 'down',
      service: { check: { kind: 'heartbeat' }, revision: 2 },
    });
    await world.clock.advance(10);
    world.record.takeResults([good(1, START + 10)]);
    await world.settle();
    t.equal(world.published.get(1)?.status, 'down');
  },
);

t.test('it takes a start as a sign of life that says nothing of the status', async (t) => {
  const { world, send } = await listening();
  t.match(await send({ kind: 'start', word: null, run: 'r' }), { status: 'unknown', runMs: null });
  t.same(world.samples, []);
  await send();
  await world.clock.advance(500_000);
  t.match(await send({ kind: 'start', word: null, timestamp: START - 400_000 }), { status: 'up' });
  await world.clock.advance(500_000);
  t.equal(world.published.get(1)?.status, 'up');
  await world.clock.advance(101_000);
  t.match(world.published.get(1), { status: 'down', latest: { checkedAt: START + 1_100_000 } });
  t.match(await send({ run: 'r' }), { runMs: 1_101_000 });
});

t.test('it hands out what it knows of a service, until the check becomes another', async (t) => {
  const world = await createWorld({ services: [makeService(1)] });
  const memory = { needsGet: true, headSeen: false, healthSeen: false, askHealthAt: null };
  world.record.takeResults([good(1, START, { memory })]);
  await world.settle();
  t.strictSame(world.record.probeStateOf(1), { memory, lastCheckedAt: START });
  const change = (revision: number, more: object) =>
    world.record.applyChange({
      seq: revision,
      serviceId: 1,
      slug: 'service-1',
      service: makeService(1, { revision, ...more }),
    });
  change(2, { name: 'Another name', paused: true });
  t.strictSame(world.record.probeStateOf(1), { memory, lastCheckedAt: START });
  change(3, { check: { ...DEFAULT_CHECK, kind: 'health' } });
  const nothing = {
    memory: { needsGet: false, headSeen: false, healthSeen: false, askHealthAt: null },
    lastCheckedAt: null,
  };
  t.strictSame(world.record.probeStateOf(1), nothing);
  t.strictSame(world.record.probeStateOf(99), nothing);
});

t.test('it asks the registry again about a domain that the catalogue has gained meanwhile', async (t) => {
  let isGained = false;
  const { world } = await listening({ isCatalogueDomain: () => isGained });
  const { id: _, revision: __, ...entry } = makeService(2, { domain: DOMAIN });
  await world.registry.client(world.clock).putCatalogue([entry]);
  for (const [gained, tries] of [
    [false, 1],
    [true, 0],
  ] as const) {
    isGained = gained;
    const calls = world.registry.calls.length;
    await t.rejects(world.record.takeHeartbeat(received(world)), { code: 'catalogue_domain' });
    t.equal(world.registry.calls.length - calls, tries, 'it is not even tried where the list is known');
  }
  t.same(world.registry.committed, []);
});

t.test('it counts no heartbeat for an incident that came too late to change the service', async (t) => {
  const { world, send } = await listening();
  const own = () => [...world.registry.incidents.values()][0];
  await send({ timestamp: START });
  await send({ word: 'down', timestamp: START + 10_000 });
  await send({ timestamp: START + 20_000 });
  t.match(own(), { status: 'monitoring', goodChecks: 1 });
  const before = world.registry.committed.length;
  for (const late of [1, 2, 3]) await send({ timestamp: START + late });
  t.match(own(), { status: 'monitoring', goodChecks: 1 }, 'what is late is kept, and recovers nothing');
  t.same(
    world.registry.committed.slice(before).map(({ incident, transition }) => [incident, transition]),
    [1, 2, 3].map(() => [null, null]),
    'nothing of the incident is written again',
  );
  await send({ timestamp: START + 30_000 });
  await send({ timestamp: START + 40_000 });
  t.match(own(), { status: 'resolved' });
});
