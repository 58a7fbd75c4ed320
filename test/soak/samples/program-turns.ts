/** The whole program over a large store: turns of the event loop that serves the API, idle and while samples are sealed and deleted. */
import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Sample } from '../../../src/domain/sample.ts';
import { packSamples } from '../../../src/store/samples/encoding.ts';
import { KEY_DAYS, openSamplesDatabase } from '../../../src/store/samples/samples-database.ts';
import { listenOn } from '../../support/loopback.ts';
import { install, type RunningProgram } from '../../support/program.ts';
import { workerOf } from '../../support/stall.ts';
import { LONG_MS, type TurnReport } from './turn-meter.ts';

const DAY_MS = 86_400_000;
const LISTED = 100;
const IDLE_ROUNDS = 60;
/** Between two requests, as from a few readers. */
const PAUSE_MS = 40;
/** Samples in an entry of the journal. */
const BATCH = 5_000;
/** Days before today that get late samples, and how many a service gets: together enough for a compaction each. */
const LATE_DAYS = 3;
const LATE_SAMPLES = 120;

/** What is asked for in a round. */
const PATHS: readonly (readonly [name: string, path: (service: number) => string])[] = [
  ['list of services', () => `/api/v1/services?limit=${LISTED}`],
  ['page of a service', (service) => `/status/s${service}`],
  [
    'history of 90 days',
    (service) =>
      `/api/v1/services/s${service}/history?step=1d&from=${new Date(Date.now() - 89 * DAY_MS).toISOString()}`,
  ],
  ['heat map of a year', () => '/api/heatmap.png?window=1y'],
  [`status page, ${LISTED} services with uptimes`, () => '/p/all'],
];

/** How to measure. */
export interface ProgramTrial {
  /** A store of `services` with days up to now, without an installation. */
  readonly samplesFile: string;
  readonly services: number;
  /** Days whose samples are kept; the store has more. */
  readonly rawRetentionDays: number;
  readonly sampleOf: (serviceId: number, at: number) => Sample;
}

/** Runs the program on a copy of a store and prints what it measures; returns how many rules were broken. */
export async function measureProgram(trial: ProgramTrial): Promise<number> {
  const site = await listenOn(createServer((_request, response) => response.end()));
  const entries = Array.from({ length: trial.services }, (_, index) => ({
    slug: `s${index + 1}`,
    check: { url: `http://127.0.0.1:${site.port}/${index}` },
  }));
  const settings = {
    checks: { interval: '60s', firstSpread: '20s' },
    storage: { rawRetention: `${trial.rawRetentionDays}d`, rollupRetention: '800d' },
  };
  const meter = new URL('turn-meter.ts', import.meta.url).href;
  const meterFile = `${trial.samplesFile}.turns`;
  const installation = await install(entries, settings, {
    NODE_OPTIONS: `--import ${meter}`,
    TURN_METER_FILE: meterFile,
  });
  const dataDir = join(installation.folder, 'data');
  try {
    const first = await installation.start();
    await first.until<{ total: number }>('/api/v1/services?limit=1', ({ total }) => total === trial.services);
    await first.stop();
    const listed = Array.from({ length: LISTED }, (_, index) => `s${index + 1}`);
    const added = await installation.run(
      'pages',
      'add',
      'all',
      '--account',
      'ada',
      '--title',
      'All',
      '--group',
      `All: ${listed}`,
    );
    if (added.status !== 0) throw new Error(added.stderr);
    for (const end of ['', '-wal', '-shm']) rmSync(join(dataDir, `samples.sqlite${end}`), { force: true });
    copyFileSync(trial.samplesFile, join(dataDir, 'samples.sqlite'));
    const program = await installation.start();
    try {
      return await measurePhases(program, dataDir, meterFile, trial);
    } finally {
      await program.stop();
    }
  } finally {
    installation.remove();
    site.close();
  }
}

