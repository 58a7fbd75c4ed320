/** Reasons and own incidents in German. */
import { type TextTable, textOf } from '../domain/coded-text.ts';
import type {
  IncidentNote,
  IncidentNoteParams,
  OpeningNote,
  Outage,
  StatusReason,
  StatusReasonParams,
} from '../domain/incident/incident.ts';
import { createFormats } from './formats.ts';
import { germanTrouble } from './german-failures.ts';

const FORMATS = createFormats('de-DE', 'de');

const REASONS: TextTable<StatusReasonParams> = {
  check_failed: ({ failure }) => `der Dienst ${germanTrouble(failure)}`,
  slow_response: ({ responseTimeMs }) => `die Antwort brauchte ${seconds(responseTimeMs)}`,
  reported_down: ({ message }) =>
    `der Dienst meldet sich gestört${message === undefined ? '' : `: ${message}`}`,
  reported_slow: 'der Dienst meldet sich langsam',
  reported_response_time: ({ responseTimeMs }) =>
    `der Dienst meldet eine Antwortzeit von ${seconds(responseTimeMs)}`,
  run_failed: ({ exitCode }) =>
    `der Dienst meldet, dass ein Lauf gescheitert ist${exitCode === undefined ? '' : `, mit Exit-Code ${exitCode}`}`,
  no_heartbeat: ({ silenceMs }) => `seit ${FORMATS.length(silenceMs)} kam kein Lebenszeichen`,
  run_missed: ({ runAt }) => `zum Lauf vom ${FORMATS.time(runAt)} kam kein Lebenszeichen`,
  text: ({ text }) => text,
};

const UNKNOWN_REASON = 'ein Grund ist nicht bekannt';

/** Titles of own incidents, after the name of the service. */
const OUTAGES: Readonly<Record<Outage, string>> = {
  silent: 'ist verstummt',
  reports_failure: 'meldet einen Fehler',
  errors: 'antwortet mit Fehlern',
  insecure: 'ist nicht sicher erreichbar',
  unreachable: 'ist nicht erreichbar',
  down: 'ist ausgefallen',
};

const NOTES: TextTable<IncidentNoteParams> = {
  opened: ({ domain, reason }) =>
    reason?.code === 'check_failed'
      ? `${domain} ${germanTrouble(reason.failure)}.`
      : `${domain} ist gestört: ${orUnknown(reason)}.`,
  failing_again: ({ domain, reason }) => `${domain} ist wieder gestört: ${orUnknown(reason)}.`,
  recovering: ({ domain, reason }) =>
    `${domain} antwortet wieder${reason === null ? '' : `, wenn auch langsam: ${textOf(REASONS, reason, UNKNOWN_REASON)}`}. Wir beobachten es.`,
  resolved: ({ domain, checks }) => `${domain} hat auf ${checks} Prüfungen nacheinander geantwortet.`,
  vanished: 'Die Statusseite führt es nicht mehr auf.',
  maintenance_began: 'Die Wartung hat begonnen.',
  maintenance_over: 'Die Wartung ist vorbei.',
};

/** Why a service is down or slow, in German. */
export function germanReason(reason: StatusReason): string {
  return textOf(REASONS, reason, UNKNOWN_REASON);
}

/** The title of an own incident, in German. */
export function germanOpening({ name, outage }: Pick<OpeningNote, 'name' | 'outage'>): string {
  return `${name} ${OUTAGES[outage]}`;
}

/** An entry that we wrote into the timeline of an incident, in German. */
export function germanNote(note: IncidentNote): string {
  return textOf(NOTES, note, '');
}

function orUnknown(reason: StatusReason | null): string {
  return reason === null ? UNKNOWN_REASON : germanReason(reason);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1).replace('.', ',')} s`;
}
