/** When a feed is asked, and what is remembered between two polls. */
import fc from 'fast-check';
import t from 'tap';
import {
  type DocumentMemory,
  type FeedMessage,
  type FeedState,
  feedBehaviour,
  MAX_WAIT_MS,
  NEW_FEED,
  waitAfter,
} from '../../src/feeds/feed-actor.ts';

const INTERVAL = 300_000;
const NOW = Date.UTC(2026, 0, 1);
const KNOWN: DocumentMemory = { etag: '"1"', lastModified: null, bodyDigest: 'b', readingDigest: 'r' };

const handle = feedBehaviour(INTERVAL);

function polled(change: Partial<Extract<FeedMessage, { kind: 'polled' }>> = {}): FeedMessage {
  return {
    kind: 'polled',
    memory: { incidents: KNOWN },
    failed: false,
    retryAfterMs: null,
    chance: 0.5,
    ...change,
  };
}

t.test('it polls when due, remembers what it learnt and waits an interval', async (t) => {
  const due = handle(NEW_FEED, { kind: 'due', now: NOW });
  t.strictSame(due.effects, [{ kind: 'poll', memory: {} }]);
  t.strictSame(handle(due.state, { kind: 'due', now: NOW }).effects, [], 'one poll at a time');
  const done = handle(due.state, polled());
  t.strictSame(done.effects, [{ kind: 'wait', ms: INTERVAL }]);
  t.strictSame(handle(done.state, { kind: 'due', now: NOW + INTERVAL }).effects, [
    { kind: 'poll', memory: { incidents: KNOWN } },
  ]);
});

t.test('it reads everything anew once an hour, and when the clock was set back', async (t) => {
  const state: FeedState = { ...NEW_FEED, memory: { incidents: KNOWN }, fullReadAt: NOW };
  const memoryAt = (now: number) => {
    const [effect] = handle(state, { kind: 'due', now }).effects;
    return effect?.kind === 'poll' ? effect.memory : null;
  };
  t.strictSame(memoryAt(NOW + 3_599_999), { incidents: KNOWN });
  t.strictSame(memoryAt(NOW + 3_600_000), {});
  t.strictSame(memoryAt(NOW - 1), {});
});

t.test('it forgets what got lost, also while it is asking', async (t) => {
  const known: FeedState = { ...NEW_FEED, memory: { incidents: KNOWN }, fullReadAt: NOW };
  t.strictSame(handle(known, { kind: 'forget' }).state.memory, {});
  const asking = handle(known, { kind: 'due', now: NOW }).state;
  const lost = handle(asking, { kind: 'forget' }).state;
  const done = handle(lost, polled()).state;
  t.strictSame(done.memory, {}, 'what this poll learnt may be what got lost');
  t.strictSame(handle(done, { kind: 'due', now: NOW }).effects, [{ kind: 'poll', memory: {} }]);
});

t.test('it waits longer with each failure, and at once as usual after a good poll', async (t) => {
  let state = NEW_FEED;
  const waits: number[] = [];
  for (const failed of [true, true, true, true, true, true, true, false, true]) {
    const due = handle(state, { kind: 'due', now: NOW });
    const done = handle(due.state, polled({ failed }));
    state = done.state;
    for (const effect of done.effects) if (effect.kind === 'wait') waits.push(effect.ms / INTERVAL);
  }
  t.strictSame(waits, [1, 2, 4, 8, 12, 12, 12, 1, 1]);
});

t.test('it never waits less than it was asked to, nor more than an hour and a tenth', async (t) => {
  t.equal(waitAfter(INTERVAL, 1, 1_200_000, 0.5), 1_200_000);
  t.equal(waitAfter(INTERVAL, 1, 86_400_000, 0.5), MAX_WAIT_MS);
  t.equal(waitAfter(INTERVAL, 0, null, 0), INTERVAL * 0.9);
  t.equal(waitAfter(INTERVAL, 0, null, 1), INTERVAL * 1.1);
  t.equal(waitAfter(2 * MAX_WAIT_MS, 5, null, 0.5), 2 * MAX_WAIT_MS, 'an interval over an hour stays');
  fc.assert(
    fc.property(
      fc.integer({ min: 1_000, max: MAX_WAIT_MS }),
      fc.nat(1_000),
      fc.option(fc.integer({ min: 0, max: MAX_WAIT_MS })),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (intervalMs, failures, retryAfterMs, chance) => {
        const ms = waitAfter(intervalMs, failures, retryAfterMs, chance);
        return ms >= Math.max(intervalMs * 0.9 - 1, retryAfterMs ?? 0) && ms <= MAX_WAIT_MS * 1.1 + 1;
      },
    ),
  );
});
