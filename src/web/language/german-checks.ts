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
    websocket: 'WebSocket-Handshake und erste Nachricht',
    heartbeat: 'Lebenszeichen des Dienstes',
  },
  source: {
    root: 'durch Abruf der Startseite',
    health: 'durch Abruf des Zustandsberichts',
    tcp: 'durch eine TCP-Verbindung',
    tls: 'durch eine TLS-Verbindung',
    http: 'durch eine HTTP-Anfrage',
    websocket: 'durch einen WebSocket-Handshake',
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
    ['subprotocol', 'Unterprotokoll'],
    ['send', 'Text, der nach dem Handshake gesendet wird'],
    ['contains', 'Text in der ersten Nachricht'],
    ['matches', 'Regulärer Ausdruck (RE2), dem die erste Nachricht entspricht'],
  ]),
  accept: 'Erwartete Status',
  yes: 'ja',
  no: 'nein',
  standard: 'Standard',
  keptSecret: 'gespeichert; ein neuer Wert ersetzt ihn',
};
