/** The inbox of heartbeats. */
import type { HeartbeatWrite, InboxEntry } from '../../../../src/store/ports/heartbeats.ts';
import type { StatusUpdate } from '../../../../src/store/ports/updates.ts';
import { overBoth } from '../../registry-contract.ts';
import { firstTurn, NOON, stay } from '../../registry-fixtures.ts';

const BODY = '{"domain":"a.com","status":"ok"}';

function entry(accountId: number, arrivedAt: number): Omit<InboxEntry, 'id'> {
  return { kind: 'beat', accountId, arrivedAt, body: BODY };
}

function heartbeat(accountId: number, arrivedAt: number, inboxId: number): HeartbeatWrite {
  return {
    accountId,
    kind: 'beat',
    arrivedAt,
    timestamp: null,
    counted: true,
    verdict: 'up',
    responseTimeMs: 12,
    dependencies: null,
    run: null,
    body: BODY,
    inboxId,
  };
}

overBoth(async (t, open) => {
  t.test('it answers a heartbeat with its update, in one transaction, once', async (t) => {
    const dataDir = t.testdir();
    const [monitor, server] = [await open(t, dataDir), await open(t, dataDir)];
    const { id: accountId } = await server.ensureAccount('acme', NOON);
    const first = await server.putInInbox(entry(accountId, NOON));
    const second = await server.putInInbox(entry(accountId, NOON + 1));
    t.strictSame(await monitor.openInInbox(0), [
      { id: first, ...entry(accountId, NOON) },
      { id: second, ...entry(accountId, NOON + 1) },
    ]);
    t.strictSame(await monitor.openInInbox(first), [{ id: second, ...entry(accountId, NOON + 1) }]);
    t.strictSame(await server.inboxAnswers([first, second]), []);

    const service = await monitor.claimDomain('a.com', accountId);
    const judged = { ...firstTurn(service.id, 'up', NOON), heartbeat: heartbeat(accountId, NOON, first) };
    t.match(await monitor.commitUpdates([judged]), [{ kind: 'committed' }]);
    t.strictSame(await server.inboxAnswers([first, second]), [
      {
        id: first,
        answer: {
          kind: 'written',
          serviceId: service.id,
          current: judged.current,
          responseTimeMs: 12,
          runMs: null,
        },
      },
    ]);
    const again: StatusUpdate = {
      ...stay(judged.current, NOON + 2),
      heartbeat: heartbeat(accountId, NOON, first),
    };
    t.strictSame(
      await monitor.commitUpdates([again]),
      [{ kind: 'stale', current: judged.current }],
      'what was answered is not judged again',
    );
    t.equal((await monitor.recentHeartbeats(service.id)).length, 1);
    t.same(
      (await monitor.openInInbox(0)).map(({ id }) => id),
      [second],
    );
  });

  t.test('it keeps the first answer, and forgets what was answered', async (t) => {
    const registry = await open(t);
    const [first, second, third] = [
      await registry.putInInbox({ kind: 'refused', accountId: 0, arrivedAt: NOON, body: '' }),
      await registry.putInInbox(entry(7, NOON + 1)),
      await registry.putInInbox(entry(7, NOON + 2)),
    ];
    const refusal = { kind: 'refused', code: 'foreign_domain', message: 'It is not yours.' } as const;
    await registry.answerInInbox(first, refusal);
    await registry.answerInInbox(first, { ...refusal, code: 'other' });
    await registry.answerInInbox(third, refusal);
    t.strictSame(await registry.inboxAnswers([first, second, 999]), [{ id: first, answer: refusal }]);
    t.equal(await registry.forgetInbox(NOON + 2), 1);
    t.strictSame(await registry.inboxAnswers([first, third]), [{ id: third, answer: refusal }]);
    t.same(
      (await registry.openInInbox(0)).map(({ id }) => id),
      [second],
      'what waits is never forgotten',
    );
  });

  t.test('it reads two hundred at a time', async (t) => {
    const registry = await open(t);
    await Promise.all(Array.from({ length: 205 }, () => registry.putInInbox(entry(1, NOON))));
    const page = await registry.openInInbox(0);
    t.equal(page.length, 200);
    t.equal((await registry.openInInbox(page.at(-1)?.id ?? 0)).length, 5);
  });

  t.test('it reports what other processes commit, and nothing of its own', async (t) => {
    const dataDir = t.testdir();
    const [one, other] = [await open(t, dataDir), await open(t, dataDir)];
    let heard = Promise.withResolvers<void>();
    let own = 0;
    const stops = [one.watchOtherProcesses(() => heard.resolve()), other.watchOtherProcesses(() => own++)];
    for (let round = 0; round < 3; round++) {
      // The first look may come after the first commit: what was committed before it is no news.
      const commits = setInterval(() => void other.setFact('round', String(Math.random())), 20);
      await heard.promise;
      clearInterval(commits);
      heard = Promise.withResolvers<void>();
    }
    t.equal(own, 0);
    for (const stop of stops) stop();
  });
});
