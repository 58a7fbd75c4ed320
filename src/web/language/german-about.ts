/** Texts of the page about this installation, in German. */
import { inSeconds } from '../../domain/durations.ts';
import type { englishAbout } from './english-about.ts';

/** The texts of this page. */
export const germanAbout: typeof englishAbout = {
  title: 'Über diese Überwachung',
  heading: 'Über diese Überwachung',
  lead: (count, shown) =>
    count === 1
      ? 'Upbeat ist eine freie Software, die aller Welt sagt, ob ein Dienst läuft. Diese Installation überwacht einen Dienst.'
      : `Upbeat ist eine freie Software, die aller Welt sagt, ob ein Dienst läuft. Diese Installation überwacht ${shown} Dienste.`,
  figures: 'Zahlen',
  services: 'Dienste',
  every: 'Geprüft alle',
  perMinute: 'Prüfungen pro Minute',
  regions: 'Regionen',
  how: 'Wie geprüft wird',
  slow: (slowOverMs, timeoutMs) =>
    `Eine Antwort, die länger als ${inSeconds(slowOverMs).replace('.', ',')} dauert, ist langsam. Keine Antwort binnen ${inSeconds(timeoutMs).replace('.', ',')} ist ein Fehler.`,
  confirm: (times) =>
    times === 0
      ? 'Ein Dienst gilt als gestört, sobald eine Prüfung fehlschlägt.'
      : times === 1
        ? 'Eine fehlgeschlagene Prüfung wird einmal auf einer neuen Verbindung wiederholt. Erst wenn auch sie fehlschlägt, gilt der Dienst als gestört.'
        : `Eine fehlgeschlagene Prüfung wird bis zu ${times}-mal wiederholt, jedes Mal auf einer neuen Verbindung. Erst wenn alle fehlschlagen, gilt der Dienst als gestört.`,
  errors:
    'Serverfehler (5xx) und fehlende Seiten (404, 410) sind Fehler. Eine Website, die nur Roboter abweist, gilt als erreichbar.',
  offline: 'Solange unsere eigene Verbindung unterbrochen ist, wird kein Dienst als gestört gemeldet.',
  heartbeats: (silence) =>
    `Dienste von Betreibern können Lebenszeichen senden, statt geprüft zu werden. Bleiben diese ${silence} lang aus, gilt ein solcher Dienst als gestört, wenn sein Betreiber nichts anderes gewählt hat.`,
  vendors: (count, shown) =>
    count === 1
      ? 'Der Anbieter eines Dienstes hat eine Statusseite, die wir lesen. Sie steht neben unseren Prüfungen und ändert sie nie.'
      : `Die Anbieter von ${shown} Diensten haben Statusseiten, die wir lesen. Sie stehen neben unseren Prüfungen und ändern sie nie.`,
  where: 'Von wo aus geprüft wird',
  nodes: (count) => (count === 1 ? 'ein Knoten' : `${count} Knoten`),
  regionOffline: 'offline',
  noRegion: 'Zurzeit prüft kein Knoten.',
  quorum: (quorum) =>
    quorum === 'any'
      ? 'Ein Dienst gilt als gestört, sobald eine Region einen Fehler bestätigt hat.'
      : quorum === 'all'
        ? 'Ein Dienst gilt als gestört, wenn alle Regionen einen Fehler bestätigt haben.'
        : quorum === 'majority'
          ? 'Ein Dienst gilt als gestört, wenn mehr als die Hälfte der Regionen einen Fehler bestätigt hat.'
          : `Ein Dienst gilt als gestört, wenn ${quorum} Regionen einen Fehler bestätigt haben.`,
  recognise: 'Woran unsere Prüfungen zu erkennen sind',
  userAgent: 'Im Protokoll eines Servers stehen unsere Prüfungen mit diesem User-Agent:',
  robot:
    'Sie senden keine Cookies und lesen nicht mehr als nötig: nur die Kopfzeilen, wenn ein Server das zulässt.',
  who: 'Wer sie betreibt',
  operator: 'Betreiber',
  contact: 'Kontakt',
  security: 'Sicherheitslücken melden',
  unnamed: 'Der Betreiber dieser Installation hat weder Namen noch Kontakt angegeben.',
  software: 'Software und Dokumentation',
  version: 'Version',
  apiVersion: 'API-Version',
  docs: 'Dokumentation der API',
  openApi: 'Die API für Programme (OpenAPI)',
  badges: 'Badges für Ihre Website',
  feed: 'Alle Vorfälle als Feed (Atom)',
  metrics: 'Metriken für Prometheus',
};
