/** Opsgenie against a server that holds its documented API. */
import t from 'tap';
import type { AlertMessage } from '../../../src/domain/alert/message.ts';
import { startKind, testChannel } from './channel-suite.ts';
import { messageOf, SAMPLES } from './sample-messages.ts';

testChannel(t, 'opsgenie');

t.test('Opsgenie raises the priority of an alert that gets worse', async (t) => {
  const { taken, send } = await startKind(t, 'opsgenie');
  t.same(await send(SAMPLES.slow), { outcome: 'delivered', reference: 'P3' });
  t.same(await send(SAMPLES.alert, { reference: 'P3' }), { outcome: 'delivered', reference: 'P1' });
  t.match(taken.at(-1), { json: { action: 'priority', priority: 'P1' }, thread: SAMPLES.alert.thread });
  t.same(await send(SAMPLES.slow, { reference: 'P1' }), { outcome: 'delivered' });
  t.match(taken.at(-1)?.json, { action: 'create' }, 'it is not lowered');
});

t.test('a test leaves no incident open, and an acknowledgement is one there', async (t) => {
  const { taken, send } = await startKind(t, 'opsgenie');
  const actions = async (message: AlertMessage) => {
    const before = taken.length;
    t.match(await send(message), { outcome: 'delivered' });
    return taken.slice(before).map(({ json }) => Object(json).action);
  };
  t.same(await actions(SAMPLES.test), ['create', 'close']);
  t.same(await actions(SAMPLES.alert), ['create']);
  t.same(await actions(SAMPLES.acknowledged), ['acknowledge']);
  t.same(await actions(SAMPLES.recovery), ['close']);
  t.same(await actions(messageOf({ ...SAMPLES.online })), ['close']);
});
