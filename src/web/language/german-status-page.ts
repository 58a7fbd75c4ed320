/** Texts of the status pages of owners, of their editor, and of subscriptions by e-mail, in German. */
import { phraseOf } from '../../language/phrase.ts';
import type { Texts } from './english.ts';

export const germanSubscribe: Texts['subscribe'] = {
  byMail: 'Per E-Mail',
  byMailFor: 'für Menschen: Störungen, Vorfälle und Wartungen',
  title: (what) => `Neuigkeiten: ${what}`,
  category: (title) => `alle Dienste der Kategorie ${title}`,
  lead: (what) =>
    `Sie erhalten eine E-Mail bei Störungen und wenn sie behoben sind, bei Vorfällen und Wartungen: ${what}. Höchstens eine E-Mail je Änderung.`,
  address: 'E-Mail-Adresse',
  subscribe: 'Abonnieren',
  promise:
    'Eine erste E-Mail bittet Sie um Bestätigung. Die Adresse wird verschlüsselt gespeichert, niemandem gezeigt und gelöscht, wenn Sie abbestellen. Jede E-Mail enthält einen Link dafür.',
  invalid: 'Das ist keine E-Mail-Adresse.',
  sentTitle: 'Sehen Sie in Ihr Postfach',
  sent: 'Wenn diese Adresse E-Mail empfängt, ist eine mit einem Link zum Bestätigen unterwegs. Der Link gilt 48 Stunden.',
  sentHint:
    'Nichts angekommen? Sehen Sie in den Spam-Ordner. Eine Adresse erhält höchstens 5 solche E-Mails am Tag.',
  confirmTitle: 'Bestätigen',
  confirmLead: (what) => `Möchten Sie E-Mail erhalten über: ${what}?`,
  confirm: 'Ja, E-Mail senden',
  confirmedTitle: 'Abonnement bestätigt',
  confirmed: (what) => `Sie erhalten E-Mail über: ${what}.`,
  endTitle: 'Abbestellen',
  endLead: (what) => `Möchten Sie keine E-Mail mehr erhalten über: ${what}?`,
  end: 'Abbestellen',
  endedTitle: 'Sie haben abbestellt',
  ended: 'Ihre Adresse ist gelöscht. Sie erhalten keine E-Mail mehr aus diesem Abonnement.',
  goneTitle: 'Dieser Link gilt nicht mehr',
  gone: 'Das Abonnement ist beendet, wurde nicht rechtzeitig bestätigt, oder es gibt nicht mehr, worum es ging.',
  channelTitle: 'Alarme erhalten',
  channelLead: (account, channel) =>
    `Das Konto „${account}“ möchte Alarme an Ihre Adresse senden, als seinen Kanal „${channel}“.`,
  channelConfirm: 'Ja, Alarme senden',
  channelConfirmed: (account, channel) =>
    `Sie erhalten die Alarme des Kanals „${channel}“ des Kontos „${account}“.`,
  channelGone: 'Den Kanal gibt es nicht mehr, oder seine Adresse hat sich geändert.',
  stopLead: (account, channel) =>
    `Möchten Sie die Alarme des Kanals „${channel}“ des Kontos „${account}“ nicht mehr erhalten?`,
  stop: 'Diese Alarme beenden',
  stoppedTitle: 'Alarme beendet',
  stopped: (account, channel) =>
    `Sie erhalten keine Alarme des Kanals „${channel}“ des Kontos „${account}“ mehr. Dessen Inhaber sehen das.`,
  resume: 'Wieder erhalten',
  back: 'Zurück',
  home: 'Alle Dienste',
  subscribers: (count) =>
    count === 1 ? '1 Person erhält E-Mail darüber.' : `${count} Personen erhalten E-Mail darüber.`,
  tooMany: (seconds) => `Zu viele Versuche. Warten Sie ${seconds} s.`,
};

const some = (count: number, all: number, one: string, many: string): string => {
  if (all === 1) return `der Dienst ${one}`;
  if (count === all) return `alle ${all} Dienste ${many}`;
  return `${count} von ${all} Diensten ${count === 1 ? one : many}`;
};

