/** Questions to name servers that are slow, lose queries, fail or restart. */
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { systemClock } from '../../src/clock.ts';
import { createNameClient, type NameResult } from '../../src/outbound/name-client.ts';
import { createServerList, readServer } from '../../src/outbound/name-socket.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { type AnswerName, startNameServer } from '../support/name-server.ts';
import { pass, STEP_MS, start, TIMEOUT_MS } from './name-servers.ts';

const ADDRESS: NameResult = { kind: 'records', records: [{ text: '192.0.2.1', ttl: 60 }], cut: false };

const SAID = { addresses: ['192.0.2.1'] };

const after = (clock: FakeClock, ms: number) =>
  new Promise<typeof SAID>((resolve) => clock.after(ms, () => resolve(SAID)));

for (const delayMs of [0, 1000, 1500, 2000, 2500, 4000, 8000, 9900]) {
  t.test(
    `it takes an answer that comes after ${delayMs} ms, however quick the server was before`,
    async (t) => {
      let slow = false;
      const { ask, clock, servers } = await start(t, () => (slow ? after(clock, delayMs) : SAID));
      for (const name of ['a.example', 'b.example', 'c.example']) {
        t.same(await ask(name), { answer: ADDRESS, tookMs: 0 });
      }
      slow = true;
      const { answer, tookMs } = await ask('d.example');
      t.same(answer, ADDRESS);
      t.ok(tookMs >= delayMs && tookMs <= delayMs + STEP_MS, `${tookMs} ms`);
      t.ok((servers[0]?.questions.length ?? 0) <= 9);
    },
  );
}

t.test('it asks again where a query is lost', async (t) => {
  let lost = 0;
  const { ask } = await start(t, () => (lost++ < 2 ? 'silence' : SAID));
  t.same(await ask('a.example'), { answer: ADDRESS, tookMs: 1500 });
});

t.test(
  'it loses half a second once where one of two servers is dead, and learns that it is back',
  async (t) => {
    let dead = true;
    const { ask, servers, clock } = await start(
      t,
      () => (dead ? 'silence' : SAID),
      () => (dead ? SAID : 'silence'),
    );
    const times: number[] = [];
    for (const name of ['a.example', 'b.example', 'c.example']) times.push((await ask(name)).tookMs);
    t.same(times, [500, 0, 0]);
    t.equal(servers[0]?.questions.length, 2);
    dead = false;
    await clock.advance(10_000);
    t.match(await ask('d.example'), { answer: ADDRESS, tookMs: 0 });
    t.match(await ask('e.example'), { answer: ADDRESS, tookMs: 0 });
  },
);

t.test('it asks the next server at once where one fails, and gives up where all do', async (t) => {
  const { ask, servers } = await start(
    t,
    () => ({ code: 2 }),
    ({ name }) => (name === 'good.example' ? SAID : { code: 5 }),
  );
  t.same(await ask('good.example'), { answer: ADDRESS, tookMs: 0 });
  const { answer, tookMs } = await ask('bad.example');
  t.match(answer, { kind: 'failed', code: /^E(SERVFAIL|REFUSED)$/ });
  t.ok(tookMs <= 1500, `${tookMs} ms`);
  t.same(
    servers.map(({ questions }) => questions.filter(({ name }) => name === 'bad.example').length),
    [3, 3],
  );
});

t.test(
  'it waits for a silent server where the other one fails, and says the failure in the end',
  async (t) => {
    const { ask, clock } = await start(
      t,
      () => ({ code: 2 }),
      ({ name }) => (name === 'late.example' ? after(clock, 2000) : 'silence'),
    );
    t.match(await ask('late.example'), { answer: ADDRESS });
    const { answer, tookMs } = await ask('lost.example', 3000);
    t.same(answer, { kind: 'failed', code: 'ESERVFAIL' });
    t.ok(tookMs <= 3000, `${tookMs} ms`);
  },
);

const CUT_ADDRESS: NameResult = { ...ADDRESS, cut: true };

const TWO = ['192.0.2.1', '192.0.2.2'];

t.test('it uses a truncated answer where the whole one does not come over TCP', async (t) => {
  type Said = Awaited<ReturnType<AnswerName>>;
  const rows: readonly (readonly [name: string, udp: Said, tcp: Said | 'refused', answer: NameResult])[] = [
    ['refused', { ...SAID, cut: 'between' }, 'refused', CUT_ADDRESS],
    ['refused, cut within a record', { addresses: TWO, cut: 'within' }, 'refused', CUT_ADDRESS],
    ['cut within a record', { addresses: TWO, cut: 'within' }, SAID, ADDRESS],
    ['cut within the only record', { ...SAID, cut: 'within' }, SAID, ADDRESS],
    ['silent', { ...SAID, cut: 'between' }, 'silence', CUT_ADDRESS],
    ['garbage', { ...SAID, cut: 'between' }, 'garbage', CUT_ADDRESS],
    ['SERVFAIL', { ...SAID, cut: 'between' }, { code: 2 }, CUT_ADDRESS],
    ['without a record', { ...SAID, cut: 'between' }, { code: 0 }, CUT_ADDRESS],
    ['nothing to use', 'truncated', 'refused', { kind: 'failed', code: 'ETRUNCATED' }],
    ['nothing to use, silent', 'truncated', 'silence', { kind: 'failed', code: 'ETRUNCATED' }],
    ['empty', 'truncated', { code: 0 }, { kind: 'none', code: 'ENODATA' }],
    ['missing', 'truncated', { code: 3 }, { kind: 'none', code: 'ENOTFOUND' }],
  ];
  for (const [name, udp, tcp, answer] of rows) {
    const { ask, servers } = await start(t, (_, { transport }) =>
      transport === 'udp' ? udp : tcp === 'refused' ? 'silence' : tcp,
    );
    if (tcp === 'refused') await servers[0]?.refuseTcp();
    const asked = await ask('a.example', 3_000);
    t.same(asked.answer, answer, name);
    t.ok(asked.tookMs <= 2_100, `${name}: ${asked.tookMs} ms`);
  }
});

