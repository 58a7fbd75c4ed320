/** Pushover against a server that holds its documented API. */
import t from 'tap';
import { startKind, testChannel } from './channel-suite.ts';
import { SAMPLES } from './sample-messages.ts';

testChannel(t, 'pushover');

t.test('at most one emergency of an outage rings on Pushover, and none when it is over', async (t) => {
  const { receiver, taken, send, state } = await startKind(t, 'pushover');
  const last = () => taken.at(-1)?.json;
  await send(SAMPLES.alert);
  t.match(last(), { priority: 2, retry: 60, expire: 3_600, tags: SAMPLES.alert.thread });
  await send({ ...SAMPLES.alert, thread: 'other' });
  for (let n = 0; n < 3; n++) {
    await send(SAMPLES.reminder);
    t.match(taken.at(-2)?.json, { cancelled: 1, tag: SAMPLES.alert.thread }, 'the one before is ended');
    t.match(last(), { priority: 2 });
  }
  await send({ ...SAMPLES.recovery, endsAlso: ['other'] });
  t.match(
    taken.slice(-3, -1).map(({ json }) => json),
    [{ cancelled: 1 }, { cancelled: 1, tag: 'other' }],
    'that of each thread which ends',
  );
  await send(SAMPLES.alert);
  state.mood = { reply: { status: 503 } };
  t.match(await send(SAMPLES.recovery), { outcome: 'failed' }, 'it is tried again until nothing rings');
  state.mood = null;
  await send(SAMPLES.recovery);
  t.match(taken.at(-2)?.json, { cancelled: 1 });
  const normal = { ...receiver.settings(''), emergency: false };
  await send(SAMPLES.alert, { settings: normal });
  t.match(last(), { priority: 1 });
});
