/** Failures in German. */
import { type TextTable, textOf } from '../domain/coded-text.ts';
import type { CredentialProblem } from '../domain/credential-seal.ts';
import { inSeconds } from '../domain/durations.ts';
import {
  type AddressProblemParams,
  type BodyProblemParams,
  type Caused,
  type FailureCauseParams,
  type FailureClass,
  kibibytes,
  oneLine,
  type Phase,
  type Symptom,
  withCause,
} from '../domain/failure.ts';
import type {
  IncidentNote,
  IncidentNoteParams,
  OpeningNote,
  Outage,
  StatusReason,
  StatusReasonParams,
} from '../domain/incident/incident.ts';
import { createFormats } from './formats.ts';

/** Symptoms of a failing service, after its name. */
const SYMPTOMS: Readonly<Record<FailureClass, string>> = {
  dns: 'lässt sich im DNS nicht auflösen',
  refused: 'weist Verbindungen ab',
  unreachable: 'ist nicht erreichbar',
  tls: 'ist nicht sicher erreichbar',
  timeout: 'antwortet nicht',
  protocol: 'sendet ungültige Antworten',
  status: 'antwortet mit Fehlern',
  body: 'meldet sich nicht als gesund',
  content: 'antwortet nicht wie erwartet',
  forbidden_address: 'führt zu einer Adresse, die nicht geprüft werden darf',
};

const ADDRESS_PROBLEMS: TextTable<AddressProblemParams> = {
  too_long: ({ maxLength }) => `mehr als ${maxLength.toLocaleString('de')} Zeichen hat`,
  unreadable: 'nicht zu lesen ist',
  scheme: ({ scheme }) => `das Schema ${scheme} hat`,
};

const UNKNOWN_ADDRESS_PROBLEM = 'nicht abgerufen werden kann';

const TIMEOUTS: Readonly<Record<Phase, (limit: string) => string>> = {
  dns: (limit) => `der Name war binnen ${limit} nicht aufzulösen`,
  connect: (limit) => `keine Verbindung binnen ${limit}`,
  tls: (limit) => `kein TLS binnen ${limit}`,
  first_byte: (limit) => `keine Antwort binnen ${limit}`,
  body: (limit) => `der Inhalt endete nicht binnen ${limit}`,
};

const BODY_PROBLEMS: TextTable<BodyProblemParams> = {
  undecodable: ({ coding }) => `der Inhalt lässt sich nicht dekodieren (${coding})`,
  charset_unknown: 'der Zeichensatz des Inhalts ist nicht bekannt',
  not_json: 'der Inhalt ist kein JSON',
  json_too_deep: 'das JSON des Inhalts ist zu tief verschachtelt',
  too_long_for_json: ({ maxBytes }) =>
    `der Inhalt ist länger als ${kibibytes(maxBytes)} und wird nicht als JSON gelesen`,
  too_many_values: ({ maxValues }) =>
    `die Erwartungen betreffen mehr als ${maxValues.toLocaleString('de')} Werte des JSON`,
  too_many_characters: ({ maxCharacters }) =>
    `die Ausdrücke der Erwartungen betreffen mehr als ${maxCharacters.toLocaleString('de')} Zeichen`,
};

const CREDENTIALS: Readonly<Record<CredentialProblem, string>> = {
  no_key: 'dieser Knoten hat keinen Schlüssel dafür',
  other_key: 'sie wurden mit einem anderen Schlüssel verschlüsselt',
  changed: 'sie wurden für ein anderes Ziel verschlüsselt oder verändert',
};

