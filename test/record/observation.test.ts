/** What the record hands on beside samples, where a store keeps it. */
import t from 'tap';
import type { Incident } from '../../src/domain/incident/incident.ts';
import { NO_TIMING } from '../../src/domain/result.ts';
import { DEFAULT_CHECK } from '../../src/domain/service.ts';
import { createResultBatch } from '../../src/record/observation.ts';
import type { ObservedHeartbeat } from '../../src/store/ports/samples.ts';
import { createRecordedRegistry } from '../support/recorded-registry.ts';
import { createWorld, failed503, good, makeService, START } from './record-world.ts';

const MINUTE = 60_000;
const TIMING = { ...NO_TIMING, dnsMs: 1, totalMs: 120 };

function watcher() {
  const incidents: Incident[] = [];
  const heartbeats: ObservedHeartbeat[] = [];
  return {
    incidents,
    heartbeats,
    observations: {
      incident: (incident: Incident) => void incidents.push(incident),
      heartbeat: (heartbeat: ObservedHeartbeat) => void heartbeats.push(heartbeat),
    },
  };
}

t.test('samples have details only if a store keeps them', async (t) => {
  const results = [
    good(1, START + 1, { timing: TIMING, certificateExpiresAt: START + MINUTE }),
    failed503(1, START + MINUTE, { timing: TIMING }),
    failed503(1, START + 2 * MINUTE, { blocked: true }),
    failed503(1, START + 3 * MINUTE, { suspect: 'loop_late', timing: TIMING }),
  ];
  const { observations } = watcher();
  const world = await createWorld({ observations });
  world.record.takeResults(results);
  await world.settle();
  t.same(
    world.samples.map(({ detail }) => detail),
    [
      { timing: TIMING, certificateExpiresAt: START + MINUTE, failure: null },
      { timing: TIMING, certificateExpiresAt: null, failure: 'status' },
      { timing: NO_TIMING, certificateExpiresAt: null, failure: null },
      { timing: TIMING, certificateExpiresAt: null, failure: 'status' },
    ],
  );
  const plain = await createWorld();
  plain.record.takeResults(results);
  await plain.settle();
  t.same(
    plain.samples,
    world.samples.map(({ detail: _, ...sample }) => sample),
  );
  await Promise.all([world.record.stop(), plain.record.stop()]);
});

t.test('it reports own incidents after they are written, through every fault of the registry', async (t) => {
  const { incidents, observations } = watcher();
  const registry = await createRecordedRegistry([makeService(1)]);
  const world = await createWorld({ observations, registry });
  const check = async (result: ReturnType<typeof good>) => {
    world.record.takeResults([result]);
    await world.clock.advance(MINUTE);
  };
  await check(good(1, START));
  registry.meet('answer_lost');
  await check(failed503(1, START + MINUTE));
  t.same(
    [...new Set(incidents.map(({ id, status }) => `${id.split('-').at(-1)} ${status}`))],
    ['2 investigating'],
    'also where the answer to its writing was lost',
  );
  for (const minute of [2, 3, 4]) await check(good(1, START + minute * MINUTE));
  t.match(incidents.at(-1), {
    id: /^own-service-1-\w+-2$/,
    status: 'resolved',
    updates: [{ status: 'investigating' }, { status: 'monitoring' }, { status: 'resolved' }],
  });
  t.same(incidents.at(-1), registry.incidents.get(incidents.at(-1)?.id ?? ''));
  await world.record.stop();
});

t.test('it reports heartbeats that were written, and no start', async (t) => {
  const { heartbeats, observations } = watcher();
  const service = makeService(1, {
    domain: 'shop.example',
    origin: 'owner',
    accountId: 7,
    check: { ...DEFAULT_CHECK, kind: 'heartbeat' },
    publicDependencies: true,
  });
  const world = await createWorld({ observations, services: [service] });
  world.record.startListening();
  const dependencies = [{ name: 'db', status: 'down' as const, latencyMs: 5 }];
  const common = { domain: 'shop.example', reported: null, timestamp: null, run: null };
  for (const report of [
    { ...common, kind: 'beat' as const, word: 'up' as const, dependencies },
    { ...common, kind: 'start' as const, word: null, dependencies: null },
    { ...common, kind: 'fail' as const, word: 'down' as const, timestamp: START - 5, dependencies: null },
  ]) {
    const receipt = world.record.takeHeartbeat({ report, accountId: 7, arrivedAt: START, body: '{}' });
    await world.settle();
    await receipt;
  }
  t.match(heartbeats, [
    { service, at: START, status: 'up', responseTimeMs: 5, dependencies },
    { service, at: START - 5, status: 'down', responseTimeMs: null, dependencies: null },
  ]);
  t.equal(heartbeats.length, 2);
  await world.record.stop();
});

t.test('it ends when every part has, whole only if none was dropped', async (t) => {
  for (const [parts, isWhole] of [
    [[true], true],
    [[true, true, true], true],
    [[false, true], false],
    [[true, false], false],
  ] as const) {
    const batch = createResultBatch();
    let ended: boolean | null = null;
    void batch.ended.then((whole) => {
      ended = whole;
    });
    for (let n = 1; n < parts.length; n++) batch.hold();
    for (const [index, part] of parts.entries()) {
      t.equal(ended, null, `before part ${index}`);
      batch.release(part);
      await null;
    }
    t.equal(await batch.ended, isWhole);
  }
});
