/** Texts of the status pages of owners and of subscriptions by e-mail, in German. */

import { phraseOf } from '../../language/phrase.ts';
import type { Texts } from './english.ts';

/** The texts of the pages of subscriptions. */
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