/** Runs the phases over a program that has just been started on the store in `dataDir`. */
async function measurePhases(
  program: RunningProgram,
  dataDir: string,
  meterFile: string,
  { services, sampleOf }: ProgramTrial,
): Promise<number> {
  const store = openSamplesDatabase(dataDir);
  const today = Math.floor(Date.now() / DAY_MS);
  const phase = async (name: string, goesOn: (round: number) => boolean): Promise<TurnReport> => {
    console.log(`== the whole program ${name}`);
    const startedMs = performance.now();
    printTimes(await ask(program, services, goesOn));
    const report = await takeTurns(program, meterFile);
    printTurns(report, (performance.now() - startedMs) / 1_000);
    return report;
  };
  const isIdle = (round: number) => round < IDLE_ROUNDS;
  try {
    // Code is compiled, services are checked for the first time, and the rows of the heat map are read.
    await phase('after its start', isIdle);
    const before = await phase('idle', isIdle);
    let isOver = false;
    const work = async () => {
      const oldest = oldestDay(store, services);
      for (let late = 1; late <= LATE_DAYS; late++) {
        await feed(store, services, today - late, sampleOf);
        // The first compaction after the start also deletes what is out of retention.
        while (oldestDay(store, services) === oldest || store.freePages() > 0) await pause(100);
      }
    };
    const working = work().finally(() => {
      isOver = true;
    });
    const busy = await phase('while samples are sealed, summarized and deleted', () => !isOver);
    await working;
    const after = await phase('idle again', isIdle);
    const idleMs = Math.max(before.longestCpuMs, after.longestCpuMs);
    return busy.longestCpuMs > Math.max(LONG_MS, idleMs) ? 1 : 0;
  } finally {
    store.close();
  }
}

type Store = ReturnType<typeof openSamplesDatabase>;

/** The oldest day of which the last service has samples; it is deleted last. */
function oldestDay(store: Store, services: number): number {
  const first = services * KEY_DAYS;
  return (store.blocks(first, first + KEY_DAYS - 1)[0]?.key ?? first) - first;
}

/** Writes late samples of a day into the journal, as a process does that was the monitor before; ends when they are sealed. */
async function feed(
  store: Store,
  services: number,
  day: number,
  sampleOf: ProgramTrial['sampleOf'],
): Promise<void> {
  const samples = Array.from({ length: services * LATE_SAMPLES }, (_, index) => {
    const at = day * DAY_MS + Math.floor(index / services) * 60_000 + 500;
    return sampleOf(1 + (index % services), at);
  });
  // All at once: the program seals a journal of 100,000 samples, and leaves alone what comes after.
  store.transaction(() => {
    for (let first = 0; first < samples.length; first += BATCH)
      store.addToJournal(new Uint8Array(packSamples(samples.slice(first, first + BATCH)).buffer));
  });
  const last = store.lastJournalSeq();
  while (store.firstJournalSeq() <= last && store.firstJournalSeq() > 0) await pause(100);
}

/** Requests everything in turn for as long as `goesOn`; the times by name, milliseconds. */
async function ask(
  program: RunningProgram,
  services: number,
  goesOn: (round: number) => boolean,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const times = new Map(PATHS.map(([name]): [string, number[]] => [name, []]));
  for (let round = 0; goesOn(round); round++)
    for (const [name, path] of PATHS) {
      const startedMs = performance.now();
      const { status } = await program.get(path(1 + ((round * 7_919) % services)));
      if (status !== 200) throw new Error(`${name}: status ${status}`);
      times.get(name)?.push(performance.now() - startedMs);
      await pause(PAUSE_MS);
    }
  return times;
}

/** What the meter in the program has measured since the last call. */
async function takeTurns(program: RunningProgram, meterFile: string): Promise<TurnReport> {
  const pid = workerOf(program.process);
  const file = `${meterFile}.${pid}`;
  rmSync(file, { force: true });
  process.kill(pid, 'SIGUSR2');
  while (!existsSync(file)) await pause(10);
  return JSON.parse(readFileSync(file, 'utf8')) as TurnReport;
}

function printTimes(times: ReadonlyMap<string, readonly number[]>): void {
  for (const [name, list] of times) {
    const sorted = list.toSorted((a, b) => a - b);
    const at = (ratio: number) => sorted[Math.floor(sorted.length * ratio)] ?? Number.NaN;
    console.log(
      `${name.padEnd(40)} p50 ${at(0.5).toFixed(1)} ms, p99 ${at(0.99).toFixed(0)} ms, at most ${(sorted.at(-1) ?? 0).toFixed(0)} ms`,
    );
  }
}

function printTurns({ p50Ms, p99Ms, longestMs, longestCpuMs, long }: TurnReport, seconds: number): void {
  console.log(
    `${'turns of the event loop'.padEnd(40)} p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, at most ${longestMs.toFixed(0)} ms (${longestCpuMs.toFixed(0)} ms of CPU time), ${long} over ${LONG_MS} ms in ${seconds.toFixed(0)} s`,
  );
}
