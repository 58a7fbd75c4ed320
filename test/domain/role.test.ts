/** Roles: which includes which. */
import t from 'tap';
import { includesRole, isRole, ROLES, readScopes } from '../../src/domain/role.ts';

t.test('each role may do what those after it may, and no more', async (t) => {
  t.same(
    ROLES.map((role) => ROLES.filter((needed) => includesRole(role, needed))),
    [['owner', 'editor', 'viewer'], ['editor', 'viewer'], ['viewer']],
  );
});

t.test('it knows the names of roles', async (t) => {
  t.ok(ROLES.every(isRole));
  for (const text of ['', 'Owner', 'admin', 'constructor']) t.notOk(isRole(text), text);
});

t.test('it reads scopes once, in their order, and refuses words that are none', async (t) => {
  t.same(readScopes(['write', 'read', 'write']), ['read', 'write']);
  t.same(readScopes(['heartbeat']), ['heartbeat']);
  for (const words of [[], ['admin'], ['read', ''], ['Read'], ['constructor']])
    t.equal(readScopes(words), null, words.join());
});
