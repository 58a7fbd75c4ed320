/**
 * One probe thread as a child of the supervisor: a long-lived task of the Piscina pool. A thread that is not ready in time,
 * whose event loop stops or that grows too large is ended, and the supervisor starts another.
 */
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import type { Child, ExitReason } from '../../actor/supervisor.ts';
import type { Clock } from '../../clock.ts';
import { readSlots, shareSlots } from '../host/slots.ts';
import type { EngineSettings, FromHost, HostReport, HostTask, ToHost } from '../protocol.ts';

/** A thread. */
export interface HostChild extends Child {
  readonly epoch: number;
  /** True if it was ever ready. */
  readonly wasReady: boolean;
  /** Sends a message; the buffers in `transfer` move to the thread. */
  send(message: ToHost, transfer?: readonly ArrayBuffer[]): void;
  /** Services with an attempt in flight; after the end of the thread, those that had one. */
  inFlight(): number[];
}

/** A thread whose event loop stands still for this time hangs, unless our own event loop was late. */
const HANG_TIMEOUT_MS = 3_000;
/** Time for the open attempts of a thread that is recycled; its successor repeats the others. */
const RECYCLE_TIMEOUT_MS = 4_000;
const RECYCLE_AT = 0.7;

export function startHostChild(options: {
  readonly pool: Piscina;
  readonly epoch: number;
  readonly settings: EngineSettings;
  readonly prober: unknown;
  readonly startPermit?: SharedArrayBuffer | undefined;
  readonly clock: Clock;
  /** Deadline for `ready`. Without it, a queued task whose thread fails while loading would never settle. */
  readonly readyTimeoutMs: number;
  /** Limit of the thread's heap and of its external memory; it is recycled at 70 % of either. */
  readonly memoryLimitBytes: number;
  readonly onReady: () => void;
  readonly onMessage: (message: Exclude<FromHost, { type: 'ready' | 'stopped' }>) => void;
  /** Called before the thread is recycled. */
  readonly onRecycle: (report: HostReport) => void;
}): HostChild {
  const { pool, epoch, settings, prober, startPermit, clock, readyTimeoutMs, onReady, onMessage } = options;
  const { port1: port, port2 } = new MessageChannel();
  const loopTicks = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const inFlight = shareSlots(settings.concurrency);
  const aborting = new AbortController();
  const exited = Promise.withResolvers<ExitReason>();
  let askedToStop = false;
  let recycling = false;
  let cancelRecycling = () => {};
  let killedBy: Error | null = null;
  let threadId: number | null = null;

  const kill = (reason: Error) => {
    if (aborting.signal.aborted) return;
    killedBy = reason;
    aborting.abort(reason);
  };
  const send = (message: ToHost, transfer: readonly ArrayBuffer[] = []) =>
    port.postMessage(message, transfer);

  const stopWatchdog = startWatchdog({
    loopTicks,
    clock,
    timeoutMs: () => (threadId === null ? readyTimeoutMs : HANG_TIMEOUT_MS),
    onTimeout(stoppedMs) {
      const fault = threadId === null ? 'was not ready' : 'did not respond';
      kill(new Error(`the probe thread ${fault} for ${Math.round(stoppedMs)} ms`));
    },
  });

  const take = (message: FromHost) => {
    if (message.epoch !== epoch) return;
    if (message.type === 'ready') {
      threadId = message.threadId;
      onReady();
    } else if (message.type !== 'stopped') {
      onMessage(message);
      if (message.type === 'report') recycleIfLarge(message.report);
    }
  };

  const recycleIfLarge = (report: HostReport) => {
    const bytes = Math.max(report.heapBytes, report.externalBytes);
    if (askedToStop || recycling || bytes <= options.memoryLimitBytes * RECYCLE_AT) return;
    recycling = true;
    options.onRecycle(report);
    send({ type: 'stop' });
    cancelRecycling = clock.after(RECYCLE_TIMEOUT_MS, () => {
      kill(
        new Error(`the probe thread had open attempts ${RECYCLE_TIMEOUT_MS} ms after it was to be recycled`),
      );
    });
  };

  const settle = async (reason: ExitReason) => {
    stopWatchdog();
    cancelRecycling();
    // Messages that the thread sent before its end come first.
    for (let left = receiveMessageOnPort(port); left !== undefined; left = receiveMessageOnPort(port)) {
      take(left.message as FromHost);
    }
    port.close();
    // The pool would reuse the thread, with the memory that it leaked, for the next task.
    if (!askedToStop) await pool.threads.find((thread) => thread.threadId === threadId)?.terminate();
    exited.resolve(reason);
  };

  port.on('message', take);
  const permit = startPermit === undefined ? {} : { startPermit };
  const task: HostTask = { epoch, port: port2, loopTicks, inFlight, ...permit, settings, prober };
  pool.run(task, { transferList: [port2], signal: aborting.signal }).then(
    () => settle({ kind: askedToStop || recycling ? 'shutdown' : 'normal' }),
    (error: Error) =>
      settle(killedBy === null ? { kind: 'crash', error } : { kind: 'killed', error: killedBy }),
  );

  return {
    epoch,
    exited: exited.promise,
    get wasReady() {
      return threadId !== null;
    },
    ask() {
      askedToStop = true;
      send({ type: 'stop' });
    },
    kill: () => kill(new Error('the probe thread did not end in time')),
    send,
    inFlight: () => readSlots(inFlight),
  };
}

const WATCHDOG_PERIOD_MS = 500;
/** A watchdog that is later than this, milliseconds, was delayed by our own event loop and proves nothing. */
const MAX_WATCHDOG_DELAY_MS = 250;
/** Two periods, and the timeout of so many, may differ by this much, milliseconds: another period would be too late. */
const JITTER_MS = 50;

/** Starts a watchdog over a thread's event loop; the returned function stops it. */
export function startWatchdog({
  loopTicks,
  clock,
  timeoutMs,
  onTimeout,
}: {
  /** The counter that the thread increments while its event loop turns. */
  readonly loopTicks: SharedArrayBuffer;
  readonly clock: Clock;
  /** Maximum time for which the counter may stand still, milliseconds. */
  readonly timeoutMs: () => number;
  /** Called in every period while it has stood still for longer. */
  readonly onTimeout: (stoppedMs: number) => void;
}): () => void {
  const counter = new Int32Array(loopTicks);
  let lastCount = Atomics.load(counter, 0);
  let changedMs = clock.monotonic();
  let checkedMs = changedMs;
  return clock.every(WATCHDOG_PERIOD_MS, () => {
    const nowMs = clock.monotonic();
    const isLate = nowMs - checkedMs > WATCHDOG_PERIOD_MS + MAX_WATCHDOG_DELAY_MS;
    checkedMs = nowMs;
    const count = Atomics.load(counter, 0);
    if (count !== lastCount || isLate) {
      lastCount = count;
      changedMs = nowMs;
    } else if (nowMs - changedMs >= timeoutMs() - JITTER_MS) {
      onTimeout(nowMs - changedMs);
    }
  });
}
