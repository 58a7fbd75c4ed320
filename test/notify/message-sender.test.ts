/** Messages to channels, from a real registry to a receiver that does as the test says, by a clock that stands still. */
import t, { type Test } from 'tap';
import { systemClock } from '../../src/clock.ts';
import type { ChannelKind } from '../../src/domain/alert/channel.ts';
import type { AlertMessage } from '../../src/domain/alert/message.ts';
import { Type } from '../../src/json-schema.ts';
import { silentLog } from '../../src/log.ts';
import type { ChannelKindParts, Sending, SendResult } from '../../src/notify/channels/define-channel.ts';
import { startMessageSender } from '../../src/notify/message-sender.ts';
import { createDeliveryCounter } from '../../src/notify/outbox.ts';
import type { AddressPolicy } from '../../src/outbound/address-guard.ts';
import { openRegistryMethods } from '../../src/store/registry/registry-thread.ts';
import { channelOf, messageOf } from '../store/alert-fixtures.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { registryHere } from '../support/registry-here.ts';
import { itemOf } from './channels/sample-messages.ts';

const NOW = Date.UTC(2026, 0, 1);
const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const BUSY = { code: 'too_many', statusCode: 429 } as const;
const FAILED: SendResult = { outcome: 'failed', problem: { code: 'status', statusCode: 503, text: '' } };

type Receive = (sending: Sending) => SendResult | Promise<SendResult>;

/** Two channels of an account, and what their receivers got: thread and type of each attempt. */
async function start(t: Test, parts: Pick<ChannelKindParts, 'paceMs'> = {}) {
  const clock = createFakeClock(NOW);
  const registry = registryHere(
    await openRegistryMethods({ dataDir: t.testdir(), domainsPerAccount: 9 }),
    systemClock,
  );
  const { id: accountId } = await registry.ensureAccount('ada', NOW);
  const ops = await registry.addChannel(channelOf(accountId, 'ops'));
  const mail = await registry.addChannel(channelOf(accountId, 'mail'));
  const heard: { readonly to: string; readonly what: string; readonly at: number; readonly id: string }[] =
    [];
  const down = new Set<number>();
  const policies: AddressPolicy[] = [];
  const world = { receive: (() => ({ outcome: 'delivered' })) as Receive, isOurs: true, down };
  const kind: ChannelKindParts = {
    settings: Type.Object({}),
    describe: () => '',
    ...parts,
    async send({ policy }, sending) {
      policies.push(policy);
      const { message, channel, id } = sending;
      heard.push({ to: channel.name, what: `${message.thread} ${message.type}`, at: clock.now() - NOW, id });
      return await world.receive(sending);
    },
  };
  const kinds = new Proxy({}, { get: () => kind }) as Readonly<
    Partial<Record<ChannelKind, ChannelKindParts>>
  >;
  const tools = {
    outbound: { request: () => Promise.reject(new Error('the kind of the test requests nothing')) },
    policy: { allowPrivate: [], ports: [] },
    trustedPolicy: { allowPrivate: ['10.0.0.0/8'], ports: null },
    mailer: null,
    clock,
    siteUrl: 'https://upbeat.example',
  };
  const open = () =>
    startMessageSender({
      ...{ registry, kinds, tools, log: silentLog, random: () => 0 },
      retentionNow: async () => clock.now(),
      counter: createDeliveryCounter('messages of alerts', clock, silentLog),
      isDown: (id) => world.down.has(id),
      isOurs: () => world.isOurs,
    });
  let sender = open();
  t.teardown(async () => {
    await sender.stop();
    await registry.close();
  });
  return {
    ...{ registry, clock, heard, world, accountId, ops, mail, policies },
    async add(channelId: number, ...messages: readonly AlertMessage[]) {
      await registry.commitAlerts({
        ...{ position: 0, states: [], acknowledgements: [], now: clock.now() },
        messages: messages.map((message) => ({ channelId, message })),
        rulesVersion: await registry.rulesVersion(),
      });
    },
    stop: () => sender.stop(),
    async restart() {
      await sender.stop();
      sender = open();
    },
    /** What a receiver was sent, in order. */
    sentTo: (name: string) => heard.filter(({ to }) => to === name).map(({ what }) => what),
  };
}

