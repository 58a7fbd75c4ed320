/** Texts of the pages of channels, rules and alerts, in English. */
import { type ChannelKind, type ChannelProblem, describeChannelProblem } from '../../domain/alert/channel.ts';
import type { AlertMessage } from '../../domain/alert/message.ts';
import type { AlertEventName } from '../../domain/alert/rule.ts';
import { type Moment, type Phrase, phraseOf, type WordOf } from '../../language/phrase.ts';

/** Names of channels that are the same in each language. */
export const CHANNEL_NAMES = {
  slack: 'Slack',
  discord: 'Discord',
  teams: 'Microsoft Teams',
  mattermost: 'Mattermost',
  'google-chat': 'Google Chat',
  telegram: 'Telegram',
  matrix: 'Matrix',
  ntfy: 'ntfy',
  gotify: 'Gotify',
  pushover: 'Pushover',
  pagerduty: 'PagerDuty',
  opsgenie: 'Opsgenie',
  webhook: 'Webhook',
} as const;

/** A rule in words: the services that it watches, and the times at which it tells. */
export interface RuleSentence {
  readonly own: boolean;
  /** Names of services. */
  readonly services: readonly string[];
  readonly categories: readonly string[];
  readonly publicCategories: readonly string[];
  /** Titles of status pages. */
  readonly pages: readonly string[];
}

/** A title and a hint of a setting of a kind of channel. */
export interface SettingText {
  readonly title: string;
  readonly where: string;
}

