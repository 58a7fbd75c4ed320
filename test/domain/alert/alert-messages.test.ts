/** What a message that has waited says of services that have failed again. */
import t from 'tap';
import { asOfNow } from '../../../src/domain/alert/alert-messages.ts';
import { countStates, type MessageItem } from '../../../src/domain/alert/message.ts';
import { renderMessage } from '../../../src/notify/channels/message-text.ts';
import { itemOf, messageOf } from '../../notify/channels/sample-messages.ts';

const serviceOf = (id: number) => ({ ...itemOf().service, id, name: `s${id}`, slug: `s${id}` });
const up = (id: number, more: Partial<MessageItem> = {}): MessageItem =>
  itemOf({ service: serviceOf(id), status: 'up', lastedMs: 300_000, reason: null, ...more });
const recoveryOf = (items: readonly MessageItem[], total = items.length, hidden = 0) => {
  const counts = countStates(items);
  return messageOf({
    ...{ type: 'recovery', urgency: 'low', items, total },
    counts: hidden === 0 ? counts : { ...counts, up: (counts.up ?? 0) + hidden },
  });
};
const isDown =
  (...ids: readonly number[]) =>
  (id: number) =>
    ids.includes(id);

t.test('a recovery does not call well what is down again', async (t) => {
  const one = asOfNow(recoveryOf([up(1)]), isDown(1));
  t.match(one, { items: [{ status: 'down', lastedMs: 300_000 }], counts: { down: 1 } });
  t.match(renderMessage(one, 'en'), { tone: 'warning', title: 's1 came back after 5 min and is down again' });
  const many = asOfNow(recoveryOf([up(1), up(2), up(3)], 30, 27), isDown(2));
  t.same(many.counts, { up: 29, down: 1 });
  t.match(renderMessage(many, 'en').title, /^1 service is down, 29 are up again/);
  const all = asOfNow(recoveryOf([up(1), up(2, { event: 'slow' })]), isDown(1, 2));
  t.same(all.counts, { down: 2 });
});

t.test('all else is said as it was decided', async (t) => {
  const told = recoveryOf([up(1)]);
  t.equal(asOfNow(told, isDown(2)), told);
  for (const message of [
    messageOf({ items: [itemOf({ service: serviceOf(1) })] }),
    recoveryOf([up(1, { event: 'maintenance' })]),
    recoveryOf([up(1, { ended: 'paused' })]),
    recoveryOf([up(1, { status: 'down' })]),
  ])
    t.equal(asOfNow(message, isDown(1)), message);
});
