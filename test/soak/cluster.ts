/**
 * `npm run soak -- cluster [PART] [OPTIONS]`: trials of a whole cluster with real processes, each part a script in
 * `cluster/`. Without PART and options all parts run, one after the other; options alone are those of `kills`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** The parts, in the order in which they run. */
const PARTS = ['kills', 'servers', 'cuts', 'upgrade'];

const [first, ...rest] = process.argv.slice(2);
const isOption = first?.startsWith('-') ?? false;
const part = isOption ? 'kills' : first;
const args = isOption ? process.argv.slice(2) : rest;

if (part !== undefined && !PARTS.includes(part)) {
  console.error(`unknown part '${part}'; there are: ${PARTS.join(', ')}`);
  process.exitCode = 2;
} else {
  for (const name of part === undefined ? PARTS : [part]) {
    console.log(`== cluster ${name}`);
    const file = join(import.meta.dirname, 'cluster', `${name}.ts`);
    const [status] = await once(spawn(process.execPath, [file, ...args], { stdio: 'inherit' }), 'exit');
    if (status !== 0) process.exitCode = 1;
  }
}
