/** Silence of services that report by themselves (decisions, Heartbeats; contract 3). */
import t from 'tap';
import { DEFAULT_CHECK, type Service } from '../../src/domain/service.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createWorld, failed503, makeService, START, unanswered, type World } from './record-world.ts';

const SILENCE = 60_000;

function reporting(id: number, changes: Partial<Service> = {}): Service {
  const check = { ...DEFAULT_CHECK, kind: 'heartbeat' } as const;
  return makeService(id, { origin: 'owner', accountId: 7, domain: `s${id}.example`, check, ...changes });
}

/** A heartbeat of the service; the word null: a run begins. */
async function beat(world: World, id = 1, word: 'up' | 'down' | null = 'up'): Promise<void> {
  const domain = `s${id}.example`;
  const report = {
    kind: word === null ? 'start' : 'beat',
    domain,
    word,
    reported: null,
    timestamp: null,
    dependencies: null,
    run: null,
  } as const;
  const taken = world.record.takeHeartbeat({ report, accountId: 7, arrivedAt: world.clock.now(), body: '' });
  await world.settle();
  await taken;
}

async function listening(services: readonly Service[] = [reporting(1)], more: object = {}): Promise<World> {
  const world = await createWorld({ services, silenceMs: SILENCE, ...more });
  world.record.startListening();
  return world;
}

const statusOf = (world: World, id = 1) => world.published.get(id)?.status;

t.test('it marks a silent service down at the deadline, within a second, exactly once', async (t) => {
  const world = await listening();
  await world.clock.advance(1_234);
  await beat(world);
  const deadline = START + 1_234 + SILENCE;
  await world.clock.advance(SILENCE - 1);
  t.equal(statusOf(world), 'up');
  await world.clock.advance(1_000);
  t.match(world.published.get(1), {
    seq: 2,
    status: 'down',
    since: deadline,
    observedAt: deadline,
    latest: { status: 'down', responseTimeMs: null, statusCode: 0, checkedAt: deadline, source: 'silence' },
  });
  await world.clock.advance(3 * SILENCE);
  t.match(world.told.slice(1), [
    { from: 'up', to: 'down', at: deadline, reason: { code: 'no_heartbeat', silenceMs: 60_000 } },
  ]);
  t.equal(world.told.length, 2);
  t.match(
    [...world.registry.incidents.values()],
    [{ title: 'Service 1 (s1.example) has gone silent', status: 'investigating', startedAt: deadline }],
  );
  t.same(
    world.samples
      .slice(1)
      .map(({ at, status, latencyMs, statusCode }) => [at - deadline, status, latencyMs, statusCode]),
    [0, 1, 2, 3].map((n) => [n * SILENCE, 'down', null, 0]),
    'the history goes on',
  );
  t.equal(world.published.get(1)?.latest?.checkedAt, deadline, 'what is shown stays');

  await beat(world);
  t.match(world.published.get(1), { seq: 3, status: 'up' }, 'the next heartbeat recovers it');
  await world.clock.advance(SILENCE + 1_000);
  t.equal(statusOf(world), 'down', 'and silence counts again');
});

t.test('it counts from the newest heartbeat', async (t) => {
  const world = await listening();
  for (let n = 0; n < 20; n++) {
    await beat(world);
    await world.clock.advance(SILENCE - 2_000);
  }
  t.equal(statusOf(world), 'up');
  await world.clock.advance(2_900);
  t.equal(statusOf(world), 'down');
});

t.test('it leaves a service that never sent anything unknown', async (t) => {
  const world = await listening();
  await world.clock.advance(3 * SILENCE);
  t.equal(statusOf(world), 'unknown');
  t.same(world.samples, []);
});

t.test('it notes the silence of a service that was down already, without a second transition', async (t) => {
  const world = await listening();
  await beat(world, 1, 'down');
  await world.clock.advance(SILENCE + 1_000);
  t.match(world.published.get(1), { seq: 1, latest: { source: 'silence', checkedAt: START + SILENCE } });
  t.equal(world.registry.transitions.length, 1);
});

t.test('it expects heartbeats by the schedule of the service', async (t) => {
  const schedule = { cron: '*/5 * * * *', timezone: 'Europe/Berlin' };
  const check = { ...DEFAULT_CHECK, kind: 'heartbeat', schedule, graceMs: 30_000 } as const;
  const world = await listening([reporting(1, { check })]);
  await world.clock.advance(150_000);
  await beat(world);
  const run = START + 300_000;
  await world.clock.advance(run + 29_000 - world.clock.now());
  t.equal(statusOf(world), 'up', 'within the grace');
  await beat(world);
  await world.clock.advance(300_000);
  t.equal(statusOf(world), 'up', 'one heartbeat for each run');
  await world.clock.advance(3_000);
  t.match(world.told.at(-1), { to: 'down', reason: { code: 'run_missed', runAt: run + 300_000 } });
  await world.clock.advance(600_000);
  t.same(
    world.samples.filter(({ status }) => status === 'down').map(({ at }) => (at - run) / 30_000),
    [11, 21, 31],
    'each run that is missed is in the history',
  );
  await world.clock.advance(run + 1_170_000 - world.clock.now());
  await beat(world);
  await world.clock.advance(100_000);
  t.equal(statusOf(world), 'up', 'a heartbeat shortly before a run counts for it');
});

