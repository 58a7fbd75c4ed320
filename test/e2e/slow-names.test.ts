/** The whole program behind a name server that is slow: services stay up, the prober stays online. */
import t from 'tap';
import { listenRaw } from '../support/loopback.ts';
import { startNameServer } from '../support/name-server.ts';
import { install } from '../support/program.ts';

interface Status {
  readonly status: string;
  readonly response_time: number | null;
  readonly last_checked: string | null;
}

const DELAY_MS = 2500;

t.setTimeout(90_000);
t.test('it tells a slow name server from a service that is down, and from a lost connection', async (t) => {
  const names = await startNameServer(async () => {
    await new Promise((resolve) => setTimeout(resolve, DELAY_MS));
    return { addresses: ['127.0.0.1'], ttl: 0 };
  });
  const shop = await listenRaw((socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
  });
  const closed = await listenRaw(() => {});
  await closed.close();
  const urlOf = (name: string, port: number) => `http://${name}.example:${port}/`;
  const installation = await install(
    [
      { slug: 'shop', check: { url: urlOf('shop', shop.port) } },
      { slug: 'blog', check: { url: urlOf('blog', shop.port) } },
      { slug: 'gone', check: { url: urlOf('gone', closed.port) } },
    ],
    {
      checks: {
        nameservers: [names.address],
        timeout: '10s',
        confirmAfter: ['100ms'],
        // Only a machine that is very busy makes 2.5 s so slow.
        slowOver: '8s',
        controlTargets: [urlOf('control', shop.port)],
      },
    },
  );
  t.teardown(async () => {
    installation.remove();
    await Promise.all([names.close(), shop.close()]);
  });
  const program = await installation.start();
  t.teardown(() => program.killHard());

  const seen = new Set<string>();
  const times = new Set<number>();
  const note = (slug: string) => async () => {
    let first: string | null = null;
    await program.until<Status>(`/api/v1/status/${slug}`, ({ status, response_time, last_checked }) => {
      seen.add(`${slug} ${status}`);
      if (response_time !== null) times.add(response_time);
      first ??= last_checked;
      return last_checked !== null && last_checked !== first;
    });
  };
  // A service that refuses connections is called down only when a control target has answered, by a slow name too.
  await Promise.all([
    program.until<Status>('/api/v1/status/gone', ({ status }) => status === 'down'),
    note('shop')(),
    note('blog')(),
  ]);
  t.notOk(seen.has('shop down') || seen.has('blog down') || seen.has('shop slow'), [...seen].join());
  t.ok(times.size > 0 && Math.min(...times) >= DELAY_MS - 5, `${[...times]} ms`);
  const ready = await program.get('/readyz');
  t.match(ready, { status: 200, body: { degraded: [] } });
  t.notMatch(program.output(), /offline/);
});
