/** Texts of the page of all maintenance, in German. */
import { phraseOf } from '../../language/phrase.ts';
import type { englishMaintenance } from './english-maintenance.ts';

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
