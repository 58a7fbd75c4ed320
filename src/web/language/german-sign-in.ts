/** Texts of the pages for signing in, of links that make a way in, and of what a person signs in with, in German. */

import { phraseOf } from '../../language/phrase.ts';
import type { Texts } from './english.ts';

/** The texts of these pages. */
export const germanSignIn: Texts['signIn'] = {
  wrong: 'Der Name, das Passwort oder der Code stimmt nicht.',
  wait: (duration) => `Zu viele Versuche sind fehlgeschlagen. Versuchen Sie es in ${duration} wieder.`,
  seconds: (count) => (count === 1 ? '1 Sekunde' : `${count} Sekunden`),
  minutes: (count) => (count === 1 ? '1 Minute' : `${count} Minuten`),
  name: 'Name',
  password: 'Passwort',
  code: 'Code der App oder ein Wiederherstellungscode',
  way: { passkey: 'Passkey', password: 'Passwort' },
  withPassword: 'Mit einem Passwort',
  withPasskey: 'Mit einem Passkey',
  passkeyLead:
    'Einen Passkey bewahrt Ihr Gerät oder Ihr Passwortmanager auf; Fingerabdruck, Gesicht oder PIN öffnen ihn.',
  usePasskey: 'Mit einem Passkey anmelden',
  withProvider: 'Mit einem Konto anderswo',
  passkeyFailed:
    'Das ging nicht oder wurde abgebrochen. Versuchen Sie es noch einmal, oder wählen Sie einen anderen Weg.',
  noAccount:
    'Es gibt noch kein Konto. Upbeat gibt beim Start einen Link für das erste aus. Der Betreiber dieser Website erhält mit diesem Befehl einen neuen:',
  noWayIn:
    'Kein Konto hat einen Inhaber, der sich anmelden kann. Der Betreiber dieser Website erhält mit diesem Befehl einen Link für einen Inhaber:',
  sessionEnded:
    'Sie sind abgemeldet: Ihre Sitzung ist zu Ende, oder ein Inhaber hat Sie aus dem Konto entfernt. Melden Sie sich wieder an.',
  noMember: 'Sie sind in keinem Konto Mitglied',
  whatToDo: 'Was Sie tun können',
  askOwner: 'Bitten Sie den Inhaber eines Kontos auf dieser Website um eine Einladung.',
  openLink: 'Öffnen Sie den Link der Einladung und melden Sie sich an wie eben.',
  wasMember: 'Waren Sie schon Mitglied, dann hat ein Inhaber Sie entfernt. Er kann Sie wieder einladen.',
  askOperator: 'Sie wissen nicht, wen Sie fragen können? Diese Website betreibt',
  aboutSite: 'Sie wissen nicht, wen Sie fragen können? Über diese Website',
  asSomebodyElse: 'Als jemand anderes anmelden',

  setupTitle: 'Ihre erste Anmeldung',
  setupLead: 'Wählen Sie, wie Sie sich anmelden werden. Andere Wege können Sie danach hinzufügen.',
  resetTitle: 'Ein neuer Weg zur Anmeldung',
  resetLead: (name) =>
    `Für ${name}. Womit Sie sich bisher angemeldet haben, endet: Ihre Passkeys, Ihr Passwort und alle Sitzungen.`,
  linkEnded: 'Dieser Link gilt nicht mehr.',
  linkEndedWhy:
    'Er wurde benutzt, ist älter als einen Tag, oder er gehört zu einem ersten Konto, das es inzwischen gibt. Der Betreiber dieser Website kann einen neuen ausgeben:',
  yourName: 'Ihr Name',
  passkeyName: 'Name des Passkeys',
  passkeyExample: 'Mein Passkey',
  makePasskey: 'Passkey anlegen',
  passwordLead: (min) =>
    `Mindestens ${min} Zeichen. Zur Anmeldung gehört auch ein Code einer Authenticator-App, etwa von Google, Microsoft, 2FAS oder Bitwarden.`,
  nameToSignIn: 'Name für die Anmeldung',
  newPassword: 'Neues Passwort',
  scan: 'Nehmen Sie dieses Bild mit der App auf',
  orType: 'oder geben Sie diesen Schlüssel ein',
  firstCode: 'Code, den die App zeigt',
  setPassword: 'Passwort setzen',

  codesTitle: 'Ihre Wiederherstellungscodes',
  codesOnce: 'Sie werden nur dieses eine Mal gezeigt.',
  codesLead:
    'Jeder steht einmal für den Code der App, falls Sie diese verlieren. Drucken Sie sie aus, oder bewahren Sie sie bei Ihrem Passwort auf, aber nicht auf dem Gerät mit der App.',
  toDashboard: 'Weiter zur Verwaltung',

  newHere: 'Ich melde mich hier noch nicht an',
  signInAgain: (minutes) =>
    `Eine Änderung braucht eine Anmeldung in den letzten ${minutes} Minuten. Ihre ist älter.`,
  again: 'Noch einmal anmelden',

  accountTitle: 'Ihre Anmeldung',
  signedInAs: (name) => `Sie sind als ${name} angemeldet.`,
  passkeys: 'Passkeys',
  noPasskeys: 'Noch keine.',
  passkeysImpossible: 'Browser erlauben Passkeys nur unter https:// mit einem Hostnamen und auf localhost.',
  withoutScript: 'Einen Passkey anzulegen braucht JavaScript.',
  made: 'Angelegt',
  lastUsed: 'Zuletzt benutzt',
  never: 'nie',
  rename: 'Umbenennen',
  renameOf: (name) => `${name} umbenennen`,
  remove: 'Entfernen',
  removeOf: (name) => `${name} entfernen`,
  addPasskey: 'Passkey hinzufügen',
  passwordAndApp: 'Passwort mit Authenticator-App',
  noPassword: 'Noch keines.',
  passwordSince: (name, at) => phraseOf`Gesetzt ${at}, für den Namen ${name}.`,
  replacePassword: 'Passwort und App ersetzen',
  replaceLead:
    'Ein neues Passwort braucht einen neuen Schlüssel in der App. Es beendet Ihre anderen Sitzungen und Ihre Wiederherstellungscodes.',
  removePassword: 'Passwort entfernen',
  recoveryCodes: 'Wiederherstellungscodes',
  codesLeft: (count) => (count === 1 ? '1 ist unbenutzt.' : `${count} sind unbenutzt.`),
  newCodes: 'Neue Codes erzeugen',
  newCodesNote: 'Neue Codes ersetzen diese.',
  providers: 'Konten anderswo',
  sessions: 'Sitzungen',
  yourSessions: 'Ihre Sitzungen',
  account: 'Konto',
  signedInAt: 'Angemeldet',
  endsAt: 'Endet',
  thisOne: 'dieser Browser',
  end: 'Beenden',
  endOf: (time) => `Sitzung von ${time} beenden`,
};
