/**
 * Preloaded into the program (`NODE_OPTIONS=--import`): measures how late a timer of each millisecond is in its main thread, and the CPU time
 * that this thread used meanwhile. On a busy machine a thread waits for a processor; its CPU time tells what it did itself. At SIGUSR2
 * it writes what it has measured to the file `TURN_METER_FILE` with the number of the process, and begins anew.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { createHistogram } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** Turns of the event loop since the last report, milliseconds. */
export interface TurnReport {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly longestMs: number;
  /** Number of turns over {@link LONG_MS}. */
  readonly long: number;
  /** The most CPU time that the thread used in one turn. */
  readonly longestCpuMs: number;
}

/** Those who ask the API feel a longer turn. */
export const LONG_MS = 20;
const TICK_MS = 1;

const file = process.env.TURN_METER_FILE;
if (isMainThread && file !== undefined) {
  const turns = createHistogram();
  let long = 0;
  let longestCpuMs = 0;
  let lastMs = performance.now();
  let lastCpu = process.threadCpuUsage();
  const tick = setInterval(() => {
    const nowMs = performance.now();
    const { user, system } = process.threadCpuUsage(lastCpu);
    const turnMs = nowMs - lastMs;
    turns.record(Math.max(1, Math.round(turnMs * 1_000)));
    if (turnMs > LONG_MS) long++;
    longestCpuMs = Math.max(longestCpuMs, (user + system) / 1_000);
    lastMs = nowMs;
    lastCpu = process.threadCpuUsage();
  }, TICK_MS);
  tick.unref();
  process.on('SIGUSR2', () => {
    const report: TurnReport = {
      p50Ms: turns.percentile(50) / 1_000,
      p99Ms: turns.percentile(99) / 1_000,
      longestMs: turns.max / 1_000,
      ...{ long, longestCpuMs },
    };
    turns.reset();
    [long, longestCpuMs] = [0, 0];
    writeFileSync(`${file}.new`, JSON.stringify(report));
    renameSync(`${file}.new`, `${file}.${process.pid}`);
  });
}
