/**
 * Incidents (contract 2.3) of vendors and of our own checks, and the reasons for a status: codes with parameters, and their
 * English texts for the API, webhooks, feeds and English pages. Other languages are in `src/language/`.
 */
import { type Coded, isKnown, type ParamsOf, textOf } from '../coded-text.ts';
import { formatDuration, formatTime } from '../durations.ts';
import { describeFailure, type Failure, isKnownFailure } from '../failure.ts';

/** In the order in which an incident usually moves. */
export const INCIDENT_STATUSES = ['investigating', 'identified', 'monitoring', 'resolved'] as const;

export type IncidentStatus = (typeof INCIDENT_STATUSES)[number];

/** In ascending order; `maintenance` is not part of the scale (decisions, Incidents). */
export const SEVERITIES = ['minor', 'major', 'critical', 'maintenance'] as const;

export type Severity = (typeof SEVERITIES)[number];

/** Who says that there is an incident: our checks, the vendor's status page, or the owner of the service. */
export const INCIDENT_SOURCES = ['own', 'vendor', 'owner'] as const;

/** One entry of an incident's timeline. */
export interface IncidentUpdate {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly status: IncidentStatus;
  /** Plain text; in English for an own incident. */
  readonly text: string;
  /** The content of a text of ours, for other languages; absent: the vendor's words, or from before 0.2. */
  readonly note?: IncidentNote;
}

type OfResponseTime = { readonly responseTimeMs: number };

/** Every reason with its parameters. Times are milliseconds. */
const REASONS = {
  check_failed: ({ failure }: { readonly failure: Failure }) => `it ${describeFailure(failure)}`,
  slow_response: ({ responseTimeMs }: OfResponseTime) => `it took ${seconds(responseTimeMs)} to answer`,
  /** Reported by a health endpoint or a heartbeat. `message`: the sender's own words, one line; absent: none. */
  reported_down: ({ message }: { readonly message?: string }) =>
    `it reports that it is down${message === undefined ? '' : `: ${message}`}`,
  reported_slow: 'it reports that it is slow',
  reported_response_time: ({ responseTimeMs }: OfResponseTime) =>
    `it reports a response time of ${seconds(responseTimeMs)}`,
  /** `exitCode` of the process, never 0; absent: not reported. */
  run_failed: ({ exitCode }: { readonly exitCode?: number }) =>
    `it reports that a run failed${exitCode === undefined ? '' : ` with exit code ${exitCode}`}`,
  no_heartbeat: ({ silenceMs }: { readonly silenceMs: number }) =>
    `no heartbeat arrived for ${formatDuration(silenceMs)}`,
  /** `runAt`: when the schedule expected it, epoch milliseconds. */
  run_missed: ({ runAt }: { readonly runAt: number }) =>
    `no heartbeat arrived for the run of ${formatTime(runAt)}`,
  /** English text that another version recorded; it is shown as it is. */
  text: ({ text }: { readonly text: string }) => text,
};

export type StatusReasonParams = ParamsOf<typeof REASONS>;

/** Why a service is down or slow. */
export type StatusReason = Coded<StatusReasonParams>;

/** The kind of outage that opened an own incident. */
export type Outage = 'silent' | 'reports_failure' | 'errors' | 'insecure' | 'unreachable' | 'down';

const UNKNOWN_REASON = 'no reason is known';

/** After the name of the service. */
const OUTAGES: Readonly<Record<Outage, string>> = {
  silent: 'has gone silent',
  reports_failure: 'reports a failure',
  errors: 'answers with errors',
  insecure: 'cannot be reached securely',
  unreachable: 'is not reachable',
  /** For readers who are not told what kind it is. */
  down: 'is down',
};

interface TroubleParams {
  /** Of the service. */
  readonly domain: string;
  /** Reported by the service itself; false: our checks fail. */
  readonly isReported: boolean;
  /** Null: not known. */
  readonly reason: StatusReason | null;
}

interface OpeningParams extends TroubleParams {
  readonly name: string;
  readonly outage: Outage;
}

/** Our texts in the timeline of an incident, with parameters. */
const NOTES = {
  /** Always the first entry; `name` and `outage` form the title. */
  opened: ({ domain, reason }: OpeningParams) =>
    reason?.code === 'check_failed'
      ? `${domain} ${describeFailure(reason.failure)}.`
      : `${domain} is down: ${orUnknown(reason)}.`,
  failing_again: ({ domain, reason }: TroubleParams) => `${domain} is down again: ${orUnknown(reason)}.`,
  /** `reason`: why it is still slow; null: it is not. */
  recovering: ({ domain, reason }: Omit<TroubleParams, 'isReported'>) =>
    `${domain} answers again${reason === null ? '' : `, though slowly: ${describeReason(reason)}`}. We watch it.`,
  /** `checks`: number of good checks in a row. */
  resolved: ({ domain, checks }: { readonly domain: string; readonly checks: number }) =>
    `${domain} has answered ${checks} checks in a row.`,

  // Of a vendor's incident or maintenance, where the vendor writes nothing.
  vanished: 'The status page no longer lists it.',
  maintenance_began: 'The maintenance has started.',
  maintenance_over: 'The maintenance is over.',
};

