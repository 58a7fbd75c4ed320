/**
 * The CPU cost of a check compared with floors and peers: `node bench/check-cost.ts`. Each check has a new connection to a
 * process on the loopback interface that answers HEAD with 204; origins are distinct, rounds alternate, figures are medians.
 */
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { Agent } from 'undici';
import {
  attempt,
  CA_FILE,
  createLoopbackProber,
  handMade,
  handMadeTls,
  request,
  slotClient,
  targetsOf,
  type Way,
} from './check-ways.ts';
import { startHelper } from './child.ts';
import { openEngine } from './engine-run.ts';
import {
  type BlackboxExporter,
  findWrk,
  NO_BLACKBOX_EXPORTER,
  NO_WRK,
  startBlackboxExporter,
  type Wrk,
} from './peers.ts';
import { absent, type BenchRow, floor, median, printRows, ratioAtLeast, ratioAtMost } from './row.ts';

const LISTENERS = 64;
const OPEN = 32;
const HTTP_CHECKS = 3000;
const HTTPS_CHECKS = 800;
const ROUNDS = 5;
const UNIT = 'µs CPU a check';
const NO_KUMA = 'not measured: npm and Debian have no release of it';

/** Makes about `count` checks and returns their cost. */
type Load = (count: number) => Promise<{ readonly checks: number; readonly cpuUs: number }>;

/** Measures all ways of making a check. */
export async function run(): Promise<readonly BenchRow[]> {
  const server = await startHelper<{ http: number[]; https: number[] }>('check-server.ts', [LISTENERS]);
  const ports = server.line;
  const prober = createLoopbackProber(OPEN);
  const secureContext = createSecureContext({ ca: readFileSync(CA_FILE), ecdhCurve: 'X25519:P-256:P-384' });
  const agents = {
    plain: new Agent({ allowH2: false }),
    shared: new Agent({ allowH2: false, connect: { secureContext, maxCachedSessions: 0 } }),
  };
  const wrk = findWrk();
  const blackbox = await startBlackboxExporter(CA_FILE, OPEN);
  const urlOf = (scheme: 'http' | 'https', n: number) =>
    `${scheme}://127.0.0.1:${ports[scheme][n % LISTENERS]}/`;
  const open = (scheme: 'http' | 'https', count: number) =>
    openEngine(targetsOf(scheme, ports[scheme], count), prober.runAttempt, OPEN);
  const engines = { http: await open('http', HTTP_CHECKS), https: await open('https', HTTPS_CHECKS) };
  const shared = (scheme: 'http' | 'https') => ({
    wrk: wrk && fireWrk(wrk, urlOf(scheme, 0)),
    blackbox: blackbox && scrape(blackbox, (n) => blackbox.probe(urlOf(scheme, n))),
    attempt: own(each(attempt(prober.runAttempt, scheme, ports[scheme]))),
    engine: own(engines[scheme].checkAll),
  });
  const http = await measure(
    {
      ...shared('http'),
      floor: own(each((n) => handMade(ports.http[n % LISTENERS] ?? 0))),
      slot: own(each(slotClient(ports.http, OPEN))),
      agent: own(each((n) => request(agents.plain, urlOf('http', n)))),
    },
    HTTP_CHECKS,
  );
  const https = await measure(
    {
      ...shared('https'),
      floor: own(each((n) => handMadeTls(ports.https[n % LISTENERS] ?? 0, secureContext))),
      agent: own(each((n) => request(agents.shared, urlOf('https', n)))),
    },
    HTTPS_CHECKS,
  );
  await Promise.all([engines.http.close(), engines.https.close()]);
  await prober.close();
  await Promise.all([agents.plain.close(), agents.shared.close(), blackbox?.stop()]);
  server.stop();

  const rows = [
    wrk ? floor('HTTP: wrk, Connection: close (floor in C)', http.wrk, UNIT) : absent('HTTP: wrk', NO_WRK),
    floor('HTTP: node:net, hand-made request (floor in Node)', http.floor, UNIT),
    floor('HTTP: bare undici Client in a slot', http.slot, UNIT),
    floor('HTTP: undici, one Agent over distinct origins (peer)', http.agent, UNIT),
    beside('HTTP: one attempt, beside the slot Client', http.attempt, http.slot, null),
    beside('HTTP: whole engine, beside the slot Client', http.engine, http.slot, 1.15),
    floor('HTTP: whole engine, one core', 1_000_000 / http.engine, 'checks/s'),
    ...besideBlackbox('HTTP', http, blackbox !== null, 5.5),
    wrk ? floor('HTTPS: wrk, Connection: close (floor in C)', https.wrk, UNIT) : absent('HTTPS: wrk', NO_WRK),
    floor('HTTPS: node:tls, hand-made request (floor in Node)', https.floor, UNIT),
    floor('HTTPS: undici, one Agent, shared context (peer)', https.agent, UNIT),
    beside('HTTPS: one attempt, beside undici', https.attempt, https.agent, null),
    beside('HTTPS: whole engine, beside undici', https.engine, https.agent, 0.75),
    ...besideBlackbox('HTTPS', https, blackbox !== null, 1.8),
    absent('HTTP: Uptime Kuma (peer)', NO_KUMA),
  ];
  return printRows(rows);
}