t.test('it keeps the pace of a kind, and holds up no other channel', async (t) => {
  const { add, ops, mail, clock, heard } = await start(t, { paceMs: 400 });
  await add(ops.id, ...['a', 'b', 'c', 'd'].map((thread) => messageOf(thread)));
  await add(mail.id, messageOf('a'));
  for (let ms = 0; ms < 3 * SECOND; ms += 100) await clock.advance(100);
  const times = (name: string) => heard.filter(({ to }) => to === name).map(({ at }) => at);
  t.same(times('ops').length, 4);
  t.same(times('mail'), times('ops').slice(0, 1));
  const gaps = times('ops').flatMap((at, index, all) => (index === 0 ? [] : [at - (all[index - 1] ?? 0)]));
  t.same(gaps, [400, 400, 400], 'it does not wait for the next look either');
});

t.test('it reaches private addresses for a trusted account, as long as it is one', async (t) => {
  const { add, ops, clock, registry, accountId, policies } = await start(t);
  for (const by of [null, 'setting', null] as const) {
    await registry.trustAccount(accountId, by, NOW);
    await add(ops.id, messageOf(`trusted by ${by}`));
    await clock.advance(2 * SECOND);
  }
  t.same(
    policies.map(({ allowPrivate }) => allowPrivate),
    [[], ['10.0.0.0/8'], []],
  );
});

const beganAndEnded = (thread: string) => [messageOf(thread), messageOf(thread, { type: 'recovery' })];

t.test('it sends the messages of a channel in order, and tells where the thread continues', async (t) => {
  const { add, ops, mail, clock, world, heard, sentTo, registry, accountId } = await start(t);
  const references: (string | null)[] = [];
  world.receive = ({ reference, message }) => {
    references.push(reference);
    return { outcome: 'delivered', reference: `ts-${message.type}` };
  };
  await add(ops.id, ...beganAndEnded('a'), messageOf('b'));
  await clock.advance(SECOND);
  t.same(sentTo('ops'), ['a alert', 'a recovery', 'b alert'], 'without waiting for the next look');
  t.same(references, [null, 'ts-alert', null]);
  t.match(await registry.messagesOf(accountId), [
    { deliveredAt: Number, attempts: 1, problem: null },
    {},
    {},
  ]);
  t.equal(new Set(heard.map(({ id }) => id)).size, 3);
  await add(mail.id, messageOf('a'));
  world.isOurs = false;
  await clock.advance(10 * SECOND);
  t.same(sentTo('mail'), [], 'another process is the monitor, or the prober is offline');
  world.isOurs = true;
  await clock.advance(SECOND);
  t.same(sentTo('mail'), ['a alert']);
});

/** Two outages of which neither message can stand for the other. */
const twoBegan = [messageOf('a'), messageOf('b')];

t.test('a message that fails holds up those behind it, and no other channel', async (t) => {
  const { add, ops, mail, clock, world, heard, sentTo, restart } = await start(t);
  world.receive = ({ channel }) => (channel.name === 'ops' ? FAILED : { outcome: 'delivered' });
  await add(ops.id, ...twoBegan);
  await add(mail.id, ...beganAndEnded('a'));
  await clock.advance(7 * MINUTE);
  t.same(sentTo('mail'), ['a alert', 'a recovery']);
  const attempts = heard.filter(({ to }) => to === 'ops');
  t.same(
    attempts.slice(1).map(({ at }, index) => Math.round((at - (attempts[index]?.at ?? 0)) / 5_000)),
    [1, 12, 12, 12, 12, 12, 12],
  );
  t.equal(new Set(attempts.map(({ id }) => id)).size, 1, 'under the same identifier');
  await restart();
  world.receive = () => ({ outcome: 'delivered' });
  await clock.skip(30 * MINUTE);
  await clock.advance(SECOND);
  t.same(sentTo('ops').slice(8), ['a alert', 'b alert']);
});

