/** Matrix against a server that holds its documented API. */
import t from 'tap';
import { startKind, testChannel } from './channel-suite.ts';
import { SAMPLES } from './sample-messages.ts';

testChannel(t, 'matrix');

t.test(
  'the transaction of Matrix is the same in all attempts, so that a message is written once',
  async (t) => {
    const { taken, send } = await startKind(t, 'matrix');
    const first = await send(SAMPLES.alert, { id: 'msg_a/1' });
    t.same(await send(SAMPLES.alert, { id: 'msg_a/1' }), first);
    t.equal(taken.length, 1);
  },
);
