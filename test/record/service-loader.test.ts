/** A judge that takes over: it judges while it loads its services, from what the registry has after it got the lease. */
import t from 'tap';
import { DEFAULT_CHECK } from '../../src/domain/service.ts';
import { unknownStatus } from '../../src/domain/status/current.ts';
import type { ServiceState } from '../../src/store/ports/services.ts';
import { createRecordedRegistry } from '../support/recorded-registry.ts';
import { createWorld, failed503, good, makeService, makeServices, START } from './record-world.ts';

const ruled = (result: ReturnType<typeof good>) => ({ result, suspect: false, region: 'eu' });

/** Reads that a test answers one by one. */
function createGate<Args extends readonly unknown[]>(read: (...args: Args) => Promise<ServiceState[]>) {
  const waiting: (() => void)[] = [];
  return {
    /** What it reads is as it was when the read began. */
    read: async (...args: Args) => {
      const states = await read(...args);
      await new Promise<void>((resolve) => waiting.push(resolve));
      return states;
    },
    waiting,
  };
}

/** Lets reads of the registry come back. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

t.test('it goes on from what the former judge committed last', async (t) => {
  const registry = await createRecordedRegistry(makeServices(3));
  const former = await createWorld({ registry });
  await former.record.takeRuled([ruled(good(1, START))]);
  const copied = registry.current(1);
  // Committed and acknowledged, but told to nobody: the copy of the judge that stood by is older.
  await former.record.takeRuled([ruled(failed503(1, START + 1_000, { firstFailedAt: START + 1_000 }))]);
  await former.record.stop();

  const world = await createWorld({
    registry,
    // The list of all services comes late.
    loadBehind(source) {
      source.learn([copied]);
      return { ...source, servicesBetween: () => new Promise(() => {}) };
    },
  });
  const routine = world.record.takeRuled([ruled(failed503(1, START + 2_000))]);
  t.equal(await world.record.takeRuled([ruled(good(1, START + 3_000)), ruled(good(2, START + 3_000))]), true);
  await world.clock.advance(1_000);
  t.equal(await routine, true);
  t.same(
    registry.transitions.map(({ position, serviceId, seq, to }) => [position, serviceId, seq, to]),
    [
      [1, 1, 1, 'up'],
      [2, 1, 2, 'down'],
      [3, 1, 3, 'up'],
      [4, 2, 1, 'up'],
    ],
  );
  t.same(world.lines, [], 'no update was evaluated from an older state');
  t.match([...registry.incidents.values()], [{ status: 'monitoring' }], 'it has found the open incident');
  t.equal(world.record.deadlines(), null, 'not all are known yet');
  await world.record.stop();
});

t.test('the first results have the registry to themselves', async (t) => {
  const registry = await createRecordedRegistry(makeServices(2));
  const reads: string[] = [];
  const { record, clock } = await createWorld({
    registry,
    loadBehind: (source) => ({
      ...source,
      servicesBetween(afterId, untilId) {
        reads.push('list');
        return source.servicesBetween(afterId, untilId);
      },
      statesOf(ids) {
        reads.push(`services ${ids}`);
        return source.statesOf(ids);
      },
    }),
  });
  const first = record.takeRuled([ruled(good(2, START))]);
  await clock.advance(1_999);
  t.equal(await first, true);
  t.same(reads, ['services 2']);
  await clock.advance(1);
  t.same(reads, ['services 2', 'list']);
  await record.stop();
});

t.test('results are judged in their order, whichever read comes back first', async (t) => {
  const registry = await createRecordedRegistry(makeServices(2));
  let waiting: (() => void)[] = [];
  const { record } = await createWorld({
    registry,
    loadBehind(source) {
      const gate = createGate(source.statesOf);
      ({ waiting } = gate);
      return { ...source, statesOf: gate.read, servicesBetween: () => new Promise(() => {}) };
    },
  });
  const first = record.takeRuled([ruled(good(1, START))]);
  const second = record.takeRuled([ruled(good(2, START)), ruled(failed503(1, START + 1_000))]);
  const third = record.takeRuled([ruled(good(1, START + 2_000))]);
  await until(() => waiting.length === 2);
  for (const answer of waiting.reverse()) answer();
  t.same(await Promise.all([first, second, third]), [true, true, true]);
  const ofFirst = registry.transitions.filter(({ serviceId }) => serviceId === 1);
  t.same(
    ofFirst.map(({ to }) => to),
    ['up', 'down', 'up'],
  );
  await record.stop();
});

t.test('changes of services during the load are applied to what was read', async (t) => {
  const registry = await createRecordedRegistry(makeServices(3));
  const list = Promise.withResolvers<() => void>();
  const { record, clock, published } = await createWorld({
    registry,
    loadBehind(source) {
      const gate = createGate(source.servicesBetween);
      const servicesBetween = async (afterId: number, untilId: number) => {
        const page = gate.read(afterId, untilId);
        await until(() => gate.waiting.length === 1);
        list.resolve(() => gate.waiting[0]?.());
        return await page;
      };
      return { ...source, servicesBetween };
    },
  });
  await clock.advance(2_000);
  const answer = await list.promise;
  const client = registry.client(clock);
  const before = await client.statesOf([1, 2]);
  const [one, two] = before.map(({ service }) => service);
  if (one === undefined || two === undefined) throw new Error('there are no services');
  record.applyChange({ seq: 1, serviceId: 1, slug: one.slug, service: { ...one, revision: 2 } });
  record.applyChange({ seq: 2, serviceId: 2, slug: two.slug, service: null });
  const ofFirst = record.takeRuled([ruled(good(1, START, { revision: 2 }))]);
  answer();
  t.equal(await ofFirst, true);
  const ofAll = record.takeRuled([ruled(good(2, START)), ruled(good(3, START))]);
  await clock.advance(0);
  await record.idle();
  await clock.advance(6_000);
  t.equal(await ofAll, true);
  t.same(
    registry.transitions.map(({ serviceId }) => serviceId),
    [1, 3],
    'the removed one is not judged, although the list was read before',
  );
  t.equal(published.has(2), false);
  await record.stop();
});

t.test('a heartbeat finds its service, and a deadline counts from the takeover', async (t) => {
  const check = { ...DEFAULT_CHECK, kind: 'heartbeat' } as const;
  const beats = (id: number) =>
    makeService(id, { origin: 'owner', accountId: 7, domain: `s${id}.example`, check });
  const registry = await createRecordedRegistry([beats(1), beats(2)]);
  const former = await createWorld({ registry, silenceMs: 10_000 });
  const words = {
    kind: 'beat',
    word: 'up',
    reported: null,
    timestamp: null,
    dependencies: null,
    run: null,
  } as const;
  const beat = (domain: string, arrivedAt: number) => ({
    ...{ report: { ...words, domain }, accountId: 7, arrivedAt, body: '' },
  });
  for (const id of [1, 2]) await former.record.takeHeartbeat(beat(`s${id}.example`, START));
  await former.record.stop();

  const list = Promise.withResolvers<void>();
  const { record, clock } = await createWorld({
    ...{ registry, silenceMs: 10_000, clock: former.clock },
    loadBehind: (source) => ({
      ...source,
      async servicesBetween(afterId, untilId) {
        await list.promise;
        return await source.servicesBetween(afterId, untilId);
      },
    }),
  });
  record.startListening();
  const beganAt = clock.now();
  t.match(await record.takeHeartbeat(beat('s1.example', beganAt)), { status: 'up' });
  await clock.advance(4_000);
  list.resolve();
  await until(() => record.deadlines() !== null);
  t.same(
    record.deadlines(),
    new Map([
      [1, beganAt + 10_000],
      [2, beganAt + 10_000],
    ]),
  );
  await record.stop();
});

t.test('a registry that is away holds results up, and a stop lets go of them', async (t) => {
  const registry = await createRecordedRegistry(makeServices(2));
  let isAway = true;
  const { record, clock, lines } = await createWorld({
    registry,
    loadBehind: (source) => ({
      ...source,
      servicesBetween: () => new Promise(() => {}),
      async statesOf(ids) {
        if (isAway) throw new Error('the registry is away');
        return await source.statesOf(ids);
      },
    }),
  });
  const first = record.takeRuled([ruled(good(1, START))]);
  await clock.advance(2_000);
  t.same([registry.transitions, lines], [[], ['warn: services could not be loaded; retrying']]);
  isAway = false;
  await clock.advance(1_000);
  t.equal(await first, true);
  t.match(registry.transitions, [{ serviceId: 1, to: 'up' }]);
  isAway = true;
  const second = record.takeRuled([ruled(good(2, START))]);
  await clock.advance(0);
  const stopped = record.stop();
  await clock.advance(1_000);
  await stopped;
  t.equal(await second, false, 'it is delivered again');
  t.same(registry.current(2), unknownStatus(2));
});
