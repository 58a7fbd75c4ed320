/** What pages say, in German. */
import type { Words } from './english.ts';
import { germanDashboard } from './german-dashboard.ts';
import { germanFailure } from './german-failures.ts';
import { germanNote, germanOpening } from './german-incidents.ts';
import { germanPageEditor } from './german-page-editor.ts';
import { germanServicePage } from './german-service-page.ts';
import { germanStatusPage } from './german-status-page.ts';
import { say } from './phrase.ts';

/** The words of the site in German. */
export const german: Words = {
  status: { up: 'In Ordnung', slow: 'Langsam', down: 'Gestört', unknown: 'Unbekannt' },
  incidentStatus: {
    investigating: 'wird untersucht',
    identified: 'erkannt',
    monitoring: 'beobachtet',
    resolved: 'behoben',
  },
  severity: { minor: 'leicht', major: 'schwer', critical: 'kritisch', maintenance: 'Wartung' },
  category: {
    ai: 'KI',
    'social-media': 'Soziale Medien',
    gaming: 'Spiele',
    streaming: 'Streaming',
    productivity: 'Produktivität',
    cloud: 'Cloud',
    finance: 'Finanzen',
    communication: 'Kommunikation',
    ecommerce: 'Onlinehandel',
    developer: 'Entwicklung',
    education: 'Bildung',
    delivery: 'Lieferdienste',
    vpn: 'VPN',
    entertainment: 'Unterhaltung',
    isp: 'Internetanbieter',
    dating: 'Partnersuche',
    logistics: 'Logistik',
    travel: 'Reisen',
  },
  site: {
    skip: 'Zum Inhalt springen',
    navigation: 'Website',
    services: 'Dienste',
    api: 'API',
    apiTitle: 'API von Upbeat',
    apiHeading: 'Die API',
    apiInEnglish: 'Die Beschreibung selbst ist auf Englisch.',
    dashboard: 'Verwaltung',
    metrics: 'Metriken',
    language: 'Sprache',
    timesAreUtc: 'Zeiten sind UTC.',
    timesAreYours: 'Zeiten in Ihrer Zeitzone; UTC, wenn Sie darauf zeigen.',
    away: 'Unsere eigene Verbindung ist unterbrochen',
    awaySince: (since) =>
      say`seit ${since}: Der Prober ist offline. Hier steht, was zuletzt bekannt war; bis sie zurück ist, gilt nichts als gestört.`,
    lost: 'Die Verbindung zu dieser Website ist unterbrochen.',
    reload: 'Neu laden, um den jetzigen Stand zu sehen',
    reloadByHand:
      'Diese Seite zeigt den Stand des Augenblicks, in dem sie geladen wurde. Laden Sie sie neu, um den jetzigen zu sehen.',
    notFound: 'Nicht gefunden',
    noService: (name) => `Kein Dienst hat den Namen „${name}“.`,
    lookForIt: 'Unter allen Diensten danach suchen',
  },
  home: {
    title: 'Upbeat: Läuft es?',
    heading: 'Läuft es?',
    lead: (count, shown) =>
      count === 1
        ? 'Ein Dienst, von hier aus immer wieder geprüft.'
        : `${shown} Dienste, jeder von hier aus immer wieder geprüft.`,
    byStatus: 'Dienste nach Zustand',
    heatmap: 'Alle Dienste in den letzten 24 Stunden',
    searchLabel: 'Name oder Domain',
    searchHint: '/ drücken zum Suchen',
    searchKeys: 'Pfeiltasten wählen aus, die Eingabetaste öffnet.',
    allCategories: 'Alle Kategorien',
    categoryLabel: 'Kategorie',
    search: 'Suchen',
    results: (count, shown) =>
      count === 0 ? 'Kein Dienst passt.' : count === 1 ? 'Ein Dienst passt.' : `${shown} Dienste passen.`,
    noMatch: 'Kein Dienst passt.',
    showAll: 'Alle zeigen',
    troubled: 'Jetzt gestört oder langsam',
    calm: 'Im Augenblick ist nichts gestört oder langsam.',
    calmEmpty: 'Noch wird kein Dienst beobachtet.',
    calmUnchecked: 'Noch wurde kein Dienst geprüft.',
    calmOffline: 'Was im Augenblick gestört oder langsam ist, ist nicht bekannt: Der Prüfer ist offline.',
    calmLate: 'Was im Augenblick gestört oder langsam ist, ist nicht bekannt: Alle Prüfungen sind verspätet.',
    calmPartly: (count, shown) =>
      count === 1 ? 'Ein Dienst wurde noch nicht geprüft.' : `${shown} Dienste wurden noch nicht geprüft.`,
    more: (count, shown) => (count === 1 ? 'ein weiterer' : `${shown} weitere`),
    incidents: 'Letzte Vorfälle',
    began: (started) => say`${started}`,
    lasted: (length) => `dauerte ${length}`,
    lasting: (since) => say`seit ${since}`,
    monitor: 'Der Prüfer selbst',
    online: 'Verbunden',
    offline: 'Getrennt',
    checkRate: (perSecond, shown) =>
      perSecond === 1 ? 'eine Prüfung je Sekunde' : `${shown} Prüfungen je Sekunde`,
    newestCheck: (ago) => say`jüngste Prüfung ${ago}`,
    noCheckYet: 'noch keine Prüfung',
    late: (count, shown) =>
      count === 0
        ? 'keine verspätet'
        : count === 1
          ? 'eine Prüfung verspätet'
          : `${shown} Prüfungen verspätet`,
  },
  /** The words of the badge builder. */
  badges: {
    title: 'Badges',
    titleOf: (name) => `Badges für ${name}`,
    lead: 'Ein Bild für Ihre README oder Website, das sagt, wie es einem Dienst geht und wie alt diese Auskunft ist.',
    search: 'Dienst',
    searchHint: 'Name oder Domain',
    find: 'Finden',
    noMatch: 'Kein Dienst passt.',
    more: 'Es gibt noch mehr. Schreiben Sie mehr vom Namen.',
    examples: 'Was es gibt',
    example: {
      status: 'Wie es ihm jetzt geht',
      uptime: 'Welchen Teil der Zeit er lief',
      latency: 'Wie schnell er antwortet',
    },
    make: 'Einen Dienst auswählen',
    another: 'Ein anderer Dienst',
    page: 'Seine Seite',
    variant: 'Zeigt',
    variants: { status: 'Zustand', uptime: 'Verfügbarkeit', latency: 'Antwortzeit' },
    window: 'Über',
    windows: { '24h': '24 Stunden', '7d': '7 Tage', '30d': '30 Tage', '90d': '90 Tage', '1y': 'ein Jahr' },
    measure: 'Welche Antwortzeit',
    measures: { median: 'Median', p95: '95. Perzentil' },
    theme: 'Farben',
    themes: { light: 'hell', dark: 'dunkel' },
    format: 'Format',
    formats: { png: 'PNG', svg: 'SVG', shields: 'Shields' },
    show: 'Zeigen',
    picture: 'Das Badge jetzt',
    shown: 'Das Badge und die Vorlagen haben sich geändert.',
    shieldsNote: 'Shields zeichnet es in seinem eigenen Aussehen, aus',
    shieldsLink: 'dem, was wir ihm sagen',
    snippets: 'Zum Einfügen',
    url: 'Adresse',
    copy: 'Kopieren',
    copied: 'Kopiert.',
    copyByHand: 'Mit Strg+C kopieren.',
    fresh:
      'Es erneuert sich selbst: Zwischenspeicher behalten ein Badge fünf Minuten. Was alt ist, wird grau und nennt sein Alter.',
    alt: (name, variant, window) =>
      variant === 'status'
        ? `${name}: Zustand`
        : `${name}: ${variant === 'uptime' ? 'Verfügbarkeit' : 'Antwortzeit'}, ${window}`,
  },
  dashboard: germanDashboard,
  pageEditor: germanPageEditor,
  /** The words of the page of one service. */
  service: {
    notChecked: 'wurde noch nicht geprüft.',
    up: (since, lasted) => say`läuft seit ${since} (${lasted}).`,
    slow: (since, lasted, why) =>
      say`ist langsam seit ${since} (${lasted})${why === null ? '' : `: ${why}`}.`,
    down: (since, lasted, why) =>
      say`ist gestört seit ${since} (${lasted})${why === null ? '' : `: ${why}`}.`,
    noHeartbeat: 'es kam kein Lebenszeichen',
    failure: germanFailure,
    incidentTitle: germanOpening,
    incidentNote: germanNote,
    reported: (word) => `er meldet „${word}“`,
    ownReport: (took) => `nach eigener Angabe${took === null ? '' : `, mit Antworten in ${took}`}`,
    slowAnswer: (took) => `die letzte Antwort brauchte ${took}`,
    vendor: {
      unknown: 'wurde noch nicht gelesen',
      operational: 'meldet: alles in Ordnung',
      maintenance: 'meldet eine Wartung',
      minor: 'meldet eine leichte Störung',
      major: 'meldet eine schwere Störung',
      critical: 'meldet eine kritische Störung',
    },
    vendorSince: (said, since) => say`${said}, seit ${since}`,
    vendorStale: (said, ago) => say`${said}, vor ${ago}; seither war sie nicht zu lesen`,
    vendorUnread: (said) => say`${said}, als sie zuletzt gelesen wurde`,
  },
  page: germanServicePage,
  statusPage: germanStatusPage,
};
