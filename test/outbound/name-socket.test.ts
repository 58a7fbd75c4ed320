/** Queries over UDP and TCP: what is believed, and from which port it is asked. */
import { createSocket } from 'node:dgram';
import t from 'tap';
import { createNameClient, type NameResult } from '../../src/outbound/name-client.ts';
import { createServerList, readServer } from '../../src/outbound/name-socket.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import type { NameDelivery } from '../support/name-server.ts';
import { deliver, start, TIMEOUT_MS } from './name-servers.ts';

const ADDRESS: NameResult = { kind: 'records', records: [{ text: '192.0.2.1', ttl: 60 }], cut: false };

const SAID = { addresses: ['192.0.2.1'] };

t.test('it repeats a truncated answer over TCP', async (t) => {
  const deliveries: NameDelivery['transport'][] = [];
  const { ask } = await start(t, (_, { transport }) => {
    deliveries.push(transport);
    return transport === 'udp' ? 'truncated' : SAID;
  });
  t.match(await ask('a.example'), { answer: ADDRESS });
  t.same(deliveries, ['udp', 'tcp']);
});

t.test('it does without EDNS where a server refuses it', async (t) => {
  const edns: boolean[] = [];
  const { ask } = await start(t, (_, delivery) => {
    edns.push(delivery.edns);
    return delivery.edns ? { code: 1 } : SAID;
  });
  t.same(await ask('a.example'), { answer: ADDRESS, tookMs: 0 });
  t.same(await ask('b.example'), { answer: ADDRESS, tookMs: 0 });
  t.same(edns, [true, false, false]);
});

t.test(
  'it does without EDNS where queries with it are dropped, and keeps it where one was answered',
  async (t) => {
    const edns: boolean[] = [];
    let lost = 0;
    const { ask } = await start(t, (_, delivery) => {
      edns.push(delivery.edns);
      return delivery.edns ? 'silence' : SAID;
    });
    t.same(await ask('a.example'), { answer: ADDRESS, tookMs: 500 });
    t.same(await ask('b.example'), { answer: ADDRESS, tookMs: 0 });
    t.same(edns, [true, false, false]);
    const { clock, client } = await start(t, (_, delivery) => (delivery.edns ? 'silence' : SAID));
    const together = ['a.example', 'b.example', 'c.example', 'd.example'].map(
      (name) => client.query({ name, type: 'A' }, clock.monotonic() + TIMEOUT_MS).result,
    );
    await deliver();
    await clock.advance(500);
    await deliver();
    t.same(
      await Promise.all(together),
      together.map(() => ADDRESS),
      'queries at once change the form once',
    );
    const down: boolean[] = [];
    const { clock: later, ask: askLater } = await start(t, (_, delivery) => {
      down.push(delivery.edns);
      return down.length === 1 ? 'silence' : SAID;
    });
    await askLater('a.example');
    await askLater('b.example');
    await later.skip(3_600_000);
    t.same(await askLater('c.example'), { answer: ADDRESS, tookMs: 0 });
    t.same(down, [true, false, false, true], 'a server that was only down gets EDNS again');
    const slow: boolean[] = [];
    const { clock: slowClock, ask: askSlow } = await start(t, async (_, delivery) => {
      slow.push(delivery.edns);
      if (!delivery.edns) return 'silence';
      if (slow.length === 1) await new Promise<void>((resolve) => slowClock.after(800, resolve));
      return SAID;
    });
    t.same(await askSlow('a.example'), { answer: ADDRESS, tookMs: 800 });
    t.same(await askSlow('b.example'), { answer: ADDRESS, tookMs: 0 });
    t.same(slow, [true, false, true], 'an answer that came late says the same');
    const other: boolean[] = [];
    const { ask: askOther } = await start(t, (_, delivery) => {
      other.push(delivery.edns);
      return lost-- > 0 ? 'silence' : SAID;
    });
    await askOther('a.example');
    lost = 1;
    t.same(await askOther('b.example'), { answer: ADDRESS, tookMs: 500 });
    t.same(other, [true, true, true]);
  },
);

t.test('it does not believe what it did not ask for, or another server says', async (t) => {
  const clock = createFakeClock();
  const victim = createSocket('udp4');
  await new Promise<void>((resolve) => victim.bind(0, '127.0.0.1', resolve));
  const stranger = createSocket('udp4');
  const client = createNameClient(createServerList([`127.0.0.1:${victim.address().port}`], clock), clock);
  t.teardown(() => {
    client.close();
    victim.close();
    stranger.close();
  });
  const { result: answer } = client.query({ name: 'a.example', type: 'A' }, TIMEOUT_MS);
  const [query, from] = await new Promise<[Buffer, { port: number; address: string }]>((resolve) =>
    victim.once('message', (packet, sender) => resolve([packet, sender])),
  );
  const reply = (change: (packet: Buffer) => void, code = 3) => {
    // Without EDNS, which stands behind the question.
    const packet = Buffer.from(query.subarray(0, 12 + 'a.example'.length + 2 + 4));
    packet.writeUInt16BE(0x8180 | code, 2);
    packet.writeUInt16BE(0, 10);
    change(packet);
    return packet;
  };
  const send = (socket: typeof victim, packet: Buffer) => socket.send(packet, from.port, from.address);
  send(victim, Buffer.of(1));
  send(victim, Buffer.from(query.subarray(0, 12)));
  send(victim, query);
  send(
    victim,
    reply((packet) => packet.writeUInt16BE(packet.readUInt16BE(0) ^ 1, 0)),
  );
  send(
    victim,
    reply((packet) => packet.write('b', 13)),
  );
  send(
    stranger,
    reply(() => {}),
  );
  await deliver();
  // Of all these only the last one counts.
  send(
    victim,
    reply(() => {}, 0),
  );
  t.same(await answer, { kind: 'none', code: 'ENODATA' });
});

t.test('it changes its source port', async (t) => {
  const ports = new Set<number>();
  const { ask } = await start(t, (_, { port }) => {
    ports.add(port);
    return SAID;
  });
  for (let n = 0; n < 130; n++) await ask(`${n}.example`);
  t.equal(ports.size, 3);
});

t.test('it reads addresses of name servers', async (t) => {
  for (const [text, expected] of [
    ['192.0.2.1', { host: '192.0.2.1', port: 53 }],
    ['192.0.2.1:5353', { host: '192.0.2.1', port: 5353 }],
    ['2001:db8::1', { host: '2001:db8::1', port: 53 }],
    ['[2001:db8::1]', { host: '2001:db8::1', port: 53 }],
    ['[2001:db8::1]:5353', { host: '2001:db8::1', port: 5353 }],
  ] as const)
    t.same(readServer(text), expected);
  for (const text of ['', 'name.example', '192.0.2.1:0', '192.0.2.1:65536', '[192.0.2.1', '1.2.3']) {
    t.throws(() => readServer(text), RangeError, text);
  }
});
