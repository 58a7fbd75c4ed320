/**
 * The cost of reading 1,000 unchanged status pages every five minutes: `node bench/feeds.ts`. Statuspage's two documents
 * each, over HTTPS with a full handshake, answered with 304. Servers and poller are processes of their own, which run this
 * file with the arguments `servers` and `poller`.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createKeyedLimiter } from '../src/async/concurrency-limiter.ts';
import { systemClock } from '../src/clock.ts';
import type { FeedMemory } from '../src/feeds/feed-actor.ts';
import { FEED_KINDS } from '../src/feeds/kinds-table.ts';
import { pollFeed } from '../src/feeds/poller.ts';
import { createOutbound } from '../src/outbound/outbound.ts';
import { startHelper } from './child.ts';
import { atMost, type BenchRow, printRows } from './row.ts';

const CERTIFICATES = join(import.meta.dirname, '../test/certs');
const LISTENERS = 50;
const FEEDS = 1_000;
const ROUNDS = 3;
const INTERVAL_S = 300;
const EMPTY = { page: { id: 'abc123', name: 'Example', url: 'https://status.example' } };
const BODIES: Readonly<Record<string, string>> = {
  '/api/v2/incidents.json': JSON.stringify({ ...EMPTY, incidents: [] }),
  '/api/v2/scheduled-maintenances.json': JSON.stringify({ ...EMPTY, scheduled_maintenances: [] }),
};

interface Polls {
  readonly cpuMs: number;
  readonly polls: number;
  readonly failed: number;
}

/** Runs the benchmark; the poller is a process that trusts the test authority. */
export async function run(): Promise<readonly BenchRow[]> {
  const servers = await startHelper<number[]>('feeds.ts', ['servers']);
  const poller = await startHelper<Polls>('feeds.ts', ['poller', JSON.stringify(servers.line)], {
    NODE_EXTRA_CA_CERTS: join(CERTIFICATES, 'ca.pem'),
  });
  const { cpuMs, polls, failed } = poller.line;
  servers.stop();
  poller.stop();
  if (failed > 0) throw new Error(`${failed} of ${polls} polls failed`);
  const share = ((cpuMs / polls) * FEEDS) / (INTERVAL_S * 1_000);
  const name = `feeds: ${FEEDS} unchanged pages every five minutes, share of a core`;
  return printRows([atMost(name, share * 100, '%', 2)]);
}

/** Starts HTTPS listeners that answer every path with a validator; returns their ports. */
async function serve(): Promise<number[]> {
  const options = {
    cert: readFileSync(join(CERTIFICATES, 'localhost.pem')),
    key: readFileSync(join(CERTIFICATES, 'localhost-key.pem')),
  };
  return await Promise.all(
    Array.from({ length: LISTENERS }, () => {
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
}

/** Polls all feeds once in full, then with validators; returns the cost of the latter. */
async function poll(ports: readonly number[]): Promise<Polls> {
  const outbound = createOutbound({ userAgent: 'Upbeat/bench', nameservers: [] });
  const parts = {
    outbound,
    policy: { allowPrivate: ['127.0.0.0/8'], ports: [443] },
    inTurn: createKeyedLimiter(16),
    now: systemClock.now,
    signal: new AbortController().signal,
  };
  const memories: FeedMemory[] = Array.from({ length: FEEDS }, () => ({}));
  let failed = 0;
  const round = () =>
    Promise.all(
      memories.map(async (memory, index) => {
        const source = { pageUrl: `https://localhost:${ports[index % ports.length]}`, feedUrl: null };
        const outcome = await pollFeed(FEED_KINDS.statuspage.addresses(source), memory, parts);
        memories[index] = outcome.memory;
        if (outcome.problem !== null) failed++;
        if (outcome.readings.length > 0 && Object.keys(memory).length > 0)
          throw new Error('something changed');
      }),
    );
  await round();
  const before = process.cpuUsage();
  for (let turn = 0; turn < ROUNDS; turn++) await round();
  const { user, system } = process.cpuUsage(before);
  outbound.close();
  return { cpuMs: (user + system) / 1_000, polls: FEEDS * ROUNDS, failed };
}

if (import.meta.main) {
  const [role, ports = '[]'] = process.argv.slice(2);
  if (role === undefined) await run();
  else {
    console.log(JSON.stringify(role === 'servers' ? await serve() : await poll(JSON.parse(ports))));
    process.stdin.on('end', () => process.exit(0)).resume();
  }
}
