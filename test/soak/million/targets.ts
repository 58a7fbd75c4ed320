/**
 * The servers of `million.ts`, in a process of their own: one port on many addresses of the loopback network, so that
 * connections in TIME_WAIT do not use up the ports of an address. Each request is answered with 204 and closed. Prints its
 * port, and then, for each line that it reads, the requests so far and when the first one came (epoch milliseconds).
 */
import { type AddressInfo, createServer } from 'node:net';
import { createInterface } from 'node:readline';

const ANSWER = Buffer.from('HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n');
const ignore = () => {};
let requests = 0;
let firstAt: number | null = null;

const server = createServer((socket) => {
  socket.on('error', ignore);
  socket.once('data', () => {
    firstAt ??= Date.now();
    requests++;
    socket.end(ANSWER);
  });
});
server.listen({ host: '0.0.0.0', port: 0, backlog: 4_096 }, () => {
  console.log((server.address() as AddressInfo).port);
});
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'forget') [requests, firstAt] = [0, null];
  console.log(JSON.stringify({ requests, firstAt }));
}
process.exit(0);
