import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { cachedDataVersionTag } from 'node:v8';
import t from 'tap';
import { planBundle } from '../../src/cli/program-bundle.ts';
import { announceStart, runCompiled } from '../../src/thread/compiled-code.cjs';

const THREADS = ['catalogue', 'feeds', 'heatmap', 'probe', 'registry', 'render', 'samples'];

t.test('it joins the sources once, with every thread and every place that a source names', (t) => {
  const folder = join(t.testdir(), 'bundles');
  const { entry, prepare } = planBundle(folder);
  t.notOk(existsSync(entry), 'not yet');
  for (let age = 1; age <= 4; age++) {
    mkdirSync(join(folder, `old-${age}`), { recursive: true });
    utimesSync(join(folder, `old-${age}`), 1_000_000 - age, 1_000_000 - age);
  }
  const { status, stderr } = spawnSync(process.execPath, prepare ?? [], { encoding: 'utf8' });
  t.equal(status, 0, stderr);
  t.equal(stderr, '');
  t.same(planBundle(folder), { entry, prepare: null }, 'it is there');
  const [bundle = ''] = readdirSync(folder).filter((name) => !name.startsWith('old-'));
  t.same(
    readdirSync(folder).sort(),
    [bundle, 'old-1', 'old-2'].sort(),
    'earlier ones but the last two are gone',
  );

  const threads = readdirSync(join(folder, bundle, 'workers'));
  for (const name of THREADS) t.ok(threads.includes(`${name}.cjs`), name);
  const files = readdirSync(join(folder, bundle), { recursive: true, encoding: 'utf8' });
  const texts = files
    .filter((file) => file.endsWith('.js'))
    .map((file) => readFileSync(join(folder, bundle, file), 'utf8'));
  const all = texts.join('\n');
  for (const name of THREADS.filter((name) => name !== 'heatmap'))
    t.ok(all.includes(`/workers/${name}.cjs`), `the thread ${name} is started from the bundle`);
  t.notMatch(all, /workers\/[a-z-]+\.ts'/, 'none is started from its source');
  t.notMatch(all, /import\.meta\.(?!main\b)/, 'no place is that of the bundle');
  t.match(all, /\bvalidateConfig=\(\(\)=>/, 'the validator of the configuration is written out');
  t.ok(all.includes('importModule("node:sqlite")'));
  t.notMatch(all, /(?<![.$\w])import\(/, 'nothing is imported by an experimental function');
  t.notMatch(all, /[^\0-\x7f]/, 'no character makes V8 keep a file in two bytes a character');
  t.end();
});

t.test('it gives up a bundler that hangs', (t) => {
  const folder = t.testdir({ esbuild: '#!/bin/sh\nexec cat >&2\n' });
  chmodSync(join(folder, 'esbuild'), 0o755);
  const { prepare } = planBundle(join(folder, 'bundles'));
  const { status } = spawnSync(process.execPath, [...(prepare ?? []), '500'], {
    env: { ...process.env, ESBUILD_BINARY_PATH: join(folder, 'esbuild') },
    timeout: 60_000,
  });
  t.equal(status, 1);
  t.same(readdirSync(join(folder, 'bundles')), []);
  t.end();
});

t.test('a moved program and another version have bundles of their own', (t) => {
  const root = (name: string, version: string) => {
    const folder = join(t.testdirName, name);
    for (const part of ['src', 'workers']) mkdirSync(join(folder, part), { recursive: true });
    writeFileSync(join(folder, 'src/a.ts'), 'a');
    utimesSync(join(folder, 'src/a.ts'), 1, 1);
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ version }));
    return folder;
  };
  t.testdir();
  const bundles = join(t.testdirName, 'bundles');
  const first = planBundle(bundles, root('app', '1.0.0')).entry;
  t.equal(planBundle(bundles, root('app', '1.0.0')).entry, first);
  t.not(planBundle(bundles, root('app', '1.0.1')).entry, first, 'another version');
  t.not(planBundle(bundles, root('moved', '1.0.0')).entry, first, 'another place');
  t.end();
});