t.test('it tries for a day, every hour at the least, and goes on with the next message', async (t) => {
  const { add, ops, mail, clock, world, heard, registry, accountId } = await start(t);
  world.receive = () => FAILED;
  await registry.removeChannel(accountId, mail.id);
  await add(ops.id, ...twoBegan);
  for (let hours = 0; hours < 26; hours += 0.25) {
    await clock.skip(HOUR / 4 - 2 * SECOND);
    await clock.advance(2 * SECOND);
  }
  const waits = heard.map(({ at }, index) => at - (heard[index - 1]?.at ?? at));
  t.ok(Math.max(...waits) <= 1.3 * HOUR, `${Math.max(...waits)}`);
  const [next, alert] = await registry.messagesOf(accountId);
  t.match(alert, { dueAt: null, deliveredAt: null, problem: { code: 'status' } });
  t.ok((alert?.attempts ?? 0) > 24);
  t.match(next, { dueAt: null, attempts: 1 }, 'a message that is a day old is tried once');
});

t.test('it comes back when the receiver says so, and sooner than after an hour', async (t) => {
  const { add, ops, mail, clock, world, heard, sentTo } = await start(t);
  world.receive = ({ channel }) => {
    if (channel.name !== 'ops' || clock.now() >= NOW + HOUR) return { outcome: 'delivered' };
    return { outcome: 'failed', problem: BUSY, retryAfterMs: 10 * MINUTE };
  };
  await add(ops.id, ...twoBegan);
  await clock.advance(55 * MINUTE);
  t.same(
    heard.map(({ at }) => Math.floor(at / MINUTE)),
    [0, 10, 20, 30, 40, 50],
  );
  await add(mail.id, messageOf('b'));
  await clock.advance(SECOND);
  t.same(sentTo('mail'), ['b alert']);
  await clock.advance(7 * MINUTE);
  t.same(sentTo('ops').slice(6), ['a alert', 'b alert'], 'nothing is lost, and the order is kept');
  world.receive = () => ({ outcome: 'failed', problem: BUSY, retryAfterMs: 24 * HOUR });
  await add(ops.id, messageOf('c'));
  await clock.advance(SECOND);
  await clock.skip(HOUR - 2 * SECOND);
  t.equal(sentTo('ops').length, 9);
  await clock.advance(3 * SECOND);
  t.equal(sentTo('ops').length, 10, 'an hour is the most that it waits');
});

t.test('an outage that is over when its receiver is back is one message', async (t) => {
  const { add, ops, clock, world, heard, sentTo } = await start(t);
  world.receive = () => FAILED;
  await add(ops.id, messageOf('a'));
  await clock.advance(10 * MINUTE);
  await add(
    ops.id,
    messageOf('a', { type: 'reminder' }),
    messageOf('a', { type: 'recovery' }),
    messageOf('b'),
  );
  await clock.advance(SECOND);
  heard.splice(0);
  await clock.advance(2 * MINUTE);
  t.ok(heard.length <= 3, 'what stands for another waits as long as that would have done');
  world.receive = () => ({ outcome: 'delivered' });
  heard.splice(0);
  await clock.advance(2 * MINUTE);
  t.same(sentTo('ops'), ['a recovery', 'b alert']);
});

t.test('a recovery that waits while its service fails again does not say that it is well', async (t) => {
  const { add, ops, clock, world } = await start(t);
  const said: string[] = [];
  const receive: Receive = ({ message }) => {
    said.push(`${message.type} ${message.items[0]?.status}`);
    return { outcome: 'delivered' };
  };
  const item = itemOf({ status: 'up', lastedMs: 60_000, reason: null });
  const problem = { code: 'status', statusCode: 503, text: '' } as const;
  world.receive = () => ({ outcome: 'failed', problem });
  await add(ops.id, messageOf('a', { type: 'recovery', urgency: 'low', items: [item] }));
  await clock.advance(2 * SECOND);
  world.receive = receive;
  world.down.add(item.service.id);
  await clock.advance(60 * SECOND);
  t.same(said, ['recovery down']);
});

