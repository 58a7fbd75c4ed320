/** In which turn of the event loop a request starts. */
import t from 'tap';
import { type Cost, createTurns } from '../../src/http/turns.ts';

/** Turns that a test begins, and a clock that a test moves. */
function createWorld() {
  const begins: (() => void)[] = [];
  const clock = { nowMs: 0 };
  const started: string[] = [];
  const turns = createTurns({ monotonic: () => clock.nowMs }, (begin) => void begins.push(begin));
  return {
    ...{ clock, turns, started },
    run(name: string, cost: Cost, isFirst = false, takesMs = 0) {
      return turns.run(cost, isFirst, async () => {
        started.push(name);
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
  for (const name of ['a', 'b', 'c', 'd', 'e']) void run(name, 'small', false, 0.8);
  t.same(started, ['a', 'b', 'c']);
  nextTurn();
  t.same(started, ['a', 'b', 'c', 'd', 'e']);
});

t.test('the API goes before pages that wait, and nothing passes what waits', async (t) => {
  const { run, started, nextTurn } = createWorld();
  for (const name of ['a', 'b', 'c']) void run(name, 'page');
  void run('picture', 'small');
  t.same(started, ['a'], 'a picture waits behind the pages');
  void run('api', 'small', true, 3);
  t.same(started, ['a', 'api']);
  void run('api 2', 'small', true);
  nextTurn();
  t.same(started, ['a', 'api', 'api 2', 'b']);
  nextTurn();
  t.same(started, ['a', 'api', 'api 2', 'b', 'c', 'picture']);
});

t.test('it knows how long requests have waited, and hands on what they reject with', async (t) => {
  const { run, turns, clock, nextTurn } = createWorld();
  t.same(turns.waitedMs(), { first: 0, others: 0 });
  void run('a', 'page');
  const failing = turns.run('page', false, () => Promise.reject(new Error('it fails')));
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
  const told = [1, 2].map(() => turns.run('page', false, async (waitedMs) => waitedMs));
  clock.nowMs += 70;
  nextTurn();
  t.same(await Promise.all(told), [0, 70]);
});

t.test('one page starts in each turn, however much the API is asked', async (t) => {
  const { run, started, nextTurn } = createWorld();
  for (let n = 0; n < 4; n++) void run(`api ${n}`, 'small', true, 5);
  for (const name of ['a', 'b']) void run(name, 'page');
  t.same(started, ['api 0']);
  nextTurn();
  t.same(started, ['api 0', 'api 1', 'a']);
  nextTurn();
  t.same(started, ['api 0', 'api 1', 'a', 'api 2', 'b']);
});
