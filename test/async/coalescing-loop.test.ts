/** A loop that runs once for many calls: it never overlaps and forgets no call. */
import fc from 'fast-check';
import t from 'tap';
import { createCoalescingLoop, createPollGate } from '../../src/async/coalescing-loop.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

t.test('a coalescing loop runs again once for all calls during a run', async (t) => {
  const gates: (() => void)[] = [];
  const loop = createCoalescingLoop(() => new Promise((resolve) => gates.push(resolve)));
  const ended: string[] = [];
  void loop.run().then(() => ended.push('first'));
  t.equal(gates.length, 1, 'begins within the call');
  void loop.run().then(() => ended.push('second'));
  void loop.run().then(() => ended.push('third'));
  void loop.idle().then(() => ended.push('idle'));
  await turn();
  t.same([gates.length, loop.isRunning], [1, true]);
  gates[0]?.();
  await turn();
  t.same([gates.length, ended], [2, ['first']]);
  gates[1]?.();
  await turn();
  t.same(ended, ['first', 'second', 'third', 'idle']);
  t.same([gates.length, loop.isRunning], [2, false]);
  await loop.idle();
});

t.test('a coalescing loop never overlaps and never leaves a call without a later run', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 20 }), async (pauses) => {
      let running = 0;
      let begun = 0;
      let most = 0;
      const loop = createCoalescingLoop(async () => {
        begun += 1;
        most = Math.max(most, ++running);
        await turn();
        running -= 1;
      });
      const calls: Promise<boolean>[] = [];
      for (const pause of pauses) {
        const before = begun;
        calls.push(loop.run().then(() => begun > before));
        for (let count = 0; count < pause; count++) await (count % 2 === 0 ? null : turn());
      }
      const served = await Promise.all(calls);
      await loop.idle();
      return most <= 1 && served.every(Boolean) && begun <= pauses.length && !loop.isRunning;
    }),
  );
});

t.test('a poll that found nothing rests until the next write, and a minute at most', async (t) => {
  let [writes, now] = [0, 0];
  const gate = createPollGate(
    () => writes,
    () => now,
  );
  t.ok(gate.isOpen(), 'it begins open');
  gate.begin();
  t.ok(gate.isOpen(), 'a poll that found something');
  gate.close();
  t.notOk(gate.isOpen());
  writes += 1;
  t.ok(gate.isOpen());
  gate.begin();
  gate.close();
  now = 59_999;
  t.notOk(gate.isOpen());
  now = 60_000;
  t.ok(gate.isOpen(), 'something may wait that no write tells of');
});

t.test('a write during a poll is not overlooked, and unknown writes close nothing', async (t) => {
  let writes = 0;
  const gate = createPollGate(
    () => writes,
    () => 0,
  );
  gate.begin();
  writes += 1;
  gate.close();
  t.ok(gate.isOpen());
  const blind = createPollGate(undefined, () => 0);
  blind.begin();
  blind.close();
  t.ok(blind.isOpen());
});
