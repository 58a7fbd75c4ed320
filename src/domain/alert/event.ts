/** Events that alerts are made from: the registry appends one to an ordered feed in the transaction of each change. */
import type { Phase } from '../failure.ts';
import type { IncidentStatus, Severity, StatusReason } from '../incident/incident.ts';
import type { Scope } from '../status/current.ts';
import type { ServiceStatus, Verdict } from '../status.ts';

export interface EventIncident {
  readonly id: string;
  /** `owner`: the owner of the service or page says so. */
  readonly source: 'own' | 'vendor' | 'owner';
  readonly title: string;
  readonly text: string;
  readonly severity: Severity;
  readonly status: IncidentStatus;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Page of the incident. */
  readonly url: string;
}

export type AlertChange =
  | {
      readonly type: 'status';
      readonly from: ServiceStatus;
      readonly to: Verdict;
      /** Who found it: a check, a heartbeat, or that none came. */
      readonly source: 'check' | 'heartbeat' | 'silence';
      readonly reason: StatusReason | null;
      /** Null: it is not a failure of a check. */
      readonly phase: Phase | null;
      /** The last good check or heartbeat before it, epoch milliseconds; null: not known. */
      readonly lastGoodAt: number | null;
      /** Regions in which it fails; empty: at most one region checks. */
      readonly regions: readonly string[];
    }
  | {
      readonly type: 'scope';
      readonly from: Scope | null;
      readonly to: Scope | null;
      readonly regions: readonly string[];
    }
  | {
      readonly type: 'incident';
      /** Null: it is new. */
      readonly before: IncidentStatus | null;
      readonly incident: EventIncident;
    }
  | {
      readonly type: 'maintenance';
      /** The same in all events of one maintenance: of a recurring one, of one occurrence. */
      readonly id: string;
      /** `owner`: alerts about the service are held while it runs. */
      readonly source: 'vendor' | 'owner';
      readonly phase: 'planned' | 'running' | 'ended';
      readonly title: string;
      readonly text: string;
      readonly startsAt: number;
      readonly endsAt: number | null;
      readonly url: string;
    }
  | {
      readonly type: 'certificate';
      /** End of the certificate, epoch milliseconds. */
      readonly endsAt: number;
      /** The threshold that was reached: 21, 7 or 1. */
      readonly days: number;
    };

export interface AlertEvent {
  /** Position in the feed, from 1; increases, with gaps. */
  readonly position: number;
  readonly serviceId: number;
  /** The time at which it happened, epoch milliseconds: for `down` the start of the first failed attempt. */
  readonly at: number;
  /** The time at which it was written, epoch milliseconds. */
  readonly recordedAt: number;
  readonly change: AlertChange;
}
