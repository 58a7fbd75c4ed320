/**
 * Vendors in a process of their own: many HTTPS listeners that answer every path with a validator, and 304 to whoever
 * has it. Prints one line of JSON with its ports, and ends with its standard input.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

const listeners = Number(process.argv[2] ?? 50);
const certificates = join(import.meta.dirname, '../test/certs');
const options = {
  cert: readFileSync(join(certificates, 'localhost.pem')),
  key: readFileSync(join(certificates, 'localhost-key.pem')),
};
const EMPTY = { page: { id: 'abc123', name: 'Example', url: 'https://status.example' } };
const BODIES: Readonly<Record<string, string>> = {
  '/api/v2/incidents.json': JSON.stringify({ ...EMPTY, incidents: [] }),
  '/api/v2/scheduled-maintenances.json': JSON.stringify({ ...EMPTY, scheduled_maintenances: [] }),
};

const ports = await Promise.all(
  Array.from({ length: listeners }, () => {
    const server = createServer(options, ({ headers, url = '' }, response) => {
      const known = headers['if-none-match'] === '"v1"';
      const body = BODIES[url] ?? '';
      response
        .writeHead(known ? 304 : body === '' ? 404 : 200, {
          etag: '"v1"',
          'content-type': 'application/json',
          connection: 'close',
        })
        .end(known ? '' : body);
    });
    return new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
    });
  }),
);
console.log(JSON.stringify(ports));
process.stdin.on('end', () => process.exit(0)).resume();
