/**
 * Answers every request a given time after its connection was accepted, and closes. Prints its ports as JSON, and ends with
 * its standard input. The time is accurate to about a tenth of a millisecond, because the error of Node's own timers, which
 * have whole milliseconds, would be taken for the prober's.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

const delayMs = Number(process.argv[2] ?? 50);
/** Many listeners, so that connections in TIME_WAIT do not prolong the search for a free port. */
const listeners = Number(process.argv[3] ?? 16);
const ANSWER = 'HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n';
/** While a response is due within this time, the loop reads its clock every `NAP_MS` instead of using a timer. */
const NEAR_MS = 3;
const NAP_MS = 0.1;
/** Maximum number of open connections. */
const ROOM = 16_384;

const cell = new Int32Array(new SharedArrayBuffer(4));
/** A ring: all wait equally long, so that they are due in the order in which they were accepted. */
const sockets = new Array<Socket | null>(ROOM).fill(null);
const dueMs = new Float64Array(ROOM);
let first = 0;
let next = 0;
let awake = false;

function watch(): void {
  const now = performance.now();
  for (; first < next && (dueMs[first % ROOM] as number) <= now; first++) {
    const socket = sockets[first % ROOM] ?? null;
    sockets[first % ROOM] = null;
    // A client that has not sent its request yet is answered when it does.
    if (socket?.bytesRead === 0) socket.once('data', answer);
    else socket?.end(ANSWER);
  }
  if (first === next) {
    awake = false;
    return;
  }
  const leftMs = (dueMs[first % ROOM] as number) - performance.now();
  if (leftMs > NEAR_MS) {
    setTimeout(watch, leftMs - NEAR_MS + 1);
    return;
  }
  if (leftMs > NAP_MS) Atomics.wait(cell, 0, 0, NAP_MS);
  setImmediate(watch);
}

function answer(this: Socket): void {
  this.end(ANSWER);
}

const ignore = () => {};

function hold(socket: Socket): void {
  if (next - first === ROOM) throw new Error(`more than ${ROOM} connections at a time`);
  socket.on('error', ignore);
  socket.resume();
  sockets[next % ROOM] = socket;
  dueMs[next % ROOM] = performance.now() + delayMs;
  next++;
  if (awake) return;
  awake = true;
  watch();
}

const ports = Array.from({ length: listeners }, async () => {
  const server = createServer(hold).listen({ host: '127.0.0.1', port: 0, backlog: 4_096 });
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
});
console.log(JSON.stringify(await Promise.all(ports)));
process.stdin.on('end', () => process.exit(0)).resume();
