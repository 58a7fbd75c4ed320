/**
 * `npm run soak -- crashes [--kills 200] [--stores files|servers] [--seed N]`: kills (`-9`) the whole program at random moments, also
 * while it starts, and at moments at which it writes what must be written together, under heartbeats, creations of services and flapping services. Its stores are the files of its data directory, or
 * PostgreSQL, Redis and InfluxDB, which are started once. A long run can be split into runs with other seeds. After each kill the stores are compared with what the clients were told. Ends with status 1 where
 * something that was acknowledged is lost, or anything is there twice. The roles of a cluster are killed by
 * `npm run soak -- cluster kills`.
 */
import { parseArgs } from 'node:util';
import { createRandom } from '../support/random.ts';
import { runCrashes } from './crashes/crash-run.ts';
import { EMBEDDED, openServers } from './crashes/crash-stores.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    stores: { type: 'string', default: 'files' },
    seed: { type: 'string', default: '1' },
  },
});
const kills = Number(values.kills);
const seed = Number(values.seed);
const tasks: (() => unknown)[] = [];
const stores =
  values.stores === 'servers' ? await openServers({ teardown: (task) => void tasks.push(task) }) : EMBEDDED;
const beganMs = performance.now();
const moments: string[] = [];
const { wrong, refusals, ...count } = await runCrashes({
  ...{ stores, kills },
  random: createRandom(seed),
  onKill(kill, moment) {
    moments.push(moment);
    if (kill % 10 !== 0 && kill !== kills) return;
    const seconds = Math.round((performance.now() - beganMs) / 1_000);
    console.log(`seed ${seed}: ${kill} of ${kills} kills in ${seconds} s (${moments.join(', ')})`);
    moments.length = 0;
  },
}).finally(async () => {
  for (const task of tasks.reverse()) await task();
});
for (const [what, number] of Object.entries(count)) console.log(`${String(number).padStart(8)}  ${what}`);
for (const [what, number] of refusals)
  console.log(`${String(number).padStart(8)}  requests were refused: ${what}`);
for (const line of wrong) console.log(`WRONG  ${line}`);
console.log(
  wrong.length === 0 ? 'nothing acknowledged was lost, and nothing is there twice' : 'NOT as it must be',
);
process.exitCode = wrong.length === 0 && count.kills >= kills ? 0 : 1;
