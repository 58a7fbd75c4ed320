/** Heartbeats that another process received: judged once, in their order, and answered to their senders. */
import t from 'tap';
import { createFakeClock } from '../../src/clock.ts';
import { type CurrentStatus, unknownStatus } from '../../src/domain/current.ts';
import { readHeartbeat } from '../../src/domain/heartbeat-body.ts';
import { silentLog } from '../../src/log.ts';
import { createHeartbeatForwarder } from '../../src/record/forward-heartbeats.ts';
import type { ReceivedHeartbeat } from '../../src/record/observation.ts';
import { startInboxReader } from '../../src/record/read-inbox.ts';
import type { InboxEntry } from '../../src/store/ports/inbox.ts';
import { createMemoryInbox, type MemoryInbox } from '../support/memory-inbox.ts';
import { createMemoryRegistry, type MemoryRegistry } from '../support/memory-registry.ts';
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

/** A registry that answers the inbox with each judgement, as the port wants it. */
function answering(inbox: MemoryInbox): MemoryRegistry {
  const registry = createMemoryRegistry([own()]);
  return {
    ...registry,
    async commitJudgements(judgements) {
      const outcomes = await registry.commitJudgements(judgements);
      for (const [index, { heartbeat, serviceId, current }] of judgements.entries()) {
        const id = heartbeat?.inboxId;
        if (id === undefined || outcomes[index]?.kind !== 'committed') continue;
        await inbox.answerInInbox(id, {
          kind: 'written',
          serviceId,
          current,
          responseTimeMs: null,
          runMs: null,
        });
      }
      return outcomes;
    },
  };
}

t.test('it judges what waits, in its order, each once', async (t) => {
  const inbox = createMemoryInbox();
  const world = await createWorld({ registry: answering(inbox) });
  world.record.startListening();
  for (const [index, word] of ['ok', 'down', 'ok', 'down'].entries())
    await inbox.putInInbox(entryOf(word, START + index));
  const reader = startInboxReader({ inbox, record: world.record, clock: world.clock, log: silentLog });
  await reader.drained();
  await inbox.putInInbox(entryOf('warn', START + 9));
  await world.clock.advance(2_000);
  await reader.drained();
  t.same(
    world.told.map(({ to }) => to),
    ['up', 'down', 'up', 'down', 'slow'],
  );
  t.same(
    world.registry.heartbeats.map(({ inboxId }) => inboxId),
    [1, 2, 3, 4, 5],
  );
  t.equal(world.samples.length, 5);
  reader.stop();
  await inbox.putInInbox(entryOf('ok', START + 10));
  await world.clock.advance(2_000);
  t.equal(world.registry.heartbeats.length, 5, 'nothing after the stop');
  await world.record.stop();
});

t.test('it lets what arrived later stand, whichever way it came', async (t) => {
  const inbox = createMemoryInbox();
  const world = await createWorld({ registry: answering(inbox) });
  world.record.startListening();
  await world.clock.advance(1_000);
  const taken = world.record.takeHeartbeat(received('down', START + 900));
  await world.clock.advance(0);
  t.match(await taken, { status: 'down' });
  const reader = startInboxReader({ inbox, record: world.record, clock: world.clock, log: silentLog });
  await inbox.putInInbox(entryOf('ok', START + 899));
  await reader.drained();
  t.same(
    world.registry.heartbeats.map(({ counted, body }) => [counted, JSON.parse(body).status]),
    [
      [true, 'down'],
      [false, 'ok'],
    ],
  );
  t.equal(world.registry.current(1).status, 'down');
  await inbox.putInInbox(entryOf('ok', START + 901));
  await reader.drained();
  t.equal(world.registry.current(1).status, 'up');
  reader.stop();
  await world.record.stop();
});

