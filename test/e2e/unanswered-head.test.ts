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

t.test('a server that hangs on HEAD', async (t) => {
  const failedAt: number[] = [];
  const asked: string[] = [];
  const failing = await listenOn(
    createServer(({ method }, response) => {
      if (method !== 'GET') return;
      failedAt.push(Date.now());
      response.writeHead(503).end();
    }),
  );
  const well = await listenOn(
    createServer(({ method = '' }, response) => {
      asked.push(method);
      if (method === 'GET') response.end('hello');
    }),
  );
  const installation = await install([
    { slug: 'failing', check: { url: `http://127.0.0.1:${failing.port}/` } },
    { slug: 'well', check: { url: `http://127.0.0.1:${well.port}/` } },
  ]);
  t.teardown(async () => {
    installation.remove();
    await failing.close();
    await well.close();
  });
  let program = await installation.start();
  t.teardown(() => program.killHard());
  const known = (slug: string) =>
    program.until<Status>(`/api/v1/status/${slug}`, ({ status }) => status !== 'unknown');

  await t.test('it dates an outage by the first request that really failed', async (t) => {
    const service = await known('failing');
    t.equal(service.status, 'down');
    const [firstAt = 0] = failedAt;
    const sinceAt = Date.parse(service.since);
    // The HEAD that hung before it took the whole time-out of 2 s.
    t.ok(
      sinceAt <= firstAt && sinceAt > firstAt - 1_500,
      `${service.since}, ${new Date(firstAt).toISOString()}`,
    );
    const { incidents } = (await program.get('/api/v1/incidents')).body as {
      incidents: { started_at: string }[];
    };
    t.same(
      incidents.map(({ started_at }) => started_at),
      [service.since],
    );
  });

  await t.test('it remembers that a server answers GET alone', async (t) => {
    const service = await known('well');
    t.equal(service.status, 'up');
    // Of the GET that was answered, not of the HEAD in front of it, which took the whole time-out of 2 s.
    t.ok((service.response_time ?? 2000) < 2000, `${service.response_time} ms`);
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
    t.match((await program.get('/api/v1/incidents/well')).body, { incidents: [] });
  });
});
