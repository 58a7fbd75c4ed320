/** Reasons and own incidents in English: the texts of the API, webhooks, feeds and English pages. */
import { type TextTable, textOf } from './coded-text.ts';
import { formatDuration } from './durations.ts';
import { describeFailure } from './failure-text.ts';
import type {
  IncidentNote,
  IncidentNoteParams,
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
};

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
};

/** Why a service is down or slow, in one line that completes a sentence about it: `it took 4.2 s to answer`. */
export function describeReason(reason: StatusReason): string {
  return textOf(REASONS, reason);
}

/** The title of an own incident. */
export function describeOpening({ name, outage }: OpeningNote): string {
  return `${name} ${OUTAGES[outage]}`;
}

/** An entry in the timeline of an own incident. */
export function describeNote(note: IncidentNote): string {
  return textOf(NOTES, note);
}

function trouble(domain: string, isReported: boolean): string {
  return isReported ? `${domain} is down` : `Our checks of ${domain} fail`;
}

function orUnknown(reason: StatusReason | null): string {
  return reason === null ? 'no reason is known' : describeReason(reason);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
