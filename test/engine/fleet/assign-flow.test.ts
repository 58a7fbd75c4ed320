import t from 'tap';
import { createAssignFlow } from '../../../src/engine/fleet/assign-flow.ts';

/** A flow, and what it has sent: the number of services and their spread. */
function observeFlow() {
  const sent: { readonly serviceIds: readonly number[]; readonly spreadMs: number }[] = [];
  const flow = createAssignFlow((serviceIds, spreadMs) => void sent.push({ serviceIds, spreadMs }));
  return { ...flow, sent, sizes: () => sent.map(({ serviceIds }) => serviceIds.length) };
}

const idsTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, at) => first + at);

t.test('it sends a message when the thread has taken the one before', (t) => {
  const { assign, confirm, sent, sizes } = observeFlow();
  let isSent = false;
  assign(idsTo(1_700), 40, () => {
    isSent = true;
  });
  t.same(sizes(), [500]);
  confirm();
  t.same(sizes(), [500, 500]);
  confirm();
  t.same(sizes(), [500, 500, 500]);
  t.notOk(isSent, 'the last message has not been sent');
  confirm();
  t.same(sizes(), [500, 500, 500, 200]);
  t.ok(isSent);
  confirm();
  confirm();
  t.same(
    sent.flatMap(({ serviceIds }) => serviceIds),
    idsTo(1_700),
    'each service once, in order',
  );
  t.ok(sent.every(({ spreadMs }) => spreadMs === 40));
  t.end();
});

t.test('it sends later lists behind earlier ones', (t) => {
  const { assign, confirm, sent } = observeFlow();
  assign(idsTo(1_100), 40);
  assign([7], 5);
  assign([], 0);
  for (let turn = 0; turn < 5; turn++) confirm();
  t.same(
    sent.map(({ serviceIds, spreadMs }) => [serviceIds.length, serviceIds[0], spreadMs]),
    [
      [500, 1, 40],
      [500, 501, 40],
      [100, 1_001, 40],
      [1, 7, 5],
      [0, undefined, 0],
    ],
  );
  assign(idsTo(3_000), 1);
  t.equal(sent.length, 6, 'again one');
  t.end();
});
