/**
 * The nodes of `results.ts`, in a process of their own: three regions send results of good checks through Redis as fast as
 * it takes them. Prints one line of JSON with their CPU time, and ends with its standard input.
 */
import { systemClock } from '../src/clock.ts';
import { ResultSender } from '../src/cluster/results/result-sender.ts';
import { SHARDS } from '../src/domain/node.ts';
import { type CheckResult, NO_MEMORY } from '../src/domain/result.ts';
import { readRedisAddress } from '../src/domain/store-address.ts';
import { silentLog } from '../src/log.ts';

const [url = '', services = '0', rounds = '0'] = process.argv.slice(2);
const REGIONS = ['eu', 'us', 'asia'];
const BATCH = 500;
/** Results that a node hands to its sender before that has sent them. */
const MAX_AHEAD = 10_000;

const address = readRedisAddress(url);
if (address === null) throw new Error(`cannot be read: ${url}`);
const nodes = REGIONS.map((region) => {
  const common = { address, clock: systemClock, log: silentLog, clockOffsetMs: () => 0 };
  const sender = new ResultSender({ ...common, node: `${region}-1`, region });
  for (let shard = 0; shard < SHARDS; shard++) sender.claim(shard, { generation: 1, claim: 1 });
  return { region, sender };
});
while (nodes.some(({ sender }) => sender.state().problem !== null)) await pause(10);

const before = process.cpuUsage();
const startedAt = systemClock.now();
for (let round = 0; round < Number(rounds); round++) {
  for (let id = 1; id <= Number(services); id += BATCH) {
    const node = nodes[((id - 1) / BATCH) % nodes.length];
    if (node === undefined) continue;
    const { region, sender } = node;
    const results = Array.from({ length: BATCH }, (_, index) => goodResult(id + index, startedAt + round));
    sender.send(results.map((result) => ({ result, suspect: false, region })));
    while (sender.stats().waiting > MAX_AHEAD) await pause(1);
  }
}
for (const { sender } of nodes) await sender.stop();
const { user, system } = process.cpuUsage(before);
console.log(JSON.stringify({ cpuUs: user + system }));
process.stdin.on('end', () => process.exit(0)).resume();

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function goodResult(serviceId: number, at: number): CheckResult {
  return {
    serviceId,
    revision: 1,
    attempts: 1,
    startedAt: at,
    endedAt: at + 40,
    firstFailedAt: null,
    loopDelayMs: 1.25,
    lostMs: 0,
    statusCode: 200,
    responseTimeMs: 38,
    timing: { dnsMs: 1.5, connectMs: 12.25, tlsMs: 14.5, firstByteMs: 9.75, totalMs: 38.5 },
    failure: null,
    reported: null,
    reportedWord: null,
    blocked: false,
    via: 'root',
    certificateExpiresAt: at + 5_184_000_000,
    retryAfterMs: null,
    suspect: null,
    headUnproven: false,
    answered: true,
    memory: NO_MEMORY,
  };
}
