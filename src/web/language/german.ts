/** The texts of pages in German. */

import { inSeconds } from '../../domain/durations.ts';
import { phraseOf } from '../../language/phrase.ts';
import { SHARED_TEXTS } from '../../language/shared-texts.ts';
import type { englishAbout, englishHonesty, Texts } from './english.ts';
import { germanAlerts } from './german-alerts.ts';
import { germanChecks } from './german-checks.ts';
import { germanDashboard, germanMembers } from './german-dashboard.ts';
import { germanIncidents, germanMaintenance, germanPosts } from './german-incidents.ts';
import { germanServicePage } from './german-service-page.ts';
import { germanSignIn, germanStart } from './german-sign-in.ts';
import { germanPageEditor, germanStatusPage, germanSubscribe } from './german-status-page.ts';

const germanHonesty: typeof englishHonesty = {
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

const germanAbout: typeof englishAbout = {
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

const shared = SHARED_TEXTS.de;

export const german: Texts = {
  status: shared.status,
  incidentStatus: shared.incidentStatus,
  severity: shared.severity,
  category: shared.category,
  site: {
    skip: 'Zum Inhalt springen',
    navigation: 'Website',
    services: 'Dienste',
    api: 'API',
    apiTitle: 'API von Upbeat',
    apiHeading: 'Die API',
    apiInEnglish: 'Die Beschreibung selbst ist auf Englisch.',
    incidents: 'Vorfälle',
    heatmap: 'Heatmap',
    maintenance: 'Wartungen',
    about: 'Über uns',
    dashboard: 'Verwaltung',
    metrics: 'Metriken',
    language: 'Sprache',
    theme: 'Farbschema',
    themes: { system: 'System', light: 'Hell', dark: 'Dunkel' },
    timesAreUtc: 'Zeiten sind UTC.',
    timesAreYours: 'Zeiten in Ihrer Zeitzone. Unter dem Mauszeiger erscheint UTC.',
    away: 'Unsere eigene Verbindung ist unterbrochen',
    awaySince: (since) =>
      phraseOf`seit ${since}: Wir sind offline. Diese Seite zeigt den letzten bekannten Zustand. Bis die Verbindung zurück ist, wird kein Dienst als gestört gemeldet.`,
    lost: 'Die Verbindung zu dieser Website ist unterbrochen.',
    reload: 'Neu laden, um den aktuellen Zustand zu sehen',
    reloadByHand:
      'Diese Seite zeigt den Zustand zum Zeitpunkt des Ladens. Laden Sie sie neu, um den aktuellen zu sehen.',
    notFound: 'Nicht gefunden',
    noService: (name) => `Es gibt keinen Dienst namens „${name}“.`,
    show: 'Zeigen',
    lookForIt: 'Alle Dienste durchsuchen',
  },
  errors: {
    about: (status) => `Über Fehler ${status}`,
    missing: { heading: 'Nicht gefunden', advice: 'Unter dieser Adresse gibt es nichts.' },
    request: { heading: 'Ungültige Anfrage', advice: 'Diese Anfrage lässt sich so nicht beantworten.' },
    forbidden: {
      heading: 'Nicht erlaubt',
      advice: 'Dazu fehlt Ihnen die Berechtigung, oder Sie müssen sich zuerst anmelden.',
    },
    method: {
      heading: 'Nicht möglich',
      advice: 'Diese Adresse nimmt Anfragen dieser Art nicht an.',
    },
    changed: {
      heading: 'Inzwischen geändert',
      advice: 'Gehen Sie zurück, laden Sie die Seite neu, und versuchen Sie es noch einmal.',
    },
    limited: {
      heading: 'Zu viele Anfragen',
      advice: 'Warten Sie einen Augenblick, und laden Sie die Seite dann neu.',
    },
    unavailable: {
      heading: 'Zurzeit nicht verfügbar',
      advice: 'Warten Sie einen Augenblick, und versuchen Sie es dann noch einmal.',
    },
    fault: {
      heading: 'Etwas ist schiefgegangen',
      advice: 'Der Fehler liegt bei uns. Versuchen Sie es gleich noch einmal.',
    },
  },
  home: {
    title: 'Upbeat: Läuft es?',
    heading: 'Läuft es?',
    lead: (count, shown) =>
      count === 1 ? 'Ein Dienst, laufend geprüft.' : `${shown} Dienste, laufend geprüft.`,
    byStatus: 'Dienste nach Zustand',
    heatmap: 'Alle Dienste in den letzten 24 Stunden',
    searchLabel: 'Name oder Domain',
    searchHint: '/ drücken zum Suchen',
    searchKeys: 'Pfeiltasten wählen aus, die Eingabetaste öffnet.',
    allCategories: 'Alle Kategorien',
    noPublic: 'Hier sind keine Dienste öffentlich.',
    yourServices: 'Ihre Dienste',
    categoryLabel: 'Kategorie',
    search: 'Suchen',
    results: (count, shown) =>
      count === 0 ? 'Kein Dienst passt.' : count === 1 ? 'Ein Dienst passt.' : `${shown} Dienste passen.`,
    noMatch: 'Kein Dienst passt.',
    showAll: 'Alle zeigen',
    troubled: 'Jetzt gestört oder langsam',
    calm: 'Im Augenblick ist nichts gestört oder langsam.',
    calmEmpty: 'Noch wird kein Dienst überwacht.',
    calmUnchecked: 'Noch wurde kein Dienst geprüft.',
    calmOffline:
      'Was im Augenblick gestört oder langsam ist, ist nicht bekannt: Die Überwachung ist offline.',
    calmLate: 'Was im Augenblick gestört oder langsam ist, ist nicht bekannt: Alle Prüfungen sind verspätet.',
    calmPartly: (count, shown) =>
      count === 1 ? 'Ein Dienst wurde noch nicht geprüft.' : `${shown} Dienste wurden noch nicht geprüft.`,
    allIncidents: 'Alle Vorfälle',
    heatmapOf: 'Heatmap aller Dienste',
    allTroubled: (shown) => `Alle ${shown}`,
    troubledCount: (shown) => `${shown} gestört oder langsam`,
    notListed: (shown, all) => `${shown} von ${all} stehen in der Liste. Suchen Sie nach den übrigen.`,
    verdict: (up, all) => `${up} von ${all} in Ordnung`,
    verdictAll: (count, all) =>
      count === 1 ? 'Der Dienst ist in Ordnung' : `Alle ${all} Dienste sind in Ordnung`,
    verdictUnchecked: 'Noch ist nichts bekannt: Kein Dienst wurde geprüft',
    verdictOffline: 'Unsere eigene Verbindung ist unterbrochen: Dies ist der letzte bekannte Stand',
    verdictLate: 'Alle Prüfungen sind verspätet: Dies ist der letzte bekannte Stand',
    categories: 'Kategorien',
    lastDay: 'Die letzten 24 Stunden',
    lastDayNote:
      'Jede Zelle ist eine Stunde einer Kategorie, gefüllt nach dem Anteil der Dienste, die gestört waren. Die Linien darunter sind die Antwortzeiten derselben Stunden, mit einer Marke, wo ein Dienst langsam oder gestört war.',
    stripOf: (category, bad, isKnown) =>
      `${category}, letzte 24 Stunden: ${isKnown ? `jetzt ${bad ?? 'nichts gestört oder langsam'}` : 'noch kein Zustand bekannt'}. Zur Heatmap.`,
    dayAgo: 'vor 24 Stunden',
    similar: 'Kein Dienst heißt genau so. Meinten Sie einen von diesen?',
    incidents: 'Letzte Vorfälle',
    lasting: (since) => phraseOf`seit ${since}`,
    monitor: 'Überwachung',
    online: 'Verbunden',
    offline: 'Getrennt',
    checkRate: (perSecond, shown) =>
      perSecond === 1 ? 'eine Prüfung pro Sekunde' : `${shown} Prüfungen pro Sekunde`,
    newestCheck: (ago) => phraseOf`letzte Prüfung ${ago}`,
    noCheckYet: 'noch keine Prüfung',
    late: (count, shown) =>
      count === 0
        ? 'keine verspätet'
        : count === 1
          ? 'eine Prüfung verspätet'
          : `${shown} Prüfungen verspätet`,
  },
  /** The texts of the badge builder. */
  badges: {
    title: 'Badges',
    titleOf: (name) => `Badges für ${name}`,
    lead: 'Ein Bild für Ihre README oder Website, das zeigt, wie es einem Dienst geht.',
    search: 'Dienst',
    searchHint: 'Name oder Domain',
    find: 'Finden',
    more: 'Es gibt weitere. Geben Sie mehr vom Namen ein.',
    examples: 'Arten von Badges',
    example: {
      status: 'Der aktuelle Zustand',
      uptime: 'Die Erreichbarkeit über einen Zeitraum',
      latency: 'Die Antwortzeit',
      compact: 'Die kompakte Form',
    },
    make: 'Einen Dienst auswählen',
    another: 'Ein anderer Dienst',
    page: 'Seite des Dienstes',
    variant: 'Zeigt',
    variants: { status: 'Zustand', uptime: 'Erreichbarkeit', latency: 'Antwortzeit' },
    window: 'Zeitraum',
    windows: { '24h': '24 Stunden', '7d': '7 Tage', '30d': '30 Tage', '90d': '90 Tage', '1y': 'ein Jahr' },
    measure: 'Kennzahl',
    measures: { median: 'Median', p95: 'p95' },
    theme: 'Farben',
    themes: { light: 'hell', dark: 'dunkel' },
    style: 'Form',
    styles: { card: 'Karte', compact: 'kompakt' },
    label: 'Beschriftung',
    labelHint: 'der Name',
    bothThemes: 'HTML, hell und dunkel',
    format: 'Format',
    formats: { png: 'PNG', svg: 'SVG', shields: 'Shields' },
    picture: 'Vorschau',
    shown: 'Das Badge und die Vorlagen haben sich geändert.',
    sharp:
      'Ein SVG ist auf jedem Bildschirm scharf. Der HTML-Code eines PNG nennt ein zweites Bild für hochauflösende Bildschirme.',
    shieldsNote: 'Shields.io zeichnet es in seinem eigenen Stil, aus',
    shieldsLink: 'diesem JSON',
    snippets: 'Code zum Einbetten',
    url: 'URL',
    copy: 'Kopieren',
    copied: 'Kopiert.',
    copyByHand: 'Mit Strg+C kopieren.',
    fresh:
      'Das Badge aktualisiert sich selbst; Caches behalten es bis zu fünf Minuten. Ein veraltetes Badge wird grau und zeigt sein Alter.',
    alt: (name, variant, window) =>
      variant === 'status'
        ? `${name}: Zustand`
        : `${name}: ${variant === 'uptime' ? 'Erreichbarkeit' : 'Antwortzeit'}, ${window}`,
  },
  checks: germanChecks,
  alerts: germanAlerts,
  dashboard: germanDashboard,
  members: germanMembers,
  posts: germanPosts,
  subscribe: germanSubscribe,
  pageEditor: germanPageEditor,
  /** The texts of the page of one service. */
  service: {
    notChecked: 'wurde noch nicht geprüft.',
    up: (since, lasted) => phraseOf`läuft seit ${since} (${lasted}).`,
    slow: (since, lasted, why) =>
      phraseOf`ist langsam seit ${since} (${lasted})${why === null ? '' : `: ${why}`}.`,
    down: (since, lasted, why) =>
      phraseOf`ist gestört seit ${since} (${lasted})${why === null ? '' : `: ${why}`}.`,
    answer: {
      up: (name) => [`${name} läuft`],
      slow: (name, lasted) => phraseOf`${name} ist seit ${lasted} langsam`,
      down: (name, lasted) => phraseOf`${name} ist seit ${lasted} gestört`,
      why: (symptom) => `: der Dienst ${symptom}`,
      unreached: (because) => `: ${because}`,
      unknown: (name) => [`${name} wurde noch nicht geprüft`],
      stale: (name, seen) => phraseOf`${name} wurde zuletzt ${seen} geprüft`,
      paused: (name) => [`${name} wird nicht geprüft`],
      reported: (name) => [`${name}: Vorfall gemeldet; unsere Prüfungen finden keinen Fehler`],
    },
    answerTitle: {
      up: (name) => `${name} läuft`,
      slow: (name) => `${name} ist langsam`,
      down: (name) => `${name} ist gestört`,
    },
    noHeartbeat: 'es kam kein Lebenszeichen',
    because: (name) => `nicht erreichbar wegen ${name ?? 'einer Störung davor'}`,
    failure: shared.failure,
    symptom: shared.symptom,
    reason: shared.reason,
    incidentTitle: shared.incidentTitle,
    incidentNote: shared.incidentNote,
    reported: (word) => `er meldet „${word}“`,
    ownReport: (took) => `nach eigener Angabe${took === null ? '' : `, mit einer Antwortzeit von ${took}`}`,
    slowAnswer: (took) => `die letzte Antwort brauchte ${took}`,
    vendor: {
      unknown: 'wurde noch nicht gelesen',
      operational: 'meldet keine Störung',
      maintenance: 'meldet eine Wartung',
      minor: 'meldet eine leichte Störung',
      major: 'meldet eine schwere Störung',
      critical: 'meldet eine kritische Störung',
    },
    vendorSince: (text, since) => phraseOf`${text}, seit ${since}`,
    vendorStale: (text, ago) => phraseOf`${text}, vor ${ago}; seither war sie nicht zu lesen`,
    vendorUnread: (text) => phraseOf`${text}, als sie zuletzt gelesen wurde`,
  },
  honesty: germanHonesty,
  incidents: germanIncidents,
  maintenance: germanMaintenance,
  about: germanAbout,
  page: germanServicePage,
  statusPage: germanStatusPage,
  signIn: germanSignIn,
  start: germanStart,
};
