/** PagerDuty against a server that holds its documented API. */
import t from 'tap';
import type { AlertMessage } from '../../../src/domain/alert/message.ts';
import { startKind, testChannel } from './channel-suite.ts';
import { messageOf, SAMPLES } from './sample-messages.ts';

testChannel(t, 'pagerduty');

t.test('PagerDuty is sent no update, which would open again what a person has resolved', async (t) => {
  const { taken, send } = await startKind(t, 'pagerduty');
  t.same(await send(SAMPLES.update), { outcome: 'delivered' });
  t.same(taken, []);
});

t.test('a test leaves no incident open, and an acknowledgement is one there', async (t) => {
  const { taken, send } = await startKind(t, 'pagerduty');
  const actions = async (message: AlertMessage) => {
    const before = taken.length;
    t.match(await send(message), { outcome: 'delivered' });
    return taken.slice(before).map(({ json }) => Object(json).event_action);
  };
  t.same(await actions(SAMPLES.test), ['trigger', 'resolve']);
  t.same(await actions(SAMPLES.alert), ['trigger']);
  t.same(await actions(SAMPLES.acknowledged), ['acknowledge']);
  t.same(await actions(SAMPLES.recovery), ['resolve']);
  t.same(await actions(messageOf({ ...SAMPLES.online })), ['resolve']);
});
