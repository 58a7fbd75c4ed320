/** A thread that has not ended, and answers nothing. */
import t from 'tap';
import { SILENCE_MS, watchSilence } from '../../src/thread/silence-watch.ts';
import { createFakeClock } from '../support/fake-clock.ts';

/** A watch of a thread that a test lets answer. */
function createWorld() {
  const clock = createFakeClock();
  const pings: PromiseWithResolvers<void>[] = [];
  const changes: boolean[] = [];
  const stop = watchSilence({
    ping() {
      const ping = Promise.withResolvers<void>();
      pings.push(ping);
      return ping.promise;
    },
    clock,
    onChange: (isSilent) => changes.push(isSilent),
  });
  return { clock, pings, changes, stop };
}

t.test('a thread without an answer for ten seconds hangs, until it answers', async (t) => {
  const { clock, pings, changes } = createWorld();
  await clock.advance(1_000);
  t.equal(pings.length, 1);
  pings[0]?.resolve();
  await clock.advance(1_000);
  t.equal(pings.length, 2, 'the next ping follows a second later');
  await clock.advance(SILENCE_MS - 1);
  t.same(changes, []);
  await clock.advance(1);
  t.same(changes, [true]);
  await clock.advance(2 * SILENCE_MS);
  t.same([pings.length, changes], [2, [true]], 'it is asked once, and said once');
  pings[1]?.resolve();
  await clock.advance(0);
  t.same(changes, [true, false]);
  await clock.advance(1_000);
  t.equal(pings.length, 3);
});

t.test('the time in which this thread was late itself does not count', async (t) => {
  const { clock, pings, changes } = createWorld();
  await clock.advance(1_000);
  await clock.skip(60_000);
  await clock.advance(SILENCE_MS - 1);
  t.same(changes, []);
  pings[0]?.resolve();
  await clock.advance(SILENCE_MS);
  t.same(changes, []);
});

t.test('a thread that has ended does not hang, and a watch that has ended asks nothing', async (t) => {
  const { clock, pings, changes, stop } = createWorld();
  await clock.advance(1_000);
  pings[0]?.reject(new Error('it has ended'));
  await clock.advance(0);
  stop();
  await clock.advance(2 * SILENCE_MS);
  t.same([pings.length, changes], [1, []]);
});
