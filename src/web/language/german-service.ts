/** What the page of one service says, in German. */
import type { Words } from './english.ts';
import { germanFailure } from './german-failures.ts';
import { germanNote, germanOpening } from './german-incidents.ts';
import { say } from './phrase.ts';

/** The words of the page of one service. */
export const germanService: Words['service'] = {
  notChecked: 'wurde noch nicht geprüft.',
  up: (since, lasted) => say`läuft seit ${since} (${lasted}).`,
  slow: (since, lasted, why) => say`ist langsam seit ${since} (${lasted})${why === null ? '' : `: ${why}`}.`,
  down: (since, lasted, why) => say`ist gestört seit ${since} (${lasted})${why === null ? '' : `: ${why}`}.`,
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
};
