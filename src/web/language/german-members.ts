/** Texts of the pages of members and invitations, in German. */

import { phraseOf } from '../../language/phrase.ts';
import type { Texts } from './english.ts';

/** The texts of these pages. */
export const germanMembers: Texts['members'] = {
  title: 'Mitglieder',
  lead: 'Personen, die sich bei diesem Konto anmelden',
  role: { owner: 'Eigentümer', editor: 'Bearbeiter', viewer: 'Betrachter' },
  rights: {
    owner: 'verwaltet alles, auch Schlüssel und Mitglieder',
    editor: 'ändert Dienste, Statusseiten und Webhooks',
    viewer: 'sieht die Verwaltung, ohne ihre Geheimnisse',
  },
  you: 'Sie',
  name: 'Name',
  roleColumn: 'Rolle',
  signsInBy: 'Meldet sich an mit',
  since: 'Mitglied seit',
  action: 'Aktion',
  change: 'Ändern',
  roleOf: (name) => `Rolle von ${name}`,
  changeOf: (name) => `Die Rolle von ${name} ändern`,
  remove: 'Entfernen',
  removeOf: (name) => `${name} entfernen`,
  leave: 'Dieses Konto verlassen',
  leaveLead: 'Sie werden davon abgemeldet. Ein anderer Eigentümer kann Sie wieder einladen.',
  invitations: 'Einladungen',
  none: 'Keine.',
  invitedBy: (name) => `von ${name}`,
  openedBy: (name) => `geöffnet von ${name}`,
  notOpened: 'noch nicht geöffnet',
  expiresAt: (at) => phraseOf`läuft am ${at} ab`,
  withdraw: 'Zurückziehen',
  withdrawOf: (role) => `Die Einladung als ${role} zurückziehen`,
  invite: 'Ein Mitglied einladen',
  inviteLead:
    'Sie bekommen einen Link für eine Person. Er gilt einmal, sieben Tage lang, und gehört der ersten Person, die ihn angemeldet öffnet.',
  create: 'Einen Link erzeugen',
  linkOnce: 'Senden Sie diesen Link an eine Person. Er wird nur einmal gezeigt.',
  link: 'Einladungslink',
  account: 'Konto',
  switch: 'Wechseln',
  as: (role) => `als ${role}`,
  invitation: 'Einladung',
  invited: (account, inviter) => `${inviter} lädt Sie zum Konto ${account} ein.`,
  willBe: (role, rights) => `Ihre Rolle: ${role}. Wer sie hat, ${rights}.`,
  signedInAs: (name) => `Sie sind angemeldet als ${name}.`,
  accept: 'Die Einladung annehmen',
  signInFirst: 'Melden Sie sich an, um sie anzunehmen. Danach kommen Sie hierher zurück.',
  toDashboard: 'Zur Verwaltung',
};
