/** What pages say, in German. */
import type { Words } from './english.ts';
import { germanBadges } from './german-badges.ts';
import { germanDashboard } from './german-dashboard.ts';
import { germanPageEditor } from './german-page-editor.ts';
import { germanService } from './german-service.ts';
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
  badges: germanBadges,
  dashboard: germanDashboard,
  pageEditor: germanPageEditor,
  service: germanService,
  page: germanServicePage,
  statusPage: germanStatusPage,
};
