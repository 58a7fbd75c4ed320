/** What the page of one service says, in German. */
import type { Failure, FailureClass } from '../../domain/result.ts';
import type { Words } from './english.ts';
import { say } from './phrase.ts';

const FAILURES: Readonly<Record<FailureClass, string>> = {
  dns: 'der Name ließ sich nicht auflösen',
  refused: 'die Verbindung wurde abgewiesen',
  unreachable: 'die Adresse ist nicht erreichbar',
  tls: 'keine sichere Verbindung möglich',
  timeout: 'keine Antwort innerhalb der Frist',
  protocol: 'die Antwort war kein gültiges HTTP',
  status: 'die Antwort war ein Fehler',
  body: 'der eigene Bericht meldet eine Störung',
  forbidden_address: 'der Name führt zu einer Adresse, die nicht geprüft werden darf',
};

/** The words of the page of one service. */
export const germanService: Words['service'] = {
  notChecked: 'wurde noch nicht geprüft.',
  up: (since, lasted) => say`läuft seit ${since} (${lasted}).`,
  slow: (since, lasted, took) =>
    say`ist langsam seit ${since} (${lasted})${took === null ? '' : `: die letzte Antwort brauchte ${took}`}.`,
  down: (since, lasted, why) => say`ist gestört seit ${since} (${lasted})${why === null ? '' : `: ${why}`}.`,
  noHeartbeat: 'es kam kein Lebenszeichen',
  failure: ({ class: kind, detail }: Failure) =>
    detail === '' ? FAILURES[kind] : `${FAILURES[kind]} (${detail})`,
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
