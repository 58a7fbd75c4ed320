/** Answers every request after so many milliseconds, and closes; prints its port, ends with its standard input. */
import { type AddressInfo, createServer } from 'node:net';

const delayMs = Number(process.argv[2] ?? 50);
const ANSWER = 'HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n';

const server = createServer((socket) => {
  socket.on('error', () => {});
  const acceptedMs = performance.now();
  // The delay counts from the connection, as far as this process knows of it.
  socket.once('data', () =>
    setTimeout(() => socket.end(ANSWER), Math.max(0, delayMs - (performance.now() - acceptedMs))),
  );
});
server.listen({ host: '127.0.0.1', port: 0, backlog: 4_096 }, () =>
  console.log((server.address() as AddressInfo).port),
);
process.stdin.on('end', () => process.exit(0)).resume();