t.test('what a start has compiled is kept for the next one, where it can be written', async (t) => {
  const folder = t.testdir({
    bundle: {
      src: { cli: { 'a.js': '(function (module, exports, require) { exports.twice = (n) => 2 * n; })' } },
    },
    shared: {},
  });
  const before = process.env.NODE_COMPILE_CACHE;
  t.teardown(() => {
    if (before === undefined) delete process.env.NODE_COMPILE_CACHE;
    else process.env.NODE_COMPILE_CACHE = before;
  });
  const kept = (place: string) => readdirSync(join(folder, place)).filter((name) => name.endsWith('.code'));
  const run = () => {
    const exported = runCompiled(join(folder, 'bundle/src/cli/a.js')) as { twice(n: number): number };
    t.equal(exported.twice(2), 4);
    announceStart();
  };
  process.env.NODE_COMPILE_CACHE = join(folder, 'shared');
  // Not even the superuser can write over a folder.
  const tag = cachedDataVersionTag().toString(16);
  mkdirSync(join(folder, `bundle/src/cli/a-${tag}.code/in-the-way`), { recursive: true });
  run();
  const [code = ''] = await until(() => kept('shared'));
  t.match(code, /^[0-9a-f]+-a-/);
  const { ino } = statSync(join(folder, 'shared', code));
  rmSync(join(folder, `bundle/src/cli/a-${tag}.code`), { recursive: true });
  run();
  // A second file is written later than the first would be written again.
  writeFileSync(join(folder, 'bundle/src/cli/b.js'), '(function () {})');
  runCompiled(join(folder, 'bundle/src/cli/b.js'));
  announceStart();
  t.same(await until(() => kept('bundle/src/cli')), [`b-${tag}.code`], 'that of the first is taken');
  t.equal(statSync(join(folder, 'shared', code)).ino, ino);
});

t.test('a file imports what stays apart', async (t) => {
  const text =
    '(function (module, exports, require, importModule) { module.exports = importModule("node:os"); })';
  const folder = t.testdir({ 'a.js': text });
  const exported = await runCompiled(join(folder, 'a.js'), (specifier) => import(specifier));
  t.match(exported, { EOL: '\n' });
  announceStart();
});

t.test('the first start keeps the code of all files', async (t) => {
  const folder = t.testdir({ 'a.js': '(function () {})', 'b.js': '(function () {})' });
  const tag = cachedDataVersionTag().toString(16);
  runCompiled(join(folder, 'a.js'));
  runCompiled(join(folder, 'b.js'));
  announceStart();
  const kept = () =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.code'))
      .sort();
  await until(() => (kept().length < 2 ? [] : kept()));
  t.same(kept(), [`a-${tag}.code`, `b-${tag}.code`]);
});

t.test('a place for code that is no folder ends nothing', async (t) => {
  const folder = t.testdir({
    none: '',
    a: { 'a.js': '(function () {})' },
    b: { 'b.js': '(function () {})' },
  });
  const tag = cachedDataVersionTag().toString(16);
  mkdirSync(join(folder, `a/a-${tag}.code/in-the-way`), { recursive: true });
  const before = process.env.NODE_COMPILE_CACHE;
  process.env.NODE_COMPILE_CACHE = join(folder, 'none');
  runCompiled(join(folder, 'a/a.js'));
  runCompiled(join(folder, 'b/b.js'));
  if (before === undefined) delete process.env.NODE_COMPILE_CACHE;
  else process.env.NODE_COMPILE_CACHE = before;
  announceStart();
  const kept = await until(() => readdirSync(join(folder, 'b')).filter((name) => name.endsWith('.code')));
  t.same(kept, [`b-${tag}.code`]);
});

t.test('code that is damaged, or of another source of the same length, is left', async (t) => {
  const folder = t.testdir({ 'a.js': '(function (module) { module.exports = "old"; })' });
  const file = join(folder, 'a.js');
  const place = join(folder, `a-${cachedDataVersionTag().toString(16)}.code`);
  const keep = async () => {
    const exported = runCompiled(file);
    announceStart();
    await until(() => (existsSync(place) ? [place] : []));
    return exported;
  };
  t.equal(await keep(), 'old');
  writeFileSync(file, '(function (module) { module.exports = "new"; })');
  const { ino } = statSync(place);
  t.equal(await keep(), 'new');
  await until(() => (statSync(place).ino === ino ? [] : [place]));
  const whole = readFileSync(place);
  for (let at = 0; at < whole.length; at += 5) {
    const damaged = Buffer.from(whole);
    damaged.writeUInt8(damaged.readUInt8(at) ^ 0x10, at);
    writeFileSync(place, damaged);
    t.equal(runCompiled(file), 'new', `byte ${at}`);
    announceStart();
  }
});

/** Waits until there is something. */
async function until(read: () => string[]): Promise<string[]> {
  for (;;) {
    const found = read();
    if (found.length > 0) return found;
    await setTimeout(20);
  }
}
