/** Channels in the registry. */

import { channelOf, open2 } from '../../store/alert-fixtures.ts';
import { overBoth } from '../../store/registry-contract.ts';
import { NOON } from '../../store/registry-fixtures.ts';

overBoth(async (t, open, execute) => {
  t.test('it keeps channels, each for its account alone', async (t) => {
    const dataDir = t.testdir();
    const { registry, ada, grace, channel } = await open2(t, open, dataDir);
    t.strictSame(channel, { ...channelOf(ada), id: channel.id, revision: 1 });
    t.strictSame(await registry.channelsOf(ada), [channel]);
    t.strictSame(await registry.channelsOf(grace), []);
    await execute(
      dataDir,
      `UPDATE channels SET name = 'clear' WHERE settings LIKE '%hooks%' OR settings NOT LIKE 'sealed:%'`,
    );
    t.strictSame(await registry.channelsOf(ada), [channel], 'its settings are encrypted');
    const other = await registry.addChannel({ ...channelOf(ada, 'b'), confirmedAt: null });
    await t.rejects(registry.addChannel(channelOf(ada)), {
      code: 'name_taken',
      refusal: { code: 'channel_name_taken', name: 'ops' },
    });
    await registry.addChannel(channelOf(grace));
    const edit = { name: 'all hands', settings: { token: 'x' }, language: 'de', confirmedAt: NOON } as const;
    const changed = { ...other, ...edit, revision: 2 };
    t.strictSame(await registry.changeChannel(ada, other.id, edit, [1]), changed);
    t.strictSame(await registry.changeChannel(ada, other.id, {}), { ...changed, revision: 3 });
    await t.rejects(registry.changeChannel(ada, other.id, {}, [1, 2]), {
      code: 'stale',
      refusal: { code: 'channel_stale' },
    });
    await t.rejects(registry.changeChannel(ada, other.id, { name: 'ops' }), { code: 'name_taken' });
    await t.rejects(registry.changeChannel(grace, other.id, {}), { code: 'not_found' });
    await t.rejects(registry.removeChannel(grace, other.id), { code: 'not_found' });
    await t.rejects(registry.removeChannel(ada, 99), { code: 'not_found' });
    for (let n = 2; n < 50; n++) await registry.addChannel(channelOf(ada, `c${n}`));
    await t.rejects(registry.addChannel(channelOf(ada, 'z')), {
      code: 'account_limit',
      refusal: { code: 'too_many_channels', max: 50 },
    });
  });
});
