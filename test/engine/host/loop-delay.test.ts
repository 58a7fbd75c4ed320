import t from 'tap';
import { createLoopDelay } from '../../../src/engine/host/loop-delay.ts';
import { createSlots, readSlots, shareSlots } from '../../../src/engine/host/slots.ts';

t.test('it returns the longest delay within a span of time', async (t) => {
  const delay = createLoopDelay(10, 0);
  delay.note(10);
  delay.note(320);
  delay.note(330);
  delay.note(441);
  delay.note(452);
  for (const [since, now, worst] of [
    [0, 455, 300],
    [319, 455, 300],
    [320, 455, 101],
    [441, 455, 1],
    [455, 460, 0],
    [455, 962, 500],
  ] as const) {
    t.equal(delay.worst(since, now), worst, `${since} to ${now}`);
  }
});

t.test('it sums the delays, each as long as it can have been', async (t) => {
  const delay = createLoopDelay(10, 0);
  delay.note(10);
  t.equal(delay.total(25), 0, 'a short delay is normal');
  t.equal(delay.total(320), 310, 'the loop may have stood still since its last tick');
  delay.note(320);
  delay.note(331);
  t.equal(delay.total(335), 310);
  delay.note(400);
  t.equal(delay.total(405), 310 + 69);
});

t.test('it returns the delay of the current iteration, before and after its timer', async (t) => {
  const delay = createLoopDelay(10, 0);
  delay.note(10);
  t.equal(delay.present(19), 0, 'on time');
  t.equal(delay.present(370), 350, 'late, and the timer has not run yet');
  delay.note(370);
  t.equal(delay.present(372), 350, 'the timer has run, the sockets are read');
  delay.note(380);
  t.equal(delay.present(382), 0, 'a turn later');
});

t.test('it counts the slots, and shares the services that have them', async (t) => {
  const shared = shareSlots(3);
  const slots = createSlots(3, shared);
  t.same([slots.take(7, 2), slots.take(0, 2), slots.take(2 ** 40, 2)], [0, 1, 2]);
  t.throws(() => slots.take(8, 2), RangeError);
  t.same(readSlots(shared), [7, 0, 2 ** 40]);
  slots.free(1);
  t.same([slots.available, slots.busy, readSlots(shared)], [1, 2, [7, 2 ** 40]]);
  t.equal(slots.take(9, 2), 1);
});

t.test('it finds an attempt that is too old, but not one whose slot was taken again', async (t) => {
  const slots = createSlots(2);
  slots.take(5, 2);
  const slot = slots.take(6, 1);
  t.equal(slots.findOverdue(), null);
  t.equal(slots.findOverdue(), 6, 'each has a limit of its own');
  slots.free(slot);
  slots.take(6, 2);
  t.equal(slots.findOverdue(), 5);
});
