/**
 * Services that are down and depend on others: whether each fails by itself, which the own incident waits for, and which of their checks
 * count (docs/adr/0034). What could not be reached is left out of uptime, as what our own connection may have caused is.
 */
import { BoundedMap, getOrInsert } from '../async/bounded-map.ts';
import type { Clock } from '../clock.ts';
import { type CheckTiming, timingOf } from '../domain/check-target.ts';
import { sampleOfLatest } from '../domain/heartbeat/heartbeat-rules.ts';
import type { StatusReason } from '../domain/incident/incident.ts';
import type { Sample } from '../domain/sample.ts';
import type { Service } from '../domain/service.ts';
import type { Transition } from '../domain/status/current.ts';
import {
  type Ancestor,
  beginReach,
  isWithin,
  lookAtOf,
  nextReach,
  type PastOutage,
  type Reach,
  SETTLE_MS,
  waitEndOf,
} from '../domain/status/reach.ts';
import type { OwnOutage } from './observation.ts';
import type { TrackedService } from './tracked-services.ts';

/** Its dependencies in the record. */
export interface ReachOptions {
  readonly serviceOf: (serviceId: number) => TrackedService | undefined;
  /** IDs of all that a service depends on, directly or through others, the nearest first; absent: none depends on another one. */
  readonly ancestorsOf?: (service: Service) => readonly number[];
  readonly usual: CheckTiming;
  /** Checks services as soon as slots are free. */
  readonly recheck?: (serviceIds: readonly number[]) => void;
  /** Called with a service that turns out to be down by itself. */
  readonly onAlone: (tracked: TrackedService, outage: OwnOutage) => void;
  /** Stores a sample in place of the one with its time. */
  readonly addSample: (sample: Sample) => void;
  /** Called after each look. */
  readonly onLooked: () => void;
  readonly clock: Clock;
}

/** Maximum number of outages that are remembered. */
const MAX_OUTAGES = 10_000;
/** Maximum number of samples of a service that may turn out not to count, and of services with such samples. */
const MAX_RECENT = 20;
const MAX_DOUBTED = 10_000;
/** A service is asked again after this time, milliseconds. */
const ASK_AGAIN_MS = 10_000;

interface Down {
  readonly reach: Reach;
  readonly reason: StatusReason | null;
  /** One that it depends on was down meanwhile. */
  readonly wasBehind: boolean;
}

/** The newest outage of a service, epoch milliseconds; `to` null: it lasts. */
interface Outage {
  readonly from: number;
  readonly to: number | null;
  /** The clock minus the monotonic one when it was noted, milliseconds. */
  readonly offsetMs: number;
}

/** The services that are down and depend on others. */
export class Reaches {
  readonly #options: ReachOptions;
  readonly #down = new Map<number, Down>();
  /** Failures of which it is not known whether they count. */
  readonly #recent = new BoundedMap<number, Sample[]>(MAX_DOUBTED);
  readonly #outages = new BoundedMap<number, Outage>(MAX_OUTAGES);
  /** The time at which each service was asked last, by the monotonic clock. */
  readonly #asked = new BoundedMap<number, number>(MAX_OUTAGES);
  #cancel = (): void => {};
  #looksSoon = false;
  #isStopped = false;

  constructor(options: ReachOptions) {
    this.#options = options;
  }

