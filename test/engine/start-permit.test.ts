/** Until when hosts may start attempts. */
import t from 'tap';
import { createStartPermit, readStartPermit } from '../../src/engine/start-permit.ts';

t.test('a permit allows nothing before it is set, after its end, and once it is revoked', async (t) => {
  const permit = createStartPermit();
  let now = 5n;
  const mayStart = readStartPermit(permit.shared, () => now);
  t.notOk(mayStart());
  permit.set(10n);
  t.ok(mayStart());
  now = 10n;
  t.notOk(mayStart());
  permit.set(20n);
  t.ok(mayStart(), 'it is renewed');
  permit.revoke();
  t.notOk(mayStart());
});

t.test('without a permit, attempts are started always', async (t) => {
  t.ok(readStartPermit(undefined)());
});
