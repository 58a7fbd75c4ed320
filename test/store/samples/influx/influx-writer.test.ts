/** What goes beside what, and behind what, on the way to InfluxDB. */
import t, { type Test } from 'tap';
import { InfluxWriter } from '../../../../src/store/samples/influx/influx-writer.ts';
import type { SendOutcome } from '../../../../src/store/samples/influx/send-lines.ts';
import { openSpool } from '../../../../src/store/samples/influx/spool.ts';
import { double } from '../../../support/double.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';

const FULL = 5_000;
/** What a test answers: all was stored, or nothing was. */
type TestAnswer = Omit<SendOutcome, 'unsent'> & { readonly takes: 'all' | 'none' };

const STORED: TestAnswer = {
  takes: 'all',
  dropped: 0,
  problem: null,
  fault: null,
  retryAfterMs: null,
  refusal: null,
};
const AWAY: TestAnswer = { ...STORED, takes: 'none', problem: 'it is away', fault: 'unreachable' };

/** Lines that say where they come from. */
const lines = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${name} ${index}`);

/** A writer whose requests are answered by the test, the oldest first unless it says otherwise. */
async function makeWriter(t: Test) {
  const clock = createFakeClock();
  const spool = openSpool(t.testdir(), 1e9);
  const requests: {
    readonly name: string;
    readonly count: number;
    answer: (outcome: TestAnswer) => void;
  }[] = [];
  const arrived: string[] = [];
  const send = (sent: readonly string[]) =>
    new Promise<SendOutcome>((resolve) => {
      const request = {
        name: sent[0]?.split(' ')[0] ?? '',
        count: sent.length,
        answer({ takes, ...outcome }: TestAnswer) {
          requests.splice(requests.indexOf(request), 1);
          if (takes === 'all') arrived.push(...sent);
          resolve({ ...outcome, unsent: takes === 'all' ? [] : sent });
        },
      };
      requests.push(request);
    });
  const writer = new InfluxWriter(double({ send }), spool, clock);
  // It looks first for what an earlier run left in the spool.
  await clock.advance(0);
  return {
    writer,
    arrived,
    spool,
    /** Names of the requests under way. */
    underway: () => requests.map(({ name }) => name),
    /** Lets time pass; timers and promises run. */
    pass: (ms: number) => clock.advance(ms),
    async answer(outcome: TestAnswer, name = requests[0]?.name) {
      const request = requests.find((one) => one.name === name);
      if (request === undefined) throw new Error(`no request ${name} is under way`);
      request.answer(outcome);
      await clock.advance(0);
    },
  };
}

t.test('two full requests are in flight at a time, and no third', async (t) => {
  const { writer, underway, answer, arrived } = await makeWriter(t);
  for (const name of ['a', 'b', 'c']) writer.append(lines(name, FULL));
  t.same(underway(), ['a', 'b']);
  t.equal(writer.state().pending, 3 * FULL, 'what is on its way counts until it has arrived');
  await answer(STORED);
  t.same(underway(), ['b', 'c']);
  await answer(STORED);
  await answer(STORED);
  t.equal(arrived.length, 3 * FULL);
  t.equal(writer.state().pending, 0);
});

t.test('a partial request waits for those before it', async (t) => {
  const { writer, underway, answer, pass } = await makeWriter(t);
  writer.append(lines('a', FULL));
  writer.append(lines('b', 10));
  await pass(1_000);
  t.same(underway(), ['a']);
  writer.append(lines('c', 10));
  await answer(STORED);
  t.same(underway(), ['b']);
  t.equal(writer.state().pending, 20);
  await answer(STORED);
  t.equal(writer.state().pending, 0, 'both went together');
});

t.test('points that may be written twice are never sent in parallel', async (t) => {
  const { writer, underway, answer } = await makeWriter(t);
  writer.append(lines('first', FULL), true);
  writer.append(lines('second', FULL), true);
  writer.append(lines('sample', FULL));
  t.same(underway(), ['first']);
  await answer(STORED);
  t.same(underway(), ['second', 'sample'], 'samples are points of their own');
  await answer(STORED);
  await answer(STORED);
  // In one request with samples they make it one that waits.
  writer.append(lines('a', FULL));
  writer.append(lines('b', FULL - 1));
  writer.append(lines('again', 1), true);
  t.same(underway(), ['a']);
  await answer(STORED);
  t.same(underway(), ['b']);
  await answer(STORED);
});

t.test(
  'the lines of two failed requests wait on disk in order, regardless of which failed first',
  async (t) => {
    const { writer, underway, answer, arrived, spool, pass } = await makeWriter(t);
    for (const name of ['a', 'b', 'c']) writer.append(lines(name, FULL));
    await answer(AWAY, 'b');
    t.equal(spool.samples, 0, 'b waits for what becomes of a');
    await answer(AWAY, 'a');
    t.equal(spool.samples, 3 * FULL, 'and c goes behind both');
    t.same(underway(), []);
    t.match(writer.state(), { pending: 3 * FULL, problem: 'it is away', lost: 0 });
    await pass(1_000);
    for (const name of ['a', 'b', 'c']) {
      t.same(underway(), [name], 'one at a time, none larger than a full request');
      await answer(STORED);
      await pass(20);
    }
    t.same([arrived[0], arrived[FULL], arrived[2 * FULL]], ['a 0', 'b 0', 'c 0']);
    t.match(writer.state(), { pending: 0, problem: null, lost: 0 });
  },
);

t.test('one of two fails: it is sent again, and the other is not', async (t) => {
  const { writer, underway, answer, arrived, pass } = await makeWriter(t);
  for (const name of ['a', 'b']) writer.append(lines(name, FULL));
  await answer(AWAY, 'a');
  await answer(STORED, 'b');
  t.equal(writer.state().pending, FULL);
  await pass(1_000);
  t.same(underway(), ['a']);
  await answer(STORED);
  t.same([arrived[0], arrived[FULL]], ['b 0', 'a 0']);
  t.equal(writer.state().pending, 0);
});

t.test('a flush ends when everything that was appended before is stored or on disk', async (t) => {
  const { writer, answer, pass } = await makeWriter(t);
  for (const name of ['a', 'b']) writer.append(lines(name, FULL));
  let flushed = false;
  const flush = writer.flush().then(() => {
    flushed = true;
  });
  await answer(STORED, 'b');
  await pass(0);
  t.equal(flushed, false);
  await answer(AWAY, 'a');
  await flush;
  t.equal(writer.state().pending, FULL);
});

t.test('callers wait while 20,000 lines are in memory', async (t) => {
  const { writer, answer, pass } = await makeWriter(t);
  writer.append(lines('a', 2 * FULL));
  writer.append(lines('b', 2 * FULL));
  let isThereRoom = false;
  const room = writer.room().then(() => {
    isThereRoom = true;
  });
  await pass(0);
  t.equal(isThereRoom, false, 'those on their way are in memory too');
  await answer(STORED);
  await room;
  t.equal(isThereRoom, true);
});

t.test('the disk refuses two requests: both stay in memory and are sent later', async (t) => {
  const { writer, underway, answer, arrived, spool, pass } = await makeWriter(t);
  const put = spool.put;
  Object.assign(spool, {
    put() {
      throw new Error('no space left');
    },
  });
  for (const name of ['a', 'b']) writer.append(lines(name, FULL));
  await answer(AWAY);
  await answer(AWAY);
  t.match(writer.state(), { pending: 2 * FULL, problem: /no space left/, lost: 0 });
  await writer.room();
  await pass(999);
  t.same(underway(), [], 'the server is not asked before its time');
  Object.assign(spool, { put });
  await pass(1);
  while (underway().length > 0) await answer(STORED);
  t.same([...arrived].sort(), [...lines('a', FULL), ...lines('b', FULL)].sort());
  t.match(writer.state(), { pending: 0, problem: null, lost: 0 });
});

t.test('small batches from an outage of the server are sent in full requests', async (t) => {
  const { writer, underway, answer, arrived, spool, pass } = await makeWriter(t);
  for (let part = 0; part < 700; part++) {
    writer.append(lines(`part${part}`, 17));
    const flushed = writer.flush();
    if (part === 0) await answer(AWAY);
    await flushed;
  }
  t.equal(spool.samples, 11_900);
  t.match(writer.state(), { pending: 11_900, spooled: 11_900 });
  let requests = 0;
  await pass(1_000);
  for (; underway().length > 0; await pass(20)) {
    requests++;
    await answer(STORED);
  }
  t.equal(requests, 3, 'of 4,998 lines, 4,998 lines, and the rest');
  t.same(
    arrived,
    Array.from({ length: 700 }, (_, part) => lines(`part${part}`, 17)).flat(),
    'in their order',
  );
  t.match(writer.state(), { pending: 0, spooled: 0, problem: null });
});

t.test('it reports since when checks are missing while the spool is not empty', async (t) => {
  const { writer, underway, answer, pass } = await makeWriter(t);
  const check = (at: number) => `upbeat_check,service_id=1 up=1i ${at}`;
  t.equal(writer.state().missingSince, null);
  writer.append(['upbeat_incident,service_id=1 status="resolved" 5', check(1_000), check(2_000)]);
  const flushed = writer.flush();
  await answer(AWAY);
  await flushed;
  writer.append([check(3_000)]);
  await writer.flush();
  t.match(writer.state(), { missingSince: 1_000, spooled: 4 });
  await pass(1_000);
  t.match(
    writer.state(),
    { missingSince: 1_000, problem: 'it is away' },
    'it is not there before it is answered',
  );
  await answer(STORED);
  t.match(writer.state(), { missingSince: null, spooled: 0, problem: null });
  t.same(underway(), []);
});

t.test('the unsent lines of a batch stay before all others', async (t) => {
  const { writer, spool } = await makeWriter(t);
  for (const name of ['a', 'b', 'c']) spool.put(lines(name, 3));
  const batch = spool.first(6);
  if (batch === null) throw new Error('the spool is empty');
  t.equal(batch.lines.length, 6);
  spool.remove(batch, ['b 1', 'b 2']);
  t.equal(spool.samples, 5);
  t.same(spool.first(100)?.lines, ['b 1', 'b 2', ...lines('c', 3)]);
  t.equal(writer.state().pending, 5);
});

t.test('a server that stays away is requested at least every five seconds', async (t) => {
  const { writer, underway, answer, pass } = await makeWriter(t);
  writer.append(lines('a', FULL));
  await answer(AWAY);
  for (const pauseMs of [1_000, 2_000, 4_000, 5_000, 5_000]) {
    await pass(pauseMs - 1);
    t.same(underway(), [], `within ${pauseMs} ms`);
    await pass(1);
    t.same(underway(), ['a']);
    await answer(AWAY);
  }
  await pass(5_000);
  await answer(STORED);
  t.match(writer.state(), { pending: 0, problem: null });
});

t.test('a server is not requested before its Retry-After', async (t) => {
  const { writer, underway, answer, pass } = await makeWriter(t);
  writer.append(lines('a', FULL));
  await answer({ ...AWAY, problem: 'it limits the rate', fault: 'busy', retryAfterMs: 45_000 });
  t.match(writer.state(), { problem: 'it limits the rate', fault: 'busy', pending: FULL, lost: 0 });
  await pass(44_999);
  t.same(underway(), []);
  await pass(1);
  t.same(underway(), ['a']);
  await answer(STORED);
});