  /** The sample as it counts: a failure of what cannot be reached is suspect. */
  readonly judge = (sample: Sample): Sample => {
    if (sample.status !== 'down' || sample.suspect) return sample;
    const tracked = this.#options.serviceOf(sample.serviceId);
    // What a service reports of itself has reached us.
    if (tracked?.service.dependsOn === undefined || isReport(tracked.service, sample)) return sample;
    const { phase, since } = this.#down.get(sample.serviceId)?.reach ?? { phase: 'asking', since: 0 };
    const isUnreached = phase === 'behind' || (phase === 'settling' && sample.at < since + SETTLE_MS);
    if (isUnreached || this.#wasUnreached(tracked.service, sample.at)) return { ...sample, suspect: true };
    if (phase !== 'open') this.#doubt(sample);
    return sample;
  };

  /** Follows a service that is loaded while it is down. */
  restore({ service, current, openIncident }: TrackedService): void {
    const since = current.since ?? current.observedAt;
    if (current.status !== 'down') {
      if (openIncident?.status === 'monitoring')
        this.#noteOutage(service.id, openIncident.startedAt, Math.max(openIncident.startedAt, since));
      return;
    }
    this.#noteOutage(service.id, since, null);
    if (service.dependsOn === undefined) return;
    const isOpen = openIncident !== null && openIncident.status !== 'monitoring';
    const reach: Reach = {
      phase: isOpen ? 'open' : 'asking',
      since: this.#options.clock.now(),
      ancestors: [],
    };
    this.#down.set(service.id, { reach, reason: null, wasBehind: false });
    if (isOpen) return;
    if (current.latest?.status === 'down' && current.regions === undefined)
      this.#doubt(sampleOfLatest(service.id, current.latest, current.latest.responseTimeMs));
    this.#schedule();
  }

  /** Notes a transition, which the service has made by now. */
  readonly note = ({ serviceId, from, to, at, reason }: Transition): void => {
    if (from === to) return;
    if (to === 'down') this.#noteOutage(serviceId, at, null);
    else if (from === 'down') this.#noteOutage(serviceId, this.#outageOf(serviceId)?.from ?? at, at);
    const tracked = this.#options.serviceOf(serviceId);
    if (tracked?.service.dependsOn !== undefined) {
      if (to === 'down') this.#begin(tracked, at, reason);
      else this.#end(tracked);
    }
    if (this.#down.size > 0) this.#lookSoon();
  };

  /** Returns true if a service that has recovered was down by itself since `since`, epoch milliseconds, as far as that is known. */
  readonly wasAlone = (service: Service, since: number): boolean => {
    const { phase } = this.#down.get(service.id)?.reach ?? { phase: 'asking' };
    return (phase === 'asking' || phase === 'open') && !this.#wasUnreached(service, since);
  };

  /** The newest outage of a service, if it is over; null: it lasts, or none is remembered. */
  readonly lastOutageOf = (serviceId: number): PastOutage | null => {
    const { from = 0, to = null } = this.#outageOf(serviceId) ?? {};
    return to === null ? null : { from, to };
  };

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  #begin(tracked: TrackedService, failedAt: number, reason: StatusReason | null): void {
    const { id, check } = tracked.service;
    const now = this.#options.clock.now();
    const ancestors = this.#ancestorsOf(tracked.service);
    const isReported = check.kind === 'heartbeat' && tracked.current.latest?.source === 'heartbeat';
    if (isReported || ancestors.length === 0) {
      const reach: Reach = { phase: 'open', since: now, ancestors: [] };
      this.#down.set(id, { reach, reason, wasBehind: false });
      this.#recent.delete(id);
      this.#options.onAlone(tracked, { startedAt: null, reason });
      return;
    }
    const { reach, asks } = beginReach(ancestors, failedAt, now);
    this.#take(tracked, { reach, reason, wasBehind: reach.phase !== 'asking' && reach.phase !== 'open' });
    this.#ask(asks);
  }

  #end({ service: { id }, service }: TrackedService): void {
    const recent = this.#recent.get(id) ?? [];
    this.#down.delete(id);
    this.#recent.delete(id);
    this.#leaveOut(service, recent);
  }

  /** Leaves out those failures that fall in an outage of what the service depends on. */
  #leaveOut(service: Service, failures: readonly Sample[]): void {
    for (const sample of failures)
      if (this.#wasUnreached(service, sample.at)) this.#options.addSample({ ...sample, suspect: true });
  }

  /** Looks once after all transitions of this turn: thousands may be behind one router. */
  #lookSoon(): void {
    if (this.#looksSoon) return;
    this.#looksSoon = true;
    this.#options.clock.after(0, () => this.#look());
  }

