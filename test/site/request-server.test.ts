import type { AddressInfo } from 'node:net';
import t from 'tap';
import { systemClock } from '../../src/clock.ts';
import { createHttpServer } from '../../src/http/server.ts';
import type { Log } from '../../src/log.ts';
import { RequestServer } from '../../src/site/request-server.ts';
import { double } from '../support/double.ts';

t.test(
  'it goes on without pages and endpoints that cannot be loaded, and loads them for a later request',
  async (t) => {
    const problems: unknown[] = [];
    let failures = 2;
    const site = new RequestServer({
      ownRoutes: [
        {
          path: '/healthz',
          bucket: 'none',
          access: 'everyone',
          handle: () => ({ status: 200, headers: {}, body: '' }),
        },
      ],
      routes() {
        failures--;
        if (failures >= 0) throw new Error('no memory');
        return [];
      },
      pipeline: double({
        run: ({ path }: { path: string }) => ({
          status: 200,
          headers: [],
          body: path,
          bodyBytes: path.length,
        }),
      }),
      siteUrl: 'http://site.example',
      trustedProxies: [],
      pageDomains: null,
      proofs: null,
      metrics: double({ noteRequest: () => {} }),
      clock: systemClock,
      log: double<Log>({
        error: ({ problem }: { problem: string }) => problems.push(problem),
        debug: () => {},
      }),
    });
    const server = createHttpServer((message, response) => site.handle(message, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => server.close());
    const ask = async (path: string) =>
      (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`)).text();
    await t.rejects(ask('/'));
    t.equal(await ask('/healthz'), '/healthz');
    await t.rejects(ask('/a'));
    t.equal(await ask('/'), 'unknown');
    t.same(problems, ['no memory', 'no memory']);
  },
);
