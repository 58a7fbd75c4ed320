/** The parent of the program, with a program, a clock and a `sleep` in their places. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { EXIT_FAULT } from '../../src/cli/run-program.ts';
import { until } from '../support/loopback.ts';

const KEEP_ALIVE = join(import.meta.dirname, '../../src/cli/keep-alive.sh');

/** The lives of a program, one a line: seconds by the clock, and what ends it. */
type Lives = readonly (readonly [number, string])[];

/** A folder with programs that note what they are called with. `sleep`: what a pause is. */
function prepare(t: Pick<Test, 'testdir'>, lives: Lives, sleep = 'exit') {
  const folder = t.testdir({
    lives: lives.map((life) => `${life.join(' ')}\n`).join(''),
    called: '',
    now: '1000',
    bin: {
      date: '#!/bin/sh\nread -r now <"$FOLDER/now"; eval "$MEANWHILE"; echo "$now"\n',
      sleep: `#!/bin/sh\necho "sleep $1" >>"$FOLDER/called"\n${sleep}\n`,
      'the program': `#!/bin/sh
        echo "$@" >>"$FOLDER/called"
        { read -r seconds end; rest=$(cat); } <"$FOLDER/lives"
        echo "$rest" >"$FOLDER/lives"
        read -r now <"$FOLDER/now"; echo $((now + seconds)) >"$FOLDER/now"
        eval "$end"\n`,
    },
  });
  for (const name of ['date', 'sleep', 'the program']) chmodSync(join(folder, 'bin', name), 0o755);
  return {
    folder,
    env: { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, FOLDER: folder },
    called: () => readFileSync(join(folder, 'called'), 'utf8').trimEnd().split('\n'),
    args: (bundle = '') => [
      ...[KEEP_ALIVE, join(folder, 'bundled'), 'sources', 'bundler', bundle, '-a b.yaml', '--small-heaps'],
      ...[join(folder, 'bin', 'the program'), '--flag'],
    ],
  };
}

const ABORT = 'kill -ABRT $$';

t.test('it ends with the program, or starts it again after a pause that grows', (t) => {
  for (const [what, lives, status, pauses] of [
    ['a clean end', [[5, 'exit 0']], 0, []],
    ['wrong usage', [[0, 'exit 2']], 2, []],
    ['a failed start', [[1, 'exit 1']], 1, []],
    ['no program', [[1, 'exit 127']], 127, []],
    [
      'failed starts after a fault',
      [
        [9, `exit ${EXIT_FAULT}`],
        [1, 'exit 1'],
        [1, 'exit 2'],
        [1, 'exit 0'],
      ],
      0,
      [1, 2, 4],
    ],
    [
      'an abort, and a kill while starting',
      [
        [9, ABORT],
        [0, 'kill -KILL $$'],
        [1, 'exit 0'],
      ],
      0,
      [1, 2],
    ],
    [
      'many faults',
      [...Array<[number, string]>(7).fill([9, ABORT]), [9, 'exit 0']],
      0,
      [1, 2, 4, 8, 16, 30, 30],
    ],
    [
      'a fault after a good life',
      [
        [9, ABORT],
        [9, ABORT],
        [60, ABORT],
        [9, 'exit 0'],
      ],
      0,
      [1, 2, 1],
    ],
  ] as const) {
    const { env, args, called } = prepare(t, lives);
    // Variables of the operator that have the names of its own.
    Object.assign(env, { stopping: 'no', running: 'no' });
    const ended = spawnSync('/bin/sh', args(), { env, encoding: 'utf8' });
    t.equal(ended.status, status, what);
    t.same(
      called().flatMap((line) => /^sleep (\d+)$/.exec(line)?.[1] ?? []),
      pauses.map(String),
      what,
    );
    t.equal(
      ended.stderr.match(/^upbeat: ended by .*; starting again in \d+ s$/gm)?.length ?? 0,
      pauses.length,
      what,
    );
  }
  t.end();
});

t.test('it says what has ended the program', (t) => {
  const { env, args } = prepare(t, [
    [9, ABORT],
    [9, 'kill -KILL $$'],
    [9, 'exit 70'],
    [9, 'exit 0'],
  ]);
  const { stderr } = spawnSync('/bin/sh', args(), { env, encoding: 'utf8' });
  for (const line of [
    'upbeat: ended by SIGABRT; starting again in 1 s',
    'upbeat: ended by SIGKILL; starting again in 2 s',
    'upbeat: ended by a fault (status 70); starting again in 4 s',
  ])
    t.ok(stderr.split('\n').includes(line), line);
  t.end();
});

t.test('it runs what has been bundled, and makes that first', (t) => {
  const { folder, env, args, called } = prepare(t, [
    [0, 'touch "$FOLDER/bundled"; exit 3'],
    [0, 'exit 0'],
  ]);
  t.equal(spawnSync('/bin/sh', args('the bundle'), { env }).status, 0);
  t.same(
    called().map((line) => line.replace(/--parent \d+/, '--parent P')),
    ['bundler the bundle', `--flag ${folder}/bundled --config=-a b.yaml --parent P --small-heaps`],
  );
  t.end();
});

t.test('a signal ends the program and its parent, whenever it comes', async (t) => {
  const LISTENS = `trap "echo stopped >>\\"$FOLDER/called\\"; exit 0" TERM; trap "echo reloaded >>\\"$FOLDER/called\\"" HUP; echo listens >>"$FOLDER/called"; while :; do /bin/sleep 0.02; done`;
  const begin = (lives: Lives, sleep?: string, bundle?: string) => {
    const { env, args, called } = prepare(t, lives, sleep);
    const child = spawn('/bin/sh', args(bundle), { env, stdio: 'ignore' });
    t.teardown(() => child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    return { child, ended, called, until: (line: string) => until(() => called().includes(line)) };
  };
  await t.test('while it runs, and it reloads before', async (t) => {
    const { child, ended, until } = begin([[9, LISTENS]]);
    await until('listens');
    child.kill('SIGHUP');
    await until('reloaded');
    child.kill('SIGINT');
    t.same(await ended, [0, null]);
    await until('stopped');
  });
  await t.test('while it makes the bundle', async (t) => {
    const { child, ended, until, called } = begin([[9, LISTENS]], 'exit', 'the bundle');
    await until('listens');
    child.kill('SIGTERM');
    t.same(await ended, [0, null]);
    t.same(called(), ['bundler the bundle', 'listens', 'stopped']);
  });
  await t.test('while the program begins, before it can take one', async (t) => {
    const { env, args } = prepare(t, [[9, LISTENS]]);
    const meanwhile = { ...env, MEANWHILE: 'kill -TERM "$PPID"' };
    for (let run = 0; run < 3; run++) {
      const { status, signal } = spawnSync('/bin/sh', args(), { env: meanwhile, timeout: 30_000 });
      t.same([status === 0 || status === 1, signal], [true, null]);
    }
  });
  await t.test('in a pause, which a reload does not end', async (t) => {
    const { child, ended, until, called } = begin([[9, ABORT]], 'exec /bin/sleep 600');
    await until('sleep 1');
    child.kill('SIGHUP');
    child.kill('SIGTERM');
    t.same(await ended, [0, null]);
    t.equal(called().length, 2, 'nothing was started again');
  });
  await t.test('and the status of one that is killed meanwhile is 1', async (t) => {
    const { child, ended, until } = begin([[9, LISTENS.replace('exit 0', () => 'kill -KILL $$')]]);
    await until('listens');
    child.kill('SIGTERM');
    t.same(await ended, [1, null]);
  });
});
