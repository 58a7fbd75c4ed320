/** `kill -9` of judges at any moment: every result is judged, and every transition is written once, in order. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import t from 'tap';
import { systemClock } from '../../src/clock.ts';
import { ResultSender } from '../../src/cluster/results/result-sender.ts';
import { resultKeys } from '../../src/cluster/results/result-stream.ts';
import { requireRedisAddress } from '../../src/domain/store-address.ts';
import { silentLog } from '../../src/log.ts';
import { openRegistryMethods } from '../../src/store/registry/registry-thread.ts';
import { failed503, good, START } from '../record/record-world.ts';
import { entry } from '../store/registry-fixtures.ts';
import { NEEDS_REDIS, startRedis, until } from '../support/redis-server.ts';

const SERVICES = 4;
const KILLS = 3;
/** Results of each service in one life of a judge. */
const TURNS = 6;

t.test('judges that are killed lose no transition and write none twice', NEEDS_REDIS, async (t) => {
  const server = await startRedis(t);
  const url = `redis://127.0.0.1:${server.port}`;
  const dataDir = t.testdir();
  const methods = await openRegistryMethods({ dataDir, domainsPerAccount: 1 });
  await methods.putCatalogue(Array.from({ length: SERVICES }, (_, n) => entry(`s${n}`)));
  const ids = (await methods.loadServices()).map(({ service }) => service.id);
  await methods.close();
  const address = requireRedisAddress(url);
  const options = { address, clock: systemClock, log: silentLog };
  const sender = new ResultSender({ ...options, node: 'eu-1', region: 'eu', clockOffsetMs: () => 0 });
  t.teardown(() => sender.stop());
  for (const id of ids) sender.claim(id, { generation: 1, claim: 1 });

  const expected = new Map<number, number[]>(ids.map((id) => [id, []]));
  let at = START;
  /** Every service turns, in a batch of its own, a few times. */
  const sendTurns = async () => {
    for (let turn = 0; turn < TURNS; turn++) {
      for (const id of ids) {
        at += 1_000;
        const times = expected.get(id) ?? [];
        const result = times.length % 2 === 0 ? good(id, at) : failed503(id, at, { firstFailedAt: at });
        times.push(at);
        sender.send([{ result, suspect: false, region: 'eu' }]);
      }
      await until(() => sender.stats().waiting === 0, 'the batch is sent');
    }
  };

  for (let kill = 0; kill < KILLS; kill++) {
    const judge = startJudge(dataDir, url);
    const sending = sendTurns();
    await judge.committed(1 + kill);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
    await judge.kill();
    await sending;
  }
  const last = startJudge(dataDir, url);
  await until(
    async () => (await server.client.xlen(resultKeys('upbeat').stream)) === 0,
    'all is acknowledged',
  );
  await last.kill();

  const registry = await openRegistryMethods({ dataDir, domainsPerAccount: 1 });
  const transitions = await registry.transitionsAfter(0, 1_000);
  await registry.close();
  t.same(
    transitions.map(({ position }) => position),
    transitions.map((_, index) => index + 1),
    'no position is left out',
  );
  for (const [id, times] of expected) {
    const own = transitions.filter(({ serviceId }) => serviceId === id);
    t.same(
      own.map(({ seq, to, at: began }) => [seq, to, began]),
      times.map((time, index) => [index + 1, index % 2 === 0 ? 'up' : 'down', time]),
    );
  }
});

function startJudge(dataDir: string, url: string) {
  const child: ChildProcess = spawn(
    process.execPath,
    [join(import.meta.dirname, 'judge-process.ts'), dataDir, url],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const ended = once(child, 'exit');
  let lines = 0;
  child.stdout?.on('data', (chunk: Buffer) => {
    lines += String(chunk).split('\n').length - 1;
  });
  return {
    committed: (batches: number) => until(() => lines >= batches, `${batches} batches are committed`),
    async kill() {
      child.kill('SIGKILL');
      const [, signal] = await ended;
      if (signal !== 'SIGKILL') throw new Error('the judge ended by itself');
    },
  };
}
