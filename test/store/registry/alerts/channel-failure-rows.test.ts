/** Channels that fail, and what is told of that. */

import { channelOf, deliver, messageOf, open2 } from '../../alert-fixtures.ts';
import { overBoth } from '../../registry-contract.ts';
import { NOON } from '../../registry-fixtures.ts';

const FAILED = { code: 'status', statusCode: 503, text: '' } as const;

overBoth(async (t, open) => {
  t.test('it tells of a channel that fails, once, over another channel, else by a notice', async (t) => {
    const { registry, ada, channel, decide } = await open2(t, open);
    const other = await registry.addChannel(channelOf(ada, 'mail'));
    const fail = async (channelId: number, at: number) => {
      const due = (await registry.dueMessages(at, 9)).find((found) => found.channelId === channelId);
      const { id = 0, dueAt: wasDueAt = null } = due ?? {};
      const tried = { id, wasDueAt, triedAt: at, at, deliveredAt: null };
      await registry.noteMessage({ ...tried, problem: FAILED, dueAt: at + 1 });
    };
    await decide([messageOf('t1')]);
    await fail(channel.id, NOON + 10);
    await fail(channel.id, NOON + 20);
    t.same(await registry.failingChannels(NOON + 9), []);
    const [failing] = await registry.failingChannels(NOON + 10);
    t.strictSame(failing, {
      channelId: channel.id,
      accountId: ada,
      name: 'ops',
      since: NOON + 10,
      problem: FAILED,
    });
    if (failing === undefined) return;
    const told = messageOf('c1', { type: 'channel_failing', urgency: 'normal' });
    await registry.tellFailingChannel(failing, told, NOON + 30);
    await registry.tellFailingChannel(failing, told, NOON + 30);
    t.same(await registry.failingChannels(NOON + 99), []);
    t.strictSame(
      (await registry.messagesOf(ada, other.id)).map(({ message }) => message),
      [told],
    );
    await fail(other.id, NOON + 40);
    for (const found of await registry.failingChannels(NOON + 99))
      await registry.tellFailingChannel(found, told, NOON + 50);
    t.match(await registry.noticesOf(ada), [
      { notice: { code: 'channel_failing', name: 'mail', problem: 'HTTP 503' } },
    ]);
    await deliver(registry, NOON + 60);
    await deliver(registry, NOON + 60);
    await decide([messageOf('t2')]);
    await fail(channel.id, NOON + 70);
    t.match(await registry.failingChannels(NOON + 70), [{ since: NOON + 70 }], 'it had delivered meanwhile');
    await registry.removeChannel(ada, channel.id);
    t.same(await registry.failingChannels(NOON + 70), []);
  });
});
