import t from 'tap';
import { createVotingRegions } from '../../src/cluster/voting-regions.ts';
import type { NodeState } from '../../src/domain/node.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const INTERVAL_MS = 60_000;

/** A live node that makes checks; a test names what matters to it. */
function probing(name: string, region: string, online = true): NodeState {
  const identity = { name, region, roles: ['probe'] as const, version: '1.2.3', host: name, pid: 1 };
  const times = {
    since: 0,
    lastSeen: 0,
    offlineSince: online ? null : 1,
    clockOffsetMs: 0,
    reachesRegistry: true,
  };
  return { ...identity, ...times, online, services: 0, checksPerSecond: 0 };
}

function createWorld(former: readonly string[] = []) {
  const clock = createFakeClock();
  let nodes: readonly NodeState[] = [];
  let notify = () => {};
  const watch = (listener: () => void) => {
    notify = listener;
    return () => {};
  };
  const { voting } = createVotingRegions({
    nodes: () => nodes,
    watch,
    former,
    intervalMs: INTERVAL_MS,
    clock,
  });
  return {
    clock,
    voting,
    set(...next: readonly NodeState[]) {
      nodes = next;
      notify();
    },
  };
}

t.test('a region votes while one of its nodes is online', async (t) => {
  const { voting, set } = createWorld();
  t.same(voting(), []);
  set(probing('a', 'us', false), probing('b', 'eu', false), probing('c', 'us'));
  t.same(voting(), ['us']);
  set(probing('a', 'us', false), probing('b', 'eu'), probing('c', 'us', false));
  t.same(voting(), ['eu']);
  set({ ...probing('a', 'asia'), roles: ['judge', 'serve'] });
  t.same(voting(), ['eu'], 'a node without the role probe is none of a region');
});

t.test('a region without a node votes for two intervals more', async (t) => {
  const { clock, voting, set } = createWorld();
  set(probing('a', 'us'), probing('b', 'eu'), probing('c', 'asia', false));
  set(probing('b', 'eu'));
  await clock.advance(2 * INTERVAL_MS);
  t.same(voting(), ['eu', 'us'], 'but not if it was offline at its end');
  await clock.advance(1);
  t.same(voting(), ['eu']);
  set(probing('a', 'us'), probing('b', 'eu'));
  t.same(voting(), ['eu', 'us'], 'at once when a node is back');
});

t.test('regions of the previous judge keep their votes while their nodes start', async (t) => {
  const { clock, voting, set } = createWorld(['eu', 'us']);
  t.same(voting(), ['eu', 'us']);
  set(probing('b', 'eu'));
  t.same(voting(), ['eu', 'us'], 'the first one does not decide alone');
  set(probing('a', 'us', false), probing('b', 'eu'));
  t.same(voting(), ['eu'], 'an offline one has none');
  set(probing('b', 'eu'));
  await clock.advance(2 * INTERVAL_MS + 1);
  t.same(voting(), ['eu']);
});

t.test(
  'a region without a node votes for two intervals of the service, and of the setting at most',
  async (t) => {
    const { clock, voting, set } = createWorld();
    set(probing('a', 'us'), probing('b', 'eu'));
    set(probing('b', 'eu'));
    await clock.advance(2 * INTERVAL_MS - 1_000);
    const votes = [INTERVAL_MS / 4, INTERVAL_MS, INTERVAL_MS * 9].map((intervalMs) =>
      voting(intervalMs).join(' '),
    );
    t.same(votes, ['eu', 'eu us', 'eu us']);
    await clock.advance(2_000);
    t.same(voting(INTERVAL_MS * 9), ['eu'], 'a node that restarts is back within minutes');
  },
);
