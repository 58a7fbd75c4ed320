/** Texts of the page of a service and of the pages of its incidents, beside the verdict, in German. */

import { germanFailure } from '../../language/german-failures.ts';
import { age, phraseOf } from '../../language/phrase.ts';
import type { Texts } from './english.ts';

export const germanServicePage: Texts['page'] = {
  title: (name, status) => `${name}: ${status}`,
  path: 'Wo Sie sind',
  ourChecks: 'Unsere Prüfungen',
  itsReports: 'Was er selbst meldet',
  lastCheck: (at, source) => phraseOf`Letzte Prüfung ${age(at)}, ${source}.`,
  blocked:
    'Der Dienst blockiert automatische Anfragen oder bittet uns zu warten. Wir wissen nur, dass er antwortet.',
  stale: (at) => phraseOf`Die letzte Prüfung war ${age(at)}. Der Zustand kann sich seither geändert haben.`,
  paused: 'Die Prüfungen dieses Dienstes sind angehalten. Dies ist sein letzter bekannter Zustand.',
  selfReported: 'Vom Betreiber gemeldet, der die Domain noch nicht bestätigt hat.',
  waiting: 'Die erste Prüfung steht noch aus. Danach zeigt diese Seite mehr.',

  vendor: 'Statusseite des Anbieters',
  vendorStatus: {
    unknown: 'Noch nicht gelesen',
    operational: 'Keine Störung',
    maintenance: 'Wartung',
    minor: 'Leichte Störung',
    major: 'Schwere Störung',
    critical: 'Kritische Störung',
  },
  vendorPage: 'Statusseite des Anbieters',
  vendorBefore: 'Die',
  vendorUnread: 'hat ein Format, das Upbeat nicht liest.',
  vendorReadAt: (at) => phraseOf`Gelesen ${age(at)}`,
  itsIncident: 'Der Vorfall',
  silentNow: (lasted) =>
    `Seit unserer ersten fehlgeschlagenen Prüfung vor ${lasted} hat sie nichts gemeldet.`,
  spokeNow: (length, first) =>
    `Sie meldete diesen Ausfall ${length} ${first ? 'vor' : 'nach'} unserer ersten fehlgeschlagenen Prüfung.`,
  lagNone: (outages) =>
    outages === 1
      ? 'Den einen Ausfall, den unsere Prüfungen im letzten Jahr feststellten, meldete sie nicht.'
      : `Keinen der ${outages} Ausfälle, die unsere Prüfungen im letzten Jahr feststellten, meldete sie.`,
  lagOne: (length, first) =>
    `Den einen Ausfall, den unsere Prüfungen im letzten Jahr feststellten, meldete sie ${length} ${first ? 'vor' : 'nach'} unserer ersten fehlgeschlagenen Prüfung.`,
  lagMany: ({ acknowledged, outages, length, first, worst }) =>
    `Im letzten Jahr meldete sie ${acknowledged} der ${outages} Ausfälle, die unsere Prüfungen feststellten, ${acknowledged === 1 ? '' : 'gewöhnlich '}${length} ${
      first ? 'vor' : 'nach'
    } unserer ersten fehlgeschlagenen Prüfung${worst === null ? '' : `, schlimmstenfalls ${worst} danach`}.`,

  maintenance: {
    planned: 'Geplante Wartung',
    running: 'Wartung läuft',
    ended: 'Wartung',
  },
  from: (starts, ends) => (ends === null ? phraseOf`ab ${starts}` : phraseOf`von ${starts} bis ${ends}`),

  words: 'Was bedeuten diese Zahlen?',
  meaning: {
    uptime: 'Der Anteil der Prüfungen, die nicht fehlschlugen. Langsame Antworten zählen als erreichbar.',
    median: 'Die Hälfte der Antworten brauchte höchstens so lange.',
    p95: 'Das 95. Perzentil: 95 von 100 Antworten brauchten höchstens so lange.',
    p99: 'Das 99. Perzentil: 99 von 100 Antworten brauchten höchstens so lange.',
  },
  facts: 'Zahlen',
  responseTime: 'Antwortzeit',
  noAnswer: 'keine Antwort',
  answer: 'Antwort',
  itReports: 'Eigene Meldung',
  certificate: 'Zertifikat',
  certificateDays: (days) =>
    days < 0
      ? 'abgelaufen'
      : days === 0
        ? 'noch weniger als ein Tag'
        : days === 1
          ? 'noch 1 Tag'
          : `noch ${days} Tage`,
  certificateEnds: (at, expired) =>
    expired
      ? phraseOf`Das Zertifikat des Servers ist am ${at} abgelaufen. Browser warnen davor.`
      : phraseOf`Das Zertifikat des Servers läuft am ${at} ab. Wird es nicht erneuert, warnen Browser davor.`,
  medianFor: (range) => `Antwortzeit (Median), ${range}`,
  upFor: (range) => `Erreichbarkeit, ${range}`,
  upSince: (since) => phraseOf`Erreichbarkeit seit ${since}`,

  uptime: 'Erreichbarkeit',
  measuredSince: (since) =>
    phraseOf`Gemessen seit ${since}. Längere Zeiträume enthalten keine früheren Daten.`,
  daysAgo: (days) => `vor ${days} Tagen`,
  today: 'heute',
  now: 'jetzt',
  lastDays: (days) => `${days} Tage (UTC)`,
  barsLabel: (days, uptime) =>
    uptime === null
      ? `${days} Tage, an keinem geprüft`
      : `Jeder der letzten ${days} Tage; insgesamt ${uptime} erreichbar`,
  calendarLabel: (uptime) =>
    uptime === null
      ? '1 Jahr, an keinem Tag geprüft'
      : `Jeder Tag des letzten Jahres; insgesamt ${uptime} erreichbar`,
  chooseDays: 'Pfeiltasten gehen von einem zum nächsten.',
  dayKind: {
    up: 'in Ordnung',
    slow: 'zeitweise langsam',
    down: 'zeitweise gestört',
    suspect: 'unsere eigene Verbindung war unterbrochen',
    none: 'keine Prüfungen',
  },
  unreachedDay: 'nicht prüfbar',
  downNote:
    'Die Erreichbarkeit ist der Anteil der Prüfungen, die nicht fehlschlugen. Die Ausfallzeit ist aus den fehlgeschlagenen Prüfungen geschätzt: Jede zählt so lange, wie das Intervall des Dienstes heute ist. Tage mit einem längeren Intervall zeigen weniger, als es war.',
  day: (date, uptime, downtime, slow) =>
    `${date}: ${uptime} erreichbar${downtime === null ? '' : `, ${downtime} gestört`}${slow === null ? '' : `, ${slow} der Antworten langsam`}`,
  dayWithout: (date, why) => `${date}: ${why}`,
  asTable: 'Als Tabelle',
  dayTable: 'Erreichbarkeit nach Tagen',
  monthTable: 'Erreichbarkeit nach Monaten',
  date: 'Tag (UTC)',
  month: 'Monat',
  // With soft hyphens, as the columns are narrow on phones.
  upColumn: 'Erreich\u00adbar',
  downColumn: 'Gestört',
  checksColumn: 'Prü\u00adfun\u00adgen',
  remark: 'Bemer\u00adkung',

  ranges: 'Zeitraum',
  range: { '24h': '24 Stunden', '7d': '7 Tage', '30d': '30 Tage', '90d': '90 Tage', '1y': '1 Jahr' },
  ago: {
    '24h': 'vor 24 Stunden',
    '7d': 'vor 7 Tagen',
    '30d': 'vor 30 Tagen',
    '90d': 'vor 90 Tagen',
    '1y': 'vor einem Jahr',
  },
  percentile: { p50: 'Median', p95: 'p95', p99: 'p99' },
  failures: 'fehlgeschlagene Prüfungen',
  failureShare: 'Fehl\u00adge\u00adschla\u00adgen',
  time: 'Zeit (UTC)',
  noTimes: 'In diesem Zeitraum gibt es keine Antwortzeiten.',
  chartLabel: (range, highest) => `Antwortzeit, ${range}: höchstens ${highest}`,
  chartLabelSince: (highest) => `Antwortzeit seit der ersten Prüfung: höchstens ${highest}`,
  chartTable: 'Antwortzeiten',
  chartOf: (name) => `Antwortzeiten von ${name} in den letzten 24 Stunden`,
  chartFailed: 'Dieser Zeitraum ließ sich nicht laden. Versuchen Sie es gleich noch einmal.',
  samplesMissing: (since) =>
    phraseOf`Prüfungen seit ${since} werden noch gespeichert; in Zahlen und Diagrammen fehlen deshalb einige.`,
  historyAway:
    'Vergangene Prüfungen lassen sich zurzeit nicht lesen. Der aktuelle Zustand ist davon nicht betroffen.',
  gaps: 'Eine Lücke ist ein Zeitraum ohne Daten. Prüfungen, die ein Fehler bei uns verfälscht haben kann, sind ausgelassen.',

  phases: 'Die letzte Prüfung, Schritt für Schritt',
  phase: {
    dns: 'DNS-Abfrage',
    connect: 'TCP-Verbindung',
    tls: 'TLS-Handshake',
    first_byte: 'Auf die Antwort warten',
    body: 'Antwort lesen',
  },
  otherPhase: 'Weiterleitungen und Übriges',
  total: 'Gesamt',
  phasesLabel: (total) => `Schritte der letzten Prüfung, gesamt ${total}`,
  failedHere: (why) => `fehlgeschlagen: ${why}`,
  failure: germanFailure,

  incidents: 'Vorfälle',
  noIncidents: 'Keine Vorfälle.',
  detectedByUs: 'Von unseren Prüfungen gesehen',
  detectedByHeartbeats: 'An seinen Lebenszeichen festgestellt',
  withoutMaintenance: (uptime) => `${uptime} ohne angekündigte Wartung`,
  postMortem: 'Nachbetrachtung',
  calendar: 'Kalender der Wartungen',
  calendarFile: 'als Datei (iCalendar)',
  saidByOwner: 'Der Betreiber sagt',
  reportedByOwner: 'Vom Betreiber gemeldet',
  reportedByVendor: 'Vom Anbieter gemeldet',
  began: (at) => phraseOf`begann ${at}`,
  lasting: (length) => `seit ${length}`,
  lasted: (length) => `dauerte ${length}`,
  soFar: (length) => phraseOf`Andauernd, ${length}`,
  allUpdates: (updates) => (updates === 1 ? 'Die ganze Meldung' : `Alle ${updates} Meldungen`),
  allEntries: 'Alle Einträge',
  timeline: (entries) => (entries === 1 ? 'Verlauf, ein Eintrag' : `Verlauf, ${entries} Einträge`),
  timelineHeading: 'Verlauf',
  noTimeline: 'Es gibt keine Einträge.',
  vendorEntry: 'Bericht des Anbieters',
  ended: (at) => phraseOf`endete ${at}`,
  newer: 'Neuerer Vorfall',
  older: 'Älterer Vorfall',
  neighbours: 'Andere Vorfälle',
  noIncident: (name, id) => `${name} hat keinen Vorfall „${id}“.`,

  regions: 'Regionen',
  region: 'Region',
  regionChoice: 'Prüfungen aus',
  allRegions: 'allen Regionen',
  regionChecked: 'Letzte Prüfung',
  regionFailure: 'Fehler',
  failsFrom: (regions) => `Fehler aus Sicht von ${regions}.`,
  withoutNode: (regions) => `Keine Prüfung aus ${regions}: Dort prüft kein Knoten.`,

  dependencies: 'Abhängigkeiten',
  reported: (at) => phraseOf`Gemeldet ${age(at)}`,
  noDependencies: 'Noch keine gemeldet.',
  dependency: 'Abhängigkeit',
  state: 'Zustand',
  latency: 'Antwortzeit',
  since: 'Seit',
  others: 'Anderswo',
  othersToo: (others) =>
    others === 0
      ? 'kein anderer Dienst meldet das'
      : others === 1
        ? '1 anderer Dienst meldet das auch'
        : `${others} andere Dienste melden das auch`,

  badge: 'Badge',
  tellMeDown: 'Bei Ausfall benachrichtigen',
  tellMeUp: 'Benachrichtigen, wenn er wieder läuft',
  badgeFor: 'Badge für Ihre Website',
  badgeLead: 'Zeigen Sie diesen Zustand auf Ihrer Website. Das Bild aktualisiert sich selbst.',
  moreBadges: 'Mehr Badges: Erreichbarkeit, Antwortzeit, andere Formate',
  markdown: 'Markdown',
  html: 'HTML',
  picture: 'Bild',
  copyByHand: 'Strg+C drücken zum Kopieren.',

  follow: 'Auf dem Laufenden bleiben',
  atom: 'Vorfälle als Atom-Feed',
  atomFor: 'für Feedleser',
  events: 'Änderungen, sobald sie geschehen',
  eventsFor: 'Server-Sent Events, für Programme',
  json: 'Zustand als JSON',
  historyJson: 'Verlauf als JSON',
  incidentsJson: 'Vorfälle als JSON',
  forPrograms: 'für Programme',
};
