/**
 * The API beside its floor (`node:http` that sends the same bytes) and a peer (Fastify with @fastify/rate-limit):
 * `node bench/api.ts`. Servers in processes of their own, autocannon in another, rounds taking turns.
 *
 * Ratios are of the server's own CPU time for a request. Requests a second would flatter the slower server, because the
 * client, which needs a core too, is slower than the floor.
 */
import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createServiceJson, servicesRoute } from '../src/api/services.ts';
import { systemClock } from '../src/clock.ts';
import type { CurrentStatus, LatestCheck } from '../src/domain/current.ts';
import { NO_TIMING } from '../src/domain/result.ts';
import { silentLog } from '../src/log.ts';
import { createMemoryStatusStore } from '../src/store/status/memory-status-store.ts';
import { createServiceDirectory } from '../src/view/service-directory.ts';
import { createServiceSearch } from '../src/view/service-search.ts';
import { makeServices } from './api-services.ts';
import { type BenchRow, median, printRows } from './row.ts';

/** A server in a process of its own. */
export interface Server {
  readonly process: ChildProcess;
  readonly port: number;
}

/** What is asked of a server, and what it cost. */
export interface Subject {
  readonly name: string;
  readonly server: Server;
  readonly path: string;
  readonly cpuUs: number[];
  readonly perSecond: number[];
}

/** How often each subject has its turn, and for how long. */
export const ROUNDS = 3;
/** Seconds of a turn. */
export const ROUND_SECONDS = 2;
const CONNECTIONS = 64;
/** The path of the status endpoint. */
export const STATUS = '/api/v1/status/service-0';
const BADGE = '/api/badge/service-0-example';
const AUTOCANNON = join(import.meta.dirname, '../node_modules/autocannon/autocannon.js');

/** Runs the benchmark, prints its table and returns its lines. Takes under a minute. */
export async function run(): Promise<BenchRow[]> {
  const servers = await Promise.all(['bare', 'fastify', 'upbeat'].map((kind) => startServer(kind)));
  const [bare, peer, upbeat] = servers as [Server, Server, Server];
  const floor = subject('node:http, the same JSON', bare, STATUS);
  const fastify = subject('Fastify with @fastify/rate-limit', peer, STATUS);
  const status = subject('GET /status/:slug', upbeat, STATUS);
  const badgeFloor = subject('node:http, the same PNG', bare, BADGE);
  const badge = subject('GET /api/badge/:slug, warm', upbeat, BADGE);
  const subjects = [floor, fastify, status, badgeFloor, badge];
  try {
    for (const one of subjects) await fire(one, 1);
    for (let round = 0; round < ROUNDS; round++) {
      for (const one of subjects) {
        const { cpuUs, perSecond } = await fire(one, ROUND_SECONDS);
        one.cpuUs.push(cpuUs);
        one.perSecond.push(perSecond);
      }
    }
  } finally {
    for (const { process } of servers) process.disconnect();
  }
  const rows = [
    compare(floor, null, null),
    compare(fastify, floor, null),
    compare(status, floor, 0.4),
    compare(status, fastify, 0.7),
    compare(badgeFloor, null, null),
    compare(badge, badgeFloor, 0.4),
    ...(await measurePages()),
  ];
  printRows(rows);
  return rows;
}

/** Something to be asked. */
export function subject(name: string, server: Server, path: string): Subject {
  return { name, server, path, cpuUs: [], perSecond: [] };
}

/** Starts a server of `bench/api-server.ts`. */
export async function startServer(kind: string, ...args: readonly string[]): Promise<Server> {
  const process = fork(join(import.meta.dirname, 'api-server.ts'), [kind, ...args]);
  const [{ port }] = (await once(process, 'message')) as [{ port: number }];
  return { process, port };
}

/** Loads a server for some seconds; every answer must be 200. */
export async function fire({ name, server, path }: Subject, seconds: number) {
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
      `${name}: ${answer['2xx']} good answers, ${answer.non2xx} others, ${answer.errors} errors`,
    );
  return { cpuUs: spentUs / answer['2xx'], perSecond: answer['2xx'] / answer.duration };
}

async function cpuOf({ process }: Server): Promise<number> {
  process.send('cpu');
  const [{ cpu }] = (await once(process, 'message')) as [{ cpu: NodeJS.CpuUsage }];
  return cpu.user + cpu.system;
}

/** How much of the other's speed a subject reaches, by CPU time. */
export function compare(subject: Subject, other: Subject | null, target: number | null): BenchRow {
  const value = median(subject.cpuUs);
  const ratio = other === null ? null : median(other.cpuUs) / value;
  return {
    name: other === null ? subject.name : `${subject.name}, beside ${other.name}`,
    value,
    unit: `µs CPU (${Math.round(median(subject.perSecond))}/s)`,
    ratio,
    target: target === null ? null : `at least ${target.toFixed(2)}`,
    reached: target === null || ratio === null ? null : ratio >= target,
  };
}

/** A page of 100 services, out of few and out of many. */
async function measurePages(): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const count of [1_200, 1_000_000]) {
    const directory = createServiceDirectory();
    directory.load(makeServices(count));
    const status = { ...createMemoryStatusStore({ log: silentLog }), get: checkedJustNow };
    const bytes = createServiceJson({
      status,
      intervalMs: 300_000,
      now: () => systemClock.now(),
      listenedAt: () => systemClock.now(),
      vendorOf: () => null,
    });
    const monotonic = () => systemClock.monotonic();
    const search = createServiceSearch({ directory, status, monotonic });
    const route = servicesRoute(search, bytes);
    const measure = async (turns: number, queryOf: (turn: number) => string): Promise<number> => {
      const times: number[] = [];
      for (let turn = 0; turn < turns; turn++) {
        const query = queryOf(turn);
        const startedMs = monotonic();
        await route.handle({ method: 'GET', params: {}, query, headers: {}, client: '' });
        times.push(monotonic() - startedMs);
      }
      return median(times);
    };
    const number = count.toLocaleString('en');
    const value = await measure(200, (turn) => `limit=100&offset=${(turn * 7_919 * 101) % (count - 100)}`);
    const name = `page of 100 services out of ${number}`;
    rows.push({ name, value, unit: 'ms', ratio: null, target: 'at most 1 ms', reached: value <= 1 });
    for (const [what, queryOf] of [
      ['by a new text', (turn: number) => `q=${turn}`],
      ['by a text and a status, asked again', () => 'q=9&status=up'],
    ] as const) {
      const value = await measure(20, queryOf);
      rows.push({ name: `${what}, ${number}`, value, unit: 'ms', ratio: null, target: null, reached: null });
    }
  }
  return rows;
}

/** Another record at each reading, so that no JSON is at hand: what a page costs after all its services were checked. */
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
