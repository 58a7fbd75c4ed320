import t from 'tap';
import { EXIT_FAULT, nextStep } from '../../src/cli/keep-alive.mjs';

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
    t.same(nextStep(end, ready, livedMs, failures, stopping), expected, what);
  }
});
