/** Heartbeats that another process received: judged once, in their order, and answered to their senders. */
import t, { type Test } from 'tap';
import { readHeartbeat } from '../../src/domain/heartbeat/heartbeat-body.ts';
import { type CurrentStatus, unknownStatus } from '../../src/domain/status/current.ts';
import { silentLog } from '../../src/log.ts';
import { createHeartbeatForwarder, startInboxReader } from '../../src/record/heartbeat-inbox.ts';
import type { ReceivedHeartbeat } from '../../src/record/observation.ts';
import type { InboxEntry } from '../../src/store/ports/heartbeats.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { createRecordedRegistry } from '../support/recorded-registry.ts';
import { createWorld, makeService, START } from './record-world.ts';

const DOMAIN = 'shop.example.com';
const own = () =>
  makeService(1, {
    domain: DOMAIN,
    origin: 'owner',
    accountId: 7,
    check: { ...makeService(1).check, kind: 'heartbeat' },
  });

const bodyOf = (word: string, more: object = {}) => JSON.stringify({ domain: DOMAIN, status: word, ...more });

function entryOf(word: string, arrivedAt: number, more: Partial<InboxEntry> = {}): Omit<InboxEntry, 'id'> {
  return { kind: 'beat', accountId: 7, arrivedAt, body: bodyOf(word), ...more };
}

function received(word: string, arrivedAt: number): ReceivedHeartbeat {
  const body = bodyOf(word, { checks: { db: { status: 'ok', latency: 41 } } });
  const reading = readHeartbeat(body, 'beat');
  if (!reading.ok) throw new Error(reading.problem);
  return { report: reading.report, accountId: 7, arrivedAt, body };
}

/** The offset of a clock that is right. */
const right = () => 0;

/** A commit of one process is heard of by another one within this, milliseconds. */
const HEARD_MS = 50;

/** One registry as the monitor and as a process that only serves have it open. */
async function twoProcesses(t: Test, clock: FakeClock = createFakeClock(START)) {
  const registry = await createRecordedRegistry([own()]);
  const server = await registry.openOther(clock);
  t.teardown(() => server.close());
  return { clock, registry, monitor: registry.client(clock), server };
}

t.test('it judges what waits, in its order, each once', async (t) => {
  const { clock, registry, monitor, server } = await twoProcesses(t);
  const world = await createWorld({ registry, clock });
  world.record.startListening();
  for (const [index, word] of ['ok', 'down', 'ok', 'down'].entries())
    await server.putInInbox(entryOf(word, START + index));
  const reader = startInboxReader({
    inbox: monitor,
    record: world.record,
    clockOffsetMs: right,
    clock,
    log: silentLog,
  });
  await reader.drained();
  await server.putInInbox(entryOf('warn', START + 9));
  await clock.advance(2_000);
  await reader.drained();
  t.same(
    world.told.map(({ to }) => to),
    ['up', 'down', 'up', 'down', 'slow'],
  );
  t.same(
    registry.heartbeats.map(({ inboxId }) => inboxId),
    [1, 2, 3, 4, 5],
  );
  t.equal(world.samples.length, 5);
  reader.stop();
  await server.putInInbox(entryOf('ok', START + 10));
  await clock.advance(2_000);
  t.equal(registry.heartbeats.length, 5, 'nothing after the stop');
  await world.record.stop();
});

t.test('the heartbeat that arrived last counts, with and without the inbox', async (t) => {
  const { clock, registry, monitor, server } = await twoProcesses(t);
  const world = await createWorld({ registry, clock });
  world.record.startListening();
  await clock.advance(1_000);
  const taken = world.record.takeHeartbeat(received('down', START + 900));
  await clock.advance(0);
  t.match(await taken, { status: 'down' });
  const reader = startInboxReader({
    inbox: monitor,
    record: world.record,
    clockOffsetMs: right,
    clock,
    log: silentLog,
  });
  await server.putInInbox(entryOf('ok', START + 899));
  await reader.drained();
  t.same(
    registry.heartbeats.map(({ counted, body }) => [counted, JSON.parse(body).status]),
    [
      [true, 'down'],
      [false, 'ok'],
    ],
  );
  t.equal(registry.current(1).status, 'down');
  await server.putInInbox(entryOf('ok', START + 901));
  await reader.drained();
  t.equal(registry.current(1).status, 'up');
  reader.stop();
  await world.record.stop();
});

