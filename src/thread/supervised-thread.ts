/**
 * A thread under a supervisor. Its specification tells when the thread is restarted after a fault, and how often;
 * docs/architecture.md lists that of each thread.
 */
import { MessageChannel, type MessagePort, type ResourceLimits } from 'node:worker_threads';
import {
  type Backoff,
  type Child,
  createSupervisor,
  type ExitReason,
  type RestartIntensity,
  type RestartKind,
} from '../actor/supervisor.ts';
import { type Cancel, type Clock, systemClock } from '../clock.ts';
import { callPort, type Methods, startThread, type ThreadClient } from './rpc.ts';
import { watchSilence } from './silence-watch.ts';

/** Never restarted. For stores: data that the thread had accepted and not yet written is lost. */
export const FATAL: ThreadPolicy = { restart: 'permanent', intensity: { restarts: 0, withinMs: 1 } };

/** Started by a call, and again by the next one after its end. Stopped after a minute without a call to free its memory. */
export const ON_DEMAND: ThreadPolicy = {
  ...{ restart: 'temporary', intensity: null, idleMs: 60_000 },
  hangMs: 20_000,
};

/** The conditions under which a thread is restarted. */
export interface ThreadPolicy {
  readonly restart: Extract<RestartKind, 'permanent' | 'temporary'>;
  /** After more restarts than this the thread is given up; null: any number is allowed. */
  readonly intensity: RestartIntensity | null;
  readonly backoff?: Backoff;
  /** A temporary thread is stopped after this time without a call, milliseconds. Absent: never. */
  readonly idleMs?: number;
  /**
   * A thread that has answered nothing for this time is ended, milliseconds, which counts as an end by a fault; one with
   * `idleMs` only while it has a call. Real time, whatever the clock. Absent: never, as for a store, whose data would be lost.
   */
  readonly hangMs?: number;
}

/** A thread, and its policy. */
export interface ThreadSpec<M extends Methods> {
  /** For messages, as in "the feed thread". */
  readonly name: string;
  readonly entry: URL;
  readonly workerData: unknown;
  readonly limits?: ResourceLimits;
  readonly policy: ThreadPolicy;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Called after each start, before any other call. */
  readonly onStart?: (thread: ThreadClient<M>) => void;
  /**
   * Called after each end by a fault. `pauseMs`: the thread is restarted after that time; null: it is not, or not before the
   * next call.
   */
  readonly onEnd: (reason: Error, pauseMs: number | null) => void;
}

export interface SupervisedThread<M extends Methods> {
  /**
   * Calls a method of the running thread. Rejects with the thread's error, or with the reason of its end if the thread does
   * not run or ends before it responds.
   */
  readonly call: ThreadClient<M>['call'];
  /** Resolves when the running thread answers. Rejects if it does not run, or ends before. */
  readonly ping: ThreadClient<M>['ping'];
  /** Returns true if it runs now. */
  isRunning(): boolean;
  /** Ends it for good; calls in flight are rejected. */
  stop(): Promise<void>;
}

/** Time for a thread to end, milliseconds. */
const SHUTDOWN_MS = 5_000;

