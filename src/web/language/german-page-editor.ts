/** What the editor of status pages says, in German. */
import type { Words } from './english.ts';
import { say } from './phrase.ts';

const services = (count: number) => (count === 1 ? '1 Dienst' : `${count} Dienste`);

/** The words of the editor. */
export const germanPageEditor: Words['pageEditor'] = {
  lead: 'Eine eigene Seite zeigt Dienste, die Sie auswählen, öffentliche und Ihre, unter Ihrem Titel und Logo. Jeder kann sie lesen.',
  noPages: 'Noch keine.',
  about: (slug, count, changed) => say`/p/${slug}, ${services(count)}, geändert ${changed}`,
  show: 'Zeigen',
  showPage: 'Die Seite zeigen',
  showOf: (title) => `Die Seite ${title} zeigen`,
  newPage: 'Neue Seite',
  title: 'Titel',
  titleExample: 'Dienste von Acme',
  address: 'Adresse, hinter',
  create: 'Anlegen',
  bounds: (pages, most) =>
    `Ein Konto hat höchstens ${pages} Seiten mit je ${most} Diensten. Eine Adresse bleibt bei ihrem Konto, auch wenn die Seite gelöscht ist.`,

  words: 'Worte',
  text: 'Text darunter, für alle, die die Seite lesen',
  save: 'Speichern',
  services: 'Dienste',
  of: (count, most) => `${count} von höchstens ${most}`,
  noServices: 'Noch keine: Suchen Sie unten nach einem. Gruppen geben ihnen Überschriften.',
  noHeading: 'Ohne Überschrift',
  groupUp: (group) => `Die Gruppe ${group} nach oben`,
  groupDown: (group) => `Die Gruppe ${group} nach unten`,
  emptyGroup: 'Hier steht noch nichts; eine leere Gruppe wird nicht gezeigt.',
  service: (id) => `Dienst ${id}`,
  gone: 'Ein Dienst, den es zurzeit nicht gibt; er wird nicht gezeigt.',
  up: (name) => `${name} nach oben`,
  down: (name) => `${name} nach unten`,
  remove: 'Entfernen',
  removeOf: (name) => `${name} von der Seite entfernen`,
  groupMore: 'Name der Gruppe, oder sie entfernen',
  name: 'Name',
  rename: 'Umbenennen',
  goesToo: (count) =>
    count === 1
      ? 'Ihr Dienst verschwindet mit ihr von der Seite.'
      : `Ihre ${count} Dienste verschwinden mit ihr von der Seite.`,
  removeGroup: 'Die Gruppe entfernen',
  removeGroupOf: (group) => `Die Gruppe ${group} entfernen`,
  newGroup: 'Neue Gruppe',
  newGroupName: 'Name der neuen Gruppe',
  groupExample: 'Zahlungen',
  addGroup: 'Die Gruppe hinzufügen',
  addServices: 'Dienste hinzufügen',
  searchHint: 'Name oder Domain',
  searchLabel: 'Name oder Domain eines Dienstes',
  search: 'Suchen',
  noMatch: 'Kein Dienst, der nicht auf der Seite steht, passt.',
  intoGroup: 'In die Gruppe',
  add: 'Hinzufügen',
  addOf: (name) => `${name} hinzufügen`,
  more: (count) => `und ${count === 1 ? 'ein weiterer' : `${count} weitere`}: Schreiben Sie mehr vom Namen.`,

  logo: 'Logo',
  logoAlt: 'Das Logo',
  removeLogo: 'Das Logo entfernen',
  picture: (kib, pixels) => `Bild: PNG, JPEG, WebP oder GIF, bis ${kib} KiB und ${pixels} Pixel`,
  replace: 'Ersetzen',
  upload: 'Hochladen',

  share: 'Teilen und einbetten',
  addressOf: 'Adresse der Seite',
  copyAddress: 'Die Adresse kopieren',
  asScript: 'Als Skript, das seine Höhe anpasst',
  copyScript: 'Das Skript kopieren',
  asFrame: 'Als Rahmen',
  copyFrame: 'Den Rahmen kopieren',
  both: 'Beide zeigen das Urteil und was nicht in Ordnung ist. Ihr Aussehen legt fest:',
  onScript: 'am Skript,',
  onFrame: 'an der Adresse des Rahmens.',
  forPrograms: 'Für Programme:',

  end: 'Löschen',
  toDelete: 'Um die Seite zu löschen, schreiben Sie ihre Adresse',
  toDeletePage: (slug) => `Um die Seite zu löschen, schreiben Sie ihre Adresse: ${slug}`,
  delete: 'Löschen',

  stale:
    'Diese Seite wurde inzwischen anderswo geändert; hier steht, wie sie jetzt ist. Tun Sie es noch einmal, wenn es noch nötig ist.',
  missing: 'Die Seite gibt es nicht mehr.',
  noSuchService: 'Einen solchen Dienst gibt es weder unter den öffentlichen noch unter Ihren.',
  noSuchButton: 'Einen solchen Knopf gibt es nicht.',
  groupNeedsName: 'Eine neue Gruppe braucht einen Namen.',
  tooLarge: (kib) => `Ein Logo hat höchstens ${kib} KiB.`,
  chooseFirst: 'Wählen Sie zuerst ein Bild aus.',
};
