/**
 * Keeps children alive by the rules of Erlang/OTP's supervisor, strategy one-for-one: a restart kind for each child,
 * a limit of restarts in a sliding window, and a stop in reverse order that asks, waits and kills.
 */
import type { Clock } from '../clock.ts';

/** Why a child ended. `normal` and `shutdown` are in order, `crash` and `killed` are not. */
export interface ExitReason {
  readonly kind: 'normal' | 'shutdown' | 'crash' | 'killed';
  readonly error?: Error;
}

/** When an ended child is started again: always, after a disorderly end, or never. */
export type RestartKind = 'permanent' | 'transient' | 'temporary';

/** A running child. */
export interface Child {
  /** Resolves when it has ended, however. Never rejects. */
  readonly exited: Promise<ExitReason>;
  /** Asks it to end. */
  ask(): void;
  /** Ends it without asking. */
  kill(): void;
}

/** What the supervisor must know of a child. */
export interface ChildSpec {
  readonly id: string;
  readonly restart: RestartKind;
  /** How long it may take to end after it was asked, before it is killed. */
  readonly shutdownMs: number;
  /** Starts it; called again at each restart. A throw counts as a crash. */
  readonly start: () => Child;
}

/** How a supervisor works. */
export interface SupervisorOptions {
  /** Started in this order, stopped in the reverse. */
  readonly children: readonly ChildSpec[];
  /** More than `restarts` within `withinMs` end the supervisor. */
  readonly intensity: { readonly restarts: number; readonly withinMs: number };
  readonly clock: Clock;
  /** Told before each restart. */
  readonly onRestart: (id: string, reason: ExitReason) => void;
  /** Told once, after all children were ended, when the restart limit was passed. */
  readonly onGiveUp: (error: Error) => void;
}

/** A supervisor at work. */
export interface Supervisor {
  start(): void;
  /** Asks, waits, kills, one child after the other from the last to the first. */
  stop(): Promise<void>;
  /** Restarts since the beginning. */
  readonly restarts: number;
}

/** Whether a child of this kind is started again after this end. The matrix of OTP's `supervisor`. */
export function shouldRestart(kind: RestartKind, reason: ExitReason): boolean {
  if (kind === 'permanent') return true;
  if (kind === 'temporary') return false;
  return reason.kind === 'crash' || reason.kind === 'killed';
}

/** Makes a supervisor; nothing runs before `start`. */
export function createSupervisor({
  children,
  intensity,
  clock,
  onRestart,
  onGiveUp,
}: SupervisorOptions): Supervisor {
  const running = new Map<string, Child>();
  let recent: number[] = [];
  let restarts = 0;
  let stopping: Promise<void> | null = null;

  const launch = (spec: ChildSpec) => {
    let child: Child;
    try {
      child = spec.start();
    } catch (error) {
      queueMicrotask(() => ended(spec, null, { kind: 'crash', error: error as Error }));
      return;
    }
    running.set(spec.id, child);
    void child.exited.then((reason) => ended(spec, child, reason));
  };

  const ended = (spec: ChildSpec, child: Child | null, reason: ExitReason) => {
    if (child !== null && running.get(spec.id) === child) running.delete(spec.id);
    if (stopping !== null || !shouldRestart(spec.restart, reason)) return;
    const now = clock.monotonic();
    recent = recent.filter((at) => now - at < intensity.withinMs);
    if (recent.length >= intensity.restarts) {
      const cause = reason.error === undefined ? reason.kind : reason.error.message;
      const error = new Error(
        `${spec.id} ended again (${cause}) after ${recent.length} restarts within ${intensity.withinMs} ms`,
        { cause: reason.error },
      );
      void stopAll().then(() => onGiveUp(error));
      return;
    }
    recent.push(now);
    restarts++;
    onRestart(spec.id, reason);
    launch(spec);
  };

  const stopAll = () => {
    stopping ??= (async () => {
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
    stop: stopAll,
    get restarts() {
      return restarts;
    },
  };
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
