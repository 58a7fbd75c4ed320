/**
 * One probe thread as a child of the supervisor: a long-lived task of the Piscina pool, watched until it ends.
 * A thread that is not ready in time, stops beating or grows too large is ended, and the supervisor starts another.
 */
import { MessageChannel } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import type { Child, ExitReason } from '../../actor/supervisor.ts';
import type { Clock } from '../../clock.ts';
import type { EngineSettings, FromHost, HostReport, HostTask, ToHost } from '../protocol.ts';

/** A thread as the fleet sees it. */
export interface HostChild extends Child {
  readonly epoch: number;
  send(message: ToHost): void;
}

/** What a thread is started with. */
export interface HostChildOptions {
  readonly pool: Piscina;
  readonly epoch: number;
  readonly settings: EngineSettings;
  readonly prober: unknown;
  readonly clock: Clock;
  /** Bound on the thread's heap and, apart from it, on its external memory; at 70 % of one it is recycled. */
  readonly memoryLimitBytes: number;
  readonly onReady: () => void;
  readonly onMessage: (message: Exclude<FromHost, { type: 'ready' | 'stopped' }>) => void;
  /** Told when the thread is about to be recycled, with the reason. */
  readonly onRecycle: (report: HostReport) => void;
}

/** A queued task whose thread fails while loading would hang for ever. */
const READY_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 500;
/** No beat for this long, while our own loop was on time: the thread hangs. */
const SILENT_AFTER_MS = 3_000;
/** A look that comes this much late says that our own loop was late; such a look judges nobody. */
const OWN_LATENESS_MS = 250;
const RECYCLE_AT = 0.7;

/** Starts a thread. */
export function startHostChild(options: HostChildOptions): HostChild {
  const { pool, epoch, settings, prober, clock, onReady, onMessage } = options;
  const { port1: port, port2 } = new MessageChannel();
  const beats = new SharedArrayBuffer(4);
  const counter = new Int32Array(beats);
  const aborting = new AbortController();
  const exited = Promise.withResolvers<ExitReason>();
  let asked = false;
  let killedBy: Error | null = null;
  let ready = false;

  const kill = (reason: Error) => {
    if (aborting.signal.aborted) return;
    killedBy = reason;
    aborting.abort(reason);
  };
  const ask = () => {
    asked = true;
    port.postMessage({ type: 'stop' } satisfies ToHost);
  };

  const cancelReady = clock.after(READY_WITHIN_MS, () => {
    kill(new Error(`the probe thread was not ready within ${READY_WITHIN_MS} ms`));
  });
  const cancelLooking = watchBeats(counter, clock, () => {
    if (ready) kill(new Error(`the probe thread gave no beat for ${SILENT_AFTER_MS} ms`));
  });

  port.on('message', (message: FromHost) => {
    if (message.epoch !== epoch) return;
    if (message.type === 'ready') {
      cancelReady();
      ready = true;
      onReady();
      return;
    }
    if (message.type === 'stopped') return;
    onMessage(message);
    if (message.type !== 'beat' || asked) return;
    const { heapBytes, externalBytes } = message.report;
    if (Math.max(heapBytes, externalBytes) > options.memoryLimitBytes * RECYCLE_AT) {
      options.onRecycle(message.report);
      ask();
    }
  });

  const task: HostTask = { epoch, port: port2, beats, settings, prober };
  pool.run(task, { transferList: [port2], signal: aborting.signal }).then(
    () => settle({ kind: asked ? 'shutdown' : 'normal' }),
    (error: Error) =>
      settle(killedBy === null ? { kind: 'crash', error } : { kind: 'killed', error: killedBy }),
  );
  const settle = (reason: ExitReason) => {
    cancelReady();
    cancelLooking();
    // What the thread sent before its end is still in the port's queue: it is taken first.
    setImmediate(() => {
      port.close();
      exited.resolve(reason);
    });
  };

  return {
    epoch,
    exited: exited.promise,
    ask,
    kill: () => kill(new Error('the probe thread did not end in time')),
    send: (message) => port.postMessage(message),
  };
}

function watchBeats(counter: Int32Array, clock: Clock, onSilent: () => void): () => void {
  let seen = Atomics.load(counter, 0);
  let seenAt = clock.monotonic();
  let lookedAt = seenAt;
  return clock.every(LOOK_EVERY_MS, () => {
    const now = clock.monotonic();
    const late = now - lookedAt > LOOK_EVERY_MS + OWN_LATENESS_MS;
    lookedAt = now;
    const beat = Atomics.load(counter, 0);
    if (beat !== seen || late) {
      seen = beat;
      seenAt = now;
    } else if (now - seenAt >= SILENT_AFTER_MS) {
      onSilent();
    }
  });
}
