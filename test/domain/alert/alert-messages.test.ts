/** What a message says. */
import t from 'tap';
import { asOfNow } from '../../../src/domain/alert/alert-messages.ts';
import { countStates, type MessageItem } from '../../../src/domain/alert/message.ts';
import type { AlertEventName } from '../../../src/domain/alert/rule.ts';
import { renderMessage } from '../../../src/notify/channels/message-text.ts';
import { itemOf, messageOf } from '../../notify/channels/sample-messages.ts';
import { AlertWorld, HOUR, MINUTE, NOON, ruleOf, SECOND, serviceOf } from './alert-world.ts';
import { downChange } from './decision-rows.ts';

t.test('a message says what is known', async (t) => {
  const world = new AlertWorld([ruleOf({ events: ['heartbeat_missed' satisfies AlertEventName, 'up'] })]);
  world.services.set(
    1,
    serviceOf(1, { scope: 'global', vendor: { title: 'We look', url: 'https://v.example/' } }),
  );
  world.change(5000, 1, downChange, { at: NOON });
  world.pass(5 * MINUTE);
  const expected = {
    type: 'alert',
    thread: world.thread,
    urgency: 'high',
    at: NOON,
    items: [
      {
        service: {
          id: 1,
          slug: 's1',
          name: 'Service 1',
          domain: 's1.example.com',
          url: 'https://up.example/status/s1',
        },
        event: 'heartbeat_missed',
        status: 'down',
        since: NOON,
        lastedMs: null,
        reason: { code: 'run_failed', exitCode: 1 },
        phase: null,
        lastGoodAt: NOON - HOUR,
        scope: 'global',
        regions: ['eu'],
        vendor: { title: 'We look', url: 'https://v.example/' },
        flapping: null,
        incident: null,
        maintenance: null,
        certificate: null,
      },
    ],
    total: 1,
    counts: { down: 1 },
    cause: null,
    rule: 'rule 1',
    url: 'https://up.example/status/s1',
    acknowledgeUrl: `https://up.example/alerts/acknowledge/${world.thread}`,
    note: null,
  };
  t.same(world.sent.splice(0), [{ at: NOON + 5000, channel: 1, message: expected }]);
  t.match(expected.thread, /^[A-Za-z0-9-]{1,62}$/);
  world.up(10 * MINUTE, 1);
  world.pass(HOUR);
  t.match(world.sent, [
    {
      message: {
        type: 'recovery',
        thread: expected.thread,
        urgency: 'low',
        at: NOON,
        items: [{ event: 'up', status: 'up', since: NOON, lastedMs: 10 * MINUTE, reason: null }],
        acknowledgeUrl: null,
      },
    },
  ]);
  t.same([world.state.conditions.size, world.state.threads.size], [0, 0], 'nothing is left');
});

t.test('what is down for the same cause joins the thread of it, however much later', async (t) => {
  const world = new AlertWorld([ruleOf({ repeatMs: HOUR })], 40);
  const address = (id: number, name: string) => ({
    ...{ serviceId: id, status: 'down' as const, checkedAt: NOON, addresses: [name] },
  });
  world.causes = Array.from({ length: 40 }, (_, n) => address(n + 1, n < 30 ? '192.0.2.1' : '192.0.2.2'));
  for (let id = 1; id <= 30; id += 1) world.down(id * 10 * SECOND, id);
  for (const at of [6, 11]) world.down(at * MINUTE, 25 + at);
  world.pass(20 * MINUTE);
  const threads = Map.groupBy(world.sent, ({ message }) => message.thread);
  t.same(
    [...threads.values()].map((those) => those.at(-1)?.message.total),
    [30, 2],
    'one for each address',
  );
  t.ok(world.sent.length < 20, `${world.sent.length} messages`);
  t.same(
    world.sent.map(({ message }) => message.replaces === true),
    world.sent.map(({ at }) => at > NOON + 10 * SECOND && at < NOON + 6 * MINUTE),
    'what comes minutes later is said beside what was said before',
  );
});

const subjectOf = (id: number) => ({ ...itemOf().service, id, name: `s${id}`, slug: `s${id}` });

const up = (id: number, more: Partial<MessageItem> = {}): MessageItem =>
  itemOf({ service: subjectOf(id), status: 'up', lastedMs: 300_000, reason: null, ...more });

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
    messageOf({ items: [itemOf({ service: subjectOf(1) })] }),
    recoveryOf([up(1, { event: 'maintenance' })]),
    recoveryOf([up(1, { ended: 'paused' })]),
    recoveryOf([up(1, { status: 'down' })]),
  ])
    t.equal(asOfNow(message, isDown(1)), message);
});
