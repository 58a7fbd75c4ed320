/** The program is really stopped for 350 ms again and again: every outage is found, and none is invented. */
import { createServer, type RequestListener } from 'node:http';
import t from 'tap';
import { freePort } from '../support/free-port.ts';
import { listenOn, listenRaw } from '../support/loopback.ts';
import { install } from '../support/program.ts';
import { stallProcess, workerOf } from '../support/stall.ts';

interface Listed {
  readonly services: readonly { readonly slug: string; readonly status: string; readonly stale: boolean }[];
}

const SLOW_OVER_MS = 1_500;
/** Under the limit, and over it by the length of one stall. */
const NEARLY_SLOW_MS = 1_300;
const SLOW_MS = 1_750;
/** Every status that was ever seen of these services. */
const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  hangs: ['down', 'unknown'],
  'hangs-in-tls': ['down', 'unknown'],
  refuses: ['down', 'unknown'],
  closes: ['down', 'unknown'],
  garbles: ['down', 'unknown'],
  missing: ['down', 'unknown'],
  slow: ['slow', 'unknown'],
  good: ['unknown', 'up'],
  'nearly-slow': ['unknown', 'up'],
};

/** Many times what it takes on a machine that has nothing else to do. */
const LIMIT_MS = 120_000;

t.setTimeout(LIMIT_MS + 10_000);

t.test('it finds every outage and invents none while it is stopped again and again', async (t) => {
  let slowest = 0;
  const answerAfter =
    (ms: number): RequestListener =>
    (_, response) => {
      const startedAt = performance.now();
      setTimeout(() => {
        response.end();
        slowest = ms === NEARLY_SLOW_MS ? Math.max(slowest, performance.now() - startedAt) : slowest;
      }, ms);
    };
  const servers = {
    hangs: await listenOn(createServer(() => {})),
    'hangs-in-tls': await listenRaw(() => {}),
    closes: await listenRaw((socket) => socket.once('data', () => socket.end())),
    garbles: await listenRaw((socket) => socket.once('data', () => socket.end('220 smtp\r\n'))),
    missing: await listenOn(createServer((_, response) => response.writeHead(404).end())),
    slow: await listenOn(createServer(answerAfter(SLOW_MS))),
    good: await listenOn(createServer((_, response) => response.end())),
    'nearly-slow': await listenOn(createServer(answerAfter(NEARLY_SLOW_MS))),
  };
  t.teardown(() => Promise.all(Object.values(servers).map((server) => server.close())));
  const ports = Object.entries(servers).map(([slug, { port }]) => [slug, port] as const);
  const entries = [...ports, ['refuses', await freePort()] as const].map(([slug, port]) => ({
    slug,
    check: { kind: 'root', url: `${slug === 'hangs-in-tls' ? 'https' : 'http'}://127.0.0.1:${port}/` },
  }));
  const installation = await install(entries, {
    checks: {
      interval: '2s',
      timeout: '2s',
      slowOver: `${SLOW_OVER_MS}ms`,
      confirmAfter: ['100ms'],
      firstSpread: '100ms',
    },
  });
  t.teardown(() => installation.remove());
  const program = await installation.start();
  t.teardown(() => program.killHard());
  const stalls = stallProcess(workerOf(program.process), 350, 1_000);
  t.teardown(() => stalls.end());

  const seen = new Map(Object.keys(EXPECTED).map((slug) => [slug, new Set(['unknown'])]));
  await program.until<Listed>(
    '/api/v1/services?limit=500',
    ({ services }) => {
      for (const { slug, status } of services) seen.get(slug)?.add(status);
      const found = services.every(
        ({ slug, status }) => EXPECTED[slug]?.includes(status) && status !== 'unknown',
      );
      return found && stalls.count() >= 5;
    },
    LIMIT_MS,
  );
  // The server itself was too slow for its own promise, which this test cannot help.
  if (slowest > NEARLY_SLOW_MS + 100) seen.get('nearly-slow')?.delete('slow');
  t.same(Object.fromEntries([...seen].map(([slug, statuses]) => [slug, [...statuses].sort()])), EXPECTED);
  const { incidents } = (await program.get('/api/v1/incidents?limit=100')).body as {
    incidents: readonly { readonly service: { readonly slug: string } }[];
  };
  t.same(
    incidents.map(({ service }) => service.slug).sort(),
    Object.keys(EXPECTED)
      .filter((slug) => EXPECTED[slug]?.includes('down'))
      .sort(),
    'one incident for each outage',
  );
});
