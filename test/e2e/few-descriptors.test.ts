/** The whole program with all its file descriptors taken by connections: nothing is called down, and all is right when they are free. */
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import t from 'tap';
import { listenOn, until } from '../support/loopback.ts';
import { install } from '../support/program.ts';

interface Status {
  readonly status: string;
  readonly last_checked: string;
}

/** Clients may take three quarters of them, each client a quarter of those; what is left has to suffice for files, threads and checks. */
const DESCRIPTORS = 400;
const STATUS = '/api/v1/status/shop';

t.setTimeout(180_000);

t.test('connections that take all descriptors cost neither a service nor the program', async (t) => {
  // Each check opens a connection of its own.
  const site = await listenOn(
    createServer((_request, response) => response.writeHead(200, { connection: 'close' }).end()),
  );
  const limit = ['sh', '-c', `ulimit -n ${DESCRIPTORS} && exec "$@"`, 'sh'];
  const entries = [{ slug: 'shop', check: { url: `http://127.0.0.1:${site.port}/` } }];
  const installation = await install(entries, {}, {}, limit);
  const program = await installation.start();
  const taken: Socket[] = [];
  t.teardown(async () => {
    for (const socket of taken) socket.destroy();
    await program.killHard();
    installation.remove();
    await site.close();
  });
  const key = await installation.makeKey('ada');
  const beat = async () => {
    const response = await fetch(`${installation.siteUrl}/api/v1/heartbeat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{"domain":"jobs.example.org","status":"ok"}',
    });
    await response.arrayBuffer();
    return response.status;
  };
  await program.until<Status>(STATUS, ({ status }) => status === 'up');
  const port = Number(new URL(installation.siteUrl).port);
  const take = (localAddress: string) => {
    for (let n = 0; n < DESCRIPTORS; n++) {
      const socket = connect({ port, host: '127.0.0.1', localAddress });
      socket.on('error', () => {});
      taken.push(socket);
    }
  };
  take('127.0.0.2');
  await until(() => /a client has its share of connections/.test(program.output()), 60_000);
  t.equal(await beat(), 200, 'one client takes nothing from others');
  const { body: metrics } = await program.get('/metrics');
  t.match(String(metrics), /^upbeat_http_connections_refused_total\{reason="client"\} [1-9]/m);
  t.match((await program.get('/readyz')).body, {
    events: [{ event: 'client_connections_refused', count: 1, last_at: /^2/ }],
  });
  t.notMatch(program.output(), /a connection could not be accepted/);

  for (const address of ['127.0.0.3', '127.0.0.4', '127.0.0.5', '127.0.0.6']) take(address);
  await until(() => /a connection could not be accepted/.test(program.output()), 60_000);
  const checks = site.accepted();
  await until(() => site.accepted() > checks + 2, 60_000);
  t.ok(true, 'checks go on');
  for (const socket of taken.splice(0)) socket.destroy();
  const now = new Date().toISOString();
  const { status } = await program.until<Status>(STATUS, ({ last_checked }) => last_checked > now);
  t.equal(status, 'up');
  t.equal(await beat(), 200);
  const { body } = await program.get('/api/v1/incidents');
  t.match(body, { incidents: [] });
  t.notMatch(program.output(), /probe_thread_replaced|EMFILE/);
});