/** A cost relative to another; `max`: the target of the ratio, null: none. */
function beside(name: string, value: number, other: number, max: number | null): BenchRow {
  return ratioAtMost(name, value, UNIT, value / other, max);
}

/** Checks per core compared with the exporter's. */
function besideBlackbox(
  scheme: string,
  costs: { readonly blackbox: number; readonly engine: number },
  isThere: boolean,
  min: number,
): BenchRow[] {
  const name = `${scheme}: blackbox_exporter, its scrape included (peer)`;
  if (!isThere) return [absent(name, NO_BLACKBOX_EXPORTER)];
  return [
    floor(name, costs.blackbox, UNIT),
    ratioAtLeast(
      `${scheme}: whole engine, checks per core beside blackbox_exporter`,
      1_000_000 / costs.engine,
      'checks/s',
      costs.blackbox / costs.engine,
      min,
    ),
  ];
}

/** Single checks, `OPEN` at a time. */
function each(way: Way): (count: number) => Promise<void> {
  return async (count) => {
    let next = 0;
    await Promise.all(
      Array.from({ length: OPEN }, async (_, slot) => {
        while (next < count) await way(next++, slot);
      }),
    );
  };
}

/** A load whose CPU time is that of this process. */
function own(make: (count: number) => Promise<void>): Load {
  return async (count) => {
    const before = process.cpuUsage();
    await make(count);
    const { user, system } = process.cpuUsage(before);
    return { checks: count, cpuUs: user + system };
  };
}

/** A load whose CPU time is the exporter's, without that of the scraper. */
function scrape(blackbox: BlackboxExporter, way: Way): Load {
  return async (count) => {
    const before = blackbox.cpuUs();
    await each(way)(count);
    return { checks: count, cpuUs: blackbox.cpuUs() - before };
  };
}

/** A second of wrk. */
function fireWrk(wrk: Wrk, url: string): Load {
  return () => wrk(url, 1, OPEN);
}

/** Runs every load in turn, `ROUNDS` times after a warm-up; returns medians in µs of CPU for each check. */
async function measure<K extends string>(
  loads: Readonly<Record<K, Load | null>>,
  count: number,
): Promise<Record<K, number>> {
  const costs = new Map<string, number[]>(Object.keys(loads).map((name) => [name, []]));
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, load] of Object.entries<Load | null>(loads)) {
      if (load === null) continue;
      const { checks, cpuUs } = await load(count);
      if (round > 0) costs.get(name)?.push(cpuUs / checks);
    }
  }
  return Object.fromEntries([...costs].map(([name, rounds]) => [name, median(rounds)])) as Record<K, number>;
}

if (import.meta.main) await run();