/** Starts the thread, or prepares a temporary one for its first call. */
export function superviseThread<M extends Methods>(spec: ThreadSpec<M>): SupervisedThread<M> {
  const { name, entry, workerData, limits, policy, clock = systemClock, onStart, onEnd } = spec;
  let running: ThreadClient<M> | null = null;
  let lastEnd = new Error(`${name} does not run`);
  let exit: Promise<ExitReason> | null = null;
  let stopped = false;
  let cancelIdle: Cancel = () => {};
  let endIdle = () => {};

  /** Begins the time without calls, if there are none in flight. */
  const waitForCalls = (thread: ThreadClient<M>): void => {
    const { idleMs } = policy;
    if (idleMs === undefined || stopped || running !== thread || thread.open > 0) return;
    cancelIdle();
    cancelIdle = clock.after(idleMs, endIdle);
  };

  /** Ends the thread when it hangs; its end is that of a fault. Returns what ends the watch. */
  const watchHang = (thread: ThreadClient<M>, hangMs: number): (() => void) => {
    let hasStarted = false;
    // To load it may take long on a busy machine.
    void thread.ping().then(
      () => {
        hasStarted = true;
        waitForCalls(thread);
      },
      () => {},
    );
    return watchSilence({
      ping() {
        const isAtRest = policy.idleMs !== undefined && thread.open === 0;
        return !hasStarted || isAtRest ? Promise.resolve() : thread.ping().then(() => waitForCalls(thread));
      },
      clock: systemClock,
      silenceMs: hangMs,
      onChange(isSilent) {
        if (isSilent) void thread.end(new Error(`${name} has not answered for ${hangMs / 1_000} s`));
      },
    });
  };

  const start = (): Child => {
    const exited = Promise.withResolvers<ExitReason>();
    const thread = startThread<M>(
      entry,
      workerData,
      (error) => {
        if (running === thread) running = null;
        lastEnd = error;
        exited.resolve({ kind: 'crash', error });
        if (policy.restart === 'temporary' && !stopped) onEnd(error, null);
      },
      limits,
    );
    running = thread;
    exit = exited.promise;
    onStart?.(thread);
    const terminate = () => void thread.terminate().then(() => exited.resolve({ kind: 'shutdown' }));
    endIdle = () => {
      running = null;
      terminate();
    };
    if (policy.hangMs !== undefined) {
      const endWatch = watchHang(thread, policy.hangMs);
      void exited.promise.then(endWatch);
    }
    return { exited: exited.promise, ask: terminate, kill: terminate };
  };

  const isTemporary = policy.restart === 'temporary';
  const supervisor = createSupervisor({
    children: [{ id: name, restart: policy.restart, shutdownMs: SHUTDOWN_MS, start, ...backoffOf(policy) }],
    intensity: policy.intensity,
    clock,
    onRestart: (_, { error }, pauseMs) => onEnd(error ?? lastEnd, pauseMs),
    onGiveUp: () => onEnd(lastEnd, null),
  });
  if (!isTemporary) supervisor.start();

  const send: SupervisedThread<M>['call'] = (method, args, transfer) => {
    const thread = running;
    if (thread === null) return Promise.reject(lastEnd);
    cancelIdle();
    return thread.call(method, args, transfer).finally(() => waitForCalls(thread));
  };

  return {
    call(method, args, transfer) {
      if (running !== null || !isTemporary || stopped) return send(method, args, transfer);
      // The supervisor must handle the end first.
      return Promise.resolve(exit).then(() => {
        supervisor.restart(name);
        return send(method, args, transfer);
      });
    },
    ping: () => running?.ping() ?? Promise.reject(lastEnd),
    isRunning: () => running !== null,
    async stop() {
      stopped = true;
      cancelIdle();
      await supervisor.stop();
    },
  };
}

/** The thread of a store, for its calls. */
type StoreThread<M extends Methods> = Pick<SupervisedThread<M>, 'call' | 'ping' | 'stop'>;

interface StoreThreadSpec {
  readonly name: string;
  readonly entry: URL;
  readonly workerData: unknown;
  readonly log: { error(fields: object, message: string): void };
  /** Called if the thread ends by a fault. */
  readonly onEnd?: ((reason: Error) => void) | undefined;
}

/** Starts the thread of a store. It is never restarted, because data that it had accepted may be lost; its end is logged. */
export function superviseStoreThread<M extends Methods>(options: StoreThreadSpec): SupervisedThread<M> {
  const { name, entry, workerData, log, onEnd } = options;
  return superviseThread<M>({
    name,
    entry,
    workerData,
    policy: FATAL,
    onEnd(reason) {
      log.error({ problem: reason.message }, `${name} ended`);
      onEnd?.(reason);
    },
  });
}

/** Joins a store to the thread of another one, which `serve` lets serve it at a port. It ends with that thread, which logs it. */
export async function hostStore<M extends Methods>(
  name: string,
  serve: (port: MessagePort) => Promise<unknown>,
): Promise<StoreThread<M>> {
  const { port1, port2 } = new MessageChannel();
  const calls = callPort<M>(port1, name);
  await serve(port2);
  return { ...calls, stop: async () => port1.close() };
}

function backoffOf({ backoff }: ThreadPolicy): { readonly backoff?: Backoff } {
  return backoff === undefined ? {} : { backoff };
}
