import t from 'tap';
import { ownIncidentId } from '../../src/domain/own-incident.ts';
import type { CheckResult } from '../../src/domain/result.ts';
import type { Service } from '../../src/domain/service.ts';
import {
  createWorld,
  ERROR_503,
  failed503,
  good,
  makeService,
  makeServices,
  START,
  unanswered,
} from './record-world.ts';

t.test('it judges a good result at once, and writes transition, status and sample', async (t) => {
  const { record, registry, published, told, samples } = await createWorld();
  const result = good(1, START - 100, { certificateExpiresAt: START + 1_000 });
  record.takeResults([result]);
  await record.idle();
  const transition = {
    position: 1,
    serviceId: 1,
    slug: 'service-1',
    seq: 1,
    from: 'unknown',
    to: 'up',
    at: START - 100,
    recordedAt: START,
    reason: null,
  };
  t.same(registry.transitions, [transition]);
  t.same(told, [transition]);
  t.same(published.get(1), {
    serviceId: 1,
    seq: 1,
    observedAt: START - 100,
    status: 'up',
    since: START - 100,
    latest: {
      status: 'up',
      responseTimeMs: 120,
      statusCode: 200,
      checkedAt: START - 100,
      source: 'root',
      reported: null,
      failure: null,
      blocked: false,
      timing: result.timing,
      certificateExpiresAt: START + 1_000,
    },
  });
  t.same(registry.current(1), published.get(1));
  t.same(samples, [
    { serviceId: 1, at: START - 100, status: 'up', latencyMs: 120, statusCode: 200, suspect: false },
  ]);
  t.same([...registry.incidents], [], 'a service that comes up opens no incident');
});

t.test(
  'it judges a failure with an HTTP response at once, dates it back and opens an incident',
  async (t) => {
    const { record, registry, clock, published, questions } = await createWorld();
    record.takeResults([good(1, START - 100)]);
    await record.idle();
    await clock.advance(300_000);
    record.takeResults([failed503(1, clock.now())]);
    await record.idle();
    t.match(registry.transitions.at(-1), { seq: 2, from: 'up', to: 'down', at: START + 294_000 });
    t.same(registry.transitions.at(-1)?.reason, { code: 'check_failed', failure: ERROR_503 });
    t.match(published.get(1), {
      status: 'down',
      since: START + 294_000,
      latest: { checkedAt: START + 300_000, statusCode: 503 },
    });
    const description = 'service-1.example is returning errors (HTTP 503).';
    t.same(
      [...registry.incidents.values()],
      [
        {
          id: ownIncidentId('service-1', START + 294_000, 2),
          serviceId: 1,
          source: 'own',
          title: 'Service 1 answers with errors',
          description,
          severity: 'major',
          status: 'investigating',
          startedAt: START + 294_000,
          resolvedAt: null,
          sourceUrl: 'http://localhost/status/service-1',
          goodChecks: 0,
          updates: [
            {
              at: START + 294_000,
              status: 'investigating',
              text: description,
              note: {
                code: 'opened',
                name: 'Service 1',
                outage: 'errors',
                domain: 'service-1.example',
                isReported: false,
                reason: { code: 'check_failed', failure: ERROR_503 },
              },
            },
          ],
        },
      ],
    );
    t.same(questions, [], 'an HTTP response proves the connection');
  },
);

t.test('it shows a plain check at once and writes it to the registry within a second, once', async (t) => {
  const { record, registry, clock, published, told } = await createWorld();
  record.takeResults([good(1, START - 100)]);
  await record.idle();
  const calls = registry.calls.length;
  for (let step = 1; step <= 5; step++) {
    await clock.advance(100);
    record.takeResults([good(1, clock.now(), { responseTimeMs: 100 + step })]);
    t.equal(published.get(1)?.latest?.responseTimeMs, 100 + step);
  }
  t.equal(registry.calls.length, calls, 'gathered');
  await clock.advance(1_000);
  t.equal(registry.calls.length, calls + 1);
  t.match(registry.current(1), { seq: 1, latest: { responseTimeMs: 105, checkedAt: START + 500 } });
  t.equal(told.length, 1);
});

t.test('it writes gathered checks when it stops, and takes nothing afterwards', async (t) => {
  const { record, registry, clock } = await createWorld();
  record.takeResults([good(1, START - 100)]);
  await record.idle();
  await clock.advance(10);
  record.takeResults([good(1, clock.now(), { responseTimeMs: 77 })]);
  await record.stop();
  t.equal(registry.current(1).latest?.responseTimeMs, 77);
  record.takeResults([good(1, clock.now() + 1)]);
  await record.idle();
  t.equal(registry.current(1).latest?.responseTimeMs, 77);
});

