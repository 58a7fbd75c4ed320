/**
 * The API compared with its floor (`node:http` that sends the same bytes) and a peer (Fastify with @fastify/rate-limit):
 * `node bench/api.ts`. The servers and autocannon are processes of their own, and the subjects take turns.
 *
 * Ratios compare the server's own CPU time for a request. Requests per second would flatter the slower server, because the
 * client, which needs a core too, is slower than the floor.
 */
import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createServiceJson, servicesRoute } from '../src/api/services.ts';
import { systemClock } from '../src/clock.ts';
import { NO_TIMING } from '../src/domain/result.ts';
import type { CurrentStatus, LatestCheck } from '../src/domain/status/current.ts';
import { silentLog } from '../src/log.ts';
import { createMemoryStatusStore } from '../src/store/status/memory-status-store.ts';
import { createServiceDirectory } from '../src/view/service-directory.ts';
import { createServiceFinder } from '../src/view/service-finder.ts';
import { createServiceSearch } from '../src/view/service-search.ts';
import { double } from '../test/support/double.ts';
import { atMost, type BenchRow, floor as floorRow, median, printRows, ratioAtLeast } from './row.ts';
import { makeServices } from './services.ts';

/** A server in a process of its own. */
export interface Server {
  readonly process: ChildProcess;
  readonly port: number;
}

/** A request to a server, and its costs. */
export interface Subject {
  readonly name: string;
  readonly server: Server;
  readonly path: string;
  readonly cpuUs: number[];
  readonly perSecond: number[];
}

const ROUNDS = 7;
const ROUND_SECONDS = 2;
const CONNECTIONS = 64;
/** The path of the status endpoint. */
export const STATUS = '/api/v1/status/service-0';
const BADGE = '/api/badge/service-0-example';
const AUTOCANNON = join(import.meta.dirname, '../node_modules/autocannon/autocannon.js');

/** Runs the benchmark, prints its table and returns its lines. Takes under a minute. */
export async function run(): Promise<readonly BenchRow[]> {
  const servers = await Promise.all(['bare', 'fastify', 'upbeat'].map((kind) => startServer(kind)));
  const [bare, peer, upbeat] = servers as [Server, Server, Server];
  const floor = subject('node:http, the same JSON', bare, STATUS);
  const fastify = subject('Fastify with @fastify/rate-limit', peer, STATUS);
  const status = subject('GET /status/:slug', upbeat, STATUS);
  const badgeFloor = subject('node:http, the same PNG', bare, BADGE);
  const badge = subject('GET /api/badge/:slug, warm', upbeat, BADGE);
  const subjects = [floor, fastify, status, badgeFloor, badge];
  await takeTurns(subjects, servers);
  const rows = [
    compare(floor, null, null),
    compare(fastify, floor, null),
    compare(status, floor, 0.6),
    compare(status, fastify, 1),
    compare(badgeFloor, null, null),
    compare(badge, badgeFloor, 0.6),
    ...(await measurePages()),
  ];
  return printRows(rows);
}

/** Creates a subject. */
export function subject(name: string, server: Server, path: string): Subject {
  return { name, server, path, cpuUs: [], perSecond: [] };
}

/** Starts a server of `bench/api-server.ts`. */
export async function startServer(kind: string, ...args: readonly string[]): Promise<Server> {
  const process = fork(join(import.meta.dirname, 'api-server.ts'), [kind, ...args]);
  const [{ port }] = (await once(process, 'message')) as [{ port: number }];
  return { process, port };
}

/** Measures subjects in turn and stops their servers. */
export async function takeTurns(subjects: readonly Subject[], servers: readonly Server[]): Promise<void> {
  try {
    for (const one of subjects) await measureRequests(one, 1);
    for (let round = 0; round < ROUNDS; round++) {
      for (const one of subjects) {
        const { cpuUs, perSecond } = await measureRequests(one, ROUND_SECONDS);
        one.cpuUs.push(cpuUs);
        one.perSecond.push(perSecond);
      }
    }
  } finally {
    for (const { process } of servers) process.disconnect();
  }
}

