import t from 'tap';
import { watchAccountBounds, watchLateChecks } from '../../src/main/watch-checks.ts';
import { createFakeClock } from '../support/fake-clock.ts';

t.test('it says that checks begin late after half a minute of it, and that it is over', async (t) => {
  const clock = createFakeClock();
  const lines: string[] = [];
  const note = (_fields: object, sentence: string) => void lines.push(sentence);
  let p99 = 0;
  const watch = watchLateChecks(
    () => ({ hosts: [null, { startDelayMs: { p99: 10 } }, { startDelayMs: { p99 } }] }),
    clock,
    { debug: note, info: note, warn: note, error: note },
  );
  t.teardown(watch.stop);
  const pass = async (delayMs: number, forMs: number) => {
    p99 = delayMs;
    await clock.advance(forMs);
    return [watch.problem(), ...lines.splice(0)];
  };
  t.same(await pass(5_000, 60_000), [null], 'not late');
  t.same(await pass(60_000, 25_000), [null], 'one long pause');
  t.same(await pass(0, 5_000), [null]);
  t.match(await pass(12_000, 30_000), [
    'checks begin 12 s late: the machine cannot make that many',
    'checks begin late',
  ]);
  t.match(await pass(7_000, 60_000), [/begin 7 s late/], 'said once');
  t.match(await pass(100, 25_000), [/late/], 'a thread may start nothing for a while');
  t.same(await pass(100, 5_000), [null, 'checks begin in time again']);
});

t.test(
  'it names an account whose checks wait for its share for half a minute, and says when that is over',
  async (t) => {
    const clock = createFakeClock();
    const lines: unknown[] = [];
    const note = (fields: object, sentence: string) => void lines.push([sentence, fields]);
    let bounded = [{ accountId: 7, held: 64, waiting: 900 }];
    const watch = watchAccountBounds(
      () => ({ hosts: [null, { shares: { bounded } }, { shares: { bounded } }] }),
      clock,
      {
        ...{ debug: note, info: note, warn: note, error: note },
      },
    );
    t.teardown(watch.stop);
    await clock.advance(25_000);
    t.same(lines, []);
    await clock.advance(60_000);
    t.same(lines.splice(0), [
      [
        'checks of an account are late: it holds its share of the slots',
        { account: 7, held: 128, waiting: 1_800 },
      ],
    ]);
    t.same(watch.of(7), { held: 128, waiting: 1_800 }, 'and its owner reads it');
    t.equal(watch.of(8), null);
    bounded = [];
    await clock.advance(20_000);
    bounded = [{ accountId: 7, held: 64, waiting: 1 }];
    await clock.advance(5_000);
    bounded = [];
    await clock.advance(25_000);
    t.same(lines, [], 'a pause is no end');
    await clock.advance(5_000);
    t.same(lines, [['checks of an account begin in time again', { account: 7 }]]);
    t.equal(watch.of(7), null);
  },
);