const CAUSES: TextTable<FailureCauseParams> = {
  name_not_found: 'den Namen gibt es nicht',
  name_without_address: 'der Name hat keine Adresse',
  name_invalid: 'nach dem Namen kann nicht gefragt werden',
  name_servers_failed: 'die Nameserver der Domain versagen (SERVFAIL)',
  name_servers_silent: 'die Nameserver der Domain antworten nicht',
  own_name_server_refused: 'unser Nameserver verweigert die Antwort (REFUSED)',
  own_name_server_silent: 'unser Nameserver antwortet nicht',
  own_name_server_unreachable: 'unser Nameserver ist nicht erreichbar',
  own_name_server_truncates: 'unser Nameserver kürzt seine Antwort und liefert den Rest nicht über TCP',
  name_unresolved: ({ error }) => `der Name ließ sich nicht auflösen (${error})`,

  name_not_public: 'der Name führt zu einer Adresse, die nicht öffentlich ist',
  address_invalid: ({ address }) => `${address} ist keine Adresse`,
  address_not_public: ({ address, purpose }) => `${address} ist nicht öffentlich (${purpose})`,
  port_forbidden: ({ port }) => `Port ${port} darf nicht geprüft werden`,
  address_busy: ({ waitMs }) =>
    `ihre Adresse hat so viele unserer Prüfungen, wie sie haben darf; diese wartet ${Math.ceil(waitMs / 1_000)} s`,

  connection_refused: 'die Verbindung wurde abgewiesen',
  connection_failed: ({ error }) => `keine Verbindung (${error})`,
  certificate_expired: 'das Zertifikat ist abgelaufen',
  intermediate_expired: ({ name }) => `das Zwischenzertifikat ${name} ist abgelaufen`,
  certificate_not_yet_valid: 'das Zertifikat gilt noch nicht',
  certificate_revoked: 'das Zertifikat ist widerrufen',
  certificate_self_signed: 'das Zertifikat ist selbst signiert',
  certificate_untrusted: 'das Zertifikat kommt von einer Stelle, der nicht vertraut wird',
  certificate_issuer_missing: ({ name }) =>
    `die Kette der Zertifikate ist unvollständig: der Server sendet ${name} nicht mit, und das ist keine vertrauenswürdige Stelle`,
  certificate_chain_incomplete: 'die Kette der Zertifikate ist unvollständig oder nicht vertrauenswürdig',
  certificate_wrong_name: 'das Zertifikat gilt für einen anderen Namen',
  certificate_weak:
    'das Zertifikat ist nicht annehmbar, etwa wegen eines schwachen Schlüssels oder einer schwachen Signatur',
  client_certificate_missing: 'der Server verlangt ein Client-Zertifikat',
  client_certificate_refused: ({ error }) => `der Server weist das Client-Zertifikat ab (${error})`,
  http1_missing: 'der Server spricht nur HTTP/2 und kein HTTP/1.1',
  http2_missing: 'der Server spricht kein HTTP/2',
  tls_name_unknown: 'der Server hat kein Zertifikat für diesen Namen',
  tls_version: 'der Server spricht nur Versionen von TLS vor 1.2',
  tls_no_agreement:
    'der Server hat kein Zertifikat für diesen Namen oder nimmt keines der angebotenen Verfahren an',
  tls_missing: 'der Server spricht auf diesem Port kein TLS',
  tls_alert: ({ error }) => `der Server brach das Aushandeln von TLS ab (${error})`,
  handshake_closed: 'die Verbindung wurde beim Aushandeln von TLS geschlossen',
  handshake_failed: ({ error }) => `TLS ließ sich nicht aushandeln (${error})`,
  authorities_unreadable: 'die Datei der vertrauten Zertifizierungsstellen ist nicht zu lesen',

  timeout: ({ phase, timeoutMs }) => TIMEOUTS[phase](inSeconds(timeoutMs).replace('.', ',')),

  closed_before_response: 'die Verbindung wurde ohne Antwort geschlossen',
  reset_before_response: 'die Verbindung wurde ohne Antwort abgebrochen',
  cut_after_interim: 'die Verbindung endete nach einer vorläufigen Antwort',
  cut_in_headers: 'die Verbindung endete mitten in den Kopfzeilen',
  cut_in_body: 'die Verbindung endete mitten im Inhalt',
  no_status_line: 'die Antwort ist kein HTTP (sie beginnt mit keiner Statuszeile)',
  tls_instead_of_http: 'der Server spricht auf diesem Port TLS und kein einfaches HTTP',
  invalid_http: ({ error }) => `die Antwort ist kein HTTP (${error})`,
  headers_too_long: ({ maxBytes }) => `die Kopfzeilen sind länger als ${kibibytes(maxBytes)}`,
  header_with_nul: 'eine Kopfzeile ist fehlerhaft (sie enthält ein NUL-Zeichen)',
  lengths_contradict: 'eine Kopfzeile ist fehlerhaft (zwei Längen, die einander widersprechen)',
  length_invalid: 'eine Kopfzeile ist fehlerhaft (eine Länge, die keine Zahl ist)',
  length_mismatch: 'der Inhalt ist nicht so lang wie angekündigt',
  chunk_invalid: 'der Inhalt ist fehlerhaft (ein Stück ohne Länge)',
  trailers_too_long: ({ maxBytes }) => `die Zeilen hinter dem Inhalt sind länger als ${kibibytes(maxBytes)}`,
  body_too_long: ({ maxBytes }) => `der Inhalt ist länger als ${maxBytes} Bytes`,
  body_undecodable: ({ coding }) => `der Inhalt lässt sich nicht dekodieren (${coding})`,
  too_many_redirects: ({ maxRedirects }) => `mehr als ${maxRedirects} Weiterleitungen`,
  redirect_invalid: ({ problem }) =>
    `Weiterleitung zu einer Adresse, die ${textOf(ADDRESS_PROBLEMS, problem, UNKNOWN_ADDRESS_PROBLEM)}`,
  credentials_unreadable: ({ problem }) =>
    `die Zugangsdaten der Prüfung lassen sich nicht entschlüsseln: ${CREDENTIALS[problem]}`,
  service_address_invalid: ({ problem }) =>
    `der Dienst hat eine Adresse, die ${textOf(ADDRESS_PROBLEMS, problem, UNKNOWN_ADDRESS_PROBLEM)}`,

  status: ({ statusCode }) => `Antwort mit Status ${statusCode}`,
  health_too_long: ({ maxBytes }) => `der Zustandsbericht ist länger als ${kibibytes(maxBytes)}`,
  health_invalid: 'der Zustandsbericht ist kein JSON mit einem Status',
  reported_down: ({ word }) => `der Dienst meldet „${word}“`,
  reported_unknown: ({ word }) => `der Dienst meldet einen unbekannten Status „${word}“`,

  greeting_missing: ({ text }) => `die Begrüßung enthält nicht „${text}“`,
  greeting_too_long: ({ text, maxBytes }) =>
    `die ersten ${maxBytes} Byte der Begrüßung enthalten nicht „${text}“`,
  assertion_failed: ({ text }) => `erwartet: ${text}`,
  assertion_undecided: ({ text, problem }) =>
    `${textOf(BODY_PROBLEMS, problem, 'der Inhalt lässt sich nicht beurteilen')}; erwartet: ${text}`,
  websocket_handshake_invalid: ({ error }) => `der WebSocket-Handshake ist ungültig (${error})`,
  frame_invalid: ({ error }) => `ein Frame des WebSocket ist ungültig (${error})`,
  message_too_long: ({ maxBytes }) => `die Nachricht ist länger als ${kibibytes(maxBytes)}`,
  message_lacks: ({ text }) => `die erste Nachricht enthält nicht „${text}“`,
  message_unmatched: ({ text }) => `die erste Nachricht entspricht nicht ${text}`,
  closed_before_message: ({ closeCode }) =>
    closeCode === 1006
      ? 'die Verbindung endete vor einer Nachricht'
      : `der Server schloss den WebSocket vor einer Nachricht (Code ${closeCode})`,
  no_message: ({ timeoutMs }) => `keine Nachricht binnen ${inSeconds(timeoutMs).replace('.', ',')}`,
  http2_invalid: ({ error }) => `die Antwort ist kein gültiges HTTP/2 (${error})`,
  http2_reset: ({ error }) => `der Server brach den Aufruf ab (${error})`,
  answer_too_long: ({ maxBytes }) => `die Antwort ist länger als ${kibibytes(maxBytes)}`,
  grpc_content_type: ({ text }) => `die Antwort ist kein gRPC (content-type „${text}“)`,
  grpc_status_missing: 'die Antwort hat keinen gRPC-Status',
  grpc_message_invalid: 'die Nachricht des Health-Dienstes ist nicht zu lesen',
  grpc_unimplemented:
    'der Server hat keinen Health-Dienst: ergänzen Sie grpc.health.v1.Health, oder lassen Sie den Port durch tcp prüfen',
  grpc_service_unknown: ({ text }) => `der Health-Dienst kennt den Dienst „${text}“ nicht`,
  grpc_status: ({ status, message }) =>
    `Antwort mit dem gRPC-Status ${status}${message === '' ? '' : `: ${message}`}`,
  host_unreachable: ({ error }) => `das Netz meldet: ${error}`,
  ping_missing: 'auf diesem Rechner fehlt ping: installieren Sie das Paket iputils-ping',
  ping_refused: ({ error }) =>
    `ping kann hier nicht senden (${error}): geben Sie ihm cap_net_raw, oder nehmen Sie die Gruppe dieses Prozesses in net.ipv4.ping_group_range auf`,
  not_protocol: ({ protocol, text }) =>
    `die Antwort ist kein ${protocol}${text === '' ? '' : ` (sie beginnt mit „${text}“)`}`,
  cut_in_talk: 'die Verbindung endete mitten im Gespräch',
  answer_incomplete: ({ timeoutMs }) =>
    `keine vollständige Antwort innerhalb von ${inSeconds(timeoutMs).replace('.', ',')}`,
  server_refuses: ({ error }) => `der Server antwortet mit einem Fehler: ${error}`,
  sign_in_refused: ({ error }) => `der Server weist die Anmeldung ab (${error})`,
  sign_in_unknown: ({ error }) => `der Server bietet keine Anmeldung, die Prüfungen beherrschen (${error})`,
  password_in_clear: 'der Server verlangt das Passwort im Klartext, das nur über TLS gesendet wird',
  query_failed: ({ error }) => `die Abfrage schlägt fehl (${error})`,
  value_unexpected: ({ text }) => `die Abfrage ergibt nicht „${text}“`,
  topic_refused: ({ text }) => `der Broker verweigert das Thema „${text}“`,
  member_not_ready: 'das Mitglied ist weder primär noch sekundär: es startet oder wird wiederhergestellt',
  domain_unregistered: 'die Registrierungsstelle kennt die Domain nicht',
  domain_expired: 'die Registrierung der Domain ist abgelaufen',
  domain_expires_soon: ({ days, minDays }) =>
    `die Registrierung der Domain endet in ${days} Tagen, weniger als ${minDays}`,
  domain_out_of_use: ({ text }) => `die Registrierungsstelle hat die Domain außer Betrieb genommen (${text})`,
  registration_unknown: ({ error }) =>
    `die Registrierungsstelle sagt nicht, wann die Registrierung endet (${error})`,
  registry_missing: ({ text }) =>
    `für .${text} ist keine Registrierungsstelle bekannt: nennen Sie ihren RDAP-Server`,
  container_missing: ({ text }) => `es gibt keinen Container ${text}`,
  container_stopped: ({ state, exitCode }) =>
    `der Container läuft nicht (${state}${exitCode === 0 ? '' : `, Exitcode ${exitCode}`})`,
  container_unhealthy: ({ text }) =>
    `der Container ist nicht gesund${text === '' ? '' : ` (seine Prüfung sagt: ${text})`}`,
  socket_unusable: ({ path, error }) => `der Socket ${path} ist hier nicht benutzbar (${error})`,
  account_untrusted: 'nur Prüfungen von Konten, denen der Betreiber vertraut, dürfen nach Containern fragen',
  tls_not_offered: 'der Server bietet kein TLS an',
  record_missing: ({ record }) => `der Name hat keinen ${record}-Eintrag`,
  record_lacks: ({ record, text }) => `kein ${record}-Eintrag lautet ${text}`,
  record_unexpected: ({ record }) => `es gibt einen ${record}-Eintrag, der nicht erwartet wird`,
  server_failed: 'der Nameserver versagt (SERVFAIL)',
  server_refused: 'der Nameserver verweigert die Antwort (REFUSED)',
  server_truncates: 'der Nameserver kürzt seine Antwort und liefert den Rest nicht über TCP',
  intermediate_expires_soon: ({ name, days, minDays }) =>
    `das Zwischenzertifikat ${name} gilt noch ${days} Tage, weniger als ${minDays}`,
  certificate_expires_soon: ({ days, minDays }) =>
    `das Zertifikat gilt noch ${days} Tage, weniger als ${minDays}`,

  text: ({ text }) => text,
};

