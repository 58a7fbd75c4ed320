/** In which turn of the event loop a request starts. */
import t from 'tap';
import { systemClock } from '../../src/clock.ts';
import { createTurns, type Lane, MAX_TURN_MS } from '../../src/http/turns.ts';

/** Turns that a test begins, and a clock that a test moves. Requests settle at once; `settles`: as on Node.js. */
function createWorld({ settles = false } = {}) {
  const begins: (() => void)[] = [];
  const clock = { nowMs: 0 };
  const started: string[] = [];
  const turns = createTurns(
    { ...systemClock, monotonic: () => clock.nowMs },
    { nextTurn: (begin) => void begins.push(begin), ...(settles ? {} : { settle: (then) => then() }) },
  );
  const stays = () => false;
  return {
    ...{ clock, turns, started },
    run(name: string, lane: Lane, takesMs = 0, isGone = stays) {
      return turns.run(lane, isGone, async (waitedMs) => {
        started.push(waitedMs > MAX_TURN_MS ? `${name}, late` : name);
        clock.nowMs += takesMs;
        return name;
      });
    },
    nextTurn: () => begins.shift()?.(),
    isIdle: () => begins.length === 0,
  };
}

t.test('a request on an idle program starts at once', async (t) => {
  const { run, nextTurn, isIdle } = createWorld();
  t.equal(await run('a', 'page'), 'a');
  nextTurn();
  t.ok(isIdle(), 'no turn is asked for while nothing waits');
});

t.test('each page has a turn of its own', async (t) => {
  const { run, started, nextTurn, isIdle } = createWorld();
  const all = Promise.all(['a', 'b', 'c'].map((name) => run(name, 'page')));
  t.same(started, ['a']);
  nextTurn();
  t.same(started, ['a', 'b']);
  nextTurn();
  t.same(started, ['a', 'b', 'c']);
  nextTurn();
  t.ok(isIdle());
  t.same(await all, ['a', 'b', 'c']);
});

t.test('small requests share a turn of two milliseconds', async (t) => {
  const { run, started, nextTurn } = createWorld();
  for (const name of ['a', 'b', 'c', 'd', 'e']) void run(name, 'small', 0.8);
  t.same(started, ['a', 'b', 'c']);
  nextTurn();
  t.same(started, ['a', 'b', 'c', 'd', 'e']);
});

t.test('the API goes before pages that wait, and nothing passes what waits', async (t) => {
  const { run, started, nextTurn } = createWorld();
  for (const name of ['a', 'b', 'c']) void run(name, 'page');
  void run('picture', 'small');
  t.same(started, ['a'], 'a picture waits behind the pages');
  void run('api', 'api', 3);
  t.same(started, ['a', 'api']);
  void run('api 2', 'api');
  nextTurn();
  t.same(started, ['a', 'api', 'api 2', 'b']);
  nextTurn();
  t.same(started, ['a', 'api', 'api 2', 'b', 'c', 'picture']);
});

t.test('refusals go on however late the program is', async (t) => {
  const begins: (() => void)[] = [];
  let nowMs = 0;
  const turns = createTurns(
    {
      ...systemClock,
      // The program is interrupted for longer than the time for refusals whenever it looks.
      monotonic() {
        nowMs += 2;
        return nowMs;
      },
    },
    { nextTurn: (begin) => void begins.push(begin), settle: (then) => then() },
  );
  const started: string[] = [];
  const refuse = (name: string) =>
    turns.run(
      'refused',
      () => false,
      async () => void started.push(name),
    );
  for (const name of ['a', 'b', 'c']) void refuse(name);
  t.same(started, ['a']);
  while (begins.length > 0) begins.shift()?.();
  t.same(started, ['a', 'b', 'c']);
});

t.test('it knows how long requests have waited, and hands on what they reject with', async (t) => {
  const { run, turns, clock, nextTurn } = createWorld();
  t.same(turns.waitedMs(), { first: 0, others: 0 });
  void run('a', 'page');
  const failing = turns.run(
    'page',
    () => false,
    () => Promise.reject(new Error('it fails')),
  );
  clock.nowMs = 40;
  void run('b', 'page');
  t.same(turns.waitedMs(), { first: 0, others: 40 });
  nextTurn();
  await t.rejects(failing, { message: 'it fails' });
  t.same(turns.waitedMs(), { first: 0, others: 0 });
  clock.nowMs = 50;
  t.same(turns.waitedMs(), { first: 0, others: 10 });
});

