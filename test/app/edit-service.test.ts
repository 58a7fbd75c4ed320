/** The rules for changes of a service by its owner. */
import t from 'tap';
import { type EditReading, readServiceEdit, type ServiceChanges } from '../../src/app/edit-service.ts';
import { DEFAULT_CHECK } from '../../src/domain/service.ts';
import type { ServiceEdit } from '../../src/store/ports/services.ts';

const CHECK = { ...DEFAULT_CHECK, kind: 'heartbeat', periodMs: 60_000, graceMs: 5_000 } as const;

t.test('it changes the named fields and keeps the others', async (t) => {
  const { periodMs: _period, ...withoutPeriod } = CHECK;
  const cases: readonly [ServiceChanges, ServiceEdit][] = [
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
    [{ period: '1s', grace: '0s' }, { check: { ...CHECK, periodMs: 1_000, graceMs: 0 } }],
    [{ period: '365d' }, { check: { ...CHECK, periodMs: 31_536_000_000 } }],
    [{ period: null }, { check: withoutPeriod }],
  ];
  for (const [changes, edit] of cases)
    t.strictSame(readServiceEdit(CHECK, changes), { ok: true, edit }, JSON.stringify(changes));
});

t.test('it names the first field that is not valid', async (t) => {
  const cases: readonly [ServiceChanges, EditReading][] = [
    [
      { name: '', category: 'x' },
      { ok: false, field: 'name', problem: { code: 'length', maxLength: 100 } },
    ],
    [
      { category: 'shops', kind: 'x' },
      { ok: false, field: 'category' },
    ],
    [
      { kind: 'push', period: 'x' },
      { ok: false, field: 'kind' },
    ],
    [
      { period: '999ms', grace: 'x' },
      { ok: false, field: 'period' },
    ],
    [{ period: '366d' }, { ok: false, field: 'period' }],
    [{ grace: '5 minutes' }, { ok: false, field: 'grace' }],
  ];
  for (const [changes, reading] of cases)
    t.strictSame(readServiceEdit(CHECK, changes), reading, JSON.stringify(changes));
});
