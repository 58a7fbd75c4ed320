import t from 'tap';
import { editOf, type SetOptions } from '../../src/cli/set-service.ts';
import { DEFAULT_CHECK } from '../../src/domain/service.ts';
import type { ServiceEdit } from '../../src/store/ports/services.ts';

const CHECK = { ...DEFAULT_CHECK, kind: 'heartbeat', periodMs: 60_000 } as const;

t.test('it changes what is named, and leaves the rest', async (t) => {
  const cases: readonly [SetOptions, ServiceEdit][] = [
    [{}, {}],
    [
      { name: ' Shop ', category: 'ai' },
      { name: 'Shop', category: 'ai' },
    ],
    [
      { paused: false, publicDependencies: true },
      { paused: false, publicDependencies: true },
    ],
    [{ kind: 'health' }, { check: { ...CHECK, kind: 'health' } }],
    [{ period: '1h', grace: '5m' }, { check: { ...CHECK, periodMs: 3_600_000, graceMs: 300_000 } }],
    [{ period: 'default' }, { check: { ...DEFAULT_CHECK, kind: 'heartbeat' } }],
  ];
  for (const [options, edit] of cases)
    t.strictSame(editOf({ check: CHECK }, options), edit, JSON.stringify(options));
});

t.test('it refuses what cannot be meant, and says what can', async (t) => {
  const cases: readonly [SetOptions, RegExp][] = [
    [{ name: ' ' }, /1 to 100/],
    [{ category: 'shops' }, /unknown category "shops"; there are ai, /],
    [{ period: '5 minutes' }, /--period must be a duration/],
    [{ period: '500ms' }, /--period/],
    [{ grace: '2y' }, /--grace must be/],
  ];
  for (const [options, message] of cases)
    t.throws(() => editOf({ check: CHECK }, options), { code: 'command_failed', message });
});