/** The entries that we write with their parameters. */
export type IncidentNoteParams = ParamsOf<typeof NOTES>;

/** An entry that we write into the timeline of an incident. */
export type IncidentNote = Coded<IncidentNoteParams>;

/** The first entry in the timeline of an own incident. */
export type OpeningNote = Extract<IncidentNote, { readonly code: 'opened' }>;

export interface Incident {
  /** Unique over all sources and stable across restarts; for own incidents `own-<slug>-<start>-<seq>`. */
  readonly id: string;
  readonly serviceId: number;
  /** `owner`: the owner of the service says so. */
  readonly source: (typeof INCIDENT_SOURCES)[number];
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
  /** Number of entries before `updates`, in lists; absent: none. */
  readonly earlier?: number;
}

/** An own incident for those who may not see its service: that `name` is down, and since when. */
export function withoutTexts(incident: Incident, id: string, name: string, sourceUrl: string): Incident {
  return {
    ...incident,
    ...{ id, sourceUrl, title: describeOpening({ name, outage: 'down' }), description: '' },
    updates: incident.updates.map(({ at, status }) => ({ at, status, text: '' })),
  };
}

/** The part of a timeline that lists show, and of each text in it. The page of an incident shows all. */
export const SHORT_TIMELINE = { updates: 3, characters: 1_000 } as const;

/** The incident as lists show it: its newest entries, with the beginnings of long texts. */
export function shortened(incident: Incident): Incident {
  const { updates, description, earlier = 0 } = incident;
  const left = Math.max(0, updates.length - SHORT_TIMELINE.updates);
  const newest = updates
    .slice(left)
    .map((update) =>
      update.text.length > SHORT_TIMELINE.characters ? { ...update, text: beginningOf(update.text) } : update,
    );
  const short = { ...incident, description: beginningOf(description), updates: newest };
  return earlier + left === 0 ? short : { ...short, earlier: earlier + left };
}

/** The beginning of a text, which ends with an ellipsis if more follows. */
export function beginningOf(text: string, characters: number = SHORT_TIMELINE.characters): string {
  return text.length > characters ? `${text.slice(0, characters).replace(/[\ud800-\udbff]$/, '')}…` : text;
}

/** Why a service is down or slow, in one line that completes a sentence about it: `it took 4.2 s to answer`. */
export function describeReason(reason: StatusReason): string {
  return textOf(REASONS, reason, UNKNOWN_REASON);
}

/** As {@link describeReason}; null stays null. */
export function describeReasonOrNull(reason: StatusReason | null): string | null {
  return reason === null ? null : describeReason(reason);
}

/** The title of an own incident. */
export function describeOpening({ name, outage }: Pick<OpeningNote, 'name' | 'outage'>): string {
  return `${name} ${OUTAGES[outage]}`;
}

/** An entry that we wrote into the timeline of an incident. */
export function describeNote(note: IncidentNote): string {
  return textOf(NOTES, note, '');
}

/** The text of an entry of a timeline, with its note. */
export function noteOf(note: IncidentNote): Required<Pick<IncidentUpdate, 'text' | 'note'>> {
  return { text: describeNote(note), note };
}

/** The reason that a store has kept. `text` is the same in English: it stands where this version does not know the code. */
export function fromStoredReason(reason: StatusReason | null, text: string | null): StatusReason | null {
  if (reason !== null && isKnownReason(reason)) return reason;
  return text === null ? null : { code: 'text', text };
}

/** The timeline that a store has kept; an entry whose note this version does not know is shown by its text. */
export function fromStoredUpdates(updates: readonly IncidentUpdate[]): readonly IncidentUpdate[] {
  return updates.map((update) => {
    const { note, ...rest } = update;
    return note === undefined || isKnownNote(note) ? update : rest;
  });
}

function isKnownNote(note: IncidentNote): boolean {
  return isKnown(NOTES, note) && (!('reason' in note) || note.reason === null || isKnownReason(note.reason));
}

function isKnownReason(reason: StatusReason): boolean {
  return isKnown(REASONS, reason) && (reason.code !== 'check_failed' || isKnownFailure(reason.failure));
}

function orUnknown(reason: StatusReason | null): string {
  return reason === null ? UNKNOWN_REASON : describeReason(reason);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** The path of an incident's page. Ids may contain any character, because they include identifiers of vendors. */
export function incidentPath(page: string, id: string): string {
  return `/status/${page}/incidents/${encodeURIComponent(id)}`;
}