t.test('it answers what is refused, and leaves what we cannot take for later', async (t) => {
  const clock = createFakeClock(START);
  const inbox = createMemoryInbox();
  let refusals = 0;
  const outcomes = [
    () => Promise.reject(Object.assign(new Error('It is another’s.'), { code: 'foreign_domain' })),
    () => Promise.reject(Object.assign(new Error('no code'))),
  ];
  const taken: number[] = [];
  const reader = startInboxReader({
    inbox,
    record: {
      takeHeartbeat(one) {
        taken.push(one.inboxId ?? 0);
        return (outcomes.shift() ?? (() => new Promise(() => {})))();
      },
      noteRefusal: () => void refusals++,
    },
    clock,
    log: silentLog,
  });
  await inbox.putInInbox(entryOf('ok', START));
  await inbox.putInInbox(entryOf('ok', START));
  await inbox.putInInbox({ kind: 'refused', accountId: 0, arrivedAt: START, body: '' });
  await inbox.putInInbox(entryOf('ok', START, { body: '[]' }));
  await clock.advance(100);
  t.same(
    [...inbox.answers]
      .sort(([a], [b]) => a - b)
      .map(([id, answer]) => [id, 'code' in answer ? answer.code : '']),
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
  await clock.advance(700_000);
  t.same(
    inbox.entries.map(({ id }) => id),
    [2],
    'what was answered is forgotten after ten minutes',
  );
  reader.stop();
});

t.test('it answers the sender when the monitor has judged and every read shows it', async (t) => {
  const clock = createFakeClock(START);
  const inbox = createMemoryInbox();
  const known = new Map([[1, own()]]);
  const learnt: CurrentStatus[] = [];
  const forwarder = createHeartbeatForwarder({
    inbox,
    serviceOf: (id) => known.get(id) ?? null,
    learn: async (record) => void learnt.push(record),
    clock,
  });
  const current = (serviceId: number) => ({ ...unknownStatus(serviceId), seq: 3, status: 'slow' as const });
  const written = (serviceId: number) =>
    ({ kind: 'written', serviceId, current: current(serviceId), responseTimeMs: 41, runMs: 5 }) as const;

  const first = forwarder.takeHeartbeat(received('ok', START));
  await clock.advance(0);
  t.match(inbox.entries, [{ id: 1, kind: 'beat', accountId: 7, arrivedAt: START }]);
  await inbox.answerInInbox(1, written(1));
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
  await inbox.answerInInbox(2, written(2));
  await clock.advance(300);
  t.equal(answered, false, 'the feed of changes has not told of the service yet');
  known.set(2, makeService(2));
  await clock.advance(200);
  t.match(await unknown, { service: { id: 2 } });

  const foreign = forwarder.takeHeartbeat(received('ok', START));
  await clock.advance(0);
  await inbox.answerInInbox(3, { kind: 'refused', code: 'foreign_domain', message: 'Not yours.' });
  await t.rejects(foreign, { code: 'foreign_domain', message: 'Not yours.' });

  const late = forwarder.takeHeartbeat(received('ok', START));
  const failed = t.rejects(late, { code: 'unavailable' }, 'there is no monitor');
  await clock.advance(10_000);
  await failed;

  inbox.away = true;
  await t.rejects(forwarder.takeHeartbeat(received('ok', START)), 'the registry is away');
  forwarder.noteRefusal();
  forwarder.noteRefusal();
  await clock.advance(3_000);
  inbox.away = false;
  await clock.advance(1_000);
  t.same(
    inbox.entries.filter(({ kind }) => kind === 'refused').map(({ id }) => id),
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
  const clock = createFakeClock(START);
  const inbox = createMemoryInbox();
  let faults = 1;
  const forwarder = createHeartbeatForwarder({
    inbox,
    serviceOf: own,
    async learn() {
      faults -= 1;
      if (faults >= 0) throw new Error('a watcher failed');
    },
    clock,
  });
  const asked = forwarder.takeHeartbeat(received('ok', START));
  await clock.advance(0);
  const answer = { kind: 'written', serviceId: 1, responseTimeMs: null, runMs: null } as const;
  await inbox.answerInInbox(1, { ...answer, current: { ...unknownStatus(1), status: 'up' } });
  await clock.advance(11_000);
  t.match(await asked, { status: 'up' });
  await forwarder.idle();
  forwarder.stop();
});
