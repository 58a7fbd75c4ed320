/** A process that is not part of a cluster is its own only node. */
import { hostname } from 'node:os';
import t from 'tap';
import { loadConfig } from '../../src/config/load-config.ts';
import { nodeNameOf } from '../../src/domain/node.ts';
import { silentLog } from '../../src/log.ts';
import { joinNodes } from '../../src/main/join-nodes.ts';
import { createFakeClock } from '../support/fake-clock.ts';

async function join(env: Record<string, string> = {}) {
  const clock = createFakeClock();
  const work = {
    ...{ services: 2, checksDone: 0, online: true, reachesRegistry: true },
    offlineSince: null as number | null,
  };
  const fail = (what: string) => (error: Error) => t.fail(`${what}: ${error.message}`);
  const config = loadConfig({ file: null, env });
  const node = await joinNodes({ config, work: () => work, clock, log: silentLog, fail });
  return { ...node, clock, work };
}

t.test('it has the name of its host, one region and all roles', async (t) => {
  const { name, region, roles, nodes, clock } = await join();
  t.same([name, region, roles], [nodeNameOf(hostname()), 'local', ['judge', 'probe', 'serve']]);
  t.match(nodes(), [{ name, region, roles, pid: process.pid, since: clock.now(), lastSeen: clock.now() }]);
  t.match(await join({ UPBEAT_NODE_NAME: 'eu-1', UPBEAT_NODE_REGION: 'eu' }), { name: 'eu-1', region: 'eu' });
});

t.test('it says how many checks a second it made in the last ten seconds', async (t) => {
  const { nodes, clock, work } = await join();
  const rate = () => nodes()[0]?.checksPerSecond;
  t.equal(rate(), 0);
  for (let second = 1; second <= 20; second++) {
    await clock.advance(1_000);
    work.checksDone += 4;
    t.equal(rate(), 4, `after ${second} s, however often it is asked`);
    t.equal(rate(), 4);
  }
  await clock.advance(5_000);
  t.equal(rate(), 2, 'the last five of ten seconds had none');
  await clock.advance(10_000);
  t.equal(rate(), 0);
  work.checksDone = 0;
  await clock.advance(1_000);
  t.equal(rate(), 0, 'another role counts anew');
  Object.assign(work, { online: false, offlineSince: clock.now() });
  t.match(nodes(), [{ online: false, offlineSince: clock.now(), services: 2 }]);
});
