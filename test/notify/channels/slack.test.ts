/** Slack against a server that holds its documented API. */
import t from 'tap';
import type { ChannelSettings } from '../../../src/domain/alert/channel.ts';
import { CHANNEL_KINDS_TABLE } from '../../../src/notify/channels/kinds-table.ts';
import { testChannel } from './channel-suite.ts';

testChannel(t, 'slack');

t.test('settings that contradict or lack each other are refused by name', async (t) => {
  const refuse = (settings: ChannelSettings) => CHANNEL_KINDS_TABLE.slack.refuse?.(settings);
  t.same(refuse({}), [{ setting: 'url', problem: { code: 'missing' } }]);
  t.same(refuse({ token: 'xoxb-1' }), [{ setting: 'channel', problem: { code: 'missing' } }]);
  t.same(refuse({ url: 'https://hooks.slack.com/services/1', token: 'xoxb-1' }), [
    { setting: 'token', problem: { code: 'not_with', other: 'url' } },
  ]);
});
