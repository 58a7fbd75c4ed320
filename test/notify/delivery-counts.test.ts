/** How attempts to deliver are counted, and what the log says of those that are given up. */
import t from 'tap';
import { createDeliveryCounter, deliveryEnd } from '../../src/notify/delivery-counts.ts';
import { createFakeClock } from '../support/fake-clock.ts';

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
