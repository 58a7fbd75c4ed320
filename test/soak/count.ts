/**
 * `npm run soak -- count --minutes 30`: runs the demonstration on Redis and InfluxDB 1.6, lets both be killed, paused
 * and stopped in turn, and shows by counting that no sample and no transition was lost or doubled. Ends with status 1
 * where one was.
 */
import { parseArgs } from 'node:util';
import { DEMO_FEED_INTERVAL_MS, DEMO_TIMING } from '../../demo/demo.ts';
import { DEMO_SENDER_TIMING, DEMO_SENDERS } from '../../demo/heartbeat-senders.ts';
import { DEMO_SCRIPT } from '../../demo/services.ts';
import { runCount } from './count/count-run.ts';
import { judgeCount } from './count/judge-count.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    every: { type: 'string', default: '60' },
    away: { type: 'string', default: '25' },
  },
});
const startedAt = Date.now();
const count = await runCount({
  script: DEMO_SCRIPT,
  timing: DEMO_TIMING,
  feedIntervalMs: DEMO_FEED_INTERVAL_MS,
  senders: { list: DEMO_SENDERS, timing: DEMO_SENDER_TIMING },
  lengthMs: Number(values.minutes) * 60_000,
  everyMs: Number(values.every) * 1_000,
  awayMs: Number(values.away) * 1_000,
  tell(line) {
    console.log(`${((Date.now() - startedAt) / 60_000).toFixed(1)} min  ${line}`);
  },
});
const rows: readonly (readonly [string, number])[] = [
  ['faults', count.faults],
  ['samples taken by the program', count.samplesTaken],
  ['points in InfluxDB', count.samplesStored],
  ['transitions in the registry', count.registered.length],
  ['transitions in Redis', count.inRedis.length],
  ['heard by a client of the monitor', count.heardAtMonitor.length],
  ['heard by a client of the process beside it', count.heardBeside.length],
];
for (const [what, figure] of rows) console.log(`${String(figure).padStart(10)}  ${what}`);
const wrong = judgeCount(count);
for (const line of wrong) console.log(`WRONG  ${line}`);
console.log(wrong.length === 0 ? 'nothing was lost, and nothing doubled' : 'NOT as it must be');
process.exitCode = wrong.length === 0 ? 0 : 1;
