/**
 * `npm run soak -- fair-shares [--hanging 1000] [--minutes 4]`: the whole program with services of one account that hang, each checked every
 * 30 s with a timeout of 30 s, beside a catalogue and another account; then 300 services of one account, each at an address of its own, that
 * redirect to one and fail there. Ends with status 1 where a check of the others begins over a second late, or where that address has
 * more connections than its bound.
 */
import { createServer } from 'node:http';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type CheckDefinition, DEFAULT_CHECK } from '../../src/domain/service.ts';
import { install } from '../support/program.ts';

const { values } = parseArgs({
  options: {
    hanging: { type: 'string', default: '1000' },
    minutes: { type: 'string', default: '4' },
  },
});
const HANGING = Number(values.hanging);
const MINUTES = Number(values.minutes);
const INTERVAL_MS = 30_000;
const MAX_LATE_MS = 1_000;
const MOVED = 300;
/** The setting of the bound. An account has half of it, and a twelfth of that at once. */
const PER_MINUTE = 600;
/** The first checks are spread over an interval, and the next ones follow at their phases. */
const SETTLED_AFTER_MS = 2 * INTERVAL_MS;

/** Arrivals of requests by path. */
const arrivals = new Map<string, number[]>();
const site = createServer(({ url = '' }, response) => {
  arrivals.set(url, [...(arrivals.get(url) ?? []), performance.now()]);
  response.end();
});
const sitePort = await listen(site);
let hangingConnections = 0;
const open = new Set<Socket>();
const silent = createTcpServer((socket) => {
  hangingConnections++;
  open.add(socket);
  socket.on('error', () => {}).on('close', () => open.delete(socket));
});
const silentPort = await listen(silent);

/** What 300 services are led to. */
let crowdedConnections = 0;
const crowded = createServer((_request, response) => void response.writeHead(503).end());
crowded.on('connection', () => crowdedConnections++);
const crowdedPort = await listen(crowded);
const moved = createServer((_request, response) => {
  response.writeHead(302, { location: `http://127.0.0.9:${crowdedPort}/` }).end();
});
const movedPort = await listen(moved);

const catalogue = Array.from({ length: 50 }, (_, index) => ({
  slug: `known-${index}`,
  check: { url: `http://127.0.0.1:${sitePort}/catalogue/${index}` },
}));
const installation = await install(catalogue, {
  checks: {
    ...{ interval: `${INTERVAL_MS}ms`, timeout: '10s', firstSpread: `${INTERVAL_MS}ms` },
    ...{ ownersMayProbePrivate: true, confirmAfter: ['2s', '4s'] },
  },
  limits: { connectionsPerAddress: PER_MINUTE },
});
// The first start makes the tables.
await (await installation.start()).stop();
await addServices('quiet', 20, (index) => ({ url: `http://127.0.0.2:${sitePort}/quiet/${index}` }));
await addServices('hanging', HANGING, (index) => ({
  url: `http://127.1.${index >> 8}.${index & 255}:${silentPort}/`,
  ...{ timeoutMs: 30_000, confirmAfterMs: Array.from({ length: 10 }, () => 1_000) },
}));
await addServices('moved', MOVED, (index) => ({
  url: `http://127.2.${index >> 8}.${index & 255}:${movedPort}/`,
  confirmAfterMs: Array.from({ length: 10 }, () => 1_000),
}));
arrivals.clear();

const program = await installation.start();
const startedAt = performance.now();
let crowdedBefore = 0;
let mostCrowded = 0;
let mostHeld = 0;
let mostWaiting = 0;
while (performance.now() - startedAt < MINUTES * 60_000) {
  await sleep(5_000);
  mostCrowded = Math.max(mostCrowded, crowdedConnections - crowdedBefore);
  crowdedBefore = crowdedConnections;
  const metrics = String((await program.get('/metrics')).body);
  const read = (name: string) => Number(new RegExp(`^${name} (\\S+)`, 'm').exec(metrics)?.[1] ?? Number.NaN);
  mostHeld = Math.max(mostHeld, read('upbeat_probe_slots_top_account'));
  mostWaiting = Math.max(mostWaiting, read('upbeat_checks_held_up'));
}
console.log(
  `  ${HANGING} services of one account hang: ${hangingConnections} connections, at most ${mostHeld} slots held, ${mostWaiting} waiting`,
);
const seconds = (performance.now() - startedAt) / 1_000;
const allowed = PER_MINUTE / 24 + (PER_MINUTE / 120) * seconds;
console.log(
  `  ${MOVED} services led to one address: ${crowdedConnections} connections in ${seconds.toFixed(0)} s, at most ${mostCrowded} in 5 s (allowed: ${allowed.toFixed(0)})`,
);
let failed = crowdedConnections > allowed || crowdedConnections < 100;
for (const whose of ['catalogue', 'quiet']) report(whose);
await program.stop();
for (const socket of open) socket.destroy();
silent.close();
crowded.close();
moved.close();
site.closeAllConnections();
site.close();
installation.remove();
process.exitCode = failed ? 1 : 0;

/** Prints how late the checks of services began: each follows the one before after an interval. */
function report(whose: string): void {
  const lateMs = [...arrivals].flatMap(([path, times]) =>
    path.startsWith(`/${whose}/`)
      ? times.flatMap((at, index) => {
          const before = times[index - 1];
          return before === undefined || before - startedAt < SETTLED_AFTER_MS
            ? []
            : [at - before - INTERVAL_MS];
        })
      : [],
  );
  const sorted = lateMs.sort((a, b) => a - b);
  const at = (part: number) => (sorted[Math.ceil(sorted.length * part) - 1] ?? Number.NaN).toFixed(0);
  console.log(
    `  ${whose}: ${sorted.length} checks, late by ${at(0.5)} ms (median), ${at(0.99)} ms (p99), ${at(1)} ms (most)`,
  );
  if (sorted.length === 0 || (sorted.at(-1) ?? 0) > MAX_LATE_MS) failed = true;
}

/** Adds verified services of an account to the registry, while the program is stopped. */
async function addServices(
  account: string,
  count: number,
  checkOf: (index: number) => Partial<CheckDefinition>,
): Promise<void> {
  const { id } = await installation.withRegistry((registry) => registry.ensureAccount(account, Date.now()));
  const database = new DatabaseSync(join(installation.folder, 'data', 'registry.sqlite'));
  const add = database.prepare(
    `INSERT INTO services (slug, dashed, name, domain, category, origin, account_id, verified, paused, check_definition,
       revision, ever_verified)
     VALUES (?1, ?1 || '-example', ?1, ?1 || '.example', 'developer', 'owner', ?2, 1, 0, ?3, 1, 1) RETURNING id`,
  );
  const begin = database.prepare(
    "INSERT INTO current (service_id, seq, observed_at, status) VALUES (?, 0, 0, 'unknown')",
  );
  database.exec('BEGIN');
  for (let index = 0; index < count; index++) {
    const check = { ...DEFAULT_CHECK, intervalMs: INTERVAL_MS, ...checkOf(index) };
    const row = add.get(`${account}-${index}`, id, JSON.stringify(check));
    begin.run(row?.id as number);
  }
  database.exec('COMMIT');
  database.close();
}

async function listen(server: {
  listen(port: number, host: string, done: () => void): unknown;
  address(): unknown;
}) {
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  return (server.address() as { port: number }).port;
}
