/**
 * One probe thread as a child of the supervisor: a long-lived task of the Piscina pool, watched until it ends.
 * A thread that is not ready in time, stops beating or grows too large is ended, and the supervisor starts another.
 */
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import type { Child, ExitReason } from '../../actor/supervisor.ts';
import type { Clock } from '../../clock.ts';
import { readSlots, shareSlots } from '../host/slots.ts';
import type { EngineSettings, FromHost, HostReport, HostTask, ToHost } from '../protocol.ts';
import { watchBeats } from './beat-watch.ts';

/** A thread as the fleet sees it. */
export interface HostChild extends Child {
  readonly epoch: number;
  /** Whether it was ever ready. */
  readonly wasReady: boolean;
  send(message: ToHost): void;
  /** Services that have an attempt under way; after its end, that had one. */
  inFlight(): number[];
}

/** What a thread is started with. */
export interface HostChildOptions {
  readonly pool: Piscina;
  readonly epoch: number;
  readonly settings: EngineSettings;
  readonly prober: unknown;
  readonly clock: Clock;
  /** Time to load and say `ready`. Without it, a queued task whose thread fails while loading would never settle. */
  readonly readyWithinMs: number;
  /** Bound on the thread's heap and, apart from it, on its external memory; at 70 % of one it is recycled. */
  readonly memoryLimitBytes: number;
  readonly onReady: () => void;
  readonly onMessage: (message: Exclude<FromHost, { type: 'ready' | 'stopped' }>) => void;
  /** Told when the thread is about to be recycled, with the reason. */
  readonly onRecycle: (report: HostReport) => void;
}

/** No beat for this long, while our own loop was on time: the thread hangs. */
const SILENT_AFTER_MS = 3_000;
/** A thread that is recycled may take this long for its open attempts; its successor repeats the others. */
const RECYCLE_WITHIN_MS = 4_000;
const RECYCLE_AT = 0.7;

/** Starts a thread. */
export function startHostChild(options: HostChildOptions): HostChild {
  const { pool, epoch, settings, prober, clock, readyWithinMs, onReady, onMessage } = options;
  const { port1: port, port2 } = new MessageChannel();
  const beats = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
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
  const send = (message: ToHost) => port.postMessage(message);

  const cancelWatch = watchBeats({
    beats,
    clock,
    patienceMs: () => (threadId === null ? readyWithinMs : SILENT_AFTER_MS),
    onSilent(silentMs) {
      const fault = threadId === null ? 'was not ready' : 'gave no beat';
      kill(new Error(`the probe thread ${fault} for ${Math.round(silentMs)} ms`));
    },
  });

  const take = (message: FromHost) => {
    if (message.epoch !== epoch) return;
    if (message.type === 'ready') {
      threadId = message.threadId;
      onReady();
    } else if (message.type !== 'stopped') {
      onMessage(message);
      if (message.type === 'beat') recycleIfLarge(message.report);
    }
  };

  const recycleIfLarge = (report: HostReport) => {
    const bytes = Math.max(report.heapBytes, report.externalBytes);
    if (askedToStop || recycling || bytes <= options.memoryLimitBytes * RECYCLE_AT) return;
    recycling = true;
    options.onRecycle(report);
    send({ type: 'stop' });
    cancelRecycling = clock.after(RECYCLE_WITHIN_MS, () => {
      kill(
        new Error(`the probe thread had open attempts ${RECYCLE_WITHIN_MS} ms after it was to be recycled`),
      );
    });
  };

  const settle = async (reason: ExitReason) => {
    cancelWatch();
    cancelRecycling();
    // What the thread sent before its end is taken first.
    for (let left = receiveMessageOnPort(port); left !== undefined; left = receiveMessageOnPort(port)) {
      take(left.message as FromHost);
    }
    port.close();
    // A task that ended leaves its thread, and what it leaked, to the next one: only a new thread begins anew.
    if (!askedToStop) await pool.threads.find((thread) => thread.threadId === threadId)?.terminate();
    exited.resolve(reason);
  };

  port.on('message', take);
  const task: HostTask = { epoch, port: port2, beats, inFlight, settings, prober };
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
