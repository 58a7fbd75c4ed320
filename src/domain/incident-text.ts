/** Reasons and own incidents in English: the texts of the API, webhooks, feeds and English pages. */
import { isKnown, type TextTable, textOf } from './coded-text.ts';
import { formatDuration } from './durations.ts';
import { describeFailure, isKnownFailure } from './failure-text.ts';
import type {
  IncidentNote,
  IncidentNoteParams,
  IncidentUpdate,
  OpeningNote,
  Outage,
  StatusReason,
  StatusReasonParams,
} from './incident.ts';

const REASONS: TextTable<StatusReasonParams> = {
  check_failed: ({ failure }) => describeFailure(failure),
  slow_response: ({ responseTimeMs }) => `it took ${seconds(responseTimeMs)} to answer`,
  reported_down: 'it reports that it is down',
  reported_slow: 'it reports that it is slow',
  reported_response_time: ({ responseTimeMs }) => `it reports a response time of ${seconds(responseTimeMs)}`,
  run_failed: 'it reports that a run failed',
  no_heartbeat: ({ silenceMs }) => `no heartbeat arrived for ${formatDuration(silenceMs)}`,
  text: ({ text }) => text,
};

const UNKNOWN_REASON = 'no reason is known';

/** After the name of the service. */
const OUTAGES: Readonly<Record<Outage, string>> = {
  silent: 'has gone silent',
  reports_failure: 'reports a failure',
  errors: 'answers with errors',
  insecure: 'cannot be reached securely',
  unreachable: 'is not reachable',
};

const NOTES: TextTable<IncidentNoteParams> = {
  opened: ({ domain, isReported, reason }) => `${trouble(domain, isReported)}: ${orUnknown(reason)}.`,
  failing_again: ({ domain, isReported, reason }) =>
    `${trouble(domain, isReported)} again: ${orUnknown(reason)}.`,
  recovering: ({ domain, reason }) =>
    `${domain} answers again${reason === null ? '' : `, though slowly: ${describeReason(reason)}`}. We watch it.`,
  resolved: ({ domain, checks }) => `${domain} has answered ${checks} checks in a row.`,
  vanished: 'The status page no longer lists it.',
  maintenance_began: 'The maintenance has begun.',
  maintenance_over: 'The maintenance is over.',
};

/** Why a service is down or slow, in one line that completes a sentence about it: `it took 4.2 s to answer`. */
export function describeReason(reason: StatusReason): string {
  return textOf(REASONS, reason, UNKNOWN_REASON);
}

/** As {@link describeReason}; null stays null. */
export function describeReasonOrNull(reason: StatusReason | null): string | null {
  return reason === null ? null : describeReason(reason);
}

/** The title of an own incident. */
export function describeOpening({ name, outage }: OpeningNote): string {
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

function trouble(domain: string, isReported: boolean): string {
  return isReported ? `${domain} is down` : `Our checks of ${domain} fail`;
}

function orUnknown(reason: StatusReason | null): string {
  return reason === null ? UNKNOWN_REASON : describeReason(reason);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
