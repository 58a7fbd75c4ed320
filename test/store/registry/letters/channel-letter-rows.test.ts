/** Letters that ask the receivers of channels. */

import { messageOf } from '../../alert-fixtures.ts';
import { ALL } from '../../letter-fixtures.ts';
import { overBoth } from '../../registry-contract.ts';
import { NOON } from '../../registry-fixtures.ts';

overBoth(async (t, open) => {
  t.test('it asks the receivers of e-mail channels once, and again for another address', async (t) => {
    const registry = await open(t);
    const { id: accountId } = await registry.ensureAccount('ada', NOON);
    const channel = await registry.addChannel({
      accountId,
      name: 'ops',
      kind: 'email',
      settings: { to: 'ops@example.com' },
      language: 'de',
      confirmedAt: null,
      createdAt: NOON,
    });
    t.equal(await registry.askChannels(NOON), 1);
    t.equal(await registry.askChannels(NOON), 0);
    const [letter] = await registry.dueLetters(NOON, ALL);
    t.match(letter, {
      kind: 'channel',
      to: 'ops@example.com',
      language: 'de',
      account: 'ada',
      channel: 'ops',
    });
    const secret = letter?.secret ?? '';
    const asked = { account: 'ada', channel: 'ops', language: 'de', isStopped: false };
    t.same(await registry.findAskedChannel(secret), { ...asked, isConfirmed: false });
    t.equal(await registry.findAskedChannel('other'), null);

    await registry.changeChannel(accountId, channel.id, { settings: { to: 'eve@example.com' } });
    t.equal(await registry.confirmChannel(secret, NOON), null, 'the link was for another address');
    t.equal(await registry.askChannels(NOON), 1);
    const second = (await registry.dueLetters(NOON, ALL)).at(-1)?.secret ?? '';
    t.same(await registry.confirmChannel(second, NOON), { ...asked, isConfirmed: true });
    t.match(await registry.channelsOf(accountId), [
      { confirmedAt: NOON, settings: { to: 'eve@example.com' } },
    ]);
    t.equal(await registry.askChannels(NOON), 0);

    const refuse = async (text: string) => {
      await registry.addMessage(accountId, channel.id, messageOf('t-1'), NOON);
      const due = (await registry.dueMessages(NOON, 10))[0];
      const problem = { code: 'mail_refused', text } as const;
      const settled = {
        id: due?.id ?? 0,
        wasDueAt: due?.dueAt ?? null,
        ...{ triedAt: NOON, at: NOON },
        deliveredAt: null,
        dueAt: null,
      };
      await registry.noteMessage({ ...settled, problem });
    };
    for (const text of ['550 unknown', '550 unknown', '451 later', '550 unknown', '550 unknown'])
      await refuse(text);
    t.equal(await registry.turnOffChannels(NOON), 0, 'not three in a row');
    await refuse('550 5.1.1 unknown');
    t.equal(await registry.turnOffChannels(NOON), 1);
    t.equal(await registry.turnOffChannels(NOON), 0);
    t.match(await registry.channelsOf(accountId), [{ confirmedAt: null }]);
    t.match((await registry.noticesOf(accountId))[0]?.notice, { code: 'channel_refused', name: 'ops' });
    t.equal(await registry.askChannels(NOON), 0, 'nobody is asked again by itself');
    t.equal(await registry.askChannelAgain(accountId + 1, channel.id), false);
    t.equal(await registry.askChannelAgain(accountId, channel.id), true);
    t.equal(await registry.askChannels(NOON), 1);
    await registry.removeChannel(accountId, channel.id);
    t.equal(await registry.findAskedChannel(second), null);
    t.same(await registry.dueLetters(NOON, ALL), []);
  });
});
