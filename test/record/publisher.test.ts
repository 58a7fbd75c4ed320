import t from 'tap';
import { createRecordedRegistry } from '../support/recorded-registry.ts';
import { createWorld, failed503, good, makeServices, START } from './record-world.ts';

t.test('it keeps what the registry refuses, and writes it when the registry is back', async (t) => {
  const { record, registry, clock, told, lines, published } = await createWorld({
    services: makeServices(2),
  });
  registry.meet('refused', 'refused', 'refused');
  record.takeResults([good(1, START - 100), good(2, START - 100)]);
  await clock.advance(50);
  t.same(told, []);
  t.equal(published.get(1)?.status, 'unknown');
  record.takeResults([failed503(1, START + 10)]);
  await clock.advance(10_000);
  await record.idle();
  t.same(
    told.map(({ serviceId, to }) => [serviceId, to]),
    [
      [1, 'up'],
      [2, 'up'],
      [1, 'down'],
    ],
  );
  t.same(
    lines,
    ['error: the registry accepts no updates; retrying', 'info: the registry accepts updates again'],
    'said once',
  );
});

t.test('it makes one transition and tells it once where the answer of a commit was lost', async (t) => {
  const { record, registry, clock, told, published } = await createWorld();
  registry.meet('answer_lost');
  record.takeResults([failed503(1, START)]);
  await clock.advance(1_000);
  await record.idle();
  t.same(
    registry.transitions.map(({ seq, to }) => [seq, to]),
    [[1, 'down']],
  );
  t.same(told, registry.transitions);
  t.equal(registry.incidents.size, 1);
  t.equal(published.get(1)?.status, 'down');
});

t.test('it judges again from the record of another writer', async (t) => {
  const registry = await createRecordedRegistry(makeServices(1));
  const first = await createWorld({ registry });
  const second = await createWorld({ registry });
  first.record.takeResults([failed503(1, START)]);
  await first.record.idle();
  await second.clock.advance(60_000);
  second.record.takeResults([failed503(1, START + 50_000)]);
  await second.record.idle();
  t.same(
    registry.transitions.map(({ seq, to }) => [seq, to]),
    [[1, 'down']],
    'it is down already',
  );
  t.equal(registry.current(1).observedAt, START + 50_000);
  t.match(second.told, registry.transitions, 'watchers hear of the other writer’s transition');
  second.record.takeResults([good(1, START + 60_000)]);
  await second.record.idle();
  t.same(
    [...registry.incidents.values()].map(({ id, status }) => [id.split('-').at(-1), status]),
    [['1', 'monitoring']],
    'and the other writer’s incident goes on',
  );
});

t.test('it takes the record of another writer over where only a plain check met it', async (t) => {
  const registry = await createRecordedRegistry(makeServices(1));
  const first = await createWorld({ registry });
  first.record.takeResults([good(1, START)]);
  await first.record.idle();
  const second = await createWorld({ registry });
  first.record.takeResults([failed503(1, START + 10)]);
  await first.record.idle();
  second.record.takeResults([good(1, START + 20)]);
  await second.record.idle();
  t.equal(registry.current(1).status, 'down');
  t.equal(second.published.get(1)?.status, 'down');
});

t.test('it drops a change of a service that the registry no longer has', async (t) => {
  const { record, registry, clock } = await createWorld({ services: makeServices(1) });
  record.applyChange({ seq: 1, serviceId: 9, slug: 'gone', service: { ...makeServices(9)[8]!, id: 9 } });
  record.takeResults([good(9, START)]);
  await clock.advance(100);
  await record.idle();
  t.same(registry.transitions, []);
  t.equal(registry.calls.length, 1, 'it does not go round in circles');
});

t.test('it bounds what waits for a registry that is away', async (t) => {
  const { record, registry, clock, samples, lines } = await createWorld();
  const letGo = registry.hold();
  for (let index = 0; index < 100; index++) {
    await clock.advance(1_000);
    record.takeResults([index % 2 === 0 ? failed503(1, clock.now()) : good(1, clock.now())]);
  }
  letGo();
  await record.idle();
  t.equal(registry.transitions.length, 16, 'the first failure, and the changes among the newest 16 results');
  t.equal(registry.current(1).observedAt, START + 100_000);
  t.equal(samples.length, 100, 'every result has left its sample');
  t.match(
    record.losses(),
    { observations: 83, samples: 0, waitingSamples: 0 },
    'what was dropped is counted',
  );
  t.same(
    lines.filter((line) => line.includes('dropped')),
    Array(2).fill('warn: observations were dropped: the registry was unavailable for too long'),
    'and said at most once a minute',
  );
});

t.test('it gives up a registry that stays away when it stops', async (t) => {
  const { record, registry, lines } = await createWorld();
  registry.meet('refused', 'refused', 'refused', 'refused', 'refused', 'refused', 'refused');
  record.takeResults([good(1, START)]);
  await record.stop();
  t.same(registry.transitions, []);
  t.match(lines, [/accepts no updates/, /dropped at stop/]);
});

t.test('it brings the status store up to date after it was away', async (t) => {
  let away = false;
  const { record, published, clock, lines, told } = await createWorld({ refusePut: () => away });
  away = true;
  record.takeResults([good(1, START)]);
  await clock.advance(100);
  record.takeResults([good(1, START + 100, { responseTimeMs: 55 })]);
  await clock.advance(3_000);
  t.equal(published.get(1)?.status, 'unknown');
  t.equal(told.length, 1, 'watchers do not wait for it');
  away = false;
  await clock.advance(1_500);
  t.match(published.get(1), { status: 'up', latest: { responseTimeMs: 55 } });
  t.match(lines, ['error: the status store accepts no statuses; retrying', /accepts statuses again/]);
});

t.test('it keeps samples that their store refuses, in order', async (t) => {
  let away = true;
  const { record, samples, clock, lines } = await createWorld({ refuseAppend: () => away });
  record.takeResults([good(1, START)]);
  await clock.advance(500);
  record.takeResults([good(1, START + 500)]);
  await clock.advance(3_000);
  t.same(samples, []);
  away = false;
  await clock.advance(1_000);
  t.same(
    samples.map(({ at }) => at - START),
    [0, 500],
  );
  t.match(lines, ['error: samples could not be stored; retrying', 'info: samples are stored again']);
});

t.test('it counts the samples that wait for a store that is away, and those that are dropped', async (t) => {
  let away = true;
  const { record, samples, clock, lines } = await createWorld({ refuseAppend: () => away });
  const results = (count: number) => Array.from({ length: count }, (_, at) => good(1, clock.now() + at));
  record.takeResults(results(70_000));
  await clock.advance(1_500);
  t.match(record.losses(), { samples: 0, waitingSamples: 70_000 });
  record.takeResults(results(70_000));
  await clock.advance(1_500);
  t.match(record.losses(), { samples: 40_000, waitingSamples: 100_000 });
  t.match(
    lines.filter((line) => line.includes('samples')),
    [
      'error: samples could not be stored; retrying',
      'error: samples were dropped: the store was unavailable for too long',
    ],
  );
  away = false;
  await clock.advance(1_500);
  t.equal(samples.length, 100_000);
  t.match(record.losses(), { samples: 40_000, waitingSamples: 0 });
});
