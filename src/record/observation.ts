/** What the record judges: the result of a check, a heartbeat, or that none came. */
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
  /** Its number in the inbox, where another process received it. */
  readonly inboxId?: number;
}

/** What became of a heartbeat that was written. */
export interface HeartbeatReceipt {
  readonly service: Service;
  /** The status of the service after it. */
  readonly status: ServiceStatus;
  /** Largest latency reported, whole milliseconds; null: none. */
  readonly responseTimeMs: number | null;
  /** The earlier of timestamp and arrival, epoch milliseconds. */
  readonly checkedAt: number;
  /** From the start of the run that it ends, milliseconds; null: it ends none whose start is known. */
  readonly runMs: number | null;
}

/**
 * `gone`: the service was removed or moved to another account. `unavailable`: it could not be written. Otherwise why the
 * registry takes no writes at all.
 */
export type HeartbeatEnd = HeartbeatReceipt | 'gone' | 'unavailable' | StorageRefusal;

/** A heartbeat on its way through the record. */
export interface HeartbeatObservation {
  readonly via: 'heartbeat';
  readonly received: ReceivedHeartbeat;
  /** Called once, when it is written or is not going to be. */
  readonly settle: (end: HeartbeatEnd) => void;
}

/** A deadline passed without a heartbeat. */
export interface SilenceObservation {
  readonly via: 'silence';
  /** Epoch milliseconds. */
  readonly deadlineAt: number;
  /** How long the service was to be silent at most, milliseconds. */
  readonly silenceMs: number;
}

/** Told apart by `via`; that of a result of a check is `root` or `health`. */
export type Observation = CheckResult | HeartbeatObservation | SilenceObservation;

/** Whether it is the result of a check. */
export function isResult(observation: Observation): observation is CheckResult {
  return observation.via === 'root' || observation.via === 'health';
}

/** A heartbeat that we cannot take though nothing is wrong with it: the fault is ours. */
export class HeartbeatRefused extends Error {
  readonly code: 'unavailable' | StorageRefusal;

  constructor(message: string, code: HeartbeatRefused['code'] = 'unavailable') {
    super(message);
    this.code = code;
  }
}
