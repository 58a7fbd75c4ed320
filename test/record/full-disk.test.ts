/** The record while the disk of its registry takes no writes (decisions, Keys and limits; Heartbeats). */
import t from 'tap';
import { DEFAULT_CHECK } from '../../src/domain/service.ts';
import type { ReceivedHeartbeat } from '../../src/record/observation.ts';
import type { StorageHealth, StorageProblem } from '../../src/store/ports/storage-health.ts';
import { createWorld, failed503, good, makeService, START, type World } from './record-world.ts';

/** A registry's health that a test sets; while it is bad, commits are refused. */
function createStorage() {
  const listeners = new Set<(problem: StorageProblem | null) => void>();
  let problem: StorageProblem | null = null;
  const health: StorageHealth = {
    problem: () => problem,
    watch(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const set = (next: StorageProblem | null) => {
    problem = next;
    for (const listener of listeners) listener(next);
  };
  return {
    health,
    fill(world: World) {
      world.registry.meet(...Array.from({ length: 1_000 }, () => 'full' as const));
      set({ code: 'storage_full', message: 'no room' });
    },
    free(world: World) {
      world.registry.recover();
      set(null);
    },
  };
}

const PROBED = makeService(1);
const REPORTING = makeService(1, {
  domain: 'shop.example',
  origin: 'owner',
  accountId: 7,
  check: { ...DEFAULT_CHECK, kind: 'heartbeat' },
});

const heartbeat = (world: World): ReceivedHeartbeat => ({
  report: {
    kind: 'beat',
    domain: 'shop.example',
    word: 'up',
    reported: 'ok',
    timestamp: null,
    dependencies: null,
    run: null,
  },
  accountId: 7,
  arrivedAt: world.clock.now(),
  body: '{}',
});

t.test('it shows what checks find, and writes it in order when there is room', async (t) => {
  const storage = createStorage();
  const world = await createWorld({ services: [PROBED], storage: storage.health });
  const { record, clock, registry, published, told } = world;
  record.takeResults([good(1, START)]);
  await record.idle();
  storage.fill(world);
  record.takeResults([failed503(1, START + 1_000)]);
  await clock.advance(10);
  t.match(published.get(1), { status: 'down', latest: { statusCode: 503 } });
  record.takeResults([good(1, START + 2_000)]);
  await clock.advance(10);
  t.match(published.get(1), { status: 'up' });
  for (let second = 3; second < 60; second++) {
    record.takeResults([(second % 2 === 0 ? good : failed503)(1, START + second * 1_000)]);
    await clock.advance(1_000);
  }
  t.match(published.get(1), { status: 'down', latest: { checkedAt: START + 59_000 } });
  t.equal(registry.transitions.length, 1, 'nothing is written');
  t.equal(told.length, 1, 'and nothing told that is not');
  t.equal(registry.incidents.size, 0);
  storage.free(world);
  await clock.advance(10);
  await record.idle();
  t.match(published.get(1), { status: 'down', seq: registry.current(1).seq });
  t.same(registry.current(1), published.get(1));
  t.same(told, registry.transitions);
  const seqs = registry.transitions.map(({ seq }) => seq);
  t.same(
    seqs,
    seqs.map((_, index) => index + 1),
    'each once, in order',
  );
  t.equal([...registry.incidents.values()].filter(({ status }) => status !== 'resolved').length, 1);
});

t.test('it refuses heartbeats at once, and reports no missed heartbeat meanwhile', async (t) => {
  const storage = createStorage();
  const world = await createWorld({ services: [REPORTING], storage: storage.health, silenceMs: 10_000 });
  const { record, clock, registry, published } = world;
  record.startListening();
  const first = record.takeHeartbeat(heartbeat(world));
  await world.settle();
  t.match(await first, { status: 'up' });
  await clock.advance(5_000);

  // The first one finds it out, those after it are refused without being tried.
  registry.meet('full');
  const found = t.rejects(record.takeHeartbeat(heartbeat(world)), { code: 'storage_full' });
  await clock.advance(10);
  await found;
  storage.fill(world);
  const calls = registry.calls.length;
  await t.rejects(record.takeHeartbeat(heartbeat(world)), { code: 'storage_full' });
  t.equal(registry.calls.length, calls);
  await clock.advance(60_000);
  t.match(published.get(1), { status: 'up' });

  storage.free(world);
  await clock.advance(9_000);
  t.match(published.get(1), { status: 'up' }, 'one full period afterwards');
  await clock.advance(2_000);
  t.match(published.get(1), { status: 'down', latest: { source: 'silence' } });
  t.equal(registry.heartbeats.length, 1);
});

t.test('it refuses heartbeats whose commit meets damage, and takes the next ones', async (t) => {
  const world = await createWorld({ services: [REPORTING] });
  world.registry.meet('damaged');
  const refused = t.rejects(world.record.takeHeartbeat(heartbeat(world)), { code: 'storage_busy' });
  await world.clock.advance(10);
  await refused;
  const next = world.record.takeHeartbeat(heartbeat(world));
  await world.settle();
  t.match(await next, { status: 'up' });
  t.equal(world.registry.heartbeats.length, 1);
});

t.test('it refuses heartbeats that wait behind a change that cannot be written', async (t) => {
  const storage = createStorage();
  const world = await createWorld({ services: [REPORTING], storage: storage.health, silenceMs: 10_000 });
  const { record, clock, registry } = world;
  record.startListening();
  const first = record.takeHeartbeat(heartbeat(world));
  await world.settle();
  await first;
  const letGo = registry.hold();
  await clock.advance(11_000);
  const waiting = t.rejects(record.takeHeartbeat(heartbeat(world)), { code: 'storage_full' });
  storage.fill(world);
  letGo();
  await clock.advance(10);
  await waiting;
  storage.free(world);
  await clock.advance(100);
  await record.idle();
  t.match(registry.current(1), { status: 'down' });
});
