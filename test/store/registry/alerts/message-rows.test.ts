/** Messages of alerts in the registry: their order, their bounds and their times. */

import { channelOf, deliver, messageOf, open2 } from '../../alert-fixtures.ts';
import { overBoth } from '../../registry-contract.ts';
import { NOON } from '../../registry-fixtures.ts';

const FAILED = { code: 'status', statusCode: 503, text: '' } as const;

overBoth(async (t, open) => {
  t.test('it sends the messages of a channel one after the other, and replays one as the last', async (t) => {
    const { registry, ada, grace, channel, decide } = await open2(t, open);
    await decide([messageOf('t1'), messageOf('t2', { type: 'recovery' })]);
    const other = await registry.addChannel(channelOf(grace));
    t.equal(await registry.addMessage(ada, other.id, messageOf('x', { type: 'test' }), NOON), false);
    t.equal(await registry.addMessage(grace, other.id, messageOf('x', { type: 'test' }), NOON + 1), true);
    const due = await registry.dueMessages(NOON + 1, 9);
    t.match(due, [
      { channelId: channel.id, channel, reference: null, attempts: 0, message: { type: 'alert' } },
      { channelId: other.id, message: { type: 'test' } },
    ]);
    t.equal(due.length, 2, 'the first of each channel');
    t.match(due[0]?.key, /^msg_[0-9a-f]{32}$/);
    const [first] = due;
    const failed = {
      ...{ id: first?.id ?? 0, wasDueAt: NOON, triedAt: NOON, at: NOON + 1 },
      ...{ deliveredAt: null, problem: FAILED },
    };
    await registry.noteMessage({ ...failed, dueAt: NOON + 5_000 });
    t.match(await registry.dueMessages(NOON + 4_999, 9), [{ channelId: other.id }]);
    t.equal((await registry.dueMessages(NOON + 4_999, 9)).length, 1, 'the second waits for the first');
    t.match(await registry.countAlerts(NOON + 6_000), { waiting: 3, retrying: 1, overdueMs: 5_999 });
    await registry.noteMessage({ ...failed, dueAt: null });
    const again = await registry.dueMessages(NOON + 5_000, 9);
    t.match(
      again.find(({ id }) => id === first?.id),
      { attempts: 1, problem: FAILED, key: first?.key },
      'an outcome of an earlier attempt changes nothing',
    );
    await registry.noteMessage({ ...failed, wasDueAt: NOON + 5_000, dueAt: null });
    const recovery = (await registry.dueMessages(NOON + 5_000, 9)).find(
      ({ channelId }) => channelId === channel.id,
    );
    t.match(recovery, { message: { type: 'recovery' } }, 'one that was given up holds none up');
    t.equal(await registry.replayMessage(grace, first?.id ?? 0, NOON + 6_000), false);
    t.equal(await registry.replayMessage(ada, first?.id ?? 0, NOON + 6_000), true);
    await registry.noteMessage({
      id: recovery?.id ?? 0,
      wasDueAt: recovery?.dueAt ?? null,
      ...{ triedAt: NOON + 6_500, at: NOON + 6_500 },
      deliveredAt: NOON + 6_500,
      problem: null,
      dueAt: null,
      reference: 'ts-1',
    });
    t.match(
      (await registry.dueMessages(NOON + 7_000, 9)).find(({ channelId }) => channelId === channel.id),
      { id: first?.id, key: first?.key, attempts: 0, problem: null, reference: null },
    );
    t.same(
      (await registry.messagesOf(ada)).map(({ message, deliveredAt }) => [message.type, deliveredAt]),
      [
        ['recovery', NOON + 6_500],
        ['alert', null],
      ],
    );
    t.equal((await registry.messagesOf(ada, other.id)).length, 0);
    t.equal(await registry.forgetMessages(NOON + 99), 1, 'what waits is kept');
    await registry.removeChannel(ada, channel.id);
    t.match(await registry.dueMessages(NOON + 9_000, 9), [{ channelId: other.id }]);
    t.same(await registry.messagesOf(ada), []);
  });

  t.test('a message written while the clock was ahead does not hold up its channel', async (t) => {
    const { registry, channel, decide } = await open2(t, open);
    const year = 365 * 86_400_000;
    await decide([messageOf('t1')], channel.id, NOON + year);
    const [first] = await registry.dueMessages(NOON, 9);
    t.match(first, { dueAt: NOON + year, attempts: 0 }, 'one that was not tried');
    const [triedAt, at] = [NOON + year, NOON + year];
    const failed = { id: first?.id ?? 0, triedAt, at, deliveredAt: null, problem: FAILED };
    const dueAt = NOON + year + 5_000;
    await registry.noteMessage({ ...failed, wasDueAt: NOON + year, dueAt });
    t.match(await registry.dueMessages(NOON, 9), [{ dueAt, attempts: 1 }], 'one that has failed');
    await registry.noteMessage({ ...failed, wasDueAt: dueAt, dueAt: NOON + 3_960_000 });
    t.same(await registry.dueMessages(NOON, 9), [], 'the longest wait after an attempt is kept');
  });

  t.test('it names at most 8 messages of an account', async (t) => {
    const { registry, ada, grace, decide } = await open2(t, open);
    const channels = [];
    for (let n = 0; n < 9; n++) channels.push(await registry.addChannel(channelOf(ada, `c${n}`)));
    for (const { id } of channels) await decide([messageOf('t')], id);
    const late = await registry.addChannel(channelOf(grace));
    await decide([messageOf('t')], late.id, NOON + 5);
    const due = (await registry.dueMessages(NOON + 9, 99)).map(({ channelId }) => channelId);
    t.same(due, [...channels.slice(0, 8).map(({ id }) => id), late.id]);
    t.equal((await registry.dueMessages(NOON + 9, 3)).length, 3);
  });

  t.test('it drops the oldest of too many messages, but not the one that is being sent', async (t) => {
    const { registry, ada, channel, decide } = await open2(t, open);
    const numbered = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, n) => messageOf(`t${from + n}`));
    await decide(numbered(0, 1_000));
    await decide(numbered(1_000, 1_002));
    t.match(await registry.countAlerts(NOON), { waiting: 1_000, delivered: 0, failed: 2, dropped: 2 });
    const waiting = [await deliver(registry, NOON + 1), await deliver(registry, NOON + 1)];
    t.same(
      waiting.map(({ message }) => [message.thread, message.dropped]),
      [
        ['t0', undefined],
        ['t3', 2],
      ],
    );
    await decide(numbered(1_002, 1_005));
    const [head, next] = [await deliver(registry, NOON + 1), await deliver(registry, NOON + 1)];
    t.same([head.message.thread, next.message.thread, next.message.dropped], ['t4', 't6', 1]);
    await registry.addMessage(ada, channel.id, messageOf('x', { type: 'test' }), NOON);
    const [newest, before] = await registry.messagesOf(ada, channel.id);
    t.same([newest?.message.type, before?.message.thread], ['test', 't1004']);
  });

  t.test('it measures the time from the first failed attempt to the delivery', async (t) => {
    const { registry, ada, grace, channel, decide } = await open2(t, open);
    t.strictSame(await registry.alertDelay(null, 0), { count: 0, p50Ms: null, p99Ms: null });
    await decide([
      ...[1, 2, 3].map((n) => messageOf(`t${n}`, { at: NOON - n * 1_000 })),
      messageOf('t4', { type: 'recovery' }),
      messageOf('t5', { urgency: 'normal' }),
    ]);
    await registry.commitAlerts({
      position: 0,
      states: [],
      messages: [{ channelId: channel.id, message: messageOf('t6'), isDelayed: true }],
      acknowledgements: [],
      rulesVersion: await registry.rulesVersion(),
      now: NOON,
    });
    for (let n = 0; n < 6; n++) await deliver(registry, NOON + 100);
    t.strictSame(await registry.alertDelay(ada, NOON), { count: 3, p50Ms: 2_100, p99Ms: 3_100 });
    t.strictSame(await registry.alertDelay(null, NOON), { count: 3, p50Ms: 2_100, p99Ms: 3_100 });
    t.equal((await registry.alertDelay(grace, NOON)).count, 0);
    t.equal((await registry.alertDelay(ada, NOON + 101)).count, 0);
  });
});
