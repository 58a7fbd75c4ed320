/**
 * The servers of `check-cost.ts`, in a process of their own: many HTTP and HTTPS listeners that answer with 204 and close.
 * Prints one line of JSON with their ports, and ends with its standard input.
 */
import { constants } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';

const listeners = Number(process.argv[2] ?? 64);
const certificates = join(import.meta.dirname, '../test/certs');
const ANSWER = Buffer.from(
  'HTTP/1.1 204 No Content\r\nDate: Fri, 20 Nov 2026 10:00:00 GMT\r\nServer: bench\r\nConnection: close\r\n\r\n',
);

const answer = (socket: Socket) => {
  socket.on('error', () => {});
  socket.once('data', () => socket.end(ANSWER));
};
/** As nginx and Apache do by default, the server follows the client's order of ciphers. Without tickets wrk cannot resume sessions. */
const tlsOptions = {
  honorCipherOrder: false,
  secureOptions: constants.SSL_OP_NO_TICKET,
  cert: readFileSync(join(certificates, 'localhost.pem')),
  key: readFileSync(join(certificates, 'localhost-key.pem')),
};
const http = await Promise.all(Array.from({ length: listeners }, () => listen(createServer(answer))));
const https = await Promise.all(
  Array.from({ length: listeners }, () => listen(createTlsServer(tlsOptions, answer))),
);
console.log(JSON.stringify({ http, https }));
process.stdin.on('end', () => process.exit(0)).resume();

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 }, () =>
      resolve((server.address() as AddressInfo).port),
    );
  });
}
