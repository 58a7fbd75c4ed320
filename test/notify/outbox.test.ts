/** The loop that sends what waits in the registry. */
import t from 'tap';
import { silentLog } from '../../src/log.ts';
import { createDeliveryCounter, deliveryEnd, startOutbox } from '../../src/notify/outbox.ts';
import { createFakeClock } from '../support/fake-clock.ts';

t.test('a read from before an outcome sends nothing again', async (t) => {
  const clock = createFakeClock();
  const waiting = new Set([1, 2]);
  const sent: number[] = [];
  /** Answers of reads, which see what was waiting when they began. */
  const reads: (() => void)[] = [];
  const ends: (() => void)[] = [];
  const outbox = startOutbox<{ readonly id: number }, number>({
    due() {
      const seen = [...waiting].map((id) => ({ id }));
      return new Promise((resolve) => reads.push(() => resolve(seen)));
    },
    attempt({ id }) {
      sent.push(id);
      return new Promise((resolve) => ends.push(() => resolve(id)));
    },
    note: async (id) => void waiting.delete(id),
    forget: async () => 0,
    endOf: () => 'delivered',
    counter: { note() {} },
    retentionNow: async () => clock.now(),
    ...{ clock, log: silentLog, isOurs: () => true, what: 'items' },
  });
  const step = async (list: (() => void)[]) => {
    list.shift()?.();
    await clock.advance(0);
  };
  await clock.advance(0);
  await step(reads);
  t.same(sent, [1, 2]);
  outbox.poll();
  await clock.advance(0);
  await step(ends);
  t.same([...waiting], [2], 'the outcome of the first is stored while a read is under way');
  await step(reads);
  t.same(sent, [1, 2]);
  await step(reads);
  await step(ends);
  await step(reads);
  await step(reads);
  t.same(sent, [1, 2], 'each once');
  const stopped = outbox.stop();
  for (let n = 0; n < 4; n++) await step(reads);
  await stopped;
});

t.test('the age of what was settled counts by the retention time, not by the wall clock', async (t) => {
  const DAY_MS = 86_400_000;
  const clock = createFakeClock();
  const asked: number[] = [];
  const outbox = startOutbox<{ readonly id: number }, number>({
    due: async () => [],
    attempt: async ({ id }) => id,
    note: async () => {},
    forget: async (before) => asked.push(before),
    endOf: () => 'delivered',
    counter: { note() {} },
    retentionNow: async () => 100 * DAY_MS,
    ...{ clock, log: silentLog, isOurs: () => true, what: 'items' },
  });
  await clock.advance(0);
  await clock.advance(3_700_000);
  t.strictSame(asked, [70 * DAY_MS, 70 * DAY_MS], 'at the start and every hour');
  await outbox.stop();
});

t.test('it reads nothing while nothing is written and nothing waits, but for once a minute', async (t) => {
  const clock = createFakeClock();
  let writes = 0;
  let waiting = 0;
  let reads = 0;
  const outbox = startOutbox<{ readonly id: number }, number>({
    async due() {
      reads++;
      return [];
    },
    isEmpty: async () => waiting === 0,
    writes: () => writes,
    attempt: async ({ id }) => id,
    note: async () => {},
    forget: async () => 0,
    endOf: () => 'delivered',
    counter: { note() {} },
    retentionNow: async () => clock.now(),
    ...{ clock, log: silentLog, isOurs: () => true, what: 'items' },
  });
  const readsIn = async (ms: number) => {
    const before = reads;
    await clock.advance(ms);
    return reads - before;
  };
  await readsIn(0);
  t.equal(await readsIn(50_000), 0);
  t.equal(await readsIn(60_000), 1, 'whatever no write tells of');
  writes++;
  t.equal(await readsIn(1_000), 1, 'within a second of a write');
  t.equal(await readsIn(10_000), 0);
  [writes, waiting] = [writes + 1, 1];
  t.equal(await readsIn(10_000), 10, 'every second while something waits for its time');
  waiting = 0;
  t.equal(await readsIn(10_000), 1);
  await outbox.stop();
});

t.test(
  'it counts attempts by their end, and names what is given up every ten minutes at the most',
  async (t) => {
    const clock = createFakeClock();
    const lines: unknown[] = [];
    const note = (fields: object, sentence: string) => void lines.push([sentence, fields]);
    const counter = createDeliveryCounter('webhooks', clock, {
      debug: note,
      info: note,
      warn: note,
      error: note,
    });
    counter.note(deliveryEnd(true, null));
    counter.note(deliveryEnd(false, 5_000));
    t.strictSame(lines, []);
    for (let minute = 0; minute < 10; minute++) {
      counter.note(deliveryEnd(false, null));
      await clock.advance(60_000);
    }
    counter.note(deliveryEnd(false, null));
    t.strictSame(counter.counts(), { delivered: 1, retried: 1, given_up: 11, dropped: 0 });
    const sentence = 'webhooks were given up: their receivers refuse them, or failed for a day';
    t.strictSame(lines, [
      [sentence, { count: 1 }],
      [sentence, { count: 10 }],
    ]);
    counter.drop(0);
    counter.drop(3);
    counter.drop(2);
    t.equal(counter.counts().dropped, 5);
    const dropped = 'webhooks were dropped: a receiver has failed for so long that too many wait';
    t.strictSame(lines.slice(2), [
      [dropped, { count: 3 }],
      [dropped, { count: 2 }],
    ]);
  },
);
