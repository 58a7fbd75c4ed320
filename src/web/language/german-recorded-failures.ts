/** Why a check failed, in German: the sentences of `src/outbound/fault.ts`, `src/probe/` and what is of others in them. */
import type { FailureClass } from '../../domain/failure.ts';

/** A failure as incidents tell of it: its class and the cause in English. */
interface RecordedFailure {
  readonly class: FailureClass;
  readonly detail: string;
}

/** What each class of failure means; it also stands for a failure whose own sentence is not known here. */
const CLASSES: Readonly<Record<FailureClass, string>> = {
  dns: 'der Name ließ sich nicht auflösen',
  refused: 'die Verbindung wurde abgewiesen',
  unreachable: 'keine Verbindung kam zustande oder hielt',
  tls: 'keine sichere Verbindung kam zustande',
  timeout: 'keine Antwort innerhalb der Frist',
  protocol: 'die Antwort war kein gültiges HTTP',
  status: 'die Antwort war ein Fehler',
  body: 'der Zustandsbericht war nicht annehmbar',
  forbidden_address: 'der Name führt zu einer Adresse, die nicht geprüft werden darf',
};

const SENTENCES = new Map<string, string>(
  Object.entries({
    'the certificate has expired': 'das Zertifikat ist abgelaufen',
    'the certificate is not valid yet': 'das Zertifikat gilt noch nicht',
    'the certificate is revoked': 'das Zertifikat ist widerrufen',
    'the certificate is self-signed': 'das Zertifikat ist von ihm selbst unterschrieben',
    'the certificate comes from an authority that is not trusted':
      'das Zertifikat kommt von einer Stelle, der nicht vertraut wird',
    'the chain of certificates is incomplete or not trusted':
      'die Kette der Zertifikate ist unvollständig oder nicht vertrauenswürdig',
    'the certificate is for another name': 'das Zertifikat gilt für einen anderen Namen',
    'the headers are longer than 64 KiB': 'die Kopfzeilen sind länger als 64 KiB',
    // Told by earlier versions, and kept in incidents.
    'the body is not as long as announced': 'der Inhalt ist nicht so lang wie angekündigt',
    'an answer that was not asked for': 'eine Antwort, nach der nicht gefragt war',
    'the trailers are longer than 64 KiB': 'die Zeilen hinter dem Inhalt sind länger als 64 KiB',
    'the answer is not HTTP (it begins with no status line)':
      'die Antwort ist kein HTTP (sie beginnt mit keiner Statuszeile)',
    'a header is malformed (it holds a NUL character)':
      'eine Kopfzeile ist fehlerhaft (sie enthält ein NUL-Zeichen)',
    'a header is malformed (two lengths that contradict each other)':
      'eine Kopfzeile ist fehlerhaft (zwei Längen, die einander widersprechen)',
    'a header is malformed (a length that is no number)':
      'eine Kopfzeile ist fehlerhaft (eine Länge, die keine Zahl ist)',
    'the body is malformed (a chunk without a length)': 'der Inhalt ist fehlerhaft (ein Stück ohne Länge)',
    'the name does not exist': 'den Namen gibt es nicht',
    'the name has no address': 'der Name hat keine Adresse',
    'the name cannot be asked for': 'nach dem Namen kann nicht gefragt werden',
    'the name servers of the domain fail (SERVFAIL)': 'die Nameserver der Domain versagen (SERVFAIL)',
    'the name servers of the domain do not answer': 'die Nameserver der Domain antworten nicht',
    'our name server refuses to answer (REFUSED)': 'unser Nameserver verweigert die Antwort (REFUSED)',
    'our name server does not answer': 'unser Nameserver antwortet nicht',
    'our name server cannot be reached': 'unser Nameserver ist nicht erreichbar',
    'the connection was refused': 'die Verbindung wurde abgewiesen',
    'the connection was closed during the TLS handshake':
      'die Verbindung wurde beim Aushandeln von TLS geschlossen',
    'the connection ended in the middle of the headers': 'die Verbindung endete mitten in den Kopfzeilen',
    'the connection ended in the middle of the body': 'die Verbindung endete mitten im Inhalt',
    'the connection was closed without an answer': 'die Verbindung wurde ohne Antwort geschlossen',
    'the connection was reset without an answer': 'die Verbindung wurde ohne Antwort abgebrochen',
    'the connection ended after an interim answer': 'die Verbindung endete nach einer vorläufigen Antwort',
    'the body is in a coding that cannot be read':
      'der Inhalt ist in einer Kodierung, die nicht zu lesen ist',
  }),
);

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/^answered with status (\d+)$/, 'Antwort mit Status $1'],
  [/^no answer within (\d+) ms$/, 'keine Antwort binnen $1 ms'],
  [/^no connection within (\d+) ms$/, 'keine Verbindung binnen $1 ms'],
  [/^no TLS handshake within (\d+) ms$/, 'kein TLS binnen $1 ms'],
  [/^the name was not resolved within (\d+) ms$/, 'der Name war binnen $1 ms nicht aufzulösen'],
  [/^the body did not end within (\d+) ms$/, 'der Inhalt endete nicht binnen $1 ms'],
  [/^the name could not be resolved \((.+)\)$/, 'der Name ließ sich nicht auflösen ($1)'],
  [/^no connection \((.+)\)$/, 'keine Verbindung ($1)'],
  [/^the TLS handshake failed \((.+)\)$/, 'TLS ließ sich nicht aushandeln ($1)'],
  [/^the answer is not HTTP \((.+)\)$/, 'die Antwort ist kein HTTP ($1)'],
  [/^more than (\d+) redirects$/, 'mehr als $1 Weiterleitungen'],
  [/^the body is longer than (\d+) bytes$/, 'der Inhalt ist länger als $1 Bytes'],
];

/** Why a check failed, in German. What only the service itself can have said stays as it is, in brackets. */
export function germanRecordedFailure({ class: kind, detail }: RecordedFailure): string {
  const known = SENTENCES.get(detail);
  if (known !== undefined) return known;
  for (const [pattern, german] of PATTERNS)
    if (pattern.test(detail))
      return detail
        .replace(pattern, german)
        .replace(/\b(\d{4,}) ms$/, (_, ms: string) => `${String(Number(ms) / 1_000).replace('.', ',')} s`);
  return detail === '' ? CLASSES[kind] : `${CLASSES[kind]} (${detail})`;
}