t.test('it writes a batch of transitions as one commit and tells them in order', async (t) => {
  const services = makeServices(50);
  const { record, registry, told } = await createWorld({ services });
  record.takeResults(services.map(({ id }) => good(id, START - 100)));
  await record.idle();
  t.equal(registry.calls.length, 1);
  t.same(
    told.map(({ position, serviceId }) => [position, serviceId]),
    services.map(({ id }) => [id, id]),
  );
});

t.test('it shows a transition only after the registry has it', async (t) => {
  const { record, registry, published, told, settle } = await createWorld();
  const letGo = registry.hold();
  record.takeResults([good(1, START - 100)]);
  await settle();
  t.equal(published.get(1)?.status, 'unknown');
  t.same(told, []);
  letGo();
  await record.idle();
  t.equal(published.get(1)?.status, 'up');
  t.equal(told.length, 1);
});

t.test('it tells a watcher only what the status store has', async (t) => {
  const { record, published } = await createWorld();
  const seen: (string | undefined)[] = [];
  const unwatch = record.watchTransitions(({ serviceId }) => seen.push(published.get(serviceId)?.status));
  record.takeResults([good(1, START - 100)]);
  await record.idle();
  unwatch();
  record.takeResults([failed503(1, START)]);
  await record.idle();
  t.same(seen, ['up']);
});

t.test('it keeps the order of a service while a change of it is being written', async (t) => {
  const { record, registry, settle, samples, clock } = await createWorld();
  await clock.advance(60_000);
  const letGo = registry.hold();
  record.takeResults([good(1, START)]);
  await settle();
  record.takeResults([failed503(1, START + 10_000), good(1, START + 20_000), good(1, START + 30_000)]);
  await settle();
  letGo();
  await record.idle();
  t.same(
    registry.transitions.map(({ to, seq }) => [to, seq]),
    [
      ['up', 1],
      ['down', 2],
      ['up', 3],
    ],
  );
  t.equal(registry.current(1).observedAt, START + 30_000);
  t.equal(samples.length, 4);
});

t.test('it drops results of an outdated revision, an unknown, a removed and a paused service', async (t) => {
  const { record, registry, samples, published } = await createWorld({
    services: [makeService(1, { revision: 3 }), makeService(2), makeService(3, { paused: true })],
  });
  record.applyChange({ seq: 1, serviceId: 2, slug: 'service-2', service: null });
  record.takeResults([
    good(1, START, { revision: 2 }),
    good(1, START, { revision: 4 }),
    good(2, START),
    good(3, START),
    good(4, START),
  ]);
  await record.idle();
  t.same(registry.transitions, []);
  t.same(samples, []);
  t.same([...published.keys()], [1, 3], 'a removed service leaves the status store');
});

t.test('a result counts for later revisions that leave the check as it is', async (t) => {
  const { record, registry, clock } = await createWorld();
  const define = (revision: number, changes: Partial<Service> = {}) =>
    record.applyChange({
      ...{ seq: revision, serviceId: 1, slug: 'service-1' },
      service: makeService(1, { revision, ...changes }),
    });
  const statusAfter = async (result: CheckResult) => {
    record.takeResults([result]);
    await record.idle();
    await clock.advance(10_000);
    return registry.current(1).status;
  };
  define(2, { name: 'Renamed' });
  t.equal(await statusAfter(good(1, clock.now())), 'up');
  const check = { ...makeService(1).check, timeoutMs: 3_000 };
  define(3, { check });
  t.equal(await statusAfter(failed503(1, clock.now(), { revision: 2 })), 'up', 'by other times');
  define(4, { check, paused: true });
  define(5, { check });
  t.equal(await statusAfter(failed503(1, clock.now(), { revision: 3 })), 'up', 'it was paused since');
  t.equal(await statusAfter(failed503(1, clock.now(), { revision: 5 })), 'down');
});

t.test('what is committed is dated by the clock of the program', async (t) => {
  const { record, registry, clock } = await createWorld();
  record.takeResults([good(1, START)]);
  await record.idle();
  await clock.advance(90_000);
  record.takeResults([failed503(1, START + 60_000)]);
  await record.idle();
  t.match(registry.committed.at(-1), { recordedAt: START + 90_000, incident: { status: 'investigating' } });
});

