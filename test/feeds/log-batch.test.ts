/** One line of the log for what happens to many at once. */
import t from 'tap';
import { createFakeClock } from '../../src/clock.ts';
import { createLogBatch, type GatheredPages } from '../../src/feeds/log-batch.ts';

t.test('it writes what comes within five seconds as one line, and names five', async (t) => {
  const clock = createFakeClock();
  const lines: GatheredPages<number>[] = [];
  const line = createLogBatch<number>(clock, (gathered) => lines.push(gathered));
  for (let page = 1; page <= 8; page++) line.tell(page);
  await clock.advance(4_999);
  t.same(lines, []);
  await clock.advance(1);
  t.strictSame(lines, [{ pages: [1, 2, 3, 4, 5], more: 3 }]);
  line.tell(9);
  line.stop();
  t.strictSame(lines[1], { pages: [9], more: 0 });
  line.stop();
  await clock.advance(60_000);
  t.equal(lines.length, 2);
});
