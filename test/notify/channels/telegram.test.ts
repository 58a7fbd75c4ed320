/** Telegram against a server that holds its documented API. */
import t from 'tap';
import { startKind, testChannel } from './channel-suite.ts';
import { SAMPLES } from './sample-messages.ts';

testChannel(t, 'telegram');

t.test('Telegram follows a group that became a supergroup', async (t) => {
  const { receiver, origin, taken, send } = await startKind(t, 'telegram');
  const settings = { ...receiver.settings(origin), chat: '-555' };
  t.same(await send(SAMPLES.recovery, { settings, reference: '12 13' }), {
    outcome: 'delivered',
    reference: '1001',
  });
  t.match(taken.at(-1), { json: { chat_id: '-100123' }, thread: null });
});
