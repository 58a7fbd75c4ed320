/** Texts of the editor of status pages, in German. */

import { phraseOf } from '../../language/phrase.ts';
import type { Texts } from './english.ts';

const services = (count: number) => (count === 1 ? '1 Dienst' : `${count} Dienste`);

const picture = (formats: readonly string[], kib: number, pixels: number) =>
  `Bild: ${formats.join(', ')}, bis ${kib} KiB und ${pixels} Pixel`;

/** The texts of the editor. */
export const germanPageEditor: Texts['pageEditor'] = {
  lead: 'Eine Statusseite zeigt Dienste Ihrer Wahl, öffentliche und eigene, unter Ihrem Titel und Logo. Jeder kann sie lesen.',
  noPages: 'Noch keine.',
  about: (slug, count, changed) => phraseOf`/p/${slug}, ${services(count)}, geändert am ${changed}`,
  showPage: 'Die Seite zeigen',
  showOf: (title) => `Die Seite ${title} zeigen`,
  newPage: 'Neue Seite',
  title: 'Titel',
  titleExample: 'Dienste von Acme',
  address: 'Adresse, nach',
  bounds: (pages, most) =>
    `Ein Konto kann ${pages} Seiten mit je ${most} Diensten haben. Eine Adresse bleibt für ihr Konto reserviert, auch wenn die Seite gelöscht ist.`,

  titleAndText: 'Titel und Text',
  look: 'Aussehen und Zugang',
  saveLook: 'Aussehen und Zugang speichern',
  colour: 'Farbe der Marke (leer: keine)',
  colourHint:
    'Ein Balken über der Seite zeigt sie. Auch Links haben sie, dunkler oder heller, bis man sie lesen kann.',
  readers: 'Wer die Seite sieht',
  access: {
    public: { label: 'Alle', hint: 'Alle, die die Adresse haben.' },
    members: {
      label: 'Mitglieder dieses Kontos',
      hint: 'Für alle anderen gibt es die Seite nicht. Ihre Dienste behalten ihre eigenen Seiten.',
    },
    password: {
      label: 'Alle mit dem Passwort',
      hint: 'Besucher geben es einmal in 30 Tagen ein. Ein neues Passwort beendet den Zugang aller, die das alte hatten.',
    },
  },
  password: 'Passwort, mindestens 12 Zeichen',
  newPassword: 'Neues Passwort, mindestens 12 Zeichen (leer: Das jetzige bleibt)',
  text: 'Einleitung, unter dem Titel gezeigt',
  note: 'Notiz für Mitglieder',
  of: (count, most) => `${count} von höchstens ${most}`,
  noServices: 'Noch keine. Suchen Sie unten nach Diensten. Gruppen geben ihnen Überschriften.',
  noHeading: 'Ohne Überschrift',
  groupUp: (group) => `Die Gruppe ${group} nach oben`,
  groupDown: (group) => `Die Gruppe ${group} nach unten`,
  emptyGroup: 'Diese Gruppe ist leer. Leere Gruppen werden nicht gezeigt.',
  service: (id) => `Dienst ${id}`,
  gone: 'Ein Dienst, den es zurzeit nicht gibt. Er wird nicht gezeigt.',
  privateShown: 'Privat: Besucher sehen diesen Namen, den Status und die Erreichbarkeit, sonst nichts.',
  privateHidden: 'Privat: wird erst gezeigt, wenn er einen Namen für diese Seite hat.',
  entryMore: 'Name auf dieser Seite',
  entryName: (name) => `Name von ${name} auf dieser Seite`,
  entryPlaceholder: 'Privat: Name auf dieser Seite',
  up: (name) => `${name} nach oben`,
  down: (name) => `${name} nach unten`,
  removeOf: (name) => `${name} von der Seite entfernen`,
  groupMore: 'Gruppe umbenennen oder entfernen',
  rename: 'Umbenennen',
  goesToo: (count) =>
    count === 1
      ? 'Ihr Dienst verschwindet mit ihr von der Seite.'
      : `Ihre ${count} Dienste verschwinden mit ihr von der Seite.`,
  removeGroup: 'Die Gruppe entfernen',
  removeGroupOf: (group) => `Die Gruppe entfernen: ${group}`,
  newGroup: 'Neue Gruppe',
  newGroupName: 'Name der neuen Gruppe',
  groupExample: 'Zahlungen',
  addGroup: 'Die Gruppe hinzufügen',
  addServices: 'Dienste hinzufügen',
  searchHint: 'Name oder Domain',
  searchLabel: 'Name oder Domain eines Dienstes',
  search: 'Suchen',
  noneChosen: 'Wählen Sie mindestens einen Dienst.',
  addChosen: 'Die gewählten Dienste hinzufügen',
  noMatch: 'Kein weiterer Dienst passt.',
  intoGroup: 'In die Gruppe',
  more: (count) => `und ${count === 1 ? 'ein weiterer' : `${count} weitere`}: Geben Sie mehr vom Namen ein.`,

  logo: {
    heading: 'Logo',
    alt: 'Das Logo',
    remove: 'Das Logo entfernen',
    hint: 'Steht neben dem Titel.',
    label: picture,
  },
  favicon: {
    heading: 'Favicon',
    alt: 'Das Favicon',
    remove: 'Das Favicon entfernen',
    hint: 'Steht in Tabs und Lesezeichen. Am besten ist ein Quadrat mit mindestens 32 Pixeln.',
    label: picture,
  },
  replace: 'Ersetzen',
  replaceOf: (what) => `Ersetzen: ${what}`,
  upload: 'Hochladen',
  uploadOf: (what) => `Hochladen: ${what}`,

  domain: 'Eigene Domain',
  domainName: 'Domain (leer: keine)',
  domainHint:
    'Sobald sie bestätigt ist, steht die Seite allein unter dieser Domain, und ihre Adresse auf dieser Website führt dorthin. Richten Sie die Domain auf diese Website. Eine Seite für Mitglieder bleibt auf dieser Website.',
  saveDomain: 'Domain speichern',
  domainProof:
    'Weisen Sie auf einem von zwei Wegen nach, dass die Domain Ihnen gehört, und drücken Sie dann „Bestätigen“.',
  domainProved: (at) =>
    phraseOf`Bestätigt ${at}. Lassen Sie den Nachweis stehen: Er wird jeden Tag erneut geprüft.`,
  domainMissing: (since) =>
    phraseOf`Der Nachweis fehlt seit ${since}. Nach drei Tagen kehrt die Seite zu ihrer Adresse auf dieser Website zurück.`,
  domainUnproved: phraseOf`Noch nicht bestätigt.`,

  share: 'Teilen und einbetten',
  addressOf: 'Adresse der Seite',
  copyAddress: 'Die Adresse kopieren',
  asScript: 'Als Skript, das die Höhe anpasst',
  copyScript: 'Das Skript kopieren',
  asFrame: 'Als Rahmen',
  copyFrame: 'Den Rahmen kopieren',
  both: 'Beide zeigen den Gesamtzustand und die betroffenen Dienste. Die Farben bestimmt',
  onScript: 'am Skript oder',
  onFrame: 'in der URL des Rahmens.',
  forPrograms: 'Für Programme:',

  toDelete: 'Um die Seite zu löschen, geben Sie ihre Adresse ein',
  toDeletePage: (slug) => `Um die Seite zu löschen, geben Sie ihre Adresse ein: ${slug}`,

  noSuchButton: 'Einen solchen Knopf gibt es nicht.',
};
