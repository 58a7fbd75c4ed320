/**
 * `npm run soak -- memory [--minutes 5] [--limit 256]`: the program with the whole public list in a control group of so
 * many MiB, without swap, from a start that has to compile its sources. Servers and vendors' pages of all services are
 * simulated in a network namespace: each name leads to one HTTPS server with a certificate of that name. Pages, badges
 * and pictures are asked for meanwhile. Ends with status 1 if the program was killed or failed to answer.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createSecureContext, type SecureContext } from 'node:tls';
import { parseArgs } from 'node:util';
import { makeCertificate, TEST_CA_FILE } from '../support/certificates.ts';
import { makeMemoryCgroup } from '../support/memory-cgroup.ts';
import { startNameServer } from '../support/name-server.ts';
import { install } from '../support/program.ts';

const MIB = 1_048_576;
const ROOT = join(import.meta.dirname, '../..');
const PATHS = ['/', '/status/github', '/api/badge/github', '/api/chart/github', '/api/heatmap.png'];
const ROUND_MS = 5_000;
const REPORT_ROUNDS = 6;
/** A document of a vendor's page has as many incidents. */
const INCIDENTS = 120;

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '5' }, limit: { type: 'string', default: '256' } },
});
const minutes = Number(values.minutes);

if (process.env.UPBEAT_TEST_NAMESPACE !== 'made') {
  const enter = ['--net', 'sh', '-ec', 'ip link set lo up && exec "$@"', 'enter'];
  const { status, error } = spawnSync('unshare', [...enter, process.execPath, ...process.argv.slice(1)], {
    stdio: 'inherit',
    env: { ...process.env, UPBEAT_TEST_NAMESPACE: 'made' },
  });
  if (error !== undefined) console.error(`NOT RUN: a network namespace needs root and util-linux: ${error}`);
  process.exit(status ?? 1);
}

const group = makeMemoryCgroup(Number(values.limit) * MIB);
if (typeof group === 'string') {
  console.error(`NOT RUN: ${group}`);
  process.exit(1);
}
const names = await startNameServer(({ type }) =>
  type === 'A' ? { addresses: ['127.0.0.2'] } : { code: 0 },
);
const internet = await startInternet();
const compiled = mkdtempSync(join(tmpdir(), 'upbeat-memory-'));
const installation = await install(
  [],
  {
    catalogue: { file: join(ROOT, 'config/catalogue.yaml') },
    checks: {
      interval: '5m',
      timeout: '10s',
      firstSpread: '60s',
      confirmAfter: ['2s', '4s'],
      nameservers: [names.address],
    },
  },
  { TMPDIR: compiled, NODE_EXTRA_CA_CERTS: TEST_CA_FILE },
  group.enter,
);
const program = await installation.start();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    void program.killHard().then(() => process.exit(1));
  });
let failed = 0;
let mostHeld = 0;
const endAt = performance.now() + minutes * 60_000;
for (let round = 1; performance.now() < endAt; round++) {
  for (const path of PATHS) {
    const status = await program.get(path).then(
      (response) => response.status,
      () => 0,
    );
    // The first heat map may take longer than a client waits.
    if (status === 200 || (status === 503 && path === '/api/heatmap.png')) continue;
    failed++;
    console.log(`${path}: ${status === 0 ? 'no response' : status}`);
  }
  const { heldBytes, peakBytes } = group.usage();
  mostHeld = Math.max(mostHeld, heldBytes);
  if (round % REPORT_ROUNDS === 1)
    console.log(
      `held ${mib(heldBytes)} MiB, at most ${mib(mostHeld)}; with files at most ${mib(peakBytes)}; ${internet.requests()} requests`,
    );
  await pause(ROUND_MS);
}
const killed = [...program.output().matchAll(/starting again/g)].length;
await program.stop();
internet.close();
await names.close();
group.remove();
installation.remove();
rmSync(compiled, { recursive: true, force: true });
console.log(
  `${minutes} min in ${values.limit} MiB: ${mib(mostHeld)} MiB held at most, killed ${killed} times`,
);
if (failed > 0 || killed > 0) process.exitCode = 1;

function mib(bytes: number): number {
  return Math.round(bytes / MIB);
}

/** The one server that all names lead to. */
async function startInternet() {
  const recorded = JSON.parse(
    readFileSync(join(ROOT, 'test/feeds/fixtures/statuspage-incidents.json'), 'utf8'),
  ) as { incidents: { id: string }[] };
  const incidents = Array.from({ length: INCIDENTS }, (_, index) => {
    const incident = recorded.incidents[index % recorded.incidents.length];
    return { ...incident, id: `${incident?.id}${index}` };
  });
  const document = JSON.stringify({ ...recorded, incidents, scheduled_maintenances: [] });
  const page = `<!doctype html><title>A page</title>${'<p>words of a page'.repeat(2_000)}`;
  const contexts = new Map<string, SecureContext>();
  let requests = 0;
  const server = createServer(
    {
      ...makeCertificate({ names: ['localhost'] }),
      SNICallback(name, done) {
        const context = contexts.get(name) ?? createSecureContext(makeCertificate({ names: [name] }));
        contexts.set(name, context);
        done(null, context);
      },
    },
    (request, response) => {
      requests++;
      const isDocument = request.url?.endsWith('.json') === true;
      response.setHeader('content-type', isDocument ? 'application/json' : 'text/html');
      response.end(isDocument ? document : page);
    },
  );
  await new Promise<void>((resolve) => server.listen(443, '127.0.0.2', resolve));
  return {
    requests: () => requests,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