t.test('it takes period and grace of the service itself', async (t) => {
  const own = { ...DEFAULT_CHECK, kind: 'heartbeat', periodMs: 300_000, graceMs: 30_000 } as const;
  const world = await listening([reporting(1, { check: own })]);
  await beat(world);
  await world.clock.advance(329_000);
  t.equal(statusOf(world), 'up');
  await world.clock.advance(2_000);
  t.match(world.told.at(-1), { to: 'down', reason: { code: 'no_heartbeat', silenceMs: 330_000 } });

  await beat(world);
  const check = { ...DEFAULT_CHECK, kind: 'heartbeat', periodMs: 5_000 } as const;
  const change = (service: Service) =>
    world.record.applyChange({ seq: 1, serviceId: 1, slug: service.slug, service });
  change(reporting(1, { check, revision: 2 }));
  await world.clock.advance(4_900);
  t.equal(statusOf(world), 'up', 'a new period begins when it is set');
  await world.clock.advance(1_100);
  t.equal(statusOf(world), 'down');
});

t.test('it stands still while a service is paused, and gives a full period afterwards', async (t) => {
  const world = await listening();
  await beat(world);
  const change = (revision: number, paused: boolean) =>
    world.record.applyChange({
      seq: revision,
      serviceId: 1,
      slug: 's',
      service: reporting(1, { revision, paused }),
    });
  await world.clock.advance(SILENCE - 5_000);
  change(2, true);
  await world.clock.advance(SILENCE);
  t.equal(statusOf(world), 'up');
  change(3, false);
  await world.clock.advance(SILENCE - 1_000);
  t.equal(statusOf(world), 'up');
  await world.clock.advance(2_000);
  t.equal(statusOf(world), 'down');
});

t.test(
  'it gives a full period after a restart, and tells silence that was told no second time',
  async (t) => {
    const first = await listening([reporting(1), reporting(2)]);
    await beat(first, 1);
    await first.clock.advance(SILENCE - 10_000);
    await beat(first, 2);
    await first.clock.advance(20_000);
    t.same([statusOf(first, 1), statusOf(first, 2)], ['down', 'up']);
    await first.record.stop();

    const clock = createFakeClock(first.clock.now() + 3 * SILENCE);
    const world = await createWorld({ registry: first.registry, clock, silenceMs: SILENCE });
    await world.clock.advance(2 * SILENCE);
    t.equal(statusOf(world, 2), 'up', 'nothing falls due before heartbeats can be heard');
    world.record.startListening();
    const startedAt = clock.now();
    await world.clock.advance(SILENCE - 1_000);
    t.equal(statusOf(world, 2), 'up');
    await world.clock.advance(2_000);
    t.match(world.published.get(2), { status: 'down', latest: { checkedAt: startedAt + SILENCE } });
    t.same(
      world.registry.transitions.map(({ serviceId, to }) => [serviceId, to]),
      [
        [1, 'up'],
        [2, 'up'],
        [1, 'down'],
        [2, 'down'],
      ],
    );
  },
);

t.test('it counts the silence of a run that began and never ended, across a restart too', async (t) => {
  for (const [began, status] of [
    [false, 'unknown'],
    [true, 'down'],
  ] as const) {
    const first = await listening([reporting(1)], { clock: createFakeClock(START - 1_000) });
    if (began) await beat(first, 1, null);
    await first.record.stop();
    const again = await listening([], { registry: first.registry });
    await again.clock.advance(SILENCE + 1_000);
    t.equal(statusOf(again), status);
  }
});

t.test('it stands still while the machine sleeps or its clock is set', async (t) => {
  for (const jumpMs of [3 * SILENCE, -3 * SILENCE]) {
    let offsetMs = 0;
    const fake = createFakeClock(START);
    const clock = { ...fake, now: () => fake.now() + offsetMs };
    const world = await listening([reporting(1)], { clock });
    await beat(world);
    await fake.advance(SILENCE - 10_000);
    offsetMs = jumpMs;
    await fake.advance(SILENCE - 1_000);
    t.equal(statusOf(world), 'up', `${jumpMs}`);
    await fake.advance(2_000);
    t.match(
      world.published.get(1),
      { status: 'down', latest: { checkedAt: START + jumpMs + 2 * SILENCE - 10_000 + 250 } },
      'one full period afterwards',
    );
  }
});

t.test('it stands still while the process does', async (t) => {
  const fake = createFakeClock(START);
  let skippedMs = 0;
  const clock = {
    ...fake,
    now: () => fake.now() + skippedMs,
    monotonic: () => fake.monotonic() + skippedMs,
  };
  const world = await listening([reporting(1)], { clock });
  await beat(world);
  await fake.advance(SILENCE - 500);
  skippedMs = 1_000;
  await fake.advance(250);
  t.equal(statusOf(world), 'up', 'what arrived during a short stall is heard first');
  await beat(world);
  await fake.advance(SILENCE - 500);
  skippedMs = 100_000;
  await fake.advance(SILENCE - 500);
  t.equal(statusOf(world), 'up', 'a long one gives a full period');
  await fake.advance(1_500);
  t.equal(statusOf(world), 'down');
});

