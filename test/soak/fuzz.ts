/**
 * `npm run soak -- fuzz --times 50`: the property tests with so many times the examples of `npm test`, each test file
 * after the other. Takes about half an hour. Ends with status 1 where a property does not hold; fast-check prints the
 * example and its seed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { FUZZ_VARIABLE } from '../support/property-runs.ts';

const ROOT = join(import.meta.dirname, '../..');
const { values } = parseArgs({ options: { times: { type: 'string', default: '50' } } });
const files = globSync('test/**/*.test.ts', { cwd: ROOT }).filter((file) =>
  readFileSync(join(ROOT, file), 'utf8').includes('support/property-runs.ts'),
);
for (const file of files.sort()) {
  const startedAt = performance.now();
  const test = spawn(process.execPath, [file], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
    // An hour for a file.
    env: { ...process.env, [FUZZ_VARIABLE]: values.times, TAP_TIMEOUT: '3600' },
  });
  let output = '';
  test.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  const [status] = await once(test, 'close');
  if (status !== 0) {
    process.exitCode = 1;
    console.log(output);
  }
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'}  ${file}  ${seconds} s`);
}
