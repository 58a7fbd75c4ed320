/** Texts of the first steps after the first sign-in, in German. */
import type { Texts } from './english.ts';

/** The texts. */
export const germanStart: Texts['start'] = {
  question: 'Was möchten Sie überwachen?',
  lead: 'Fügen Sie Adressen ein, wie sie sind, eine je Zeile und höchstens 50 auf einmal. Ein paar Worte ohne Adresse benennen ein Lebenszeichen, das ein Auftrag sendet, wenn er fertig ist.',
  addresses: 'Adressen',
  example: 'Sicherung des NAS',
  watch: 'Überwachen',
  watchMore: 'Auch diese überwachen',
  skip: 'Überspringen',
  goOn: 'Weiter',
  watched: (count) => (count === 1 ? 'Ein Dienst wird überwacht' : `${count} Dienste werden überwacht`),
  nothingWatched: 'Noch wird nichts überwacht',
  nothingTyped: 'Geben Sie mindestens eine Adresse ein.',
  notAdded:
    'Diese Zeilen wurden nicht übernommen. Ändern Sie sie und versuchen Sie es noch einmal, oder lassen Sie sie weg.',
  isKnown: 'Das überwachen Sie bereits.',
  notTried: 'Die erste Prüfung folgt.',
  waitsForHeartbeat: 'Wartet auf das erste Lebenszeichen.',
  needsProof: 'Die Domain muss zuerst bestätigt werden: wie, steht in der Verwaltung.',
  unverified: 'Das Zertifikat wird nicht geprüft, weil es nicht gültig ist.',
  addressOnce: 'Adressen für Lebenszeichen, die nur dieses eine Mal gezeigt werden',
  addressLead: 'Jeder Auftrag ruft seine Adresse auf, wenn er gelungen ist.',
  problem: {
    host: 'Das ist weder ein Hostname noch eine Adresse.',
    port: 'Geben Sie einen Port von 1 bis 65535 an.',
    range: 'Das ist ein Adressbereich. Nennen Sie jedes Gerät einzeln.',
    scheme: 'Adressen dieser Art können nicht geprüft werden.',
    password: 'Geben Sie das Passwort noch einmal ein: Es wird nie gezeigt.',
    unclear: 'Das ist weder eine Adresse noch ein Name.',
    duplicate: 'Das steht zweimal in der Liste.',
    too_many: 'Höchstens 50 Zeilen werden auf einmal übernommen.',
    too_long: 'Diese Zeile ist zu lang.',
  },
  where: 'Wo sollen wir Sie benachrichtigen?',
  whereLead: 'Sie erfahren es, wenn etwas ausfällt und wenn es wieder läuft.',
  otherKind: 'Ein anderer Weg',
  test: 'Hinzufügen und einen Test senden',
  testAgain: 'Speichern und noch einmal testen',
  done: 'Fertig',
  isTold: (name) => `${name} wird bei jedem Ausfall Ihrer Dienste benachrichtigt.`,
};
