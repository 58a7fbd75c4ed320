/**
 * The offline rule: whether a result describes its service or only the prober's own connection (decisions, "When the
 * prober itself is offline, nothing is down").
 */
import type { Clock } from '../clock.ts';
import type { CheckResult } from '../domain/result.ts';
import { judgeAttempt } from '../domain/status/judge.ts';
import type { Log } from '../log.ts';
import { type CheckSpan, type ProberState, type Ruling, spanOf } from './connection-watch.ts';
import { ControlWatch } from './control-watch.ts';
import { createMajorityWatch } from './majority-watch.ts';

export interface ConnectivityOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** A good response of a service that takes longer is `slow`, milliseconds. */
  readonly slowOverMs: (serviceId: number) => number;
  /** The number of configured control targets; 0: the majority of the fleet decides (decisions). */
  readonly controlTargets: number;
  /** True: at least one control target responded. No response within 3 s, or a rejection, counts as no. */
  readonly queryControlTargets: () => Promise<boolean>;
  /** The number of services that are checked at present. */
  readonly fleetSize: () => number;
  /**
   * Called when the prober went offline or online, or when held results may have been decided. The caller then calls
   * {@link Connectivity.takeDecided}.
   */
  readonly onChange: () => void;
}

/** `suspect`: the prober may be at fault. `held`: not known yet; the result is kept until it is known. */
export type Trust = 'trusted' | 'suspect' | 'held';

/** A result that was held, and its ruling. */
export interface DecidedResult {
  readonly result: CheckResult;
  readonly trust: Exclude<Trust, 'held'>;
}

interface HeldResult {
  readonly result: CheckResult;
  readonly span: CheckSpan;
}

export type Connectivity = ReturnType<typeof createConnectivity>;

/** Creates the rule. The prober counts as online until a watch finds it offline. */
export function createConnectivity(options: ConnectivityOptions) {
  const { clock, log, slowOverMs, controlTargets, queryControlTargets: ask, fleetSize, onChange } = options;
  const watch =
    controlTargets > 0
      ? new ControlWatch({ clock, log, onChange, controlTargets, ask })
      : createMajorityWatch({ clock, log, onChange, fleetSize });
  const { outages } = watch;
  let held: HeldResult[] = [];
  const affected = new Set<number>();
  let suspectCount = 0;

  /** Rules on a held result. An error status can come from a proxy on the way only while the prober is offline. */
  function ruleOn({ result, span }: HeldResult): Ruling {
    if (!result.answered) return watch.rule(span);
    const verdict = judgeAttempt(result, slowOverMs(result.serviceId));
    if (verdict === 'slow') return watch.ruleSlow(span);
    return verdict === 'down' && (outages.isOpen || outages.overlaps(span)) ? 'own' : 'clear';
  }

  function dropHeld(serviceId: number): void {
    if (held.length > 0) held = held.filter(({ result }) => result.serviceId !== serviceId);
  }

  function decide(result: CheckResult, ruling: Exclude<Ruling, 'wait'>): DecidedResult['trust'] {
    if (ruling === 'clear' && result.suspect === null) return 'trusted';
    suspectCount += 1;
    if (ruling === 'own') affected.add(result.serviceId);
    return 'suspect';
  }

  return {
    /**
     * Rules on a result. {@link takeDecided} returns a `held` one later. `toMonotonic` is the difference that converts
     * its wall times to monotonic times, milliseconds.
     */
    rule(result: CheckResult, toMonotonic: number): Trust {
      const { answered } = result;
      const answer = answered ? (result.firstFailedAt === null ? 'first' : 'later') : 'none';
      const beganAt = result.firstFailedAt ?? result.startedAt;
      watch.note(result.serviceId, beganAt + toMonotonic, result.endedAt + toMonotonic, answer);
      const isClear = answered && result.suspect === null;
      if (isClear && judgeAttempt(result, slowOverMs(result.serviceId)) === 'up') return 'trusted';
      // A result with an own fault and a response is always suspect. Without a response, it may be the first sign of an outage.
      if (answered && result.suspect !== null) return decide(result, 'clear');
      const one = { result, span: spanOf(result, toMonotonic, clock.monotonic()) };
      const ruling = ruleOn(one);
      if (ruling !== 'wait') return decide(result, ruling);
      held.push(one);
      return 'held';
    },
    /** The held results that have been decided since the last call, oldest first. */
    takeDecided(): readonly DecidedResult[] {
      const decided: DecidedResult[] = [];
      held = held.filter((one) => {
        const ruling = ruleOn(one);
        if (ruling === 'wait') return true;
        decided.push({ result: one.result, trust: decide(one.result, ruling) });
        return false;
      });
      return decided;
    },
    /** Removes and returns all held results, oldest first. */
    takeHeld(): readonly CheckResult[] {
      const results = held.map(({ result }) => result);
      held = [];
      suspectCount += results.length;
      return results;
    },
    /** Services that had suspect results while the prober was offline. Empty while it is offline. Each service is returned once. */
    takeAffected(): readonly number[] {
      if (affected.size === 0 || outages.isOpen) return [];
      const serviceIds = [...affected];
      affected.clear();
      return serviceIds;
    },
    /** Drops the held results of a service whose check has changed. */
    dropHeld,
    forget(serviceId: number): void {
      affected.delete(serviceId);
      dropHeld(serviceId);
    },
    /** An attempt failed at `failedAt`, monotonic milliseconds, without an HTTP response. */
    doubt: (failedAt: number): void => watch.doubt(failedAt),
    /** The same with `failedAt` in epoch milliseconds. */
    noteDoubt: (failedAt: number): void =>
      watch.doubt(clock.monotonic() - Math.max(0, clock.now() - failedAt)),
    /** An attempt has been waiting for its response for so long that it may become slow, now. */
    noteDelay: (): void => watch.noteDelay(),
    /** Returns true if a heartbeat that is missed now counts against its service. */
    trustsMissedHeartbeat: (): boolean => watch.ruleMissedHeartbeat() === 'clear',
    get online() {
      return !outages.isOpen;
    },
    state(): ProberState {
      const { isOpen, since: offlineSince, reason } = outages;
      return { online: !isOpen, offlineSince, reason, heldResults: held.length, suspectCount };
    },
    stop: (): void => watch.stop(),
  };
}
