/**
 * A run of the demonstration on Redis and InfluxDB, with a further process that serves beside it, while both servers
 * are paused, stopped and killed in turn; at its end everything is counted.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Demo, type DemoOptions, startDemo } from '../../../demo/demo.ts';
import { ownEnvironment } from '../../../demo/program.ts';
import { systemClock } from '../../../src/clock.ts';
import type { Transition } from '../../../src/domain/status/current.ts';
import { silentLog } from '../../../src/log.ts';
import { openRegistry } from '../../../src/store/registry/open-registry.ts';
import { findKey } from '../../../src/store/secrets/secret-box.ts';
import { freePort } from '../../support/free-port.ts';
import { type CountedServer, type CountedServers, startCountedServers } from './count-servers.ts';
import { type EventListener, listenToEvents } from './event-listener.ts';

/** How to run. */
export interface CountRunOptions
  extends Pick<DemoOptions, 'script' | 'timing' | 'feedIntervalMs' | 'senders'> {
  /** Faults begin no later than this after the start, milliseconds. */
  readonly lengthMs: number;
  /** From the beginning of one fault to that of the next. */
  readonly everyMs: number;
  /** How long a server is away. */
  readonly awayMs: number;
  /** Hears what happens, line by line. */
  readonly tell: (line: string) => void;
}

/** What was counted. Lists are of positions of transitions. */
export interface Count {
  readonly faults: number;
  /** Samples that the program took, by its own count. */
  readonly samplesTaken: number;
  /** Points in InfluxDB. */
  readonly samplesStored: number;
  /** In the registry, which is the truth. */
  readonly registered: readonly Transition[];
  /** In the stream in Redis. */
  readonly inRedis: readonly Transition[];
  /** Heard by a client of the monitor, and by one of the process that serves. */
  readonly heardAtMonitor: readonly number[];
  readonly heardBeside: readonly number[];
  /** Services whose last status in Redis is not the registry's. */
  readonly wrongInRedis: readonly number[];
  /** Lines of the log with level error or fatal, of both processes. */
  readonly complaints: readonly string[];
  /** How both processes ended. */
  readonly exits: readonly (number | null)[];
}

interface Fault {
  readonly what: string;
  readonly leave: (server: CountedServer) => Promise<void>;
  readonly back: (server: CountedServer) => Promise<void>;
}

const KILLED: Fault = {
  what: 'killed',
  leave: (server) => server.stop('SIGKILL'),
  back: (server) => server.start(),
};
const PAUSED: Fault = {
  what: 'paused',
  leave: async (server) => server.signal('SIGSTOP'),
  back: async (server) => server.signal('SIGCONT'),
};
const STOPPED: Fault = {
  what: 'stopped',
  leave: (server) => server.stop('SIGTERM'),
  back: (server) => server.start(),
};
const FAULTS = [KILLED, PAUSED, STOPPED];
const PATIENCE_MS = 180_000;

