/** The bounds on what a client may make the server wait for and hold. */
import t from 'tap';
import { createHttpServer, listen } from '../../src/api/http-server.ts';

t.test('it bounds the time that a request may take to arrive', (t) => {
  const server = createHttpServer((_request, response) => response.end());
  t.ok(server.headersTimeout > 0 && server.headersTimeout <= 15_000, 'headers');
  t.ok(server.requestTimeout > 0 && server.requestTimeout <= 60_000, 'whole request');
  t.ok(server.keepAliveTimeout > 60_000, 'longer than a load balancer keeps a connection');
  t.end();
});

t.test('it says which port it got, and what to do where it gets none', async (t) => {
  const server = createHttpServer((_request, response) => response.end('here'));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const port = await listen(server, '127.0.0.1', 0);
  const response = await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } });
  t.equal(await response.text(), 'here');
  const second = createHttpServer(() => {});
  await t.rejects(listen(second, '127.0.0.1', port), {
    message: /port \d+ is in use; choose another by http\.port/,
  });
});