t.test('a task is told how long it has waited', async (t) => {
  const { turns, clock, nextTurn } = createWorld();
  const told = [1, 2].map(() =>
    turns.run(
      'page',
      () => false,
      async (waitedMs) => waitedMs,
    ),
  );
  clock.nowMs += 70;
  nextTurn();
  t.same(await Promise.all(told), [0, 70]);
});

t.test('one page starts in each turn, however much the API is asked', async (t) => {
  const { run, started, nextTurn } = createWorld();
  for (let n = 0; n < 4; n++) void run(`api ${n}`, 'api', 5);
  for (const name of ['a', 'b']) void run(name, 'page');
  t.same(started, ['api 0']);
  nextTurn();
  t.same(started, ['api 0', 'api 1', 'a']);
  nextTurn();
  t.same(started, ['api 0', 'api 1', 'a', 'api 2', 'b']);
});

t.test(
  'the time of a request is known once it has settled, so what it does after its first wait counts',
  async (t) => {
    const { turns, clock, started, nextTurn } = createWorld({ settles: true });
    /** A request that does its work after some waits, but without leaving the turn. */
    const run = (name: string) =>
      turns.run(
        'api',
        () => false,
        async () => {
          started.push(name);
          for (let hops = 0; hops < 10; hops++) await null;
          clock.nowMs += 0.8;
        },
      );
    const settled = () => new Promise((resolve) => setImmediate(resolve));
    const all = Promise.all(Array.from({ length: 134 }, (_, index) => run(`${index}`)));
    await settled();
    t.equal(started.length, 128, 'of requests that arrive in one packet, so many start');
    nextTurn();
    await settled();
    t.same(started.slice(128), ['128', '129', '130']);
    nextTurn();
    await all;
    t.equal(started.length, 134);
  },
);

t.test('refusals wait neither for the API nor for pages, and have a millisecond of a turn', async (t) => {
  const { run, started, nextTurn } = createWorld();
  for (const name of ['api', 'api 2']) void run(name, 'api', 3);
  for (const name of ['page', 'page 2', 'page 3']) void run(name, 'page');
  for (const name of ['no 1', 'no 2', 'no 3', 'no 4']) void run(name, 'refused', 0.6);
  t.same(started, ['api', 'no 1'], 'one is made at once');
  nextTurn();
  t.same(started.slice(2), ['api 2', 'page', 'no 2', 'no 3']);
  nextTurn();
  t.same(started.slice(6), ['page 2', 'no 4']);
});

t.test(
  'requests that waited too long, or whose client is gone, take no turn from those behind them',
  async (t) => {
    const { run, turns, clock, started, nextTurn } = createWorld();
    const gone = new Set<string>();
    for (const name of ['now', 'a', 'b', 'c']) void run(name, 'page', 0, () => gone.has(name));
    clock.nowMs = MAX_TURN_MS;
    for (const name of ['d', 'e', 'f']) void run(name, 'page', 0, () => gone.has(name));
    clock.nowMs += 1;
    gone.add('d');
    t.same(turns.waitedMs(), { first: 0, others: MAX_TURN_MS + 1 });
    nextTurn();
    t.same(started, ['now', 'e', 'a, late', 'b, late', 'c, late', 'd']);
    t.same(turns.waitedMs(), { first: 0, others: 1 });
    nextTurn();
    t.same(started.slice(6), ['f']);
  },
);

t.test(
  'what a task has at hand is given at once; of one that has waited, what it throws rejects',
  async (t) => {
    const { turns, nextTurn } = createWorld();
    const run = (task: () => string) => turns.run('page', () => false, task);
    t.equal(
      run(() => 'at once'),
      'at once',
    );
    const waited = run(() => 'later');
    const failing = run(() => {
      throw new Error('it fails');
    });
    nextTurn();
    nextTurn();
    t.equal(await waited, 'later');
    await t.rejects(Promise.resolve(failing), { message: 'it fails' });
  },
);
