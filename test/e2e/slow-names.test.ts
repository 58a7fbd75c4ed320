/** The whole program behind a slow name server, with a dead address: services stay up, the prober stays online. */
import type { Socket } from 'node:net';
import t from 'tap';
import { openBlackHole } from '../support/black-hole.ts';
import { listenRaw } from '../support/loopback.ts';
import { startNameServer } from '../support/name-server.ts';
import { install } from '../support/program.ts';

interface Status {
  readonly status: string;
  readonly response_time: number | null;
  readonly last_checked: string | null;
}

const DELAY_MS = 2500;
/** What a dead address costs (decisions, "What a check is"). */
const DEAD_ADDRESS_MS = 250;

t.setTimeout(90_000);
t.test(
  'it distinguishes a slow name server from a service that is down, and from a lost connection',
  async (t) => {
    const names = await startNameServer(async ({ name }) => {
      await new Promise((resolve) => setTimeout(resolve, DELAY_MS));
      return { addresses: name === 'pair.example' ? ['127.0.0.1', '127.0.0.2'] : ['127.0.0.1'], ttl: 0 };
    });
    const answer = (socket: Socket) =>
      void socket.once('data', () => socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
    const shop = await listenRaw(answer);
    // Where the system takes connections beyond the backlog, both addresses answer.
    const hole = await openBlackHole(t, '127.0.0.1');
    const pair = await listenRaw(answer, '127.0.0.2', hole ?? shop.port);
    const closed = await listenRaw(() => {});
    await closed.close();
    const urlOf = (name: string, port: number) => `http://${name}.example:${port}/`;
    const installation = await install(
      [
        { slug: 'shop', check: { url: urlOf('shop', shop.port) } },
        { slug: 'pair', check: { url: urlOf('pair', pair.port) } },
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
      await Promise.all([names.close(), shop.close(), pair.close()]);
    });
    const program = await installation.start();
    t.teardown(() => program.killHard());

    const seen = new Set<string>();
    const times: Record<string, number[]> = { shop: [], pair: [] };
    const note = (slug: string) => async () => {
      let first: string | null = null;
      await program.until<Status>(`/api/v1/status/${slug}`, ({ status, response_time, last_checked }) => {
        seen.add(`${slug} ${status}`);
        if (response_time !== null) times[slug]?.push(response_time);
        first ??= last_checked;
        return last_checked !== null && last_checked !== first;
      });
    };
    // A service that refuses connections is called down only when a control target has answered, by a slow name too.
    await Promise.all([
      program.until<Status>('/api/v1/status/gone', ({ status }) => status === 'down'),
      note('shop')(),
      note('pair')(),
    ]);
    t.notOk(seen.has('shop down') || seen.has('pair down'), [...seen].join());
    const quickest = (slug: string) => Math.min(...(times[slug] ?? []));
    t.ok(quickest('shop') >= DELAY_MS - 5 && quickest('shop') < DELAY_MS + 3000, `${quickest('shop')} ms`);
    // A third of the time-out, 3.3 s, was the price before.
    const extraMs = quickest('pair') - DELAY_MS;
    t.ok(extraMs >= (hole === null ? 0 : DEAD_ADDRESS_MS) - 5 && extraMs < 3000, `${quickest('pair')} ms`);
    const ready = await program.get('/readyz');
    t.match(ready, { status: 200, body: { degraded: [] } });
    t.notMatch(program.output(), /offline/);
  },
);
