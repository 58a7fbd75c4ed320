/**
 * `npm run soak -- cluster kills [--kills 200] [--seed N] [--services 240] [--interval 12] [--minutes 40] [--logs FOLDER]`: a
 * cluster of nine nodes in three regions, whose nodes are killed, paused, stopped and started again at random, while
 * services fail and recover, heartbeats arrive, a webhook receiver listens and clients read from every serving node. At
 * its end everything is counted. Ends with status 1 where something was lost, doubled or late.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { describeDisturbance } from './judge-checks.ts';
import { runKills } from './kill-run.ts';
import { judgeKills, type Row } from './kill-verdict.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    services: { type: 'string', default: '240' },
    interval: { type: 'string', default: '12' },
    minutes: { type: 'string', default: '40' },
    logs: { type: 'string' },
  },
});
const startedMs = performance.now();
const tell = (line: string) =>
  console.log(`${((performance.now() - startedMs) / 60_000).toFixed(1).padStart(5)} min  ${line}`);
const { logs } = values;
if (logs !== undefined) mkdirSync(logs, { recursive: true });
let lives = 0;

tell(
  `seed ${values.seed}; ${cpus().length} CPUs, ${Math.round(totalmem() / 2 ** 30)} GB, load ${loadavg()[0]?.toFixed(1)}`,
);
const trace = await runKills({
  kills: Number(values.kills),
  seed: Number(values.seed),
  services: Number(values.services),
  intervalMs: Number(values.interval) * 1_000,
  maxMs: Number(values.minutes) * 60_000,
  tell,
  onDisturbance: (disturbance) => tell(describeDisturbance(disturbance)),
  onEnd(node) {
    if (logs === undefined) return;
    lives += 1;
    writeFileSync(join(logs, `${String(lives).padStart(3, '0')}-${node.name}.log`), node.program.output());
  },
});
const { rows, wrong } = judgeKills(trace);
for (const [what, figure] of rows satisfies readonly Row[]) console.log(`${figure.padStart(28)}  ${what}`);
for (const line of wrong) console.log(`WRONG  ${line}`);
const passed = wrong.length === 0 && trace.kills >= Number(values.kills);
if (trace.kills < Number(values.kills))
  console.log(`only ${trace.kills} kills within ${values.minutes} minutes`);
console.log(passed ? 'nothing was lost, doubled or late' : 'NOT as it must be');
process.exitCode = passed ? 0 : 1;
