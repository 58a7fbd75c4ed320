import t from 'tap';
import { createLogBatch } from '../../src/feeds/vendor-intake.ts';
import { createFakeClock } from '../support/fake-clock.ts';

t.test('it logs the pages of five seconds in one line with the first five', async (t) => {
  const clock = createFakeClock();
  const lines: { readonly pages: readonly number[]; readonly more: number }[] = [];
  const line = createLogBatch<number>(clock, (batch) => lines.push(batch));
  for (let page = 1; page <= 8; page++) line.add(page);
  await clock.advance(4_999);
  t.same(lines, []);
  await clock.advance(1);
  t.strictSame(lines, [{ pages: [1, 2, 3, 4, 5], more: 3 }]);
  line.add(9);
  line.flush();
  t.strictSame(lines[1], { pages: [9], more: 0 });
  line.flush();
  await clock.advance(60_000);
  t.equal(lines.length, 2);
});
