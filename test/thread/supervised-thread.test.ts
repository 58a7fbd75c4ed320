import t from 'tap';
import { serveBeside, serveThread } from '../../src/thread/rpc.ts';
import {
  FATAL,
  hostStore,
  ON_DEMAND,
  superviseThread,
  type ThreadPolicy,
} from '../../src/thread/supervised-thread.ts';
import { createFakeClock } from '../support/fake-clock.ts';

type Echo = typeof import('./echo-thread.ts').methods;

/** A supervised echo thread, with the ends that it had. */
function supervise(policy: ThreadPolicy) {
  const clock = createFakeClock();
  const ends: (number | null)[] = [];
  let lives = 0;
  const waiting: (() => void)[] = [];
  const thread = superviseThread<Echo>({
    name: 'the echo thread',
    entry: new URL('./echo-thread.ts', import.meta.url),
    workerData: { greeting: 'hi' },
    policy,
    clock,
    onStart: () => void lives++,
    onEnd(_, pauseMs) {
      ends.push(pauseMs);
      for (const resolve of waiting.splice(0)) resolve();
    },
  });
  return {
    thread,
    clock,
    ends,
    lives: () => lives,
    /** Resolves when it has been started so many times. */
    async restarted(times: number) {
      while (lives < times) await new Promise((resolve) => setImmediate(resolve));
    },
    /** Makes the thread end by itself, and waits until its supervisor knows. */
    async crash() {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push(resolve);
      await t.rejects(thread.call('exit', [3]), { message: /ended with code 3/ });
      await promise;
    },
  };
}

t.test('it gives up a fatal thread at its first end', async (t) => {
  const { thread, ends, lives, crash } = supervise(FATAL);
  t.equal(await thread.call('greet', ['Ada']), 'hi Ada');
  await crash();
  t.same(ends, [null]);
  t.equal(thread.isRunning(), false);
  await t.rejects(thread.call('greet', ['Ada']), { message: /ended with code 3/ });
  t.equal(lives(), 1);
  await thread.stop();
});

t.test('it starts a thread on demand at the next call, even at once', async (t) => {
  const { thread, ends, lives, crash } = supervise(ON_DEMAND);
  await crash();
  t.same(ends, [null]);
  t.equal(lives(), 1, 'nothing was asked of it');
  t.equal(await thread.call('greet', ['Ada']), 'hi Ada');
  const again = thread.call('exit', [3]).catch(() => thread.call('greet', ['Grace']));
  t.equal(await again, 'hi Grace');
  t.equal(lives(), 3);
  await thread.stop();
  await t.rejects(thread.call('greet', ['Ada']), 'and never after it was stopped');
  t.equal(lives(), 3);
});

t.test('it ends a thread on demand that is idle, and starts it at the next call', async (t) => {
  const { thread, clock, ends, lives } = supervise(ON_DEMAND);
  t.equal(thread.isRunning(), false, 'nothing was asked of it');
  t.equal(await thread.call('greet', ['Ada']), 'hi Ada');
  await clock.advance(59_999);
  t.equal(await thread.call('greet', ['Ada']), 'hi Ada');
  await clock.advance(59_999);
  t.equal(thread.isRunning(), true, 'each call begins the minute anew');
  await clock.advance(1);
  t.equal(thread.isRunning(), false);
  t.same(await Promise.all(['Ada', 'Grace'].map((name) => thread.call('greet', [name]))), [
    'hi Ada',
    'hi Grace',
  ]);
  t.equal(lives(), 2);
  t.same(ends, [], 'an end on purpose is none to report');
  await thread.stop();
});

t.test('it restarts a permanent thread after pauses that grow until it was healthy', async (t) => {
  const backoff = { firstMs: 1_000, maxMs: 3_000, healthyMs: 60_000 };
  const { thread, clock, ends, lives, crash } = supervise({ restart: 'permanent', intensity: null, backoff });
  for (const [index, pauseMs] of [1_000, 2_000, 3_000, 3_000].entries()) {
    await crash();
    t.equal(ends.at(-1), pauseMs);
    await t.rejects(thread.call('greet', ['Ada']), { message: /ended/ }, 'it does not run now');
    await clock.advance(pauseMs - 1);
    t.equal(lives(), index + 1);
    await clock.advance(1);
    t.equal(lives(), index + 2);
    t.equal(await thread.call('greet', ['Ada']), 'hi Ada');
  }
  await clock.advance(60_001);
  await crash();
  t.equal(ends.at(-1), 1_000);
  await thread.stop();
  await clock.advance(10_000);
  t.equal(lives(), 5, 'a stop ends the pause too');
});

t.test('it gives up a thread that ends more often than its policy allows', async (t) => {
  const intensity = { restarts: 2, withinMs: 60_000 };
  const { ends, lives, crash, thread } = supervise({ restart: 'permanent', intensity });
  for (let n = 0; n < 3; n++) await crash();
  t.same(ends, [0, 0, null]);
  t.equal(lives(), 3);
  await thread.stop();
});

t.test('it ends a thread that hangs, and starts it again by its kind', async (t) => {
  const hangMs = 2_000;
  const hung = { message: 'the echo thread has not answered for 2 s' };
  const permanent = supervise({ restart: 'permanent', intensity: null, hangMs });
  t.equal(await permanent.thread.call('greet', ['Ada']), 'hi Ada');
  await t.rejects(permanent.thread.call('hang', []), hung);
  await permanent.restarted(2);
  t.same(permanent.ends, [0]);
  t.equal(await permanent.thread.call('greet', ['Ada']), 'hi Ada');
  await permanent.thread.stop();
  const temporary = supervise({ ...ON_DEMAND, hangMs });
  await t.rejects(temporary.thread.call('hang', []), hung);
  t.same(temporary.ends, [null]);
  t.equal(await temporary.thread.call('greet', ['Ada']), 'hi Ada');
  t.equal(temporary.lives(), 2);
  await temporary.clock.advance(60_000);
  t.equal(temporary.thread.isRunning(), false, 'a thread at rest is not asked, and ends as ever');
  await temporary.thread.stop();
});

t.test('a store in the thread of another answers at its own port, and ends with that thread', async (t) => {
  const { thread } = supervise(FATAL);
  const store = await hostStore<Echo>('the samples thread', (port) => thread.call('host', [port], [port]));
  t.equal(await store.call('greet', ['Ada']), 'hi Ada');
  await t.rejects(store.call('fail', []), { message: 'no luck', code: 'out_of_luck' });
  await store.ping();
  await t.rejects(store.call('exit', [3]), { message: 'the samples thread has ended' });
  await t.rejects(store.call('greet', ['Ada']), { message: 'the samples thread has ended' });
  await thread.stop();
});

t.test(
  'calls of a thread wait for one of the store that it serves beside, however many there are',
  async (t) => {
    const order: string[] = [];
    const [store, own] = [new MessageChannel(), new MessageChannel()];
    const answered = Promise.withResolvers<void>();
    const note = (name: string) => {
      if (order.push(name) === 6) answered.resolve();
    };
    serveThread(own.port1, { note });
    serveBeside(store.port1, { note });
    const request = (id: number, name: string) => ({ id, method: 'note', args: [name] });
    for (let id = 1; id <= 5; id++) store.port2.postMessage(request(id, `store ${id}`));
    own.port2.postMessage(request(1, 'own'));
    await answered.promise;
    t.ok(order.indexOf('own') <= 1, order.join());
    t.same(
      order.filter((name) => name !== 'own'),
      [1, 2, 3, 4, 5].map((id) => `store ${id}`),
    );
    own.port1.close();
    store.port1.close();
  },
);
