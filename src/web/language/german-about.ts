/** Texts of the pages about this installation, and about how long vendors take to report outages, in German. */
import { inSeconds } from '../../domain/durations.ts';
import type { englishAbout, englishHonesty } from './english-about.ts';

/** The texts. */
export const germanHonesty: typeof englishHonesty = {
  title: 'Wie lange Anbieter brauchen, um Ausfälle zu melden',
  heading: 'Wie lange Anbieter brauchen, um Ausfälle zu melden',
  lead: 'Von unserer ersten fehlgeschlagenen Prüfung bis zum ersten Eintrag auf der Statusseite des Anbieters.',
  summary: ({ outages, vendors, acknowledged }, median) =>
    `Unsere Prüfungen sahen ${outages} ${outages === 1 ? 'Ausfall' : 'Ausfälle'} bei ${vendors} ${vendors === 1 ? 'Anbieter' : 'Anbietern'}. ${acknowledged} von ${outages} ${acknowledged === 1 ? 'wurde' : 'wurden'} gemeldet${median === null ? '.' : `, die Hälfte aller binnen ${median}.`}`,
  empty: 'Unsere Prüfungen haben noch keinen Ausfall gesehen, der zählt.',
  rank: 'Rang',
  vendor: 'Anbieter',
  outages: 'Ausfälle',
  acknowledged: 'Gemeldet',
  neverCount: 'Nie gemeldet',
  median: 'Hälfte binnen',
  worst: 'Längste',
  never: 'nie',
  mostlyNever: 'meist nie',
  entries: (all, shown) =>
    shown < all
      ? `Die neuesten ${shown} von ${all} Ausfällen`
      : `${all} ${all === 1 ? 'Ausfall' : 'Ausfälle'}`,
  notReported: 'nie gemeldet',
  reported: (length, first) =>
    first ? `${length} vor unserer ersten fehlgeschlagenen Prüfung gemeldet` : `nach ${length} gemeldet`,
  unread: (length, isNow) =>
    `${isNow ? 'Die Statusseite ist gerade nicht lesbar' : 'Die Statusseite war zeitweise nicht lesbar'} (insgesamt ${length}). Ausfälle aus dieser Zeit zählen nicht.`,
  statusPage: 'Statusseite des Anbieters',
  next: 'Weitere Anbieter',
  previous: 'Vorige Anbieter',
  rulesHeading: 'Was zählt',
  rules: (minimum) => [
    'Dienste der öffentlichen Liste, deren Statusseite gelesen wird. Zeit, in der eine Seite nicht lesbar war, zählt nicht, auch nicht ihre Ausfälle.',
    'Ein Ausfall zählt, wenn mindestens zwei planmäßige Prüfungen in Folge fehlgeschlagen sind. Wartung zählt nicht.',
    'Ausfälle von Diensten eines Anbieters, die binnen einer Stunde beginnen, sind ein Ausfall, solange der erste andauert.',
    'Gemeldet ist ein Ausfall, wenn der Anbieter von einer Stunde davor bis eine Stunde nach seinem Ende einen Eintrag veröffentlicht hat.',
    'Ein Ausfall ohne Eintrag zählt eine Stunde nach seinem Ende als nie gemeldet. Bis dahin zählt er nicht.',
    '„Hälfte binnen“ schließt nie gemeldete Ausfälle ein. Wo weniger als die Hälfte gemeldet wurde, steht „meist nie“.',
    `Einen Rang haben Anbieter ab ${minimum} Ausfällen: Weniger sagen wenig.`,
  ],
};

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