/** Sends requests for some seconds; every response must be 200. */
async function measureRequests({ name, server, path }: Subject, seconds: number) {
  const before = await cpuOf(server);
  const { stdout } = await promisify(execFile)(process.execPath, [
    AUTOCANNON,
    ...['--json', '--connections', String(CONNECTIONS), '--duration', String(seconds)],
    `http://127.0.0.1:${server.port}${path}`,
  ]);
  const spentUs = (await cpuOf(server)) - before;
  const answer = JSON.parse(stdout) as { '2xx': number; non2xx: number; errors: number; duration: number };
  if (answer.non2xx > 0 || answer.errors > 0 || answer['2xx'] === 0)
    throw new Error(
      `${name}: ${answer['2xx']} good responses, ${answer.non2xx} others, ${answer.errors} errors`,
    );
  return { cpuUs: spentUs / answer['2xx'], perSecond: answer['2xx'] / answer.duration };
}

async function cpuOf({ process }: Server): Promise<number> {
  process.send('cpu');
  const [{ cpu }] = (await once(process, 'message')) as [{ cpu: NodeJS.CpuUsage }];
  return cpu.user + cpu.system;
}

/** The speed of a subject relative to another, by CPU time. */
export function compare(subject: Subject, other: Subject | null, target: number | null): BenchRow {
  const value = median(subject.cpuUs);
  const unit = `µs CPU (${Math.round(median(subject.perSecond))}/s)`;
  if (other === null) return floorRow(subject.name, value, unit);
  const name = `${subject.name}, beside ${other.name}`;
  return ratioAtLeast(name, value, unit, median(other.cpuUs) / value, target);
}

/** Measures a page of 100 services out of few and out of many. */
async function measurePages(): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const count of [1_200, 1_000_000]) {
    const directory = createServiceDirectory();
    directory.load(makeServices(count));
    const status = { ...createMemoryStatusStore({ log: silentLog }), get: checkedJustNow };
    const bytes = createServiceJson(
      double({
        ...{ directory: directory.shown, status },
        intervalMs: 300_000,
        now: () => systemClock.now(),
        listenedAt: () => systemClock.now(),
        vendorOf: () => null,
      }),
    );
    const monotonic = () => systemClock.monotonic();
    const search = createServiceSearch({ directory: directory.shown, status, monotonic });
    const finder = createServiceFinder(directory.shown, async () => new Set());
    const route = servicesRoute(finder, search, bytes);
    const measure = async (turns: number, queryOf: (turn: number) => string): Promise<number> => {
      const times: number[] = [];
      for (let turn = 0; turn < turns; turn++) {
        const query = queryOf(turn);
        const startedMs = monotonic();
        await route.handle?.({ method: 'GET', params: {}, query, headers: {}, client: '' });
        times.push(monotonic() - startedMs);
      }
      return median(times);
    };
    const number = count.toLocaleString('en');
    const value = await measure(200, (turn) => `limit=100&offset=${(turn * 7_919 * 101) % (count - 100)}`);
    rows.push(atMost(`page of 100 services out of ${number}`, value, 'ms', 1));
    for (const [what, queryOf] of [
      ['by a new text', (turn: number) => `q=${turn}`],
      ['by a text and a status, asked again', () => 'q=9&status=up'],
    ] as const) {
      rows.push(floorRow(`${what}, ${number}`, await measure(20, queryOf), 'ms'));
    }
  }
  return rows;
}

/** A new record at each call, so that no JSON is cached, as after a check of all services. */
function checkedJustNow(serviceId: number): CurrentStatus {
  const now = systemClock.now();
  const latest: LatestCheck = {
    status: 'up',
    responseTimeMs: 123,
    statusCode: 200,
    checkedAt: now,
    source: 'root',
    reported: null,
    failure: null,
    blocked: false,
    timing: NO_TIMING,
    certificateExpiresAt: null,
  };
  return { serviceId, seq: 1, observedAt: now, status: 'up', since: now, latest };
}

if (import.meta.main) await run();
