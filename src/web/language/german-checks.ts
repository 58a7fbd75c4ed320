/** Texts of the kinds of checks and of their settings, in German. */
import type { Texts } from './english.ts';

/** The texts. */
export const germanChecks: Texts['checks'] = {
  kind: {
    health: 'Zustandsbericht, ersatzweise Abruf',
    root: 'HEAD-Anfrage an die Startseite',
    tcp: 'TCP-Verbindung',
    tls: 'TLS-Verbindung und Zertifikat',
    http: 'HTTP-Anfrage Ihrer Wahl',
    heartbeat: 'Lebenszeichen des Dienstes',
  },
  source: {
    root: 'durch Abruf der Startseite',
    health: 'durch Abruf des Zustandsberichts',
    tcp: 'durch eine TCP-Verbindung',
    tls: 'durch eine TLS-Verbindung',
    http: 'durch eine HTTP-Anfrage',
    heartbeat: 'durch sein Lebenszeichen',
    silence: 'weil kein Lebenszeichen kam',
  },
  setting: new Map([
    ['port', 'Port'],
    ['banner', 'Text in der Begrüßung des Servers'],
    ['minDays', 'Tage, die das Zertifikat noch gelten muss'],
    ['path', 'Pfad'],
    ['plain', 'Ohne TLS'],
    ['method', 'Methode'],
    ['headers', 'Kopfzeilen (Name: Wert), je Zeile eine'],
    ['body', 'Inhalt der Anfrage'],
    ['assertions', 'Erwartungen, je Zeile eine, etwa: body contains ok'],
  ]),
  accept: 'Erwartete Status',
  yes: 'ja',
  no: 'nein',
  standard: 'Standard',
  keptSecret: 'gespeichert; ein neuer Wert ersetzt ihn',
};