export const englishAlerts = {
  channels: 'Channels',
  channelsLead: 'Channels receive alerts; rules choose which.',
  noChannels: 'No alerts yet.',
  firstChannel:
    'Add a channel below, such as your e-mail address, and send it a test. A first rule for all your services is made with it.',
  rules: 'Rules',
  rulesLead: 'Rules choose which changes send alerts, and to which channels.',
  noRules: 'There is no rule yet, so no channel receives alerts.',
  kind: { ...CHANNEL_NAMES, email: 'E-mail' } satisfies WordOf<ChannelKind>,
  /** Null: the schema of the kind has the text. */
  setting: (_kind: ChannelKind, _name: string): SettingText | null => null,
  addChannel: 'Add a channel',
  chooseKind: 'Where should alerts go?',
  addKind: (kind: string) => `Add ${kind}`,
  name: 'Name',
  nameHint: 'What you call it, such as “Ops”.',
  language: 'Language of its messages',
  keptSecret: 'stays as it is',
  save: 'Save',
  add: 'Add',
  remove: 'Remove',
  removeOf: (name: string) => `Remove ${name}`,
  test: 'Send a test',
  testOf: (name: string) => `Send a test to ${name}`,
  tested: 'The test was delivered.',
  testWaits: 'The test is on its way. Reload this page to see its outcome.',
  testFailed: (problem: string) => `The test failed: ${problem}.`,
  unconfirmed: 'Waits for confirmation',
  stopped: 'Stopped by its receiver',
  stoppedLead:
    'Its receiver has stopped its e-mail by the link in a letter, and can take that back there. Nothing is sent until then.',
  unconfirmedLead: 'Its receiver got an e-mail with a link. Nothing else is sent until it is confirmed.',
  inNoRule: 'In no rule',
  inNoRuleLead: 'No rule sends alerts to this channel yet.',
  addToRule: 'Add it to the rule',
  askAgain: 'Send that e-mail again',
  newChannel: 'The channel is added. Send it a test.',
  firstRule: 'Everything of mine',
  firstRuleMade: 'A first rule uses it: it sends an alert when one of your services goes down or comes back.',
  lastOutcome: 'Last message',
  nothingSent: 'Nothing was sent yet.',
  delivered: (at: Moment): Phrase => phraseOf`delivered ${at}`,
  failedAt: (at: Moment): Phrase => phraseOf`given up, from ${at}`,
  waits: 'waiting',
  againAt: (at: Moment): Phrase => phraseOf`next attempt ${at}`,
  problem: (problem: ChannelProblem): string => describeChannelProblem(problem),
  delay: (count: string, half: string, most: string) =>
    `An alert took ${half} from the first failed attempt to its delivery; 99 of 100 took at most ${most} (${count} in the last 30 days).`,
  log: 'Messages',
  logOf: 'The last messages',
  made: 'Made',
  what: 'What',
  to: 'To',
  state: 'State',
  tries: 'Attempts',
  action: 'Action',
  replay: 'Send again',
  replayOf: (type: string, at: string) => `Send again: ${type}, ${at}`,
  message: {
    alert: 'Alert',
    recovery: 'Recovery',
    update: 'Update',
    reminder: 'Reminder',
    acknowledged: 'Acknowledged',
    test: 'Test',
    channel_failing: 'A channel fails',
    prober_offline: 'Monitor offline',
    prober_online: 'Monitor online',
  } satisfies WordOf<AlertMessage['type']>,

  addRule: 'Add a rule',
  newRule: 'New rule',
  ruleServices: 'Which services?',
  everythingOfMine: 'All my services',
  theseServices: 'These services',
  findServices: 'Find services, public ones too',
  find: 'Find',
  found: 'Found',
  nothingFound: 'No service has that name.',
  myCategories: 'My services of these categories',
  publicCategories: 'Public services of these categories',
  myPages: 'Services on my status pages',
  ruleEvents: 'What happens?',
  event: {
    down: 'it goes down',
    up: 'it comes back',
    slow: 'it becomes slow',
    incident: 'an incident begins or ends',
    incident_update: 'an incident gets an update',
    vendor_incident: 'its vendor reports an incident',
    maintenance: 'maintenance begins or ends',
    certificate: 'its certificate ends in 21, 7 or 1 days',
    heartbeat_missed: 'a heartbeat is missed',
    run_failed: 'a run fails',
    scope: 'it fails in more or fewer regions',
  } satisfies WordOf<AlertEventName>,
  ruleChannels: 'Where?',
  needsChannel: 'Add a channel first.',
  ruleWhen: 'When?',
  after: 'Only if it lasts',
  atOnce: 'at once',
  repeat: 'Remind me until it is over or acknowledged',
  never: 'never',
  every: (length: string) => `every ${length}`,
  quiet: 'Quiet hours: messages wait until they end',
  quietFrom: 'From',
  quietTo: 'To',
  quietZone: 'Time zone',
  quietExcept: 'Sent even so:',
  enabled: 'The rule is on',
  off: 'off',
  tellsNobody: 'It has no channel, so it sends nothing.',
  watches(rule: RuleSentence): string {
    const parts = [
      ...(rule.own ? ['all your services'] : []),
      ...rule.services,
      ...rule.categories.map((category) => `your services of ${category}`),
      ...rule.publicCategories.map((category) => `public services of ${category}`),
      ...rule.pages.map((page) => `services on ${page}`),
    ];
    return parts.length === 0 ? 'no services any more' : parts.join(', ');
  },
  watchesLabel: 'Watches',
  tellsLabel: 'Notifies when',
  channelsLabel: 'To',
  timingLabel: 'How',
  lasts: (length: string) => `if it lasts ${length}`,
  reminds: (length: string) => `with a reminder every ${length}`,
  quietHours: (from: string, to: string, zone: string) => `quiet from ${from} to ${to} (${zone})`,

  openAlerts: 'Open alerts',
  acknowledge: 'Acknowledge',
  acknowledgeOf: (services: string) => `Acknowledge: ${services}`,
  acknowledgedBy: (by: string, at: Moment): Phrase =>
    by === '' ? phraseOf`acknowledged by a link, ${at}` : phraseOf`acknowledged by ${by}, ${at}`,
  openSince: (at: Moment): Phrase => phraseOf`since ${at}`,
  more: (count: number) => `and ${count} more`,

  acknowledgeTitle: 'Acknowledge an alert',
  acknowledgeLead:
    'It says that somebody is looking into it: the channels are notified once, and reminders stop until something changes.',
  acknowledgedTitle: 'Acknowledged',
  overTitle: 'This alert is over',
  overLead: 'There is nothing left to acknowledge.',
  wrongLink: 'This link is not valid. Open it as it is in the message.',
  about: 'About',
  since: 'Since',
  toServices: 'All services',
};
