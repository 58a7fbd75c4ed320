/** The whole program and a server that hangs on HEAD: it is up, asked by GET from then on, after a restart too. */
import { createServer } from 'node:http';
import t from 'tap';
import { listenOn, until } from '../support/loopback.ts';
import { install } from '../support/program.ts';

interface Status {
  readonly status: string;
  readonly since: string;
  readonly response_time: number | null;
}

t.setTimeout(120_000);

t.test('it dates an outage by the first request that really failed', async (t) => {
  const failedAt: number[] = [];
  const server = await listenOn(
    createServer(({ method }, response) => {
      if (method !== 'GET') return;
      failedAt.push(Date.now());
      response.writeHead(503).end();
    }),
  );
  const installation = await install([{ slug: 'shop', check: { url: `http://127.0.0.1:${server.port}/` } }]);
  t.teardown(async () => {
    installation.remove();
    await server.close();
  });
  const program = await installation.start();
  t.teardown(() => program.killHard());
  const shop = await program.until<Status>('/api/v1/status/shop', ({ status }) => status !== 'unknown');
  t.equal(shop.status, 'down');
  const [firstAt = 0] = failedAt;
  const sinceAt = Date.parse(shop.since);
  // The HEAD that hung before it took the whole time-out of 2 s.
  t.ok(sinceAt <= firstAt && sinceAt > firstAt - 1_500, `${shop.since}, ${new Date(firstAt).toISOString()}`);
  const { incidents } = (await program.get('/api/v1/incidents')).body as {
    incidents: { started_at: string }[];
  };
  t.same(
    incidents.map(({ started_at }) => started_at),
    [shop.since],
  );
});

t.test('it remembers that a server answers GET alone', async (t) => {
  const asked: string[] = [];
  const server = await listenOn(
    createServer(({ method = '' }, response) => {
      asked.push(method);
      if (method === 'GET') response.end('hello');
    }),
  );
  const installation = await install([{ slug: 'shop', check: { url: `http://127.0.0.1:${server.port}/` } }]);
  t.teardown(async () => {
    installation.remove();
    await server.close();
  });
  let program = await installation.start();
  t.teardown(() => program.killHard());
  const shop = await program.until<Status>('/api/v1/status/shop', ({ status }) => status !== 'unknown');
  t.equal(shop.status, 'up');
  // Of the GET that was answered, not of the HEAD in front of it, which took the whole time-out of 2 s.
  t.ok((shop.response_time ?? 2000) < 2000, `${shop.response_time} ms`);
  await until(() => asked.length >= 5);
  await program.stop();

  const before = asked.length;
  program = await installation.start();
  await until(() => asked.length >= before + 2);
  t.same(asked.slice(0, 1), ['HEAD']);
  t.ok(
    asked.slice(1).every((method) => method === 'GET'),
    asked.join(),
  );
  const { body } = await program.get('/api/v1/incidents');
  t.match(body, { incidents: [] });
});