t.test('it takes new services and new revisions, and no old ones', async (t) => {
  const { record, registry, published } = await createWorld({ services: makeServices(2) });
  const change = (seq: number, revision: number, id: number) =>
    record.applyChange({ seq, serviceId: id, slug: `service-${id}`, service: makeService(id, { revision }) });
  change(1, 5, 1);
  change(2, 4, 1);
  change(3, 1, 7);
  await record.idle();
  t.match(published.get(7), { status: 'unknown', seq: 0, latest: null });
  record.takeResults([good(1, START, { revision: 5 })]);
  await record.idle();
  t.equal(registry.current(1).status, 'up');
});

t.test('it keeps a result that is older than the record as a sample only', async (t) => {
  const { record, registry, samples, clock } = await createWorld();
  await clock.advance(100_000);
  record.takeResults([good(1, START + 50_000)]);
  await record.idle();
  record.takeResults([failed503(1, START + 40_000), failed503(1, START + 50_000)]);
  await record.idle();
  t.equal(registry.transitions.length, 1);
  t.equal(registry.current(1).latest?.checkedAt, START + 50_000);
  t.same(
    samples.map(({ at, status, suspect }) => [at - START, status, suspect]),
    [
      [50_000, 'up', false],
      [40_000, 'down', false],
      [50_000, 'down', false],
    ],
  );
});

t.test(
  'it goes on judging when the wall clock was set back, and dates what it sees by the clock as it is now',
  async (t) => {
    const { record, registry } = await createWorld();
    record.takeResults([good(1, START + 3_600_000)]);
    await record.idle();
    const failed = failed503(1, START);
    record.takeResults([failed]);
    await record.idle();
    t.match(registry.transitions.at(-1), { to: 'down', at: failed.firstFailedAt });
    t.equal(registry.current(1).observedAt, START + 3_600_001);
  },
);

t.test('it keeps own faults as suspect samples and changes nothing else', async (t) => {
  const { record, registry, samples, published } = await createWorld();
  record.takeResults([good(1, START - 1_000)]);
  await record.idle();
  const before = published.get(1);
  record.takeResults([
    good(1, START - 500, { suspect: 'loop_late', responseTimeMs: 9_000 }),
    failed503(1, START - 300, { suspect: 'loop_late' }),
    unanswered(1, START - 200, { suspect: 'own_fault' }),
  ]);
  await record.idle();
  await record.stop();
  t.same(published.get(1), before);
  t.equal(registry.transitions.length, 1);
  t.same(
    samples.slice(1).map(({ status, suspect }) => [status, suspect]),
    [
      ['slow', true],
      ['down', true],
      ['down', true],
    ],
  );
  t.match(record.prober(), { online: true, suspectCount: 3 });
});

t.test('it writes what the prober has learnt, once', async (t) => {
  const { record, registry } = await createWorld();
  const memory = { needsGet: true, headSeen: false, healthSeen: false, askHealthAt: null };
  record.takeResults([good(1, START - 1_000)]);
  record.takeResults([good(1, START - 900, { memory })]);
  await record.idle();
  t.same(registry.memory(1), memory);
  record.takeResults([good(1, START - 800, { memory })]);
  await record.idle();
  t.equal(registry.committed.filter((judgement) => judgement.memory !== null).length, 1);
});

t.test('it walks an incident through its states, and never opens two', async (t) => {
  const { record, registry, clock } = await createWorld();
  const take = async (result: 'good' | 'slow' | 'bad') => {
    await clock.advance(60_000);
    const at = clock.now();
    if (result === 'bad') record.takeResults([failed503(1, at)]);
    else record.takeResults([good(1, at, { responseTimeMs: result === 'slow' ? 3_001 : 3_000 })]);
    await record.idle();
    return [...registry.incidents.values()].map(
      ({ id, status, goodChecks }) => `${id.split('-').at(-1)} ${status} ${goodChecks}`,
    );
  };
  t.same(await take('good'), []);
  t.same(await take('bad'), ['2 investigating 0']);
  t.same(await take('bad'), ['2 investigating 0']);
  t.same(await take('slow'), ['2 monitoring 1']);
  t.same(await take('good'), ['2 monitoring 2']);
  t.same(await take('bad'), ['2 investigating 0']);
  t.same(await take('good'), ['2 monitoring 1']);
  t.same(await take('good'), ['2 monitoring 2']);
  t.same(await take('slow'), ['2 resolved 0']);
  t.same(await take('bad'), ['2 resolved 0', '8 investigating 0']);
  t.same(
    [...registry.incidents.values()][0]?.updates.map(({ status }) => status),
    ['investigating', 'monitoring', 'investigating', 'monitoring', 'resolved'],
  );
});
