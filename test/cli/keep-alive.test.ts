import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { EXIT_FAULT, EXIT_LARGE_FLEET, nextStep } from '../../src/cli/keep-alive.mjs';

t.test('it ends with its child, or starts it again', async (t) => {
  for (const [what, end, ready, livedMs, failures, stopping, expected] of [
    ['a clean end', { code: 0, signal: null }, true, 5_000, 0, false, { kind: 'exit', code: 0 }],
    ['wrong usage', { code: 2, signal: null }, false, 50, 0, false, { kind: 'exit', code: 2 }],
    ['a failed start', { code: 1, signal: null }, false, 900, 0, false, { kind: 'exit', code: 1 }],
    [
      'a failed start after a fault',
      { code: 1, signal: null },
      false,
      11_000,
      1,
      false,
      { kind: 'restart', afterMs: 2_000, failures: 2 },
    ],
    [
      'a configuration that has become wrong before a fault',
      { code: 2, signal: null },
      false,
      50,
      1,
      false,
      { kind: 'restart', afterMs: 2_000, failures: 2 },
    ],
    [
      'a stop that was asked for',
      { code: null, signal: 'SIGTERM' },
      true,
      900,
      0,
      true,
      { kind: 'exit', code: 1 },
    ],
    [
      'an abort',
      { code: null, signal: 'SIGABRT' },
      true,
      900,
      0,
      false,
      { kind: 'restart', afterMs: 1_000, failures: 1 },
    ],
    [
      'a kill while starting',
      { code: null, signal: 'SIGKILL' },
      false,
      9,
      0,
      false,
      { kind: 'restart', afterMs: 1_000, failures: 1 },
    ],
    [
      'a fault',
      { code: EXIT_FAULT, signal: null },
      true,
      9,
      1,
      false,
      { kind: 'restart', afterMs: 2_000, failures: 2 },
    ],
    [
      'a bug after the start',
      { code: 1, signal: null },
      true,
      9,
      2,
      false,
      { kind: 'restart', afterMs: 4_000, failures: 3 },
    ],
    [
      'many faults',
      { code: 70, signal: null },
      true,
      9,
      9,
      false,
      { kind: 'restart', afterMs: 30_000, failures: 10 },
    ],
    [
      'a fault after a good life',
      { code: 70, signal: null },
      true,
      60_000,
      9,
      false,
      { kind: 'restart', afterMs: 1_000, failures: 1 },
    ],
  ] as const) {
    t.same(nextStep(end, { wasReady: ready, livedMs, failures, stopping }), expected, what);
  }
});

t.test('a large fleet is started again with its own heaps, unless there is little memory', (t) => {
  const folder = t.testdir({
    'program.mjs': `import { writeSync } from 'node:fs';
      const isSmall = process.argv.includes('--small-heaps');
      writeSync(1, JSON.stringify([process.execArgv, process.env.HEAPS, process.argv.slice(2)]) + '\\n');
      process.exit(isSmall ? ${EXIT_LARGE_FLEET} : 3);`,
  });
  const small = { execArgv: ['--max-semi-space-size=1'], env: { HEAPS: 'small' } };
  const large = { execArgv: ['--max-semi-space-size=16'], env: { HEAPS: 'large' } };
  const run = (plans: readonly object[]) => {
    const entries = [join(folder, 'none.mjs'), join(folder, 'program.mjs')];
    const order = { entries, args: ['--config', 'x'], plans, prepare: null };
    const { status, stdout } = spawnSync(
      process.execPath,
      ['src/cli/keep-alive.mjs', JSON.stringify(order)],
      { encoding: 'utf8' },
    );
    return [
      status,
      ...stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ];
  };
  t.same(run([small, large]), [
    3,
    [small.execArgv, 'small', ['--config', 'x', '--small-heaps']],
    [large.execArgv, 'large', ['--config', 'x']],
  ]);
  t.same(run([small]), [3, [small.execArgv, 'small', ['--config', 'x']]]);
  t.end();
});
