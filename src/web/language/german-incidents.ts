/** Texts of the pages of incidents, maintenance and the heat map, and of the dashboard's pages about posts, in German. */

import { phraseOf } from '../../language/phrase.ts';
import type { Texts } from './english.ts';
import type { englishIncidents, englishMaintenance } from './english-incidents.ts';

/** The texts of these pages. */
export const germanPosts: Texts['posts'] = {
  incidents: 'Vorfälle',
  incidentsLead:
    'Was Sie über Ihre Dienste und Statusseiten sagen. Es steht neben dem, was Prüfungen sehen, und ändert es nie.',
  noIncidents: 'Sie haben noch keinen Vorfall geschrieben.',
  newIncident: 'Einen Vorfall schreiben',
  title: 'Titel',
  text: 'Text (Markdown)',
  update: 'Meldung (Markdown)',
  status: 'Zustand',
  severity: 'Schwere',
  concerns: 'Betrifft',
  pageNamed: (title) => `Statusseite ${title}`,
  nothingYet: 'Sie haben noch keinen Dienst und keine Statusseite.',
  publish: 'Veröffentlichen',
  preview: 'Vorschau',
  change: 'Ändern',
  changeOf: (title) => `${title} ändern`,
  maintenances: 'Wartungen',
  maintenancesLead:
    'Während eine Wartung läuft, werden Meldungen über ihre Dienste zurückgehalten, und Vorfälle der Prüfungen haben die Schwere Wartung.',
  noMaintenances: 'Sie haben keine Wartung angekündigt.',
  newMaintenance: 'Eine Wartung ankündigen',
  started: 'Beginn (UTC; leer: jetzt)',
  starts: 'Beginn (leer: jetzt)',
  startsFirst: 'Beginn',
  zone: 'Zeitzone des Beginns',
  duration: 'Dauer, etwa 90m oder 2h',
  repeats: 'Wiederholung',
  way: {
    once: 'keine',
    daily: 'täglich',
    weekly: 'wöchentlich',
    monthly: 'monatlich',
    rule: 'nach einer iCalendar-Regel',
  },
  onDays: 'An diesen Tagen (keiner: der des Beginns)',
  onMonthDay: 'Am Tag des Monats',
  asStart: 'der des Beginns',
  lastDayOfMonth: 'der letzte Tag',
  recurrence: 'Regel (RRULE)',
  weeklyOn: (days) => `wöchentlich am ${days}`,
  monthlyOn: (day) => `monatlich ${/\d/.test(day) ? `am ${day}.` : 'am letzten Tag'}`,
  announce: 'Ankündigen',
  runs: 'läuft',
  planned: 'geplant',
  over: 'vorbei',
  endNow: 'Jetzt beenden',
  extend: 'Um 30 Minuten verlängern',
  skip: 'Die nächste auslassen',
  withdraw: 'Zurückziehen',
};

/** The texts of this page. */
export const germanMaintenance: typeof englishMaintenance = {
  title: 'Wartungen aller Dienste',
  heading: 'Wartungen',
  lead: 'Arbeiten, die Anbieter und Betreiber angekündigt haben. Ausfälle sind währenddessen zu erwarten.',
  lists: 'Welche Wartungen',
  all: 'Alle',
  running: 'Läuft',
  planned: 'Geplant',
  past: 'Vorbei',
  none: {
    running: 'Zurzeit läuft keine Wartung.',
    planned: 'Es ist keine Wartung geplant.',
    past: 'Bisher gab es keine Wartung.',
  },
  more: {
    running: 'Alle, die laufen',
    planned: 'Alle geplanten',
    past: 'Alle vergangenen',
  },
  runs: (since) => phraseOf`seit ${since}`,
  lasts: (length) => `dauert ${length}`,
  further: 'Nächste Seite',
  back: 'Vorige Seite',
};

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
