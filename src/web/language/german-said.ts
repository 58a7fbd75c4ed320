/** Texts of the dashboard's pages about what owners say, in German. */
import type { Texts } from './english.ts';

/** The texts of these pages. */
export const germanSaid: Texts['said'] = {
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
  removeOf: (title) => `${title} entfernen`,
  maintenances: 'Wartungen',
  maintenancesLead:
    'Während eine Wartung läuft, werden Meldungen über ihre Dienste zurückgehalten, und Vorfälle der Prüfungen haben die Schwere Wartung.',
  noMaintenances: 'Sie haben keine Wartung angekündigt.',
  newMaintenance: 'Eine Wartung ankündigen',
  starts: 'Beginn (leer: jetzt)',
  zone: 'Nach der Uhr der Zeitzone',
  duration: 'Dauer, etwa 90m oder 2h',
  recurrence: 'Wiederholung (leer: einmal)',
  daily: 'täglich',
  weekly: 'wöchentlich',
  monthly: 'monatlich',
  announce: 'Ankündigen',
  runs: 'läuft',
  planned: 'geplant',
  over: 'vorbei',
  endNow: 'Jetzt beenden',
  extend: 'Um 30 Minuten verlängern',
  skip: 'Die nächste auslassen',
  withdraw: 'Zurückziehen',
};
