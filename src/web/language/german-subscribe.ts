/** Texts of subscriptions by e-mail, in German. */
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
