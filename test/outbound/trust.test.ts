/** Whose certificates are believed; by a process of its own, for Node reads the machine's authorities once. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createServer } from 'node:tls';
import t from 'tap';
import { makeCertificate, TEST_CA_FILE } from '../support/certificates.ts';

/** Connects, and prints what became of it. */
const SCRIPT = `
  import { connect } from 'node:tls';
  import { createTrustStore } from './src/outbound/connection.ts';
  const port = Number(process.env.PORT);
  const { context } = createTrustStore().trust(null);
  const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', secureContext: context });
  socket.on('secureConnect', () => { console.log('believed'); socket.destroy(); });
  socket.on('error', (error) => console.log(error.code));
`;

t.test('it believes the authorities of the machine and those that are added, shared or not', async (t) => {
  const server = createServer(makeCertificate({ names: ['localhost'] }), (socket) => socket.end());
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  for (const options of [[], ['--use-system-ca']])
    for (const [env, expected] of [
      [{ SSL_CERT_FILE: TEST_CA_FILE }, 'believed'],
      [{ NODE_EXTRA_CA_CERTS: TEST_CA_FILE }, 'believed'],
      [{}, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ] as const) {
      const child = spawn(process.execPath, [...options, '--input-type=module', '--eval', SCRIPT], {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...process.env, PORT: String(port), ...env },
      });
      t.equal((await text(child.stdout)).trim(), expected, `${options} ${Object.keys(env)}`);
    }
});
