/** The bound of connections to an address, by every kind of check and at each hop. */
import { createSocket } from 'node:dgram';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import type { CheckTarget } from '../../src/domain/check-target.ts';
import type { Attempt } from '../../src/domain/result.ts';
import { NO_MEMORY } from '../../src/domain/result.ts';
import { type CheckDefinition, DEFAULT_CHECK, type ProbedKind } from '../../src/domain/service.ts';
import { examinePing } from '../../src/outbound/ping.ts';
import { createProber } from '../../src/probe/prober.ts';

/** An account may make one connection to an address, and the next one a minute later. */
const PER_MINUTE = 1;

/** Opens a prober; `check` makes one attempt of a service. */
function openProber(t: Test) {
  const busy: string[] = [];
  const prober = createProber(
    {
      ...{ version: '1.2.3', siteUrl: 'https://status.example', allowPrivate: ['127.0.0.0/8'], ports: [] },
      ...{ ownersMayProbePrivate: true, nameservers: [], concurrency: 64, connectionsPerAddress: PER_MINUTE },
    },
    undefined,
    { onBusy: (address) => busy.push(address) },
  );
  t.teardown(() => prober.close());
  let slot = 0;
  const signal = new AbortController().signal;
  const check = (changes: Partial<CheckDefinition>, target: Partial<CheckTarget> = {}): Promise<Attempt> =>
    prober.runAttempt(
      {
        ...{ serviceId: 1, revision: 1, domain: '127.0.0.1', origin: 'owner', accountId: 1 },
        ...{ check: { ...DEFAULT_CHECK, ...changes }, memory: NO_MEMORY, lastCheckedAt: null },
        ...target,
      },
      { timeoutMs: 20_000, number: 0, slot: slot++ % 64, signal },
    );
  return { check, busy };
}

async function listen(t: Test, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const isBusy = ({ failure }: Attempt) => failure?.cause.code === 'address_busy';

t.test('every kind of check waits at an address that has as many connections as it may', async (t) => {
  let connections = 0;
  const site = createServer((_, response) => response.end('{"status":"ok"}'));
  site.on('connection', () => connections++);
  const port = await listen(t, site);
  const names = createSocket('udp4');
  let queries = 0;
  names.on('message', () => queries++);
  await new Promise<void>((resolve) => names.bind(0, '127.0.0.1', resolve));
  t.teardown(() => names.close());
  const url = `http://127.0.0.1:${port}/`;
  const kinds: Readonly<Record<ProbedKind, Partial<CheckDefinition>>> = {
    root: { url },
    health: { url },
    http: { settings: { plain: true, port } },
    tcp: { settings: { port } },
    tls: { settings: { port } },
    websocket: { settings: { plain: true, port } },
    grpc: { settings: { plain: true, port } },
    smtp: { settings: { port } },
    ssh: { settings: { port } },
    postgres: { settings: { port } },
    mysql: { settings: { port } },
    redis: { settings: { port } },
    mqtt: { settings: { port } },
    mongodb: { settings: { port } },
    docker: { settings: { container: 'web', port }, trustedBy: 1 },
    domain: { settings: { server: url } },
    icmp: {},
    dns: { settings: { server: '127.0.0.1', port: names.address().port } },
  };
  for (const [kind, changes] of Object.entries(kinds) as [ProbedKind, Partial<CheckDefinition>][]) {
    if (kind === 'icmp' && examinePing() !== null) continue;
    const { check, busy } = openProber(t);
    t.notOk(isBusy(await check({ url })), kind);
    const [before, asked] = [connections, queries];
    const attempt = await check({ kind, ...changes });
    t.match(
      attempt,
      { failure: { cause: { code: 'address_busy' } }, suspect: 'own_fault', answered: false },
      kind,
    );
    t.same([connections, queries, busy], [before, asked, ['127.0.0.1']], `${kind} connects to nothing`);
  }
});

t.test('redirects count at each hop', async (t) => {
  const target = createServer((_, response) => response.end());
  const targetPort = await listen(t, target);
  let requests = 0;
  target.on('request', () => requests++);
  // Each service has an address of its own, and all lead to one.
  const hops = createServer((_, response) => {
    response.writeHead(302, { location: `http://127.0.0.1:${targetPort}/` }).end();
  });
  await new Promise<void>((resolve) => hops.listen(0, '0.0.0.0', resolve));
  t.teardown(() => void hops.close());
  const { port } = hops.address() as AddressInfo;
  const { check } = openProber(t);
  const attempts = await Promise.all(
    Array.from({ length: 40 }, (_, index) => check({ url: `http://127.0.3.${index + 1}:${port}/` })),
  );
  t.equal(requests, 1);
  t.equal(attempts.filter(isBusy).length, 39);
});

t.test('checks of the catalogue are not counted', async (t) => {
  const port = await listen(
    t,
    createServer((_, response) => response.end()),
  );
  const { check } = openProber(t);
  const url = `http://127.0.0.1:${port}/`;
  await check({ url });
  t.ok(isBusy(await check({ url })));
  for (let count = 0; count < 20; count++)
    t.equal((await check({ url }, { origin: 'catalogue', accountId: null })).failure, null);
});
