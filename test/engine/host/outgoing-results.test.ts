/** Results of a moment are sent together. */
import t from 'tap';
import { createOutgoingResults } from '../../../src/engine/host/outgoing-results.ts';
import { goodResult } from '../../support/attempts.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const FAILED = { class: 'timeout', phase: 'connect', cause: { code: 'timeout' } } as never;

function start() {
  const clock = createFakeClock();
  const sent: number[][] = [];
  const results = createOutgoingResults(
    clock,
    (batch) => void sent.push(batch.map(({ serviceId }) => serviceId)),
  );
  return { clock, sent, results };
}

t.test('good results wait for half a second, and a failure takes them along at once', async (t) => {
  const { clock, sent, results } = start();
  results.add(goodResult(1, 0));
  await clock.advance(400);
  t.same(sent, []);
  results.add(goodResult(2, 0));
  await clock.advance(100);
  t.same(sent, [[1, 2]]);
  results.add(goodResult(3, 0));
  results.add(goodResult(4, 0, { failure: FAILED }));
  await clock.advance(100);
  t.same(sent, [
    [1, 2],
    [3, 4],
  ]);
  await clock.advance(1_000);
  t.equal(sent.length, 2, 'nothing is sent where nothing waits');
});

t.test('many are sent without a wait, and what waits is sent at the end', async (t) => {
  const { clock, sent, results } = start();
  for (let id = 1; id <= 257; id++) results.add(goodResult(id, 0));
  t.same(
    sent.map(({ length }) => length),
    [256],
  );
  results.flush();
  t.same(sent.at(-1), [257]);
  results.flush();
  await clock.advance(1_000);
  t.equal(sent.length, 2);
});