t.test('a receiver that is repaired hears a new outage within 15 s', async (t) => {
  const { add, ops, clock, world, heard, sentTo } = await start(t);
  world.receive = () => FAILED;
  const calm = messageOf('calm', { urgency: 'normal' });
  await add(ops.id, calm);
  await clock.advance(40 * MINUTE);
  const waits = () => heard.slice(1).map(({ at }, n) => Math.round((at - (heard[n]?.at ?? 0)) / SECOND));
  t.same(waits(), [5, 60, 300, 1_800], 'what is not urgent waits long');
  world.receive = () => ({ outcome: 'delivered' });
  await add(ops.id, messageOf('new'));
  await clock.advance(SECOND);
  t.same(sentTo('ops').slice(5), ['calm alert', 'new alert']);

  world.receive = () => FAILED;
  await add(ops.id, calm);
  await clock.advance(7 * SECOND);
  heard.splice(0);
  await add(ops.id, { ...calm, thread: 'other' });
  await clock.advance(8 * SECOND);
  t.same(heard, [], 'an attempt of seconds ago is not repeated');
  await clock.advance(8 * SECOND);
  t.equal(heard.length, 1);
  await add(ops.id, messageOf('down'));
  await clock.advance(20 * MINUTE);
  t.ok(
    waits().every((seconds) => seconds <= 61),
    `an outage waits a minute at most: ${waits()}`,
  );
});

t.test('what a receiver refuses is settled at once', async (t) => {
  const { add, ops, clock, world, sentTo, registry, accountId } = await start(t);
  const gone = { code: 'status', statusCode: 404, text: 'channel_not_found' } as const;
  world.receive = ({ message }) =>
    message.thread === 'a' ? { outcome: 'refused', problem: gone } : { outcome: 'delivered' };
  await add(ops.id, messageOf('a'), messageOf('b'));
  await clock.advance(SECOND);
  t.same(sentTo('ops'), ['a alert', 'b alert']);
  t.match(await registry.messagesOf(accountId), [{ deliveredAt: Number }, { dueAt: null, problem: gone }]);
  world.receive = () => {
    throw new Error('the kind has a fault');
  };
  await add(ops.id, messageOf('c'));
  await clock.advance(SECOND);
  t.match(await registry.messagesOf(accountId), [
    { attempts: 1, dueAt: Number, problem: { code: 'text', text: 'the kind has a fault' } },
  ]);
  await registry.changeChannel(accountId, ops.id, { confirmedAt: null });
  await clock.advance(10 * SECOND);
  t.match(await registry.messagesOf(accountId), [{ attempts: 2, problem: { code: 'not_confirmed' } }]);
});

t.test('a receiver that hangs costs 30 s, and at the end of the program 5 s', async (t) => {
  const { add, ops, mail, clock, world, sentTo, registry, accountId, stop } = await start(t);
  world.receive = ({ channel }) =>
    channel.name === 'ops' ? new Promise(() => {}) : { outcome: 'delivered' };
  await add(ops.id, messageOf('a'));
  await clock.advance(5 * SECOND);
  await add(mail.id, messageOf('b'));
  await clock.advance(SECOND);
  t.same(sentTo('mail'), ['b alert'], 'another channel does not wait');
  await clock.advance(26 * SECOND);
  t.match(await registry.messagesOf(accountId, ops.id), [
    { attempts: 1, problem: { code: 'failed', failure: { class: 'timeout' } } },
  ]);
  await clock.advance(5 * SECOND);
  t.equal(sentTo('ops').length, 2);
  let isStopped = false;
  const stopped = stop().then(() => {
    isStopped = true;
  });
  await clock.advance(5 * SECOND - 1);
  t.notOk(isStopped);
  await clock.advance(1);
  await stopped;
  t.match(
    await registry.messagesOf(accountId, ops.id),
    [{ attempts: 1, dueAt: Number }],
    'left to the next one',
  );
});

t.test('a channel that fails for an hour is told of over another one, once', async (t) => {
  const { add, ops, clock, world, sentTo, registry, accountId } = await start(t);
  world.receive = ({ channel }) => (channel.name === 'ops' ? FAILED : { outcome: 'delivered' });
  await add(ops.id, messageOf('a'));
  await clock.advance(SECOND);
  await clock.skip(HOUR - 2 * SECOND);
  t.same(sentTo('mail'), []);
  await clock.advance(2 * MINUTE);
  const [told] = (await registry.messagesOf(accountId)).filter(({ message }) => message.type !== 'alert');
  t.match(told?.message, {
    type: 'channel_failing',
    url: 'https://upbeat.example/dashboard/channels',
    note: { channel: 'ops', problem: 'HTTP 503' },
  });
  for (let n = 0; n < 5; n++) {
    await clock.skip(HOUR);
    await clock.advance(MINUTE);
  }
  t.equal(sentTo('mail').length, 1);
  await registry.removeChannel(accountId, ops.id);
  t.same(await registry.noticesOf(accountId), []);
});
