/** Incidents (contract 2.3) of vendors and of our own checks, and the reasons for a status: codes with parameters. */
import type { Coded, NoParams } from './coded-text.ts';
import type { Failure } from './failure.ts';

/** In the order in which an incident usually moves. */
export const INCIDENT_STATUSES = ['investigating', 'identified', 'monitoring', 'resolved'] as const;

/** State of an incident. */
export type IncidentStatus = (typeof INCIDENT_STATUSES)[number];

/** In ascending order; `maintenance` is not part of the scale (decisions, Incidents). */
export const SEVERITIES = ['minor', 'major', 'critical', 'maintenance'] as const;

/** Severity of an incident. */
export type Severity = (typeof SEVERITIES)[number];

/** One entry of an incident's timeline. */
export interface IncidentUpdate {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly status: IncidentStatus;
  /** Plain text; in English for an own incident. */
  readonly text: string;
  /** What a text of ours says, for other languages; absent: the vendor's words, or from before 0.2. */
  readonly note?: IncidentNote;
}

/** Every reason with its parameters. Times are milliseconds. */
export interface StatusReasonParams {
  readonly check_failed: { readonly failure: Failure };
  readonly slow_response: { readonly responseTimeMs: number };
  /** Reported by a health endpoint or a heartbeat. */
  readonly reported_down: NoParams;
  readonly reported_slow: NoParams;
  readonly reported_response_time: { readonly responseTimeMs: number };
  readonly run_failed: NoParams;
  readonly no_heartbeat: { readonly silenceMs: number };
  /** English text that another version recorded; it is shown as it is. */
  readonly text: { readonly text: string };
}

/** Why a service is down or slow. */
export type StatusReason = Coded<StatusReasonParams>;

/** What kind of outage opened an own incident. */
export type Outage = 'silent' | 'reports_failure' | 'errors' | 'insecure' | 'unreachable';

/** What we write into the timeline of an incident, with parameters. `domain` is the service's. */
export interface IncidentNoteParams {
  /** Always the first entry; `name` and `outage` form the title. */
  readonly opened: TroubleParams & { readonly name: string; readonly outage: Outage };
  readonly failing_again: TroubleParams;
  /** `reason`: why it is still slow; null: it is not. */
  readonly recovering: { readonly domain: string; readonly reason: StatusReason | null };
  /** `checks`: number of good checks in a row. */
  readonly resolved: { readonly domain: string; readonly checks: number };

  // Of a vendor's incident or maintenance, where the vendor writes nothing.
  readonly vanished: NoParams;
  readonly maintenance_began: NoParams;
  readonly maintenance_over: NoParams;
}

interface TroubleParams {
  readonly domain: string;
  /** Reported by the service itself; false: our checks fail. */
  readonly isReported: boolean;
  /** Null: not known. */
  readonly reason: StatusReason | null;
}

/** An entry that we write into the timeline of an incident. */
export type IncidentNote = Coded<IncidentNoteParams>;

/** The first entry in the timeline of an own incident. */
export type OpeningNote = Extract<IncidentNote, { readonly code: 'opened' }>;

/** An incident of one service. */
export interface Incident {
  /** Unique over all sources and stable across restarts; for own incidents `own-<serviceId>-<seq>`. */
  readonly id: string;
  readonly serviceId: number;
  readonly source: 'own' | 'vendor';
  readonly title: string;
  /** Plain text, never markup. */
  readonly description: string;
  readonly severity: Severity;
  readonly status: IncidentStatus;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Null while it is unresolved. */
  readonly resolvedAt: number | null;
  readonly sourceUrl: string;
  /** Good checks in a row since it went to `monitoring`; 0 otherwise. Own incidents only. */
  readonly goodChecks: number;
  /** Oldest first. */
  readonly updates: readonly IncidentUpdate[];
}
