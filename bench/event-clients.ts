/**
 * Event streams that `bench/events.ts` opens, in a process of their own: `node bench/event-clients.ts PORT FIRST COUNT` opens
 * streams number FIRST and following, ten from each loopback address, the maximum for one address. It sends `opened` to the
 * parent, then `told` when a change has reached each stream, and its figures after the message `report`.
 */
import { connect, type Socket } from 'node:net';
import { createEventIds } from '../src/api/events.ts';

/** What the streams of a process have received. */
export interface EventFigures {
  readonly events: number;
  /** Streams that missed an event, got one twice or were ended. */
  readonly broken: number;
  /** Lags from the time at which changes were recorded, by whole milliseconds; later ones count as the last. */
  readonly lags: Uint32Array;
}

const STREAMS_PER_ADDRESS = 10;
/** Sockets that are opened at a time. */
const OPENING = 200;
/** In one stream of so many each event is read; in the others the first and the last one of a packet. */
const EXAMINED = 100;
const MAX_LAG_MS = 120_000;
const ID = Buffer.from('id: ');
const DATA = Buffer.from('\ndata: ');
const EVENT = /^id: (.{22})\nevent: status\ndata: .*?"recorded_at":"([^"]+)"/gm;
/** Length of an id, and the ids of the server of benchmarks. */
const ID_LENGTH = 22;
const eventIds = createEventIds(new Uint8Array(32));

const [port = 0, first = 0, count = 0] = process.argv.slice(2).map(Number);
/** When each change was recorded, epoch milliseconds; read once for all streams. */
const recordedAt: number[] = [];
const lags = new Uint32Array(MAX_LAG_MS + 1);
let events = 0;
let waiting = count;
const broken = new Set<Socket>();

for (let at = 0; at < count; at += OPENING) {
  const some = Math.min(OPENING, count - at);
  await Promise.all(Array.from({ length: some }, (_, index) => open(first + at + index)));
}
process.on('message', () => {
  const figures: EventFigures = { events, broken: broken.size, lags };
  process.send?.(figures);
});
process.on('disconnect', () => process.exit());
process.send?.('opened');

/** Opens a stream; resolves when its beginning has arrived. */
function open(index: number): Promise<void> {
  const address = Math.floor(index / STREAMS_PER_ADDRESS);
  const localAddress = `127.1.${Math.floor(address / 250)}.${1 + (address % 250)}`;
  const socket = connect({ host: '127.0.0.1', port, localAddress });
  return new Promise((resolve, reject) => {
    let text = '';
    let isOpen = false;
    let position = 0;
    /** Bytes of an event whose end has not arrived. */
    let rest: Buffer | null = null;
    socket.once('error', reject);
    socket.once('close', () => {
      broken.add(socket);
      reject(new Error(`a stream was ended: ${text.slice(0, 200)}`));
    });
    socket.on('data', (chunk: Buffer) => {
      if (isOpen) {
        const bytes: Buffer = rest === null ? chunk : Buffer.concat([rest, chunk]);
        const end = bytes.lastIndexOf('\n\n') + 2;
        rest = end === bytes.length ? null : bytes.subarray(end === 1 ? 0 : end);
        if (end > 1) position = take(bytes.subarray(0, end), position, socket, index % EXAMINED === 0);
        return;
      }
      text += chunk.toString('latin1');
      // Status line and headers, and a first event or comment.
      const [head, body] = text.split('\r\n\r\n');
      if (body === undefined || !body.includes('\n\n')) return;
      if (!head?.startsWith('HTTP/1.1 200')) return reject(new Error(head));
      isOpen = true;
      resolve();
    });
    socket.write('GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n');
  });
}

/** Counts the events of a chunk after `position`; returns the position of its last one. */
function take(bytes: Buffer, position: number, socket: Socket, isExamined: boolean): number {
  const now = Date.now();
  const firstData = bytes.indexOf(DATA);
  if (firstData === -1) return position;
  const from = idAt(bytes, bytes.lastIndexOf(ID, firstData));
  const to = idAt(bytes, bytes.lastIndexOf(ID, bytes.lastIndexOf(DATA)));
  if (isExamined || recordedAt[to] === undefined) {
    const found = [...bytes.toString('latin1').matchAll(EVENT)];
    const positions = found.map(([, id = '']) => eventIds.read(id) ?? -1);
    for (const [place, [, , at = '']] of found.entries()) recordedAt[positions[place] ?? -1] = Date.parse(at);
    if (positions.some((id, place) => id !== from + place) || found.length !== to + 1 - from)
      broken.add(socket);
  }
  if (from !== position + 1) broken.add(socket);
  for (let id = from; id <= to; id++) {
    const lag = Math.max(0, Math.min(MAX_LAG_MS, now - (recordedAt[id] ?? 0)));
    lags[lag] = (lags[lag] ?? 0) + 1;
    events++;
  }
  waiting--;
  if (waiting === 0) {
    waiting = count;
    process.send?.('told');
  }
  return to;
}

function idAt(bytes: Buffer, at: number): number {
  const start = at + ID.length;
  return eventIds.read(bytes.toString('latin1', start, start + ID_LENGTH)) ?? -1;
}
