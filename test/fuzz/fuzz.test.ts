/** What reads input from outside: inputs that failed once, and a few thousand new ones. `npm run soak -- fuzz` tries a million. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openApiFuzz } from './api-requests.ts';
import { fuzz, tryInput } from './fuzz.ts';
import { seededRandom } from './fuzz-input.ts';
import { READERS } from './readers.ts';

t.setTimeout(300_000);

const CORPUS = join(import.meta.dirname, 'corpus');

t.test('no input of the corpus fails again', async (t) => {
  for (const name of readdirSync(CORPUS)) {
    const target = READERS.find((reader) => reader.name === name);
    if (target === undefined) {
      t.fail(`no reader is called ${name}`);
      continue;
    }
    for (const file of readdirSync(join(CORPUS, name)))
      t.equal(await tryInput(target, readFileSync(join(CORPUS, name, file))), null, `${name} ${file}`);
  }
});

t.test('every reader refuses hostile inputs as it promises, and soon', async (t) => {
  for (const target of READERS) {
    const failure = await fuzz(target, 7, 40);
    t.strictSame(failure && [failure.error.message, failure.input.toString('latin1')], null, target.name);
  }
});

t.test('a reader that fails is found, with a small input that fails too', async (t) => {
  const read = (input: Buffer) => {
    if (input.includes('__proto__')) throw new Error('it fails');
  };
  const target = { name: 'failing', examples: ['a long example of what it reads'], read };
  const failure = await fuzz(target, 1, 10_000);
  t.equal(failure?.input.toString(), '__proto__');
  t.strictSame(await fuzz(target, 1, 10_000), failure, 'the seed repeats it');
  t.notOk(existsSync(join(CORPUS, 'failing')));
});

t.test('the API answers every request as its document says, and none by a fault of its own', async (t) => {
  const api = await openApiFuzz();
  t.teardown(api.close);
  const random = seededRandom(7);
  for (let index = 0; index < 6 * api.operations; index++) {
    const wrong = await api.tryOne(random, index);
    if (wrong !== null) t.strictSame(wrong, null);
  }
  t.ok(api.operations > 60);
});
