/** Mattermost against a server that holds its documented API. */
import t from 'tap';
import type { ChannelSettings } from '../../../src/domain/alert/channel.ts';
import { CHANNEL_KINDS_TABLE } from '../../../src/notify/channels/kinds-table.ts';
import { testChannel } from './channel-suite.ts';

testChannel(t, 'mattermost');

t.test('settings that contradict or lack each other are refused by name', async (t) => {
  const refuse = (settings: ChannelSettings) => CHANNEL_KINDS_TABLE.mattermost.refuse?.(settings);
  const missing = (setting: string) => ({ setting, problem: { code: 'missing' } });
  t.same(refuse({}), [missing('url')]);
  t.same(refuse({ token: 'x' }), [missing('server'), missing('channel')]);
  t.same(refuse({ url: 'https://mattermost.example.com/hooks/1', token: 'x' }), [
    { setting: 'token', problem: { code: 'not_with', other: 'url' } },
  ]);
});
