/** The words of letters in each language, beside those of messages. */
import type { MessageLanguage } from '../../domain/alert/channel.ts';

/** The words of a language. */
export interface LetterWords {
  /** Below an alert: why the reader gets it. `channel`: its name. */
  readonly alertReason: (channel: string, site: string) => string;
  readonly manageChannels: string;
  /** The letter that asks the receiver of a channel. */
  readonly channelTitle: (site: string) => string;
  readonly channelText: (account: string, channel: string, site: string) => string;
  readonly confirm: string;
  readonly channelReason: string;
  /** The letter that asks a subscriber. `what`: a service, a category or the address of a page. */
  readonly subscribeTitle: (site: string) => string;
  readonly subscribeText: (what: string, site: string) => string;
  readonly subscribeReason: string;
  /** The letter to a subscriber who asked again. */
  readonly alreadyTitle: (what: string) => string;
  readonly alreadyText: (what: string) => string;
  /** Below a letter to a subscriber. */
  readonly subscriberReason: (what: string, site: string) => string;
  readonly unsubscribe: string;
  /** A cause that is not for everyone, after `because` of messages. */
  readonly inFront: string;
  /** All services of a category. */
  readonly category: (title: string) => string;
}

export const LETTER_WORDS: Readonly<Record<MessageLanguage, LetterWords>> = {
  en: {
    alertReason: (channel, site) => `You get this as the channel "${channel}" of an account at ${site}.`,
    manageChannels: 'Channels and rules',
    channelTitle: (site) => `Receive alerts from ${site}?`,
    channelText: (account, channel, site) =>
      `The account "${account}" at ${site} wants to send alerts to this address, as its channel "${channel}".\n\nNothing is sent before you agree.`,
    confirm: 'Confirm',
    channelReason: 'If you know nothing of this, do nothing: no alert will be sent to you.',
    subscribeTitle: (site) => `Confirm your subscription at ${site}`,
    subscribeText: (what, site) =>
      `Someone, probably you, asked ${site} to send e-mail to this address when the status of ${what} changes.\n\nNothing is sent before you confirm. The link is valid for 48 hours.`,
    subscribeReason: 'If you did not ask for this, do nothing: the address will be deleted within 48 hours.',
    alreadyTitle: (what) => `You already receive news about ${what}`,
    alreadyText: (what) =>
      `Someone, probably you, asked for e-mail about ${what} once more. There is nothing to do.`,
    subscriberReason: (what, site) => `You subscribed to ${what} at ${site}.`,
    unsubscribe: 'Unsubscribe',
    inFront: 'something in front of it',
    category: (title) => `all services of the category ${title}`,
  },
  de: {
    alertReason: (channel, site) => `Sie erhalten dies als Kanal „${channel}“ eines Kontos bei ${site}.`,
    manageChannels: 'Kanäle und Regeln',
    channelTitle: (site) => `Alarme von ${site} erhalten?`,
    channelText: (account, channel, site) =>
      `Das Konto „${account}“ bei ${site} möchte Alarme an diese Adresse senden, als seinen Kanal „${channel}“.\n\nBevor Sie zustimmen, wird nichts gesendet.`,
    confirm: 'Bestätigen',
    channelReason: 'Wenn Sie davon nichts wissen, tun Sie nichts: Sie erhalten dann keine Alarme.',
    subscribeTitle: (site) => `Bestätigen Sie Ihr Abonnement bei ${site}`,
    subscribeText: (what, site) =>
      `Jemand, vermutlich Sie, hat ${site} gebeten, E-Mail an diese Adresse zu senden, wenn sich der Zustand ändert: ${what}.\n\nBevor Sie bestätigen, wird nichts gesendet. Der Link gilt 48 Stunden.`,
    subscribeReason:
      'Wenn Sie nicht darum gebeten haben, tun Sie nichts: Die Adresse wird binnen 48 Stunden gelöscht.',
    alreadyTitle: (what) => `Sie erhalten bereits Neuigkeiten über ${what}`,
    alreadyText: (what) =>
      `Jemand, vermutlich Sie, hat noch einmal um E-Mail gebeten: ${what}. Es ist nichts zu tun.`,
    subscriberReason: (what, site) => `Sie haben bei ${site} abonniert: ${what}.`,
    unsubscribe: 'Abbestellen',
    inFront: 'einer Störung davor',
    category: (title) => `alle Dienste der Kategorie ${title}`,
  },
};
