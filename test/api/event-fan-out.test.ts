/** What streams get while changes come faster than they read: all of it, in order, without much that waits in memory. */
import { createServer, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { createEventFanOut } from '../../src/api/event-fan-out.ts';
import type { Transition } from '../../src/domain/status/current.ts';
import { silentLog } from '../../src/log.ts';
import { transition } from '../site/site-world.ts';
import { double } from '../support/double.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { listenOn, until } from '../support/loopback.ts';

const ROUND_MS = 500;

/** A client of the fan-out, with the side of the server. */
interface Client {
  readonly socket: Socket;
  readonly response: ServerResponse;
  /** Positions of the events so far. */
  readonly ids: () => number[];
  /** Packets with an event. */
  readonly packets: () => number;
}

async function start(t: Test, format = ({ position }: Transition) => `id: ${position}\n\n`) {
  const clock = createFakeClock();
  const stored: Transition[] = [];
  const listeners = new Set<(one: Transition) => void>();
  const reads: number[] = [];
  const fanOut = createEventFanOut({
    registry: double({
      async transitionsAfter(position, limit) {
        reads.push(position);
        return stored.filter((one) => one.position > position).slice(0, limit);
      },
    }),
    watchTransitions(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    audienceOf: (serviceId) => (serviceId < 10 ? '' : `private ${serviceId}`),
    withdrawals: () => 0,
    format,
    clock,
    log: silentLog,
  });
  const opened: ServerResponse[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://localhost');
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    const of = url.searchParams.get('of');
    const wanted = of === null ? undefined : { serviceId: Number(of), mayRead: () => true };
    fanOut.add(response, Number(url.searchParams.get('after') ?? stored.length), wanted);
    opened.push(response);
  });
  const { port, close } = await listenOn(server);
  t.teardown(close);

  return {
    clock,
    listeners,
    /** Positions after which the registry was read. */
    reads,
    /** Records changes without telling of them. */
    store(count: number, serviceId = 1) {
      const first = stored.length + 1;
      for (let index = 0; index < count; index++)
        stored.push(transition(first + index, 'shop', { serviceId }));
      return stored.slice(first - 1);
    },
    tell(told: readonly Transition[]) {
      for (const one of told) for (const listener of listeners) listener(one);
    },
    async open(query = ''): Promise<Client> {
      const socket = connect(port, '127.0.0.1');
      let text = '';
      let packets = 0;
      socket.setEncoding('latin1').on('data', (chunk: string) => {
        text += chunk;
        if (chunk.includes('id: ')) packets++;
      });
      t.teardown(() => void socket.destroy());
      const place = opened.length;
      socket.write(`GET /?${query} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      await until(() => text.includes('\r\n\r\n') && opened.length > place);
      return {
        socket,
        response: opened[place] as ServerResponse,
        ids: () => [...text.matchAll(/^id: (\d+)/gm)].map(([, id]) => Number(id)),
        packets: () => packets,
      };
    },
  };
}

const upTo = (count: number, from = 1) =>
  Array.from({ length: count + 1 - from }, (_, index) => from + index);

t.test('what happens within a round comes in one packet, in order', async (t) => {
  const world = await start(t);
  const client = await world.open();
  await until(() => world.reads.length === 1);
  world.tell(world.store(1));
  await until(() => client.ids().length === 1);
  for (let count = 0; count < 50; count++) {
    world.tell(world.store(1));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await world.clock.advance(ROUND_MS);
  await until(() => client.ids().length === 51);
  t.strictSame(client.ids(), upTo(51));
  t.equal(client.packets(), 2);
  t.equal(world.reads.length, 1, 'the registry is read at the start alone');
});

t.test('streams that begin while changes come miss none and get none twice', async (t) => {
  const world = await start(t);
  const first = await world.open();
  const clients: Client[] = [];
  for (let round = 0; round < 20; round++) {
    world.tell(world.store(7));
    // Committed, and announced only after the stream has begun.
    const late = world.store(3);
    const opening = world.open(round % 2 === 0 ? `after=${round}` : '');
    world.tell(late);
    if (round % 3 === 0) await world.clock.advance(ROUND_MS);
    clients.push(await opening);
  }
  world.tell(world.store(1));
  await world.clock.advance(ROUND_MS);
  await until(() => [first, ...clients].every((client) => client.ids().at(-1) === 201));
  t.strictSame(first.ids(), upTo(201));
  for (const [round, client] of clients.entries()) {
    const [begin = 0] = client.ids();
    t.strictSame(client.ids(), upTo(201, begin));
    if (round % 2 === 0) t.equal(begin, round + 1);
    else t.ok(begin <= (round + 1) * 10 + 1, 'an end that was known when it began');
  }
});

t.test('a client that reads slowly gets everything, while little waits for it', async (t) => {
  const filler = 'x'.repeat(2_000);
  const world = await start(t, ({ position }) => `id: ${position}\ndata: ${filler}\n\n`);
  const slow = await world.open();
  const quick = await world.open();
  await until(() => world.reads.length === 2);
  slow.socket.pause();
  let most = 0;
  for (let round = 0; round < 200; round++) {
    world.tell(world.store(100));
    await world.clock.advance(ROUND_MS);
    most = Math.max(most, slow.response.writableLength);
  }
  t.ok(slow.response.writableNeedDrain, 'it has had more than its connection takes');
  t.ok(most < 200_000, `at most ${most} of 40,000,000 bytes waited`);
  await until(() => quick.ids().length === 20_000);
  slow.socket.resume();
  await until(() => slow.ids().length >= 20_000);
  t.strictSame(slow.ids(), upTo(20_000));
  t.strictSame(quick.ids(), upTo(20_000));
  t.ok(world.reads.length > 2, 'the oldest of it came from the registry');
});

t.test('changes of a service that is gone keep no stream waiting', async (t) => {
  const filler = 'x'.repeat(1_000_000);
  const world = await start(t, ({ position }) => `id: ${position}\ndata: ${filler}\n\n`);
  const client = await world.open();
  await until(() => world.reads.length === 1);
  // Announced, no longer in memory, and gone from the registry.
  for (let position = 1; position <= 20; position++) {
    world.tell([transition(position, 'gone')]);
    await world.clock.advance(ROUND_MS);
    await until(() => client.ids().length === position);
  }
  const late = await world.open('after=0');
  await until(() => world.reads.length === 2);
  world.tell([transition(21, 'shop')]);
  await world.clock.advance(ROUND_MS);
  await until(() => late.ids().length === 1);
  t.strictSame(late.ids(), [21]);
});

t.test('streams of one service are written to for its changes alone', async (t) => {
  const world = await start(t);
  const client = await world.open('of=1');
  await until(() => world.reads.length === 1);
  for (const serviceId of [1, 2, 2, 1, 2]) {
    world.tell(world.store(1, serviceId));
    await world.clock.advance(ROUND_MS);
  }
  await until(() => client.ids().length === 2);
  t.strictSame(client.ids(), [1, 4]);
  t.equal(client.packets(), 2);
});

t.test('it listens while a stream is open, and begins anew after the last one', async (t) => {
  const world = await start(t);
  const client = await world.open();
  await until(() => world.reads.length === 1);
  t.equal(world.listeners.size, 1);
  client.socket.destroy();
  await until(() => world.listeners.size === 0);
  world.store(5);
  const again = await world.open('after=2');
  await until(() => again.ids().length === 3);
  world.tell(world.store(1));
  await world.clock.advance(ROUND_MS);
  await until(() => again.ids().length === 4);
  t.strictSame(again.ids(), [3, 4, 5, 6]);
});

t.test('events that a stream has not neither delay nor hasten those that it has', async (t) => {
  const world = await start(t);
  const [everyones, own, others] = [await world.open(), await world.open('of=10'), await world.open('of=11')];
  await until(() => world.reads.length === 3);
  world.tell(world.store(1, 10));
  await until(() => own.ids().length === 1);
  world.tell(world.store(1));
  await until(() => everyones.ids().length === 1);
  world.tell(world.store(1));
  world.tell(world.store(1, 11));
  await until(() => others.ids().length === 1);
  t.strictSame(everyones.ids(), [2], 'its next round is later');
  await world.clock.advance(ROUND_MS);
  await until(() => everyones.ids().length === 2);
  t.strictSame([everyones.ids(), own.ids(), others.ids()], [[2, 3], [1], [4]]);
});
