/** One host in this thread, on a clock that stands still until a test moves it. */
import { MessageChannel } from 'node:worker_threads';
import type { Cancel, Clock } from '../../src/clock.ts';
import type { AttemptOptions, CheckTarget } from '../../src/domain/check-target.ts';
import type { Attempt, CheckResult } from '../../src/domain/result.ts';
import { runHost } from '../../src/engine/host/host.ts';
import { shareSlots } from '../../src/engine/host/slots.ts';
import {
  type EngineSettings,
  type FromHost,
  type HostReport,
  packTargets,
  type ToHost,
  unpackResults,
} from '../../src/engine/protocol.ts';
import { goodAttempt } from '../support/attempts.ts';
import { createFakeClock } from '../support/fake-clock.ts';

/** An attempt that a test decides. */
export interface OpenAttempt extends AttemptOptions {
  readonly target: CheckTarget;
  readonly at: number;
  readonly end: (attempt?: Attempt) => void;
  readonly fail: (error: Error) => void;
}

/** The usual interval, milliseconds. */
export const INTERVAL = 300_000;

/** Starts a host; attempts end when the test ends them. */
export function startHost(changes: Partial<EngineSettings> = {}, startPermit?: SharedArrayBuffer) {
  const clock = createFakeClock();
  /** What the monotonic clock is ahead of the timers: a loop that was held up sees its clock jump. */
  let heldUpMs = 0;
  const settings: EngineSettings = {
    intervalMs: INTERVAL,
    timeoutMs: 10_000,
    slowOverMs: 3_000,
    confirmAfterMs: [2_000, 4_000],
    firstSpreadMs: 1_000,
    concurrency: 256,
    ...changes,
  };
  const { port1, port2 } = new MessageChannel();
  const attempts: OpenAttempt[] = [];
  const heard: FromHost[] = [];
  const results: CheckResult[] = [];
  const inFlight = shareSlots(settings.concurrency);
  port1.on('message', (message: FromHost) => {
    heard.push(message);
    if (message.type === 'results') results.push(...unpackResults(message.packed));
  });
  const loopTicks = new SharedArrayBuffer(4);
  const planned = new Set<object>();
  const ended = runHost(
    {
      ...{ epoch: 3, port: port2, loopTicks, inFlight, settings, prober: null },
      ...(startPermit === undefined ? {} : { startPermit }),
    },
    (target, options) =>
      new Promise((resolve, reject) => {
        const at = clock.now();
        const end = (attempt = goodAttempt({ startedAt: at })) => resolve(attempt);
        attempts.push({ ...options, target, at, end, fail: reject });
        options.signal.addEventListener('abort', () => reject(options.signal.reason));
      }),
    { ...clock, ...notePlanned(clock, planned), monotonic: () => clock.monotonic() + heldUpMs },
  ).then(
    () => 'stopped',
    (error: Error) => error.message,
  );
  /** Sends, and waits until the host has taken it. */
  const tell = async (message: ToHost) => {
    port1.postMessage(message);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  const assign = (services: CheckTarget[], spreadMs = 0, notBefore: [number, number][] = []) =>
    tell({ type: 'assign', services: packTargets(services), spreadMs, aheadMs: 0, notBefore });
  const reports = () => heard.flatMap((each): HostReport[] => (each.type === 'report' ? [each.report] : []));
  const stop = async () => {
    await tell({ type: 'stop' });
    for (const each of attempts) each.end();
    await ended;
    port1.close();
  };
  const holdUp = (ms: number) => {
    heldUpMs += ms;
  };
  return {
    ...{ clock, attempts, heard, results, reports, inFlight, loopTicks, tell, assign, stop, ended, holdUp },
    /** How much the host has planned on its clock. */
    planned: () => planned.size,
  };
}

/** The timers of a clock, with those that are waiting in `planned`. */
function notePlanned(clock: Clock, planned: Set<object>): Pick<Clock, 'after' | 'every'> {
  const note = (cancel: Cancel, key: object): Cancel => {
    planned.add(key);
    return () => {
      planned.delete(key);
      cancel();
    };
  };
  return {
    after(ms, task) {
      const key = {};
      const run = () => {
        planned.delete(key);
        task();
      };
      return note(clock.after(ms, run), key);
    },
    every: (ms, task) => note(clock.every(ms, task), {}),
  };
}
