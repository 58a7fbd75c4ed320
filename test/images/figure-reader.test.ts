/** Reads of figures: few at a time. */
import t from 'tap';
import { createFigureReader } from '../../src/images/figure-reader.ts';
import { NOW } from '../site/site-world.ts';
import { double } from '../support/double.ts';
import { openSampleStore } from '../support/sample-store.ts';

t.test('it asks the store a few questions at a time', async (t) => {
  const store = openSampleStore({ now: () => NOW });
  t.teardown(() => store.close());
  const open: (() => void)[] = [];
  const { read } = createFigureReader(
    double({
      async query(query) {
        await new Promise<void>((resolve) => open.push(resolve));
        return await store.query(query);
      },
    }),
    () => NOW,
  );
  const reads = Array.from({ length: 10 }, (_, id) => read(id, 86_400_000));
  t.equal(open.length, 4);
  for (let index = 0; index < 10; index++) {
    open[index]?.();
    await reads[index];
    t.equal(open.length, Math.min(10, index + 5), 'the next takes the place');
  }
});
