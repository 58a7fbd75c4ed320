/**
 * The offline rule: whether a result says something of its service, or of the prober's own connection (decisions,
 * "When the prober itself is offline, nothing is down").
 */
import type { Clock } from '../clock.ts';
import { judgeAttempt } from '../domain/judge.ts';
import type { CheckResult } from '../domain/result.ts';
import type { Log } from '../log.ts';
import { type CheckSpan, type ProberState, type Ruling, spanOf } from './connection-watch.ts';
import { createControlWatch } from './control-watch.ts';
import { createMajorityWatch } from './majority-watch.ts';

/** What the rule needs. */
export interface ConnectivityOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** A good response that takes longer is `slow`, milliseconds. */
  readonly slowOverMs: number;
  /** How many control targets are configured; 0: the majority of the fleet decides (decisions). */
  readonly controlTargets: number;
  /** True: at least one control target responded. No response within 3 s, or a rejection, counts as no. */
  readonly queryControlTargets: () => Promise<boolean>;
  /** How many services are checked at present. */
  readonly fleetSize: () => number;
  /** The prober went offline or online, or held results may be decided: the time for {@link Connectivity.takeDecided}. */
  readonly onChange: () => void;
}

/** `suspect`: the fault may be ours. `held`: not known yet; the result is kept until it is. */
export type Trust = 'trusted' | 'suspect' | 'held';

/** A result that was held, and what was decided. */
export interface DecidedResult {
  readonly result: CheckResult;
  readonly trust: Exclude<Trust, 'held'>;
}

interface HeldResult {
  readonly result: CheckResult;
  readonly span: CheckSpan;
}

/** Makes the rule; the prober counts as online until the opposite is known. */
export function createConnectivity(options: ConnectivityOptions) {
  const { clock, log, slowOverMs, controlTargets, queryControlTargets: ask, fleetSize, onChange } = options;
  const watch =
    controlTargets > 0
      ? createControlWatch({ clock, log, onChange, controlTargets, ask })
      : createMajorityWatch({ clock, log, onChange, fleetSize });
  const { outages } = watch;
  let held: HeldResult[] = [];
  const affected = new Set<number>();
  let suspectCount = 0;

  /** An error status or a slow response may come from a proxy or a jam on the way only while the prober is offline. */
  function ruleOn({ result, span }: HeldResult): Ruling {
    if (result.statusCode === 0) return watch.rule(span);
    const verdict = judgeAttempt(result, slowOverMs);
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
     * Rules on a result; one that is `held` comes out of {@link takeDecided} later. `toMonotonic` is what turns its wall
     * times into monotonic ones, milliseconds.
     */
    rule(result: CheckResult, toMonotonic: number): Trust {
      const hasResponse = result.statusCode !== 0;
      const answer = hasResponse ? (result.firstFailedAt === null ? 'first' : 'later') : 'none';
      const beganAt = result.firstFailedAt ?? result.startedAt;
      watch.note(result.serviceId, beganAt + toMonotonic, result.endedAt + toMonotonic, answer);
      if (hasResponse && result.suspect === null && judgeAttempt(result, slowOverMs) === 'up')
        return 'trusted';
      // An own fault with a response is suspect whatever the connection. Without one it may be the first sign of an outage.
      if (hasResponse && result.suspect !== null) return decide(result, 'clear');
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
    /** All held results, oldest first. They are kept no longer. */
    takeHeld(): readonly CheckResult[] {
      const results = held.map(({ result }) => result);
      held = [];
      suspectCount += results.length;
      return results;
    },
    /** Services that had suspect results while the prober was offline. Empty while it is; each is returned once. */
    takeAffected(): readonly number[] {
      if (affected.size === 0 || outages.isOpen) return [];
      const serviceIds = [...affected];
      affected.clear();
      return serviceIds;
    },
    /** Drops the held results of a service whose definition has changed. */
    dropHeld,
    /** The service was removed. */
    forget(serviceId: number): void {
      affected.delete(serviceId);
      dropHeld(serviceId);
    },
    /** An attempt failed at `failedAt`, monotonic milliseconds, without an HTTP response. */
    doubt: watch.doubt,
    /** An attempt has been waiting for its response for so long that it may become slow, now. */
    noteDelay: watch.noteDelay,
    /** Whether a missed heartbeat, now, says something of its service. */
    trustsMissedHeartbeat: (): boolean => watch.ruleMissedHeartbeat() === 'clear',
    get online() {
      return !outages.isOpen;
    },
    state(): ProberState {
      const { isOpen, since: offlineSince, reason } = outages;
      return { online: !isOpen, offlineSince, reason, heldResults: held.length, suspectCount };
    },
    stop: watch.stop,
  };
}
