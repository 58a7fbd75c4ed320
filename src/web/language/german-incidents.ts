/** Texts of the pages of incidents and of the heat map, in German. */
import type { englishIncidents } from './english-incidents.ts';

/** The texts of these pages. */
export const germanIncidents: typeof englishIncidents = {
  title: 'Vorfälle aller Dienste',
  heading: 'Vorfälle',
  lead: 'Was unsere Prüfungen bemerkt und was Anbieter und Betreiber gemeldet haben, das Neueste zuerst.',
  maintenanceState: {
    investigating: 'läuft',
    identified: 'läuft',
    monitoring: 'wird überprüft',
    resolved: 'abgeschlossen',
  },
  source: 'Quelle',
  anySource: 'Alle Quellen',
  severity: 'Schwere',
  anySeverity: 'Jede Schwere',
  noMatch: 'Keine passenden Vorfälle.',
  pages: 'Seiten',
  honesty: 'Wie lange Anbieter brauchen',
  older: 'Ältere',
  newer: 'Neuere',
  newest: 'Neueste',

  duration: 'Dauer',
  lastsFor: 'Dauert an seit',
  vendorFirst: 'Der Anbieter meldete es',
  later: (length, first) => `${length} ${first ? 'früher' : 'später'}`,
  voice: { own: 'Unsere Prüfungen', vendor: 'Der Anbieter', owner: 'Der Betreiber' },
  vendorLag: (length, first) =>
    `Der Anbieter meldete es ${length} ${first ? 'vor' : 'nach'} unserer ersten fehlgeschlagenen Prüfung.`,
  vendorSilent: 'Der Anbieter hat bisher nichts gemeldet.',
  vendorNever: 'Der Anbieter hat es nicht gemeldet.',
  checksFine: 'Keine unserer Prüfungen ist in dieser Zeit fehlgeschlagen.',
  axis: 'Was wann geschah',
  axisZero: {
    check: '0 ist unsere erste fehlgeschlagene Prüfung.',
    entry: '0 ist der erste Eintrag.',
  },
  cellNote:
    'Je höher ein Balken, desto schlechter waren die Prüfungen dieser Zeit: gut, langsam, fehlgeschlagen.',
  affected: 'Betroffener Dienst',
  sameTrouble: {
    own: 'Was unsere Prüfungen sahen',
    vendor: 'Der Bericht des Anbieters',
    owner: 'Der Bericht des Betreibers',
  },
  share: 'Teilen',
  link: 'Link zu diesem Vorfall',

  heatmapTitle: 'Heatmap aller Dienste',
  heatmapHeading: 'Heatmap',
  heatmapLead:
    'Eine Zeile je Dienst, der schlechteste seiner Kategorie zuerst. Zeigen Sie auf eine schlechte Zeit, um zu sehen, wann sie war.',
  heatmapPicture: 'Als Bild',
  heatmapLeft: (count) => `${count} weitere Dienste sind nicht gezeigt. Wählen Sie eine Kategorie.`,
  noBadTimes: 'keine schlechten Zeiten',
  level: {
    none: 'keine Prüfungen',
    fast: 'läuft, binnen 0,5 s',
    fair: 'läuft, binnen 1,5 s',
    long: 'läuft, länger',
    slow: 'langsam',
    failing: 'einige Prüfungen gescheitert',
    down: 'die Hälfte der Prüfungen oder mehr gescheitert',
  },
};
