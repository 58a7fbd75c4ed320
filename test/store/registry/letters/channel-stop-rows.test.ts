/** Channels that their receivers stop. */

import { messageOf } from '../../alert-fixtures.ts';
import { overBoth } from '../../registry-contract.ts';
import { NOON } from '../../registry-fixtures.ts';

overBoth(async (t, open) => {
  t.test('the receiver of an e-mail channel stops it by its letters, and takes that back', async (t) => {
    const registry = await open(t);
    const { id: accountId } = await registry.ensureAccount('ada', NOON);
    const base = { accountId, language: 'en', confirmedAt: NOON, createdAt: NOON } as const;
    const ops = { ...base, name: 'ops', kind: 'email', settings: { to: 'ops@example.com' } } as const;
    const { id } = await registry.addChannel(ops);
    const other = await registry.addChannel({ ...ops, name: 'other', settings: { to: 'b@example.com' } });
    const chat = await registry.addChannel({ ...base, name: 'chat', kind: 'slack', settings: {} });
    for (const to of [id, other.id, chat.id])
      await registry.addMessage(accountId, to, messageOf('t-1'), NOON);
    const due = await registry.dueMessages(NOON, 10);
    const secrets = due.map(({ stopSecret }) => stopSecret);
    t.match(secrets, [/^\d+\.[\w-]+$/, /^\d+\.[\w-]+$/, undefined], 'e-mail alone has them');
    const [secret = ''] = secrets;
    const shown = { account: 'ada', channel: 'ops', language: 'en' };
    t.same(await registry.findChannelOfStop(secret), { ...shown, isConfirmed: true, isStopped: false });
    for (const wrong of [
      '',
      'x',
      `${other.id}${secret.slice(secret.indexOf('.'))}`,
      `${secret}A`,
      `999.${secret}`,
    ])
      t.equal(await registry.stopChannel(wrong, true, NOON), null, wrong);

    const stopped = { ...shown, isConfirmed: false, isStopped: true };
    const version = await registry.rulesVersion();
    for (const _ of ['once', 'again']) t.same(await registry.stopChannel(secret, true, NOON + 1), stopped);
    t.not(await registry.rulesVersion(), version, 'decisions take notice');
    const channels = async () => (await registry.channelsOf(accountId)).filter(({ name }) => name !== 'chat');
    t.match(await channels(), [
      { name: 'ops', confirmedAt: null, stoppedAt: NOON + 1, revision: 2 },
      { name: 'other', confirmedAt: NOON, stoppedAt: undefined },
    ]);
    t.match((await registry.noticesOf(accountId))[0]?.notice, { code: 'channel_stopped', name: 'ops' });
    t.equal((await registry.noticesOf(accountId)).length, 1);
    t.same(await registry.stopChannel(secret, false, NOON + 2), {
      ...shown,
      isConfirmed: true,
      isStopped: false,
    });
    t.match(await channels(), [{ confirmedAt: NOON + 2, stoppedAt: undefined }, {}]);
    t.match((await registry.noticesOf(accountId))[0]?.notice, { code: 'channel_resumed', name: 'ops' });

    await registry.changeChannel(accountId, id, { confirmedAt: null });
    const off = { ...shown, isConfirmed: false, isStopped: false };
    t.same(await registry.stopChannel(secret, false, NOON), off, 'it gives back only what it has taken');
    await registry.changeChannel(accountId, id, { settings: { to: 'c@example.com' } });
    t.equal(await registry.stopChannel(secret, true, NOON), null, 'the letter went to another address');
  });
});
