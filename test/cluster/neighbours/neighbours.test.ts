/** Which node is a neighbour, and the bounds of both sides. */
import t from 'tap';
import { MAX_ASKED } from '../../../src/cluster/neighbours/neighbour-messages.ts';
import { ANSWER_TIMEOUT_MS, MAX_LOOKS } from '../../../src/cluster/neighbours/neighbours.ts';
import { neighboursOf } from '../../../src/domain/node.ts';
import { DEFAULT_CHECK } from '../../../src/domain/service.ts';
import { targetOf } from '../../engine/attempt.ts';
import { failed503, good, START, unanswered } from '../../record/record-world.ts';
import { createWorld } from './neighbours-world.ts';

t.test('both sides are bounded: more failures count at once', async (t) => {
  const { take, settle, said, looks } = createWorld();
  take(...Array.from({ length: MAX_ASKED + 10 }, (_, index) => failed503(index + 1, START)));
  t.equal(said().length, 10);
  await settle();
  t.equal(looks.size, MAX_LOOKS);
  t.equal(said().length, MAX_ASKED - MAX_LOOKS);
});

t.test('a neighbour is another node of the region that can make the check now', async (t) => {
  const node = (name: string, changes: object = {}) => ({
    ...{ name, region: 'eu', roles: ['probe' as const], version: '1', host: 'h', pid: 1, since: 0 },
    ...{ lastSeen: 0, services: 0, checksPerSecond: 0, online: true, offlineSince: null },
    ...{ reachesRegistry: true, checksProblem: null, clockOffsetMs: 0, ...changes },
  });
  const nodes = [
    node('self'),
    node('good'),
    node('away', { region: 'us' }),
    node('judge', { roles: ['judge'] }),
    node('offline', { online: false, offlineSince: 1 }),
    node('cut', { reachesRegistry: false }),
    node('stuck', { checksProblem: 'its shards cannot be renewed' }),
  ];
  t.same(neighboursOf(nodes, { name: 'self', region: 'eu' }), ['good']);
});

t.test('a neighbour that meets a bot wall or 429 contradicts nothing', async (t) => {
  const { take, find, settle, said, one } = createWorld();
  take(failed503(2, START));
  await settle();
  find(failed503(2, START + 50, { statusCode: 429, blocked: true }));
  t.same(said(), ['down 2']);
  t.equal(one.confirmation.contradicted, 0);
});

t.test('a neighbour makes one attempt by GET, for at most as long as the other waits', async (t) => {
  const { take, settle, looks, world } = createWorld();
  const check = { ...DEFAULT_CHECK, intervalMs: 30_000, confirmAfterMs: [1_000, 2_000] };
  world.targets = async () => [targetOf(2, { check, revision: 7, accountId: 5, lastCheckedAt: START })];
  take(failed503(2, START, { revision: 7 }));
  await settle();
  const look = looks.get(2);
  t.match(look, {
    revision: -7,
    accountId: 5,
    check: { intervalMs: 30_000, timeoutMs: ANSWER_TIMEOUT_MS, confirmAfterMs: [] },
    memory: { needsGet: true },
    lastCheckedAt: null,
  });
});

t.test('a neighbour says at once where it cannot tell', async (t) => {
  const { take, settle, said, own, world, looks } = createWorld();
  own.add(2);
  take(failed503(2, START));
  await settle();
  t.same(said(), ['down 2'], 'it holds the shard itself');

  world.targets = async () => [];
  take(failed503(3, START));
  await settle();
  t.same(said(), ['down 3'], 'the service is paused, gone, or not checked from here');

  world.targets = async () => {
    throw new Error('PostgreSQL is away');
  };
  take(failed503(4, START));
  await settle();
  t.same(said(), ['down 4']);
  t.equal(looks.size, 0);
});

t.test('what the neighbour finds counts only where it is sure, and of the same check', async (t) => {
  const { take, find, settle, said } = createWorld();
  take(failed503(2, START), failed503(3, START), failed503(4, START));
  await settle();
  find(good(2, START, { suspect: 'loop_late' }));
  find(good(3, START, { revision: 2 }));
  find(good(4, START, { reported: 'down' }));
  t.same(said(), ['down 2', 'down 4']);
});

