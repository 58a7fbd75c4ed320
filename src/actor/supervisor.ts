/**
 * Keeps children alive by the rules of Erlang/OTP's supervisor, strategy one-for-one: a restart kind for each child,
 * a limit of restarts in a sliding window, and a stop in reverse order that asks, waits and kills. Beyond OTP, a child
 * may pause before each restart.
 */
import { createBackoff } from '../async/retry.ts';
import type { Cancel, Clock } from '../clock.ts';
import { toError } from '../error.ts';

/** Why a child ended. `normal` and `shutdown` are in order, `crash` and `killed` are not. */
export interface ExitReason {
  readonly kind: 'normal' | 'shutdown' | 'crash' | 'killed';
  readonly error?: Error;
}

/** The ends after which a child is started again: always, after a disorderly end, or never. */
export type RestartKind = 'permanent' | 'transient' | 'temporary';

export interface Child {
  /** Resolves when it has ended for any reason. Never rejects. */
  readonly exited: Promise<ExitReason>;
  ask(): void;
  /** Ends it without asking. */
  kill(): void;
}

/** Pauses before the restarts of a child: each is twice as long as the one before. */
export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
  /** After a run of more than this the next pause is the first one again. */
  readonly healthyMs: number;
}

/** The restarts within a time that are too many. */
export interface RestartIntensity {
  /** 0: the child is never restarted. */
  readonly restarts: number;
  readonly withinMs: number;
}

export interface ChildSpec {
  readonly id: string;
  readonly restart: RestartKind;
  /** Absent: it is restarted at once. */
  readonly backoff?: Backoff;
  /** The time that it may take to end after it was asked, before it is killed. */
  readonly shutdownMs: number;
  /** Starts it; called again at each restart. A throw counts as a crash. */
  readonly start: () => Child;
}

export interface Supervisor {
  start(): void;
  /** Starts a temporary child that has ended. Ignored if it runs, or during a stop. */
  restart(id: string): void;
  /** Asks, waits, kills, one child after the other from the last to the first. */
  stop(): Promise<void>;
  /** Restarts since the start. */
  readonly restarts: number;
}

/** Returns true if a child of this kind is started again after this end. The matrix of OTP's `supervisor`. */
export function shouldRestart(kind: RestartKind, reason: ExitReason): boolean {
  if (kind === 'permanent') return true;
  if (kind === 'temporary') return false;
  return reason.kind === 'crash' || reason.kind === 'killed';
}

/** Creates a supervisor; nothing runs before `start`. */
export function createSupervisor({
  children,
  intensity,
  clock,
  onRestart,
  onGiveUp,
}: {
  /** Started in this order, stopped in the reverse. */
  readonly children: readonly ChildSpec[];
  /** More restarts than this end the supervisor; null: any number is allowed. */
  readonly intensity: RestartIntensity | null;
  readonly clock: Clock;
  /** Called when a child has ended and is restarted after `pauseMs`. */
  readonly onRestart: (id: string, reason: ExitReason, pauseMs: number) => void;
  /** Called once after too many restarts, when all children have ended. */
  readonly onGiveUp: (error: Error) => void;
}): Supervisor {
  const running = new Map<string, Child>();
  /** Monotonic times of the last starts. */
  const startedAt = new Map<string, number>();
  const backoffs = new Map(
    children.flatMap(({ id, backoff }) =>
      backoff === undefined ? [] : [[id, createBackoff(backoff.firstMs, backoff.maxMs)] as const],
    ),
  );
  const waiting = new Map<string, Cancel>();
  let recent: number[] = [];
  let restarts = 0;
  let stopping: Promise<void> | null = null;

  const launch = (spec: ChildSpec) => {
    waiting.delete(spec.id);
    startedAt.set(spec.id, clock.monotonic());
    let child: Child;
    try {
      child = spec.start();
    } catch (error) {
      queueMicrotask(() => ended(spec, null, { kind: 'crash', error: toError(error) }));
      return;
    }
    running.set(spec.id, child);
    void child.exited.then((reason) => ended(spec, child, reason));
  };

  const ended = (spec: ChildSpec, child: Child | null, reason: ExitReason) => {
    if (child !== null && running.get(spec.id) === child) running.delete(spec.id);
    if (stopping !== null || !shouldRestart(spec.restart, reason)) return;
    const now = clock.monotonic();
    if (intensity !== null) {
      recent = recent.filter((at) => now - at < intensity.withinMs);
      if (recent.length >= intensity.restarts) {
        const error = tooManyRestarts(spec.id, reason, intensity);
        void stopAll().then(() => onGiveUp(error));
        return;
      }
      recent.push(now);
    }
    restarts++;
    const pauseMs = nextPause(spec, now);
    onRestart(spec.id, reason, pauseMs);
    if (pauseMs === 0) launch(spec);
    else
      waiting.set(
        spec.id,
        clock.after(pauseMs, () => launch(spec)),
      );
  };

  /** The pause before this restart, milliseconds. */
  const nextPause = ({ id, backoff }: ChildSpec, now: number): number => {
    const pauses = backoffs.get(id);
    if (now - (startedAt.get(id) ?? now) > (backoff?.healthyMs ?? 0)) pauses?.reset();
    return pauses?.next() ?? 0;
  };

  const stopAll = () => {
    stopping ??= (async () => {
      for (const cancel of waiting.values()) cancel();
      for (const spec of [...children].reverse()) {
        const child = running.get(spec.id);
        if (child !== undefined) await stopChild(child, spec.shutdownMs, clock);
      }
    })();
    return stopping;
  };

  return {
    start() {
      for (const spec of children) launch(spec);
    },
    restart(id) {
      const spec = children.find((child) => child.id === id);
      if (spec === undefined || stopping !== null || running.has(id) || waiting.has(id)) return;
      launch(spec);
    },
    stop: stopAll,
    get restarts() {
      return restarts;
    },
  };
}

function tooManyRestarts(
  id: string,
  { kind, error }: ExitReason,
  { restarts, withinMs }: RestartIntensity,
): Error {
  const cause = error === undefined ? kind : error.message;
  if (restarts === 0) return new Error(`${id} ended (${cause})`, { cause: error });
  return new Error(`${id} ended again (${cause}) after ${restarts} restarts within ${withinMs} ms`, {
    cause: error,
  });
}

async function stopChild(child: Child, shutdownMs: number, clock: Clock): Promise<void> {
  child.ask();
  const late = Promise.withResolvers<'late'>();
  const cancel = clock.after(shutdownMs, () => late.resolve('late'));
  const outcome = await Promise.race([child.exited, late.promise]);
  cancel();
  if (outcome !== 'late') return;
  child.kill();
  await child.exited;
}
