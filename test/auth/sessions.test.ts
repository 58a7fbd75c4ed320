/** Sessions: tokens that are stored as hashes, that end, and forms that belong to them. */

import { createHash } from 'node:crypto';
import t from 'tap';
import { createSessions, isFormToken, SESSION_MS } from '../../src/auth/sessions.ts';
import type { NewSession } from '../../src/store/ports/people.ts';
import { double } from '../support/double.ts';
import { createFakeClock } from '../support/fake-clock.ts';

function world() {
  const stored = new Map<string, NewSession & { readonly accountId: number }>();
  const hex = (sha256: Uint8Array) => Buffer.from(sha256).toString('hex');
  const clock = createFakeClock();
  const sessions = createSessions({
    clock,
    registry: double({
      async createSession(session) {
        stored.set(hex(session.sha256), { ...session, accountId: 1 });
        return { id: 1, name: 'acme', createdAt: 0, trustedAt: null, trustedBy: null };
      },
      async findSession(sha256, now) {
        const found = stored.get(hex(sha256));
        if (found === undefined || found.expiresAt <= now) return null;
        const { sha256: _, ...session } = found;
        return { ...session, personName: 'ada', accountName: 'acme', role: 'owner' };
      },
      async switchAccount(sha256, accountId) {
        const found = stored.get(hex(sha256));
        if (found !== undefined) stored.set(hex(sha256), { ...found, accountId });
        return found !== undefined;
      },
      endSession: async (sha256) => void stored.delete(hex(sha256)),
      async endSessionsOf(personId) {
        for (const [key, session] of stored) if (session.personId === personId) stored.delete(key);
      },
    }),
  });
  return { sessions, stored, clock };
}

t.test('it keeps the hash of a token alone, and knows it for 30 days', async (t) => {
  const { sessions, stored, clock } = world();
  const { token } = await sessions.open(7);
  t.match(token, /^[A-Za-z0-9_-]{43}$/);
  t.same([...stored.keys()], [createHash('sha256').update(token).digest('hex')]);
  t.match(await sessions.find(token), { personId: 7, personName: 'ada', accountName: 'acme' });
  for (const other of ['', 'x', token.slice(1), `${token}x`, 'A'.repeat(43)])
    t.equal(await sessions.find(other), null);
  await clock.advance(SESSION_MS - 1);
  t.ok(await sessions.find(token));
  await clock.advance(1);
  t.equal(await sessions.find(token), null);
});

t.test('it ends one session and no other', async (t) => {
  const { sessions } = world();
  const [first, second] = [await sessions.open(7), await sessions.open(7)];
  t.not(first.token, second.token);
  await sessions.end(first.token);
  await sessions.end('nonsense');
  t.equal(await sessions.find(first.token), null);
  t.ok(await sessions.find(second.token));
});

t.test('it takes a form of the very session alone', async (t) => {
  const { sessions } = world();
  const [mine, other] = [
    await sessions.find((await sessions.open(7)).token),
    await sessions.find((await sessions.open(7)).token),
  ];
  if (mine === null || other === null) throw new Error('no session');
  t.equal(isFormToken(mine, mine.formToken), true);
  for (const given of [other.formToken, '', mine.formToken.slice(1), `${mine.formToken}x`, 'ü'])
    t.equal(isFormToken(mine, given), false);
  const { token } = await sessions.open(7);
  const before = await sessions.find(token);
  t.equal(await sessions.switchAccount(token, 2), true);
  const after = await sessions.find(token);
  t.match(after, { accountId: 2 });
  t.not(after?.formToken, before?.formToken, 'a form of the account before is refused');
  for (const other of ['', 'A'.repeat(43)]) t.equal(await sessions.switchAccount(other, 2), false);
});