t.test('a shard that the neighbour gains ends its looks there', async (t) => {
  const { take, settle, looks, own, two, find, said } = createWorld();
  take(failed503(2, START), failed503(3, START));
  await settle();
  own.add(2);
  two.looks.endOwn();
  t.same([...looks.keys()], [3]);
  t.same(find(good(2, START)), [], 'what its threads still send is no result of a check');
  t.same(said(), []);
  const real = good(2, START);
  t.same(two.looks.takeResults([real]), [real]);
});

t.test('it passes everything on at once where no neighbour can be asked', async (t) => {
  const { take, said, world } = createWorld();
  world.names = [];
  take(good(1, START), failed503(2, START));
  t.same(said(), ['up 1', 'down 2']);
  t.equal(world.sent, 0);
});

t.test('it asks about failures alone, and a failure that the neighbour sees too counts', async (t) => {
  const { take, find, settle, said, looks, one } = createWorld();
  take(good(1, START), failed503(2, START), failed503(3, START, { blocked: true }));
  t.same(said(), ['up 1', 'down 3'], 'a bot wall is no outage');
  await settle();
  t.same([...looks.keys()], [2]);
  find(unanswered(2, START + 50));
  t.same(said(), ['down 2']);
  t.equal(looks.size, 0, 'the neighbour has forgotten the service');
  t.equal(one.confirmation.contradicted, 0);
});

t.test('the good result of the neighbour counts in place of the failure', async (t) => {
  const { take, find, settle, passed, warnings, one } = createWorld();
  const failure = unanswered(2, START);
  take(failure);
  await settle();
  const answer = good(2, START + 86_400_000, {
    responseTimeMs: 5_000,
    memory: { ...failure.memory, needsGet: true },
  });
  find(answer);
  t.strictSame(passed, [
    {
      region: 'eu',
      suspect: false,
      // By the clock of the node that asked, and with what that node has learned.
      result: { ...answer, startedAt: failure.startedAt, endedAt: failure.endedAt, memory: failure.memory },
    },
  ]);
  t.match(warnings, [{ serviceId: 2, neighbour: 'two', contradicted: 1 }]);
  t.equal(one.confirmation.contradicted, 1);
});

t.test('a neighbour that does not answer in time changes nothing, and its late answer neither', async (t) => {
  const { take, find, settle, said, clock, looks } = createWorld();
  take(failed503(2, START));
  await settle();
  await clock.advance(ANSWER_TIMEOUT_MS - 1);
  t.same(said(), []);
  await clock.advance(1);
  t.same(said(), ['down 2']);
  t.equal(looks.size, 0, 'it has ended its look too');
  find(good(2, clock.now()));
  t.same(said(), []);
});

t.test('a neighbour that is not there, or of an earlier version, delays a failure no longer', async (t) => {
  const { take, said, clock, world } = createWorld();
  world.names = ['old'];
  take(failed503(2, START));
  await clock.advance(ANSWER_TIMEOUT_MS);
  t.same(said(), ['down 2']);
});

t.test('a newer result of a service is not overtaken by a failure that waits', async (t) => {
  const { take, find, settle, said } = createWorld();
  take(failed503(2, START));
  await settle();
  take(good(2, START + 1_000));
  t.same(said(), ['down 2', 'up 2']);
  find(good(2, START + 1_100));
  t.same(said(), []);
});

t.test('an answer belongs to the question that was asked last', async (t) => {
  const { take, settle, said, clock, one, two } = createWorld();
  take(failed503(2, START));
  await settle();
  two.looks.stop();
  await clock.advance(ANSWER_TIMEOUT_MS);
  t.same(said(), ['down 2']);
  take(failed503(2, START + 30_000));
  await settle();
  const receive = one.handlers.get('test:{rechecks}:answers:one');
  receive?.('{"number":1,"unknown":[2]}');
  t.same(said(), [], 'the first one has no answer any more');
  receive?.('{"number":2,"unknown":[2]}');
  t.same(said(), ['down 2']);
});

t.test('a service that moves to another node is forgotten, and a stop passes on what waits', async (t) => {
  const { take, settle, said, one, world } = createWorld();
  take(failed503(2, START), failed503(3, START));
  await settle();
  one.confirmation.forget(2);
  one.confirmation.stop();
  t.same(said(), ['down 3']);
  const { sent } = world;
  take(failed503(4, START));
  t.same([said(), world.sent], [['down 4'], sent]);
});
