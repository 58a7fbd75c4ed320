/**
 * `npm run soak -- crashes [--kills 200] [--stores files|servers] [--seed N]`: kills (`-9`) the whole program at random moments, also
 * while it starts, and at moments at which it writes what must be written together, under heartbeats, creations of services and flapping services. Its stores are the files of its data directory, or
 * PostgreSQL, Redis and InfluxDB, which are started once. A long run can be split into runs with other seeds. After each kill the stores are compared with what the clients were told. Ends with status 1 where
 * something that was acknowledged is lost, or anything is there twice. The roles of a cluster are killed by
 * `npm run soak -- cluster kills`.
 */
import { parseArgs } from 'node:util';
import { createRandom } from '../support/random.ts';
import { type CrashCount, runCrashes } from './crashes/crash-run.ts';
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
// Who ends a run that takes too long gets its counts, and no server is left behind.
const end = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => end.abort());
const beganMs = performance.now();
const moments: string[] = [];
let done = 0;
const found = await runCrashes({
  ...{ stores, kills },
  random: createRandom(seed),
  signal: end.signal,
  onKill(kill, moment) {
    done = kill;
    moments.push(moment);
    if (kill % 10 !== 0 && kill !== kills) return;
    const seconds = Math.round((performance.now() - beganMs) / 1_000);
    console.log(`seed ${seed}: ${kill} of ${kills} kills in ${seconds} s (${moments.join(', ')})`);
    moments.length = 0;
  },
})
  .catch((error: unknown) => {
    if (!end.signal.aborted) throw error;
    return null;
  })
  .finally(async () => {
    for (const task of tasks.reverse()) await task();
  });
if (found === null)
  console.log(`it was ended after ${done} kills, each of which was judged, together with its servers`);
else report(found);
process.exitCode = found?.wrong.length === 0 && found.kills >= kills ? 0 : 1;

function report({ wrong, refusals, ...count }: CrashCount): void {
  for (const [what, number] of Object.entries(count)) console.log(`${String(number).padStart(8)}  ${what}`);
  for (const [what, number] of refusals)
    console.log(`${String(number).padStart(8)}  requests were refused: ${what}`);
  for (const line of wrong) console.log(`WRONG  ${line}`);
  console.log(
    wrong.length === 0 ? 'nothing acknowledged was lost, and nothing is there twice' : 'NOT as it must be',
  );
  if (count.kills < kills && wrong.length === 0) console.log(`it was ended before ${kills} kills`);
}
