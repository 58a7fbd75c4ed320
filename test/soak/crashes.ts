/**
 * `npm run soak -- crashes [--kills 200] [--seed N]`: kills (`-9`) the whole program with embedded stores at random moments, also while it
 * starts, under heartbeats, creations of services and flapping services. After each kill the files are compared with what the clients
 * were told. Ends with status 1 where something that was acknowledged is lost, or anything is there twice. The roles of a cluster
 * over PostgreSQL and Redis are killed by `npm run soak -- cluster kills`.
 */
import { parseArgs } from 'node:util';
import { createRandom } from '../support/random.ts';
import { runCrashes } from './crashes/crash-run.ts';

const { values } = parseArgs({
  options: { kills: { type: 'string', default: '200' }, seed: { type: 'string', default: '1' } },
});
const kills = Number(values.kills);
const { wrong, refusals, ...count } = await runCrashes({
  kills,
  random: createRandom(Number(values.seed)),
  onKill: (kill) => {
    if (kill % 10 === 0) console.log(`${kill} kills`);
  },
});
for (const [what, number] of Object.entries(count)) console.log(`${String(number).padStart(8)}  ${what}`);
for (const [what, number] of refusals)
  console.log(`${String(number).padStart(8)}  requests were refused: ${what}`);
for (const line of wrong) console.log(`WRONG  ${line}`);
console.log(
  wrong.length === 0 ? 'nothing acknowledged was lost, and nothing is there twice' : 'NOT as it must be',
);
process.exitCode = wrong.length === 0 && count.kills >= kills ? 0 : 1;