t.test(
  'it takes what arrived during a stall even if the next poll follows the late one at once',
  async (t) => {
    const world = await listening();
    await beat(world);
    await world.clock.advance(SILENCE - 700);
    // The poll before it was 50 ms earlier; the late one is 10 ms before the next.
    await world.clock.skip(940);
    await world.clock.advance(20);
    t.equal(statusOf(world), 'up', 'a heartbeat that arrived is still being read');
    await beat(world);
    await world.clock.advance(SILENCE - 1_000);
    t.equal(statusOf(world), 'up');
    await world.clock.advance(2_000);
    t.equal(statusOf(world), 'down', 'silence counts afterwards');
  },
);

t.test(
  'it does not hold the silence of the world against the services while the prober is offline',
  async (t) => {
    const world = await listening([reporting(1), makeService(2)]);
    await beat(world);
    world.control = async () => false;
    await world.clock.advance(SILENCE - 1_000);
    t.equal(world.questions.length > 0, true, 'it asks before the deadline');
    await world.clock.advance(5 * SILENCE);
    t.equal(statusOf(world), 'up');
    t.equal(world.record.prober().online, false);
    world.control = async () => true;
    await world.clock.advance(6_000);
    t.equal(world.record.prober().online, true);
    await world.clock.advance(SILENCE - 8_000);
    t.equal(statusOf(world), 'up', 'one full period after the return');
    await world.clock.advance(10_000);
    t.equal(statusOf(world), 'down');
  },
);

t.test('it waits for control targets that are slow to answer', async (t) => {
  const world = await listening();
  await beat(world);
  world.control = () => new Promise(() => {});
  await world.clock.advance(SILENCE);
  t.equal(statusOf(world), 'up');
  await world.clock.advance(2_000);
  t.equal(world.record.prober().online, false, 'no answer in 3 s is the answer no');
  t.equal(statusOf(world), 'up');
});

t.test('it judges silence without control targets too, unless most services fail', async (t) => {
  const world = await listening([reporting(1)], { controlTargets: 0 });
  await beat(world);
  await world.clock.advance(SILENCE + 1_000);
  t.equal(statusOf(world), 'down');

  const fleet = Array.from({ length: 12 }, (_, n) => makeService(n + 2));
  const offline = await listening([reporting(1), ...fleet], { controlTargets: 0 });
  await beat(offline);
  await offline.clock.advance(SILENCE - 2_000);
  offline.record.takeResults(fleet.map(({ id }) => unanswered(id, offline.clock.now())));
  await offline.clock.advance(10_000);
  t.equal(offline.record.prober().online, false);
  t.equal(statusOf(offline), 'up');
});

t.test('it gives a full period after heartbeats were refused by a fault of ours', async (t) => {
  const world = await listening();
  await beat(world);
  await world.clock.advance(SILENCE - 5_000);
  world.record.noteRefusal();
  await world.clock.advance(SILENCE - 1_000);
  t.equal(statusOf(world), 'up');
  await world.clock.advance(2_000);
  t.equal(statusOf(world), 'down');
});

t.test('it leaves silence out of a service that another check has judged meanwhile', async (t) => {
  const world = await listening();
  await beat(world);
  const service = makeService(1, { ...reporting(1), check: DEFAULT_CHECK, revision: 2 });
  world.record.applyChange({ seq: 2, serviceId: 1, slug: service.slug, service });
  world.record.takeResults([failed503(1, START + 100, { revision: 2 })]);
  await world.clock.advance(SILENCE + 1_000);
  t.match(world.published.get(1)?.latest, { source: 'root', statusCode: 503 });
});

t.test('it reports the silence of two thousand services within a second', async (t) => {
  const services = Array.from({ length: 2_000 }, (_, n) => reporting(n + 1));
  const world = await listening(services);
  await Promise.all(
    services.map(({ domain }) =>
      world.record.takeHeartbeat({
        report: {
          kind: 'beat',
          domain,
          word: 'up',
          reported: 'ok',
          timestamp: null,
          dependencies: null,
          run: null,
        },
        accountId: 7,
        arrivedAt: START,
        body: '',
      }),
    ),
  );
  await world.clock.advance(SILENCE + 1_000);
  await world.record.idle();
  t.equal(world.registry.transitions.filter(({ to }) => to === 'down').length, 2_000);
  t.ok(world.questions.length <= 3, 'one question for all of them');
});

t.test('the first deadline after hours without any passes at its time: nothing was suspended', async (t) => {
  const world = await listening();
  await world.clock.advance(5 * 3_600_000);
  await beat(world);
  const deadline = world.clock.now() + SILENCE;
  await world.clock.advance(SILENCE - 1);
  t.equal(statusOf(world), 'up');
  await world.clock.advance(1_000);
  t.match(world.published.get(1), { status: 'down', since: deadline });
});