t.test('a heartbeat counts however wrong the clock of the node that received it is', async (t) => {
  const { clock, registry, monitor, server } = await twoProcesses(t);
  const world = await createWorld({ registry, clock });
  world.record.startListening();
  // The monitor's clock is wrong, too: deadlines go by it.
  const reader = startInboxReader({
    inbox: monitor,
    record: world.record,
    clockOffsetMs: () => 7_000,
    clock,
    log: silentLog,
  });
  const offsets = [-90_000, 0, 45_000, -300, 7_000];
  for (const [index, offsetMs] of offsets.entries()) {
    const word = index % 2 === 0 ? 'down' : 'ok';
    const forwarder = createHeartbeatForwarder({
      inbox: server,
      serviceOf: own,
      learn: async () => {},
      clockOffsetMs: () => offsetMs,
      clock,
    });
    const answer = forwarder.takeHeartbeat(received(word, clock.now() - 7_000 + offsetMs));
    await clock.advance(2_000);
    t.match(await answer, { status: word === 'ok' ? 'up' : word });
    forwarder.stop();
  }
  t.same(
    registry.heartbeats.map(({ counted, arrivedAt }) => [counted, arrivedAt]),
    offsets.map((_, index) => [true, START + index * 2_000]),
    'in the time of the monitor',
  );
  reader.stop();
  await world.record.stop();
});

t.test('it answers what is refused, and leaves what we cannot take for later', async (t) => {
  const { clock, monitor, server } = await twoProcesses(t);
  const arrivedAt = START - 590_000;
  let refusals = 0;
  const outcomes = [
    () => Promise.reject(Object.assign(new Error('It is another’s.'), { code: 'foreign_domain' })),
    () => Promise.reject(Object.assign(new Error('no code'))),
  ];
  const taken: number[] = [];
  const reader = startInboxReader({
    inbox: monitor,
    record: {
      takeHeartbeat(one) {
        taken.push(one.inboxId ?? 0);
        return (outcomes.shift() ?? (() => new Promise(() => {})))();
      },
      noteRefusal: () => void refusals++,
    },
    clockOffsetMs: right,
    clock,
    log: silentLog,
  });
  await server.putInInbox(entryOf('ok', arrivedAt));
  await server.putInInbox(entryOf('ok', arrivedAt));
  await server.putInInbox({ kind: 'refused', accountId: 0, arrivedAt, body: '' });
  await server.putInInbox(entryOf('ok', arrivedAt, { body: '[]' }));
  await clock.advance(100);
  t.same(
    (await server.inboxAnswers([1, 2, 3, 4])).map(({ id, answer }) => [
      id,
      'code' in answer ? answer.code : '',
    ]),
    [
      [1, 'foreign_domain'],
      [3, ''],
      [4, 'unavailable'],
    ],
  );
  t.equal(refusals, 1, 'silence is counted anew');
  await clock.advance(1_000);
  t.same(taken.filter((id) => id === 2).length, 2, 'it is tried again');
  await clock.advance(5_000);
  t.same(taken.filter((id) => id === 2).length, 2, 'and not while it is under way');
  t.equal((await server.inboxAnswers([1, 3, 4])).length, 3);
  await clock.advance(6_000);
  t.same(await server.inboxAnswers([1, 3, 4]), [], 'what was answered is forgotten after ten minutes');
  t.match(await server.openInInbox(0), [{ id: 2 }], 'and what waits is not');
  reader.stop();
});