/** The symptom of a failing service, after its name, as in `antwortet mit Fehlern (HTTP 503)`. */
export function germanSymptom({ class: kind, cause }: Symptom): string {
  if (cause.code === 'status') return `${SYMPTOMS[kind]} (HTTP ${cause.statusCode})`;
  if (cause.code === 'timeout' && cause.phase === 'first_byte')
    return `antwortet nicht innerhalb von ${inSeconds(cause.timeoutMs).replace('.', ',')}`;
  if (cause.code === 'reported_down') return `meldet „${oneLine(cause.word)}“`;
  if (cause.code === 'reported_unknown') return `meldet einen unbekannten Status „${oneLine(cause.word)}“`;
  return SYMPTOMS[kind];
}

/** Why something failed, in German. A text that another version recorded in English follows the symptom, in brackets. */
export function germanFailure(failure: Symptom): string {
  const text = causeOf(failure);
  return failure.cause.code === 'text' || text === '' ? `der Dienst ${germanTrouble(failure)}` : text;
}

/** A failure in one line after the name of the service: the symptom, then the cause where that says more. */
function germanTrouble(failure: Symptom): string {
  return withCause(germanSymptom(failure), failure, causeOf(failure));
}

function causeOf({ cause }: Caused): string {
  return oneLine(textOf(CAUSES, cause, 'aus einem unbekannten Grund'));
}

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
