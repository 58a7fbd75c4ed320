/** The input of the record: a check result, a heartbeat, a missed heartbeat, or that a service is down by itself; and batches of results. */
import { atMostEvery } from '../async/at-most-every.ts';
import type { Clock } from '../clock.ts';
import { MINUTE_MS } from '../domain/durations.ts';
import type { HeartbeatReport } from '../domain/heartbeat/heartbeat-body.ts';
import type { StatusReason } from '../domain/incident/incident.ts';
import type { CheckResult } from '../domain/result.ts';
import type { Service } from '../domain/service.ts';
import type { ServiceStatus } from '../domain/status.ts';
import type { Log } from '../log.ts';
import type { StorageRefusal } from '../store/ports/storage-health.ts';

export interface ReceivedHeartbeat {
  readonly report: HeartbeatReport;
  /** The account of the API key that sent it. */
  readonly accountId: number;
  /** Epoch milliseconds. */
  readonly arrivedAt: number;
  /** The body as received. */
  readonly body: string;
  /** Its ID in the inbox; absent: this process received the heartbeat itself. */
  readonly inboxId?: number;
}

export interface HeartbeatObservation {
  readonly via: 'heartbeat';
  readonly received: ReceivedHeartbeat;
}

/** A deadline passed without a heartbeat. */
export interface MissedHeartbeat {
  readonly via: 'missed';
  /** Epoch milliseconds. */
  readonly deadlineAt: number;
  /** The time for which the service may be silent, milliseconds. */
  readonly silenceMs: number;
}

/** A check result of a node. The node has already applied the offline rule. */
export interface RegionalResult {
  readonly via: 'region';
  readonly result: CheckResult;
  /** The region in which the check was made. */
  readonly region: string;
  /** Time of delivery, epoch milliseconds of the same clock as the times of the result. */
  readonly deliveredAt: number;
  /** The regions that have a vote now; empty: not known. */
  readonly voting: readonly string[];
}

export interface OwnOutage {
  /** Null: from the beginning of its status on. Epoch milliseconds. */
  readonly startedAt: number | null;
  /** Why it went down; null: not known. */
  readonly reason: StatusReason | null;
}

/** A service that is down and depends on others turns out to be down by itself. */
export interface AloneObservation extends OwnOutage {
  readonly via: 'alone';
}

/** Told apart by `via`, which is a kind of check for a check result of this process. */
export type Observation =
  | CheckResult
  | RegionalResult
  | HeartbeatObservation
  | MissedHeartbeat
  | AloneObservation;

/** The check result of the observation; null: it is another one. */
export function checkResultOf(observation: CheckResult | RegionalResult): CheckResult;
export function checkResultOf(observation: Observation): CheckResult | null;
export function checkResultOf(observation: Observation): CheckResult | null {
  if (observation.via === 'region') return observation.result;
  const isResult =
    observation.via !== 'heartbeat' && observation.via !== 'missed' && observation.via !== 'alone';
  return isResult ? observation : null;
}

/**
 * Maximum time by which a result may be ahead of its delivery, milliseconds. Clocks of nodes are corrected only from a
 * difference of 1 s on.
 */
const MAX_SKEW_MS = 5_000;

/**
 * A current status later than this time, epoch milliseconds, shows that the clock was set back. Otherwise, a result
 * that is older than the current status was delivered twice or overtaken.
 */
export function setBackLimit(observation: Observation, now: number): number {
  return observation.via === 'region' ? observation.deliveredAt + MAX_SKEW_MS : now;
}

/** The outcome of a heartbeat that was committed. */
export interface HeartbeatReceipt {
  readonly service: Service;
  /** The status of the service after it. */
  readonly status: ServiceStatus;
  /** Largest latency reported, whole milliseconds; null: none. */
  readonly responseTimeMs: number | null;
  /** The earlier of timestamp and arrival, epoch milliseconds. */
  readonly checkedAt: number;
  /** Duration of the run that the heartbeat ends, milliseconds; null: it ends no run whose start is known. */
  readonly runMs: number | null;
}

/**
 * The end of a heartbeat. `gone`: the service was removed or moved to another account. `unavailable`: it was not committed. A
 * {@link StorageRefusal}: the registry accepts no writes at present.
 */
export type HeartbeatEnd = HeartbeatReceipt | 'gone' | 'unavailable' | StorageRefusal;

/** A valid heartbeat that could not be committed because of a fault of this program. The sender should send it again. */
export class HeartbeatRefused extends Error {
  readonly code: 'unavailable' | StorageRefusal;

  constructor(message: string, code: HeartbeatRefused['code'] = 'unavailable') {
    super(message);
    this.code = code;
  }
}

/** Minimum time between two log entries about observations that were dropped. */
const DROPPED_LOG_INTERVAL_MS = MINUTE_MS;

/** Counts the observations that were dropped because too many waited for one service, and tells the log. */
export function createDropCounter({ monotonic }: Clock, log: Log) {
  const mayLog = atMostEvery(DROPPED_LOG_INTERVAL_MS, monotonic);
  let dropped = 0;
  return {
    note(): void {
      dropped++;
      if (mayLog())
        log.warn({ dropped }, 'observations were dropped: the registry was unavailable for too long');
    },
    count: (): number => dropped,
  };
}

export interface ResultBatch {
  /** Adds a hold: another part is in progress. */
  hold(): void;
  /** Releases a hold. `isCommitted`: false if the part was dropped at stop. */
  release(isCommitted: boolean): void;
  /** Resolves when all parts have ended; false: at least one was dropped. */
  readonly ended: Promise<boolean>;
}

/** Creates a batch with one hold, which the caller must release. */
export function createResultBatch(): ResultBatch {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let parts = 1;
  let isWhole = true;
  return {
    ended: promise,
    hold(): void {
      parts += 1;
    },
    release(isCommitted): void {
      isWhole &&= isCommitted;
      parts -= 1;
      if (parts === 0) resolve(isWhole);
    },
  };
}
