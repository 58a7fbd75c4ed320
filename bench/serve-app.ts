/** The whole application of the site for benchmarks over HTTP. */
import type { AddressInfo } from 'node:net';
import { createKeyAuthenticator } from '../src/auth/api-keys.ts';
import { systemClock } from '../src/clock.ts';
import { createHttpServer } from '../src/http/server.ts';
import { silentLog } from '../src/log.ts';
import { createMetrics } from '../src/metrics/metrics.ts';
import { createApp } from '../src/site/app.ts';
import { double } from '../test/support/double.ts';

/** More requests a minute than a benchmark can send. */
export const NO_LIMIT = 1_000_000_000;

type AppOptions = Parameters<typeof createApp>[0];
type AppParts = Pick<AppOptions, 'directory' | 'status' | 'registry' | 'heartbeats' | 'watchTransitions'> &
  Partial<AppOptions> & { readonly keys: Parameters<typeof createKeyAuthenticator>[0]['registry'] };

/** Serves the whole application on a free port of the loopback interface. */
export async function serveApp({ keys, ...parts }: AppParts) {
  const authenticator = createKeyAuthenticator({ registry: keys, clock: systemClock, log: silentLog });
  const app = createApp({
    settings: {
      siteUrl: 'http://localhost:8080',
      version: '0.0.0',
      about: {
        timeoutMs: 10_000,
        confirmAfterMs: [],
        quorum: 'majority',
        userAgent: 'bench',
        operator: { name: null, url: null, contact: null },
      },
      trustedProxies: [],
      intervalMs: 300_000,
      slowOverMs: 3_000,
      silenceMs: 600_000,
      domainsPerAccount: 100,
      anonymousPerMinute: NO_LIMIT,
      authenticatedPerMinute: NO_LIMIT,
      changesPerAccount: NO_LIMIT,
    },
    samples: double({ query: async () => [], regionsOf: async () => [] }),
    vendorOf: () => null,
    owners: null,
    ownedPages: null,
    renderBadge: async () => Buffer.alloc(0),
    pictures: { chart: async () => Buffer.alloc(0), heatmap: async () => Buffer.alloc(0) },
    readiness: () => ({
      phase: 'serving',
      role: 'monitor',
      node: { name: 'bench', region: 'local', roles: [] },
      nodes: [],
      prober: { online: true, offlineSince: null, reason: null },
      parts: {},
      events: [],
    }),
    authenticator,
    metrics: createMetrics(),
    clock: systemClock,
    log: silentLog,
    ...parts,
  });
  const server = createHttpServer(app.listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  // The first request loads pages and endpoints from their sources, whose garbage would be collected among the requests that are measured.
  await (await fetch(`http://127.0.0.1:${port}/api/v1/services`)).text();
  return {
    port,
    async close() {
      app.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await authenticator.close();
    },
  };
}
