/**
 * A thread under a supervisor: the one policy for threads that end unasked. A specification says when the thread is
 * started again and what happens if it ends too often; docs/architecture.md lists that of each thread.
 */
import type { ResourceLimits, TransferListItem } from 'node:worker_threads';
import {
  type Backoff,
  type Child,
  createSupervisor,
  type ExitReason,
  type RestartIntensity,
  type RestartKind,
} from '../actor/supervisor.ts';
import { type Clock, systemClock } from '../clock.ts';
import { type Methods, startThread, type ThreadClient } from './rpc.ts';

/** Given up at the first end. For stores: what the thread had taken and not yet written is lost. */
export const FATAL: ThreadPolicy = { restart: 'permanent', intensity: { restarts: 0, withinMs: 1 } };

/** Not restarted by itself: the next call starts it again. */
export const ON_DEMAND: ThreadPolicy = { restart: 'temporary', intensity: null };

/** When a thread is started again. */
export interface ThreadPolicy {
  readonly restart: Extract<RestartKind, 'permanent' | 'temporary'>;
  /** More restarts than this are given up; null: any number is allowed. */
  readonly intensity: RestartIntensity | null;
  readonly backoff?: Backoff;
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
   * Called after each end that was not asked for. `pauseMs`: the thread is started again after that time; null: it is
   * not, or not before the next call.
   */
  readonly onEnd: (reason: Error, pauseMs: number | null) => void;
}

/** The thread, over all its lives. */
export interface SupervisedThread<M extends Methods> {
  /**
   * Calls a method of the present life. Rejects with the error of the thread, and with the reason of its end if that
   * comes first or the thread does not run now.
   */
  call<K extends keyof M & string>(
    method: K,
    args: Parameters<M[K]>,
    transfer?: readonly TransferListItem[],
  ): Promise<Awaited<ReturnType<M[K]>>>;
  /** Whether it runs now. */
  isRunning(): boolean;
  /** Ends it for good; calls in flight are rejected. */
  stop(): Promise<void>;
}

/** Time for a thread to end, milliseconds; ending one needs no help from its code. */
const SHUTDOWN_MS = 5_000;

/** Starts the thread. */
export function superviseThread<M extends Methods>(spec: ThreadSpec<M>): SupervisedThread<M> {
  const { name, entry, workerData, limits, policy, onStart, onEnd } = spec;
  let running: ThreadClient<M> | null = null;
  let lastEnd = new Error(`${name} does not run`);
  let exit: Promise<ExitReason> | null = null;
  let stopped = false;

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
    return { exited: exited.promise, ask: terminate, kill: terminate };
  };

  const supervisor = createSupervisor({
    children: [{ id: name, restart: policy.restart, shutdownMs: SHUTDOWN_MS, start, ...backoffOf(policy) }],
    intensity: policy.intensity,
    clock: spec.clock ?? systemClock,
    onRestart: (_, { error }, pauseMs) => onEnd(error ?? lastEnd, pauseMs),
    onGiveUp: () => onEnd(lastEnd, null),
  });
  supervisor.start();

  return {
    call(method, args, transfer) {
      const send = () => (running === null ? Promise.reject(lastEnd) : running.call(method, args, transfer));
      if (running !== null || policy.restart !== 'temporary' || stopped) return send();
      // The supervisor learns of the end first.
      return Promise.resolve(exit).then(() => {
        supervisor.restart(name);
        return send();
      });
    },
    isRunning: () => running !== null,
    async stop() {
      stopped = true;
      await supervisor.stop();
    },
  };
}

function backoffOf({ backoff }: ThreadPolicy): { readonly backoff?: Backoff } {
  return backoff === undefined ? {} : { backoff };
}
