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

/** A heartbeat that is on its way through the record. */
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

/** Told apart by `via`, which is `root` or `health` for a check result. */
export type Observation = CheckResult | HeartbeatObservation | MissedHeartbeat;

/** Whether the observation is a check result. */
export function isCheckResult(observation: Observation): observation is CheckResult {
  return observation.via === 'root' || observation.via === 'health';
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
