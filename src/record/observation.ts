/** The input of the record: a check result, a heartbeat or a missed heartbeat. */
import type { HeartbeatReport } from '../domain/heartbeat-body.ts';
import type { CheckResult } from '../domain/result.ts';
import type { Service } from '../domain/service.ts';
import type { ServiceStatus } from '../domain/status.ts';
import type { StorageRefusal } from '../store/ports/storage-health.ts';

/** A heartbeat as the API received it. */
export interface ReceivedHeartbeat {
  readonly report: HeartbeatReport;
  /** The account of its key. */
  readonly accountId: number;
  /** Epoch milliseconds. */
  readonly arrivedAt: number;
  /** As it was received. */
  readonly body: string;
  /** Its number in the inbox; absent: this process received it. */
  readonly inboxId?: number;
}

/** A heartbeat in the pipeline of the record. */
export interface HeartbeatObservation {
  readonly via: 'heartbeat';
  readonly received: ReceivedHeartbeat;
}

/** A deadline passed without a heartbeat. */
export interface MissedHeartbeat {
  readonly via: 'missed';
  /** Epoch milliseconds. */
  readonly deadlineAt: number;
  /** How long the service may be silent, milliseconds. */
  readonly silenceMs: number;
}

/** A check result of a node, which has passed the offline rule there. */
export interface RegionalResult {
  readonly via: 'region';
  readonly result: CheckResult;
  /** Where it was made. */
  readonly region: string;
  /** When it was delivered, by the clock that its times go by; epoch milliseconds. */
  readonly deliveredAt: number;
  /** The regions that have a vote now; empty: not known. */
  readonly voting: readonly string[];
}

/** Told apart by `via`, which is `root` or `health` for a check result of this process. */
export type Observation = CheckResult | RegionalResult | HeartbeatObservation | MissedHeartbeat;

/** The check result of the observation; null: it is a heartbeat or a missed one. */
export function checkResultOf(observation: CheckResult | RegionalResult): CheckResult;
export function checkResultOf(observation: Observation): CheckResult | null;
export function checkResultOf(observation: Observation): CheckResult | null {
  if (observation.via === 'region') return observation.result;
  return observation.via === 'root' || observation.via === 'health' ? observation : null;
}

/**
 * How far the times of a result may be ahead of the time of its delivery, milliseconds: clocks of nodes are corrected from
 * a difference of 1 s on.
 */
const MAX_SKEW_MS = 5_000;

/**
 * A current status that is later than this, epoch milliseconds, shows that the clock was set back; any other is newer than
 * a result that is older, which then was delivered twice or overtaken.
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
  /** Duration of the run that it ends, milliseconds; null: it ends no run whose start is known. */
  readonly runMs: number | null;
}

/**
 * How a heartbeat ended. `gone`: the service was removed or moved to another account. `unavailable`: it was not
 * committed. A {@link StorageRefusal}: the registry takes no writes at present.
 */
export type HeartbeatEnd = HeartbeatReceipt | 'gone' | 'unavailable' | StorageRefusal;

/** A valid heartbeat that could not be committed. The fault is ours; the sender should send it again. */
export class HeartbeatRefused extends Error {
  readonly code: 'unavailable' | StorageRefusal;

  constructor(message: string, code: HeartbeatRefused['code'] = 'unavailable') {
    super(message);
    this.code = code;
  }
}
