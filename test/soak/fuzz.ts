/**
 * `npm run soak -- fuzz [--inputs 1000000] [--seed N] [--times 50]`: hostile inputs for everything that reads some from outside, then
 * the property tests with so many times the examples of `npm test`. Either part is left out by 0. A million inputs take about ten
 * minutes, 50 times the examples half an hour. Ends with status 1 where something fails; the input is kept in `test/fuzz/corpus/`,
 * which `npm test` tries again, and fast-check prints its example and seed.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openApiFuzz } from '../fuzz/api-requests.ts';
import { fuzz } from '../fuzz/fuzz.ts';
import { seededRandom } from '../fuzz/fuzz-input.ts';
import { READERS } from '../fuzz/readers.ts';
import { FUZZ_VARIABLE } from '../support/property-runs.ts';

const ROOT = join(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: {
    inputs: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
    times: { type: 'string', default: '50' },
  },
});
/** The part of the API in the weights of the readers. */
const API_WEIGHT = 2;

function report(name: string, cases: number, startedAt: number, isGood: boolean): void {
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  console.log(`${isGood ? 'ok  ' : 'FAIL'}  ${name}  ${cases} inputs  ${seconds} s`);
  if (!isGood) process.exitCode = 1;
}

async function tryInputs(inputs: number, seed: number): Promise<void> {
  const sum = READERS.reduce((total, { weight = 1 }) => total + weight, API_WEIGHT);
  const casesOf = (weight: number) => Math.ceil((inputs * weight) / sum);
  console.log(`seed ${seed}`);
  let tried = 0;
  for (const target of READERS) {
    const startedAt = performance.now();
    const cases = casesOf(target.weight ?? 1);
    const failure = await fuzz(target, seed, cases);
    report(target.name, cases, startedAt, failure === null);
    tried += cases;
    if (failure === null) continue;
    const folder = join(import.meta.dirname, '../fuzz/corpus', target.name);
    mkdirSync(folder, { recursive: true });
    const file = join(folder, createHash('sha256').update(failure.input).digest('hex').slice(0, 16));
    writeFileSync(file, failure.input);
    console.log(failure.error.stack, `\nkept in ${file}`);
  }
  const startedAt = performance.now();
  const api = await openApiFuzz();
  const random = seededRandom(seed);
  let wrong = 0;
  for (let index = 0; index < casesOf(API_WEIGHT); index++) {
    const found = await api.tryOne(random, index);
    if (found === null) continue;
    wrong++;
    if (wrong <= 10) console.log(found.wrong, '\n', found.request.slice(0, 2_000));
  }
  await api.close();
  report('the API', casesOf(API_WEIGHT), startedAt, wrong === 0);
  console.log(`${tried + casesOf(API_WEIGHT)} inputs`);
}

async function tryProperties(times: string): Promise<void> {
  const files = globSync('test/**/*.test.ts', { cwd: ROOT }).filter((file) =>
    readFileSync(join(ROOT, file), 'utf8').includes('support/property-runs.ts'),
  );
  for (const file of files.sort()) {
    const startedAt = performance.now();
    const test = spawn(process.execPath, [file], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'inherit'],
      // An hour for a file.
      env: { ...process.env, [FUZZ_VARIABLE]: times, TAP_TIMEOUT: '3600' },
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
}

if (values.inputs !== '0') await tryInputs(Number(values.inputs), Number(values.seed));
if (values.times !== '0') await tryProperties(values.times);
