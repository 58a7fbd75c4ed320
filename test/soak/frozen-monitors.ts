/**
 * `npm run soak -- frozen-monitors --times 20`: stops the monitor by SIGSTOP again and again under a load of heartbeats at
 * the process beside it, at random moments and inside transactions. Every heartbeat that was answered 200 must be kept,
 * nothing but 503 with Retry-After be answered otherwise, and each take-over come in time. Ends with status 1 otherwise.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { freePort } from '../support/free-port.ts';
import {
  freezeInTransaction,
  holdsWriteLock,
  keptBeats,
  monitorPid,
  sendBeats,
} from '../support/frozen-monitor.ts';
import { install, type RunningProgram } from '../support/program.ts';
import { startRedis } from '../support/redis-server.ts';

const { values } = parseArgs({ options: { times: { type: 'string', default: '20' } } });
const times = Number(values.times);
const SENDERS = 4;
const CHECKED = 100 * SENDERS - 50;
/** The lease lasts 5 s, an end takes at most 2 s; the rest is for a busy machine. */
const MAX_TAKE_OVER_MS = 15_000;

interface Ready {
  readonly role: string;
}

const wrong: string[] = [];
const complain = (line: string) => {
  wrong.push(line);
  console.log(`WRONG  ${line}`);
};
const ends: (() => unknown)[] = [];
const redis = await startRedis({ teardown: (end: () => unknown) => void ends.unshift(end) });
const installation = await install([], {
  storage: { redis: { url: `redis://127.0.0.1:${redis.port}` } },
  limits: { authenticatedPerMinute: 1_000_000, changesPerAccount: 1_000_000 },
});
ends.unshift(() => installation.remove());
const dataDir = join(installation.folder, 'data');
const start = async (port?: number) => {
  const program = await installation.start(port);
  ends.unshift(() => program.killHard());
  return program;
};
let monitor = await start();
let beside = await start(await freePort());
const { stdout } = await installation.run('keys', 'create', '--account', 'ada', '--name', 'jobs');
const key = stdout.trim();
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
let [answered, refused, insideTransactions, maxMs] = [0, 0, 0, 0];

try {
  for (let time = 1; time <= times; time++) await freezeOnce(time);
} finally {
  for (const end of ends) await end();
}
console.log(`${times} freezes, ${insideTransactions} of them inside a transaction`);
console.log(`${answered} heartbeats answered, ${refused} refused; longest take-over ${maxMs} ms`);
console.log(wrong.length === 0 ? 'every answered heartbeat was kept' : 'NOT as it must be');
process.exitCode = wrong.length === 0 ? 0 : 1;

async function freezeOnce(time: number): Promise<void> {
  const loopTicks = sendBeats(beside.siteUrl, key, SENDERS);
  await moreThan(loopTicks.taken, 20);
  const pid = monitorPid(dataDir);
  if (time % 2 === 0) await freezeInTransaction(dataDir, pid);
  else {
    await pause(Math.random() * 500);
    process.kill(pid, 'SIGSTOP');
    await pause(5);
  }
  const inside = holdsWriteLock(dataDir, pid);
  if (inside) insideTransactions += 1;
  const frozenAt = performance.now();
  await isRole(beside, 'monitor');
  const tookMs = Math.round(performance.now() - frozenAt);
  maxMs = Math.max(maxMs, tookMs);
  if (tookMs > MAX_TAKE_OVER_MS) complain(`freeze ${time}: taken over after ${tookMs} ms`);
  await moreThan(loopTicks.taken, loopTicks.taken.length + 20);
  await loopTicks.stop();
  const kept = keptBeats(dataDir);
  const lost = loopTicks.taken.slice(-CHECKED).filter((number) => !kept.has(number));
  if (lost.length > 0) complain(`freeze ${time}: ${lost.length} answered heartbeats are lost`);
  for (const [status, count] of loopTicks.refused)
    if (status !== 503) complain(`freeze ${time}: ${count} heartbeats were answered ${status}`);
  if (loopTicks.withoutRetry > 0) complain(`freeze ${time}: ${loopTicks.withoutRetry} without Retry-After`);
  answered += loopTicks.taken.length;
  refused += loopTicks.refused.get(503) ?? 0;
  console.log(
    `freeze ${time}${inside ? ' inside a transaction' : ''}: taken over after ${tookMs} ms, ${loopTicks.taken.length} answered, ${loopTicks.refused.get(503) ?? 0} refused`,
  );
  await isRole(monitor, 'serving');
  [monitor, beside] = [beside, monitor];
}

async function isRole(program: RunningProgram, role: string): Promise<void> {
  await program.until('/readyz', (ready: Ready) => ready.role === role, 60_000);
}

async function moreThan(list: readonly number[], count: number): Promise<void> {
  while (list.length < count) await pause(10);
}