t.test('it answers the sender when the monitor has judged and every read shows it', async (t) => {
  const { clock, monitor, server } = await twoProcesses(t);
  let isAway = false;
  const inbox: typeof server = {
    ...server,
    async putInInbox(entry) {
      if (isAway) throw new Error('the registry is away');
      return await server.putInInbox(entry);
    },
  };
  const known = new Map([[1, own()]]);
  const learnt: CurrentStatus[] = [];
  const forwarder = createHeartbeatForwarder({
    inbox,
    serviceOf: (id) => known.get(id) ?? null,
    learn: async (record) => void learnt.push(record),
    clockOffsetMs: right,
    clock,
  });
  const current = (serviceId: number) => ({ ...unknownStatus(serviceId), seq: 3, status: 'slow' as const });
  const written = (serviceId: number) =>
    ({ kind: 'written', serviceId, current: current(serviceId), responseTimeMs: 41, runMs: 5 }) as const;

  const first = forwarder.takeHeartbeat(received('ok', START));
  await clock.advance(0);
  t.match(await monitor.openInInbox(0), [{ id: 1, kind: 'beat', accountId: 7, arrivedAt: START }]);
  await monitor.answerInInbox(1, written(1));
  await clock.advance(HEARD_MS);
  t.same(await first, {
    service: own(),
    status: 'slow',
    responseTimeMs: 41,
    checkedAt: START,
    runMs: 5,
  });
  t.same(learnt, [current(1)]);

  const unknown = forwarder.takeHeartbeat(received('ok', START));
  let answered = false;
  unknown.then(() => {
    answered = true;
  });
  await clock.advance(0);
  await monitor.answerInInbox(2, written(2));
  await clock.advance(300);
  t.equal(answered, false, 'the feed of changes has not told of the service yet');
  known.set(2, makeService(2));
  await clock.advance(200);
  t.match(await unknown, { service: { id: 2 } });

  const foreign = t.rejects(forwarder.takeHeartbeat(received('ok', START)), {
    code: 'foreign_domain',
    message: 'Not yours.',
  });
  await clock.advance(0);
  await monitor.answerInInbox(3, { kind: 'refused', code: 'foreign_domain', message: 'Not yours.' });
  await clock.advance(HEARD_MS);
  await foreign;

  const late = forwarder.takeHeartbeat(received('ok', START));
  const failed = t.rejects(late, { code: 'unavailable' }, 'there is no monitor');
  await clock.advance(10_000);
  await failed;

  isAway = true;
  await t.rejects(forwarder.takeHeartbeat(received('ok', START)), 'the registry is away');
  forwarder.noteRefusal();
  forwarder.noteRefusal();
  await clock.advance(3_000);
  isAway = false;
  await clock.advance(1_000);
  t.same(
    (await monitor.openInInbox(0)).filter(({ kind }) => kind === 'refused').map(({ id }) => id),
    [5],
    'the monitor is told once, when that is possible',
  );
  const last = forwarder.takeHeartbeat(received('ok', START));
  const ended = t.rejects(last, { code: 'unavailable' });
  await clock.advance(0);
  forwarder.stop();
  await ended;
  await t.rejects(forwarder.takeHeartbeat(received('ok', START)), { code: 'unavailable' });
});

t.test('it answers the sender at the next look where the record could not be taken over', async (t) => {
  const { clock, monitor, server } = await twoProcesses(t);
  let faults = 1;
  const forwarder = createHeartbeatForwarder({
    inbox: server,
    serviceOf: own,
    async learn() {
      faults -= 1;
      if (faults >= 0) throw new Error('a watcher failed');
    },
    clockOffsetMs: right,
    clock,
  });
  const asked = forwarder.takeHeartbeat(received('ok', START));
  await clock.advance(0);
  const answer = { kind: 'written', serviceId: 1, responseTimeMs: null, runMs: null } as const;
  await monitor.answerInInbox(1, { ...answer, current: { ...unknownStatus(1), status: 'up' } });
  await clock.advance(11_000);
  t.match(await asked, { status: 'up' });
  await forwarder.idle();
  forwarder.stop();
});