export const germanStatusPage: Texts['statusPage'] = {
  notFound: 'Seite nicht gefunden',
  noPage: (slug) => `Keine Statusseite hat die Adresse „${slug}“.`,
  noHome: (slug) =>
    `Diese Website beginnt mit der Statusseite „${slug}“, die es noch nicht gibt oder die nicht öffentlich ist.`,
  forMembers: 'Falls sie nur für Mitglieder ist: melden Sie sich an.',
  locked: 'Diese Seite braucht ein Passwort',
  lockedLead:
    'Geben Sie das Passwort ein, das Sie bekommen haben. Sie bleiben 30 Tage bei dieser Seite angemeldet.',
  password: 'Passwort',
  unlock: 'Seite zeigen',
  wrongPassword: 'Das ist nicht das Passwort.',
  tooManyPasswords: (seconds) => `Zu viele falsche Passwörter. Versuchen Sie es in ${seconds} s noch einmal.`,
  lockedForMembers: 'Mitglieder des Kontos melden sich an.',
  home: 'Alle Dienste',
  incidentReported: 'Vorfall gemeldet',
  inMaintenance: 'Wartung läuft',
  checksPass: 'unsere Prüfungen finden keinen Fehler',
  lastKnown: (clause) => `zuletzt bekannt: ${clause}`,
  seen({ status, counts, watched }) {
    switch (status) {
      case 'unknown':
        return watched === 0 ? 'zurzeit wird hier kein Dienst überwacht' : 'noch wurde kein Dienst geprüft';
      case 'maintenance':
        return some(counts.maintenance, watched, 'wird gewartet', 'werden gewartet');
      case 'up':
        return some(counts.up, watched, 'läuft', 'laufen');
      case 'slow':
        return some(counts.slow, watched, 'ist langsam', 'sind langsam');
      case 'down':
        return some(counts.down, watched, 'ist gestört', 'sind gestört');
    }
  },
  empty: 'Hier ist noch kein Dienst eingetragen.',
  standing: {
    up: 'In Ordnung',
    slow: 'Langsam',
    down: 'Gestört',
    unknown: 'Unbekannt',
    maintenance: 'Wartung',
    paused: 'Angehalten',
  },
  selfReported: 'vom Betreiber gemeldet, nicht bestätigt',
  old: 'letzte Prüfung ist alt',
  bars: (service, uptime) =>
    uptime === null ? `${service}, 90 Tage: keine Prüfungen` : `${service}, 90 Tage: zu ${uptime} erreichbar`,
  upOver: (uptime, days) => `${uptime} ${days === 1 ? 'heute' : `in ${days} Tagen`}`,
  maintenance: 'Wartung',
  maintenanceRunning: 'Läuft',
  maintenanceAhead: 'Geplant',
  recentlyResolved: 'Kürzlich behoben',
  calendar: 'Wartung in Ihrem Kalender',
  calendarFile: 'Kalender als Datei (iCalendar)',
  runningIncidents: 'Offene Vorfälle',
  pastIncidents: 'Vergangene Vorfälle',
  noPast: 'Sonst ist nichts bekannt.',
  eachBar: 'Jeder Balken ist ein Tag (UTC):',
  subscribe: 'Abonnieren',
  noSuchIncidents: 'Keine passenden Vorfälle.',
  whichService: 'Dienst',
  anyService: 'alle Dienste',
  filter: { all: 'offene und vergangene', running: 'offene', past: 'vergangene' },
  newer: 'Neuere',
  older: 'Ältere',
  from: (starts) => phraseOf`ab ${starts}`,
  lasting: (length) => `seit ${length}`,
  follow: 'Diese Seite abonnieren',
  atom: 'Vorfälle als Atom',
  json: 'Diese Seite als JSON',
  madeWith: 'Betrieben mit',
  details: 'Einzelheiten',
  toPage: 'Zur Statusseite',
  others: (count) => (count === 1 ? 'und ein weiterer' : `und ${count} weitere`),
};

const services = (count: number) => (count === 1 ? '1 Dienst' : `${count} Dienste`);

const picture = (formats: readonly string[], kib: number, pixels: number) =>
  `Bild: ${formats.join(', ')}, bis ${kib} KiB und ${pixels} Pixel`;

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
  pickColour: 'Farbe wählen',
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