  /** Brings all services that are down up to this moment. */
  #look(): void {
    this.#looksSoon = false;
    if (this.#isStopped) return;
    const now = this.#options.clock.now();
    for (const [id, down] of this.#down) {
      const tracked = this.#options.serviceOf(id);
      if (tracked === undefined || tracked.service.paused || tracked.current.status !== 'down') {
        this.#down.delete(id);
        this.#recent.delete(id);
        continue;
      }
      const ancestors = this.#ancestorsOf(tracked.service);
      const checkedAt = tracked.current.latest?.checkedAt ?? null;
      const before = notAfter(down.reach, now);
      // What a service depends on may be known later than the service.
      const isLoading = before.phase === 'asking' && before.ancestors.length === 0 && waitEndOf(before) > now;
      const { reach, asks } =
        ancestors.length > 0
          ? nextReach({ id, checkedAt }, ancestors, before, now)
          : { reach: isLoading ? before : { ...before, phase: 'open' as const }, asks: [] };
      if (reach.phase !== down.reach.phase || reach.since !== down.reach.since)
        this.#take(
          tracked,
          {
            ...down,
            reach,
            wasBehind: down.wasBehind || (reach.phase !== 'asking' && reach.phase !== 'open'),
          },
          down,
        );
      this.#ask(asks);
      if (reach.phase === 'asking')
        this.#ask(ancestors.filter((one) => (one.checkedAt ?? 0) < reach.since).map((one) => one.id));
    }
    this.#options.onLooked();
    this.#schedule();
  }

  #take(tracked: TrackedService, down: Down, before?: Down): void {
    const { id } = tracked.service;
    const { phase } = down.reach;
    this.#down.set(id, down);
    if (before?.reach.phase === phase || phase === 'asking') return;
    const recent = this.#recent.get(id) ?? [];
    this.#recent.delete(id);
    if (phase !== 'open') {
      this.#leaveOut(tracked.service, recent);
      return;
    }
    // What could not be reached and still fails when that is over is down by itself from that check on.
    const { since, latest } = tracked.current;
    const wasBehind = down.wasBehind || (since !== null && this.#wasUnreached(tracked.service, since));
    const startedAt = wasBehind ? (latest?.checkedAt ?? null) : null;
    this.#options.onAlone(tracked, { startedAt, reason: down.reason });
  }

  #ask(serviceIds: readonly number[]): void {
    const now = this.#options.clock.monotonic();
    const asked = serviceIds.filter(
      (id) => (this.#asked.get(id) ?? Number.NEGATIVE_INFINITY) + ASK_AGAIN_MS <= now,
    );
    for (const id of asked) this.#asked.set(id, now);
    if (asked.length > 0) this.#options.recheck?.(asked);
  }

  #schedule(): void {
    this.#cancel();
    this.#cancel = (): void => {};
    const now = this.#options.clock.now();
    let at = Number.POSITIVE_INFINITY;
    for (const { reach } of this.#down.values()) at = Math.min(at, lookAtOf(reach, now));
    if (Number.isFinite(at) && !this.#isStopped)
      this.#cancel = this.#options.clock.after(Math.max(0, at - now), () => this.#look());
  }

  #doubt(sample: Sample): void {
    const recent = getOrInsert(this.#recent, sample.serviceId, () => []);
    recent.push(sample);
    if (recent.length > MAX_RECENT) recent.shift();
  }

  #noteOutage(serviceId: number, from: number, to: number | null): void {
    const { clock } = this.#options;
    this.#outages.set(serviceId, { from, to, offsetMs: clock.now() - clock.monotonic() });
  }

  /** The newest outage of a service by the clock as it is, which may have been set back since; null: none is remembered. */
  #outageOf(serviceId: number): Omit<Outage, 'offsetMs'> | null {
    const { serviceOf, clock } = this.#options;
    const outage = this.#outages.get(serviceId);
    const current = serviceOf(serviceId)?.current;
    // Of transitions that are committed together, each is noted in its turn.
    if (current?.status === 'down' && outage?.to !== null)
      return { from: current.since ?? current.observedAt, to: null };
    if (outage === undefined) return null;
    const byMs = Math.min(0, clock.now() - clock.monotonic() - outage.offsetMs);
    return { from: outage.from + byMs, to: outage.to === null ? null : outage.to + byMs };
  }

  /**
   * Returns true if something that the service depends on was down at `at`, epoch milliseconds, or so close to it that this is
   * the cause.
   */
  #wasUnreached(service: Service, at: number): boolean {
    return this.#ancestorIds(service).some((id) => {
      const one = this.#options.serviceOf(id);
      const outage = this.#outageOf(id);
      if (one === undefined || one.service.paused || outage === null) return false;
      const { intervalMs } = timingOf(one.service.check, this.#options.usual);
      // What is checked no more is known to be down until two intervals after its last check.
      const knownTo = (one.current.latest?.checkedAt ?? outage.from) + 2 * intervalMs - SETTLE_MS;
      const isBeat = one.service.check.kind === 'heartbeat';
      const lastTo = isBeat ? Number.POSITIVE_INFINITY : Math.max(outage.from, knownTo);
      return isWithin({ from: outage.from, to: outage.to ?? lastTo }, at);
    });
  }

  #ancestorsOf(service: Service): readonly Ancestor[] {
    return this.#ancestorIds(service).map((id) => this.#ancestorOf(id));
  }

  /** Of two that depend on each other by mistake, none is the cause of the other. */
  #ancestorIds(service: Service): readonly number[] {
    const { ancestorsOf = () => [], serviceOf } = this.#options;
    return ancestorsOf(service).filter((id) => {
      const one = serviceOf(id)?.service;
      return one?.dependsOn === undefined || !ancestorsOf(one).includes(service.id);
    });
  }

  #ancestorOf(id: number): Ancestor {
    const tracked = this.#options.serviceOf(id);
    // It is loaded with the result of its next check at the latest.
    if (tracked === undefined) return { ...UNLOADED, id };
    const { service, current } = tracked;
    const { usual, clock } = this.#options;
    const isProbed = service.check.kind !== 'heartbeat';
    const checkedAt = current.latest?.checkedAt ?? null;
    const isOld = clock.now() - (checkedAt ?? 0) > 2 * timingOf(service.check, usual).intervalMs;
    return {
      id,
      status: current.status,
      isPaused: service.paused,
      isStale: isProbed && isOld,
      isProbed,
      checkedAt,
      lastOutage: this.lastOutageOf(id),
    };
  }
}

/** A service that is not loaded yet: how it is has to be asked. */
const UNLOADED: Omit<Ancestor, 'id'> = {
  status: 'up',
  isPaused: false,
  isStale: true,
  isProbed: true,
  checkedAt: null,
  lastOutage: null,
};

/** The reach with no time after `now`, epoch milliseconds: where the clock was set back, it begins now. */
function notAfter(reach: Reach, now: number): Reach {
  const { since, settlesSince = since } = reach;
  if (Math.max(since, settlesSince) <= now) return reach;
  const settles = reach.settlesSince === undefined ? {} : { settlesSince: Math.min(settlesSince, now) };
  return { ...reach, since: Math.min(since, now), ...settles };
}

/** Returns true if a sample of a failure is a heartbeat that says so, and not one that is missing. */
function isReport({ check }: Service, { statusCode }: Sample): boolean {
  return check.kind === 'heartbeat' && statusCode !== 0;
}
