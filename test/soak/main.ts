/**
 * `npm run soak [-- NAME [ARGUMENTS]]`: the long trials. Each is a script of its own in this folder, `NAME.ts`, that
 * prints what it counted and ends with a status other than 0 when a promise was broken. Without a name all of them run,
 * one after the other; `--list` prints their names.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const trials = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && file !== 'main.ts')
  .map((file) => file.slice(0, -'.ts'.length))
  .sort();
const [wanted, ...args] = process.argv.slice(2);

if (wanted === '--list') {
  for (const name of trials) console.log(name);
} else if (wanted !== undefined && !trials.includes(wanted)) {
  console.error(`unknown trial '${wanted}'; there are: ${trials.join(', ')}`);
  process.exitCode = 2;
} else {
  for (const name of wanted === undefined ? trials : [wanted]) await runTrial(name);
}

async function runTrial(name: string): Promise<void> {
  const startedAt = Date.now();
  console.log(`== ${name}`);
  const trial = spawn(process.execPath, [join(import.meta.dirname, `${name}.ts`), ...args], {
    stdio: 'inherit',
  });
  // A trial ends what it has started.
  const forward = (name: NodeJS.Signals) => void trial.kill(name);
  process.on('SIGTERM', forward);
  const [status, signal] = await once(trial, 'exit');
  process.off('SIGTERM', forward);
  const minutes = ((Date.now() - startedAt) / 60_000).toFixed(1);
  console.log(`== ${name}: ${status === 0 ? 'passed' : `FAILED (${signal ?? status})`} in ${minutes} min`);
  if (status !== 0) process.exitCode = 1;
}