t.test('it asks another server where one truncates its answer and refuses TCP', async (t) => {
  const other: { said: Awaited<ReturnType<AnswerName>> } = { said: SAID };
  const { ask, servers } = await start(
    t,
    ({ name }) => (name === 'none.example' ? 'truncated' : { ...SAID, cut: 'between' }),
    () => other.said,
  );
  await servers[0]?.refuseTcp();
  t.same((await ask('a.example')).answer, ADDRESS);
  for (const said of ['silence', { code: 2 }, { code: 5 }] as const) {
    other.said = said;
    t.same((await ask('b.example')).answer, CUT_ADDRESS, JSON.stringify(said));
    t.same((await ask('none.example')).answer, { kind: 'failed', code: 'ETRUNCATED' }, JSON.stringify(said));
  }
});

t.test('a server that is merely silent counts before one that refuses', async (t) => {
  const { ask, servers } = await start(
    t,
    () => 'silence',
    () => 'silence',
  );
  await servers[0]?.close();
  t.same((await ask('a.example', 3_000)).answer, { kind: 'failed', code: 'ETIMEOUT' });
  await servers[1]?.close();
  t.same((await ask('a.example', 3_000)).answer, { kind: 'failed', code: 'ECONNREFUSED' });
});

t.test('it follows an alias', async (t) => {
  const { ask } = await start(t, () => ({ ...SAID, alias: 'edge.cdn.example' }));
  t.same(await ask('a.example'), { answer: ADDRESS, tookMs: 0 });
});

t.test('it waits for a name server that is being restarted', async (t) => {
  const { address, close } = await startNameServer(() => SAID);
  await close();
  const clock = createFakeClock();
  const client = createNameClient(createServerList([address], clock), clock);
  const { result: answer } = client.query({ name: 'a.example', type: 'A' }, TIMEOUT_MS);
  await pass(clock);
  const server = await startNameServer(() => SAID, readServer(address).port);
  t.teardown(async () => {
    client.close();
    await server.close();
  });
  for (let ms = 0; ms < TIMEOUT_MS / 2; ms += STEP_MS) await pass(clock);
  t.same(await answer, ADDRESS);
});

t.test('it asks for no name that cannot be one', async (t) => {
  const { ask, servers } = await start(t, () => SAID);
  for (const name of ['', 'a..example', `${'a'.repeat(64)}.example`, `${'a.'.repeat(130)}example`]) {
    t.same(await ask(name), { answer: { kind: 'none', code: 'EBADNAME' }, tookMs: 0 }, name);
  }
  t.same(servers[0]?.questions, []);
});

t.test('it allows several to wait, the last of them the longest', async (t) => {
  const { clock, client } = await start(t, () => 'silence');
  const question = client.query({ name: 'a.example', type: 'A' }, 1000);
  question.extend(3000);
  question.extend(2000);
  let ended = false;
  void question.result.then(() => {
    ended = true;
  });
  for (let ms = 0; ms < 2900; ms += STEP_MS) await pass(clock);
  t.equal(ended, false);
  await clock.advance(200);
  t.same(await question.result, { kind: 'failed', code: 'ETIMEOUT' });
});

t.test('it gives up what is open when it is closed', async (t) => {
  const { client } = await start(t, () => 'silence');
  const { result: answer } = client.query(
    { name: 'a.example', type: 'A' },
    systemClock.monotonic() + TIMEOUT_MS,
  );
  client.close();
  t.same(await answer, { kind: 'failed', code: 'ECANCELLED' });
});

/** Answers every query after 100 ms, in a thread that goes on while this one stands still. */
const ANSWERING_THREAD = `
  const { parentPort } = require('node:worker_threads');
  const socket = require('node:dgram').createSocket('udp4');
  socket.on('message', (query, from) => {
    let end = 12;
    while (query[end] > 0) end += query[end] + 1;
    const record = Buffer.from('c00c000100010000003c0004c0000201', 'hex');
    const reply = Buffer.concat([query.subarray(0, end + 5), record]);
    reply.writeUInt16BE(0x8180, 2);
    reply.writeUInt16BE(1, 6);
    reply.writeUInt16BE(0, 10);
    setTimeout(() => socket.send(reply, from.port, from.address), 100);
    parentPort.postMessage('asked');
  });
  socket.bind(0, '127.0.0.1', () => parentPort.postMessage(socket.address().port));
`;

t.test(
  'it reads an answer that came while the event loop stood still past the end of the question',
  async (t) => {
    const thread = new Worker(ANSWERING_THREAD, { eval: true });
    const next = () => new Promise<unknown>((resolve) => thread.once('message', resolve));
    const server = `127.0.0.1:${await next()}`;
    const client = createNameClient(createServerList([server], systemClock), systemClock);
    t.teardown(() => {
      client.close();
      return thread.terminate();
    });
    const asked = next();
    const { result: answer } = client.query({ name: 'a.example', type: 'A' }, systemClock.monotonic() + 1000);
    await asked;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500);
    t.same(await answer, ADDRESS);
  },
);
