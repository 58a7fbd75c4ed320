/**
 * Ten thousand event streams: how long one change takes to the last of them, compared with `node:http` that writes to as many
 * responses in a loop, and how late a hundred changes a second are: `node bench/events.ts`. The server is a process of its own,
 * and so are the clients (`bench/event-clients.ts`).
 */
import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Server, STATUS, startServer } from './api.ts';
import type { EventFigures } from './event-clients.ts';
import { absent, atMost, type BenchRow, floor, median, printRows } from './row.ts';

const STREAMS = 10_000;
const CLIENT_PROCESSES = 2;
const CHANGES = 7;
const MAX_TOTAL_MS = 1_000;
/** The steady load: so many changes a second, for so long. */
const RATE = 100;
const SECONDS = 30;
const MAX_LAG_MS = 1_000;
/** How long streams may take for what is left at the end. */
const END_MS = 60_000;
const ASK_MS = 50;
const NAME = 'events: one change sent to 10,000 streams, to the last of them';
const STEADY = `events: ${RATE} changes a second to 10,000 streams`;

/** Runs the benchmark, prints its table and returns its lines. Takes about a minute and a half. */
export async function run(): Promise<readonly BenchRow[]> {
  const files = Number(execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }));
  if (files < STREAMS + 500) {
    return printRows([absent(NAME, `not measured: a process may open ${files} files (ulimit -n)`)]);
  }
  const bare = await withStreams('bare', timeOfChange);
  const [upbeat, steady] = await withStreams('upbeat', async (server, clients) => [
    await timeOfChange(server, clients),
    await measureSteady(server, clients),
  ]);
  return printRows([
    floor('node:http, a write to each in a loop', bare, 'ms'),
    atMost(NAME, upbeat, 'ms', MAX_TOTAL_MS, upbeat / bare),
    floor(`${STEADY}, lag p50`, steady.p50Ms, 'ms'),
    atMost(`${STEADY}, lag p99`, steady.p99Ms, 'ms', MAX_LAG_MS),
    atMost(`${STEADY}, events lost, repeated or out of order`, steady.broken, 'streams', 0),
    floor(`${STEADY}, the server's CPU`, steady.cpuShare * 100, '% of a core'),
    floor(`${STEADY}, the server's memory`, steady.rssMb, 'MB'),
    floor(`${STEADY}, the longest turn of its event loop`, steady.longestTurnMs, 'ms'),
    floor(`${STEADY}, GET /status/:slug meanwhile, p99`, steady.askedMs, 'ms'),
  ]);
}

/** Runs `work` with a server and clients that have opened all streams. */
async function withStreams<Result>(
  kind: string,
  work: (server: Server, clients: readonly ChildProcess[]) => Promise<Result>,
): Promise<Result> {
  const server = await startServer(kind);
  const each = STREAMS / CLIENT_PROCESSES;
  const file = join(import.meta.dirname, 'event-clients.ts');
  const clients = Array.from({ length: CLIENT_PROCESSES }, (_, index) =>
    fork(file, [server.port, index * each, each].map(String), { serialization: 'advanced' }),
  );
  try {
    await Promise.all(clients.map((client) => once(client, 'message')));
    return await work(server, clients);
  } finally {
    for (const child of [...clients, server.process]) child.disconnect();
  }
}

/** The time until a change has reached the last stream, milliseconds. */
async function timeOfChange(server: Server, clients: readonly ChildProcess[]): Promise<number> {
  const times: number[] = [];
  for (let change = 0; change < CHANGES; change++) {
    const told = Promise.all(clients.map((client) => once(client, 'message')));
    const startedMs = performance.now();
    server.process.send('change');
    await told;
    times.push(performance.now() - startedMs);
    // Further changes of the same moment would be sent together.
    await pause(MAX_TOTAL_MS);
  }
  // The first one runs code that is not compiled yet.
  return median(times.slice(1));
}

/** The lags of events, and what the server takes for them. */
async function measureSteady(server: Server, clients: readonly ChildProcess[]) {
  const before = sum(await Promise.all(clients.map(report)));
  const usedBefore = await usageOf(server);
  const startedMs = performance.now();
  const changes = RATE * SECONDS;
  const changed = nextMessage(server.process, 'changed');
  server.process.send({ changes, perSecond: RATE });
  const asked = await askUntil(server, changed);
  const used = await usageOf(server);
  const seconds = (performance.now() - startedMs) / 1_000;
  const expected = before.events + changes * STREAMS;
  let after = sum(await Promise.all(clients.map(report)));
  for (const endMs = performance.now() + END_MS; after.events < expected && performance.now() < endMs; ) {
    await pause(200);
    after = sum(await Promise.all(clients.map(report)));
  }
  const lags = after.lags.map((count, ms) => count - (before.lags[ms] ?? 0));
  const events = after.events - before.events;
  const cpuUs = used.cpu.user + used.cpu.system - usedBefore.cpu.user - usedBefore.cpu.system;
  return {
    p50Ms: quantileOf(lags, events, 0.5),
    p99Ms: quantileOf(lags, events, 0.99),
    broken: after.broken + (after.events === expected ? 0 : STREAMS),
    cpuShare: cpuUs / 1e6 / seconds,
    rssMb: used.rss / 1e6,
    longestTurnMs: used.longestTurnMs,
    askedMs: asked.toSorted((a, b) => a - b)[Math.floor(asked.length * 0.99)] ?? Number.NaN,
  };
}

/** Asks the API for a status now and then until a promise is settled; returns the times of its answers, milliseconds. */
async function askUntil({ port }: Server, until: Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = [];
  let isOver = false;
  void until.then(() => {
    isOver = true;
  });
  while (!isOver) {
    const startedMs = performance.now();
    await (await fetch(`http://127.0.0.1:${port}${STATUS}`)).arrayBuffer();
    times.push(performance.now() - startedMs);
    await pause(ASK_MS);
  }
  return times;
}

interface Usage {
  readonly cpu: NodeJS.CpuUsage;
  readonly rss: number;
  /** Since the last question, milliseconds. */
  readonly longestTurnMs: number;
}

async function usageOf({ process }: Server): Promise<Usage> {
  const answer = nextMessage<Usage>(process, 'rss');
  process.send('cpu');
  return await answer;
}

async function report(client: ChildProcess): Promise<EventFigures> {
  const answer = nextMessage<EventFigures>(client, 'lags');
  client.send('report');
  return await answer;
}

/** The next message of a process that has a field. */
async function nextMessage<Message>(child: ChildProcess, field: string): Promise<Message> {
  for (;;) {
    const [message] = (await once(child, 'message')) as [object | string];
    if (typeof message === 'object' && field in message) return message as Message;
  }
}

function sum(figures: readonly EventFigures[]) {
  const lags: number[] = [];
  for (const one of figures) for (const [ms, count] of one.lags.entries()) lags[ms] = (lags[ms] ?? 0) + count;
  const total = (field: 'events' | 'broken') => figures.reduce((all, one) => all + one[field], 0);
  return { events: total('events'), broken: total('broken'), lags };
}

function quantileOf(lags: readonly number[], total: number, ratio: number): number {
  let seen = 0;
  return lags.findIndex((count) => {
    seen += count;
    return seen >= total * ratio;
  });
}

if (import.meta.main) await run();