/** Runs and counts; throws where the run itself cannot be made. */
export async function runCount(options: CountRunOptions): Promise<Count> {
  const { tell } = options;
  const dataDir = mkdtempSync(join(tmpdir(), 'upbeat-count-data-'));
  const servers = await startCountedServers();
  const complaints: string[] = [];
  let samplesTaken = 0;
  const takeLine = (line: string) => {
    const { level, msg, samples } = parse(line);
    if (level === 'error' || level === 'fatal') complaints.push(line);
    if (msg?.startsWith('everything that was taken')) samplesTaken += samples ?? 0;
  };
  let demo: Demo | null = null;
  let beside: ChildProcess | null = null;
  try {
    const { script, timing, feedIntervalMs, senders } = options;
    demo = await startDemo({
      script,
      timing,
      feedIntervalMs,
      senders,
      port: 0,
      settings: {
        log: { level: 'info', format: 'json' },
        limits: { anonymousPerMinute: 100_000 },
        storage: {
          dataDir,
          redis: { url: servers.redis.url },
          influx: { url: servers.influx.url, bucket: 'upbeat', api: 'v1' },
        },
      },
      output: takeLine,
    });
    const port = await freePort();
    beside = startBeside(demo.configFile, port, takeLine);
    const besideUrl = `http://127.0.0.1:${port}`;
    await untilTrue('the process beside serves', async () => (await ready(besideUrl)).role === 'serving');
    const secret = findKey(dataDir, null);
    if (secret.kind === 'none') throw new Error('there is no key of secrets');
    const [atMonitor, atBeside] = [demo.siteUrl, besideUrl].map((url) => listenToEvents(url, secret.key)) as [
      EventListener,
      EventListener,
    ];

    const faults = await disturb(servers, options);
    tell('both servers are back; waiting until everything has caught up');
    const { siteUrl } = demo;
    await untilTrue('nothing is degraded', async () => {
      const both = [await ready(siteUrl), await ready(besideUrl)];
      return both.every(({ degraded }) => !degraded.includes('redis') && !degraded.includes('influx'));
    });
    await untilTrue('the spool is empty', async () => (await figure(siteUrl, 'samples_file_bytes')) === 0);

    const soFar = (await transitionsOf(dataDir)).length;
    await untilTrue('both clients have heard everything so far', async () =>
      [atMonitor, atBeside].every(({ heard }) => (heard.at(-1) ?? 0) >= soFar),
    );
    // The one beside first: it would take over.
    const exits = [await end(beside), null as number | null];
    await atBeside.stop();
    await atMonitor.stop();
    exits[1] = await demo.stop();
    demo = null;
    return {
      faults,
      samplesTaken,
      samplesStored: Number((await servers.influx.query('SELECT COUNT(up) FROM upbeat_check'))[0]?.[1] ?? 0),
      registered: await transitionsOf(dataDir),
      inRedis: await streamOf(servers),
      heardAtMonitor: atMonitor.heard,
      heardBeside: atBeside.heard,
      wrongInRedis: await compareStatuses(servers, dataDir),
      complaints,
      exits,
    };
  } finally {
    if (beside !== null) await end(beside, 'SIGKILL');
    await demo?.stop();
    await servers.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Lets the servers go away in turn, and once in three both at a time; resolves with the number of faults. */
async function disturb(
  { redis, influx }: CountedServers,
  { lengthMs, everyMs, awayMs, tell }: CountRunOptions,
): Promise<number> {
  const startedMs = performance.now();
  const turns = [[redis], [influx], [redis, influx]];
  let count = 0;
  for (; ; count++) {
    const beginMs = (count + 0.5) * everyMs;
    if (beginMs + awayMs > lengthMs) break;
    await sleep(Math.max(0, startedMs + beginMs - performance.now()));
    const away = turns[count % turns.length] ?? [];
    const fault = FAULTS[Math.floor(count / turns.length) % FAULTS.length] ?? KILLED;
    tell(`${away.map(({ name }) => name).join(' and ')}: ${fault.what}`);
    await Promise.all(away.map(fault.leave));
    await sleep(awayMs);
    await Promise.all(away.map(fault.back));
  }
  await sleep(Math.max(0, startedMs + lengthMs - performance.now()));
  return count;
}

function startBeside(configFile: string, port: number, takeLine: (line: string) => void): ChildProcess {
  const child = spawn(process.execPath, ['src/cli/main.ts', 'start', '--config', configFile], {
    cwd: join(import.meta.dirname, '../../..'),
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...ownEnvironment(), UPBEAT_HTTP_PORT: String(port) },
  });
  let rest = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop() ?? '';
    lines.forEach(takeLine);
  });
  return child;
}

async function end(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
  return child.exitCode;
}

async function ready(siteUrl: string): Promise<{ role: string; degraded: readonly string[] }> {
  return (await (await fetch(`${siteUrl}/readyz`)).json()) as { role: string; degraded: readonly string[] };
}

async function figure(siteUrl: string, name: string): Promise<number> {
  const text = await (await fetch(`${siteUrl}/metrics`)).text();
  return Number(new RegExp(`^upbeat_${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
}

async function untilTrue(what: string, condition: () => Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + PATIENCE_MS; performance.now() < deadline; ) {
    if (await condition().catch(() => false)) return;
    await sleep(200);
  }
  throw new Error(`it did not come true that ${what}`);
}

async function withRegistry<T>(
  dataDir: string,
  work: (registry: Awaited<ReturnType<typeof openRegistry>>) => Promise<T>,
): Promise<T> {
  const registry = await openRegistry({ dataDir, log: silentLog, clock: systemClock });
  try {
    return await work(registry);
  } finally {
    await registry.close();
  }
}

function transitionsOf(dataDir: string): Promise<Transition[]> {
  return withRegistry(dataDir, async (registry) => {
    const all: Transition[] = [];
    for (;;) {
      const page = await registry.transitionsAfter(all.at(-1)?.position ?? 0, 1_000);
      if (page.length === 0) return all;
      all.push(...page);
    }
  });
}

async function streamOf({ redis }: CountedServers): Promise<Transition[]> {
  const entries = await redis.client.xrange('upbeat:{events}:transitions', '-', '+');
  return entries.map(([, fields]) => JSON.parse(fields[1] ?? 'null') as Transition);
}

function compareStatuses({ redis }: CountedServers, dataDir: string): Promise<number[]> {
  return withRegistry(dataDir, async (registry) => {
    const inRedis = new Map(
      Object.entries(await redis.client.hgetall('upbeat:{status}:records')).map(([id, text]) => [
        Number(id),
        JSON.parse(text.slice(text.indexOf('{'))) as { seq: number; status: string },
      ]),
    );
    const states = await registry.loadServices();
    const wrong = states
      .filter(({ service, current }) => {
        const record = inRedis.get(service.id);
        return record?.seq !== current.seq || record.status !== current.status;
      })
      .map(({ service }) => service.id);
    const known = new Set(states.map(({ service }) => service.id));
    return [...wrong, ...[...inRedis.keys()].filter((id) => !known.has(id))];
  });
}

function parse(line: string): { level?: string; msg?: string; samples?: number } {
  try {
    return JSON.parse(line) as { level?: string; msg?: string; samples?: number };
  } catch {
    return { level: 'error' };
  }
}
