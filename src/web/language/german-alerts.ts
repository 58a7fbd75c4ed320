/** Texts of the pages of channels, rules and alerts, in German. */

import type { ChannelKind, ChannelProblem, ChannelProblemParams } from '../../domain/alert/channel.ts';
import { type TextTable, textOf } from '../../domain/coded-text.ts';
import { germanFailure } from '../../language/german-failures.ts';
import { phraseOf } from '../../language/phrase.ts';
import type { Texts } from './english.ts';
import { CHANNEL_NAMES, type SettingText } from './english-alerts.ts';

const PROBLEMS: TextTable<ChannelProblemParams> = {
  status: ({ statusCode, text }) => `HTTP ${statusCode}${text === '' ? '' : `: ${text}`}`,
  failed: ({ failure }) => germanFailure(failure),
  too_many: ({ statusCode }) => `HTTP ${statusCode}: zu viele Nachrichten`,
  mail_refused: ({ text }) => `der Mailserver hat sie abgelehnt: ${text}`,
  mail_unreachable: ({ text }) => `der Mailserver ist nicht zu erreichen: ${text}`,
  no_mail_server: 'diese Installation sendet keine E-Mail (alerts.smtp.host)',
  not_confirmed: 'die Adresse wurde nicht bestätigt',
  outbox_full: 'zu viele Nachrichten warteten auf diesen Kanal',
  text: ({ text }) => text,
};

/** Why a message could not be delivered, in one line without a full stop. */
function germanChannelProblem(problem: ChannelProblem): string {
  return textOf(PROBLEMS, problem, 'der Grund ist nicht bekannt');
}

/** The title of a setting, and where to find its value; null: there is no German text. */
function germanSetting(kind: ChannelKind, name: string): SettingText | null {
  const text = SETTINGS[kind][name];
  return text === undefined ? null : { title: text[0], where: text[1] };
}

const URL = 'Webhook-URL';
const SERVER = 'Server';

const SETTINGS: Readonly<
  Record<ChannelKind, Readonly<Record<string, readonly [title: string, where: string]>>>
> = {
  email: {
    to: ['Adresse', 'E-Mail-Adresse. Sie bekommt zuerst nur eine E-Mail mit einem Link zur Bestätigung.'],
  },
  slack: {
    url: [URL, 'Aus „Incoming Webhooks“ Ihrer Slack-App. Entwarnungen sind eigene Nachrichten.'],
    token: [
      'Bot-Token',
      'Anstelle der Webhook-URL: beginnt mit xoxb-, aus „OAuth & Permissions“ Ihrer Slack-App, mit dem Recht chat:write. Entwarnungen stehen im Thread ihrer Meldung.',
    ],
    channel: [
      'Kanal',
      'Mit einem Bot-Token: die ID des Kanals, etwa C0123456789, am Ende seiner Registerkarte „Info“. Laden Sie den Bot in ihn ein.',
    ],
  },
  discord: {
    url: [URL, 'Kanal bearbeiten, Integrationen, Webhooks, Neuer Webhook, Webhook-URL kopieren.'],
    forum: [
      'Forum',
      'Der Kanal ist ein Forum: jede Meldung eröffnet einen Beitrag, und ihre Entwarnung steht darin.',
    ],
  },
  teams: {
    url: [
      'Workflow-URL',
      'Des Workflows „Webhook-Benachrichtigungen an einen Kanal senden“: Menü des Kanals, Workflows.',
    ],
  },
  mattermost: {
    url: [URL, 'Aus Integrationen, Eingehende Webhooks. Entwarnungen sind eigene Beiträge.'],
    server: [SERVER, 'Anstelle der Webhook-URL, für einen Bot: die Adresse des Servers.'],
    token: [
      'Bot-Token',
      'Zugangstoken des Bots, aus Integrationen, Bot-Konten. Entwarnungen stehen im Thread ihrer Meldung.',
    ],
    channel: [
      'Kanal-ID',
      '26 Buchstaben und Ziffern, am Ende von „Info anzeigen“ des Kanals. Fügen Sie den Bot dort hinzu.',
    ],
  },
  'google-chat': {
    url: [URL, 'Menü des Gruppenbereichs, Apps und Integrationen, Webhooks, Webhook hinzufügen.'],
  },
  telegram: {
    token: ['Bot-Token', 'Von @BotFather, etwa 123456:ABC-DEF.'],
    chat: [
      'Chat-ID',
      'Nummer des Chats, bei Gruppen negativ, oder @name eines öffentlichen Kanals. Fügen Sie den Bot dort hinzu.',
    ],
    topic: ['Thema', 'Einer Gruppe mit Themen: die Nummer des Themas, die letzte in seinem Link.'],
    silent: ['Leise Entwarnungen', 'Entwarnungen und andere gute Nachrichten machen kein Geräusch.'],
    server: [SERVER, 'Ein eigener Server der Bot-API; sonst https://api.telegram.org.'],
  },
  matrix: {
    server: [SERVER, 'Adresse des Heimservers, ohne einen Pfad seiner API.'],
    room: [
      'Raum-ID',
      'Beginnt mit !, in den Einstellungen des Raums unter „Erweitert“. Der Benutzer muss darin sein; der Raum darf nicht verschlüsselt sein.',
    ],
    token: [
      'Zugangstoken',
      'Des Benutzers, der schreibt, in den Einstellungen von Element unter „Hilfe und Über“.',
    ],
  },
  ntfy: {
    topic: [
      'Thema',
      'Buchstaben, Ziffern, _ und -. Wer das Thema eines öffentlichen Servers kennt, kann es lesen: wählen Sie eines, das sich nicht erraten lässt.',
    ],
    server: [SERVER, 'Ein eigener Server; sonst https://ntfy.sh.'],
    token: ['Zugangstoken', 'Für ein geschütztes Thema: beginnt mit tk_, aus „Konto“ des Servers.'],
  },
  gotify: {
    server: [SERVER, 'Adresse des Gotify-Servers, ohne einen Pfad seiner API.'],
    token: ['Anwendungs-Token', 'Aus „Apps“ des Servers.'],
  },
  pushover: {
    user: ['Benutzerschlüssel', 'Des Benutzers oder der Gruppe, oben auf pushover.net.'],
    token: ['API-Token', 'Einer Anwendung, die Sie unter pushover.net/apps/build anlegen.'],
    device: ['Gerät', 'Name eines Geräts; ohne ihn bekommen alle Geräte Nachrichten.'],
    emergency: [
      'Notfall',
      'Ein Ausfall wiederholt sich jede Minute, höchstens eine Stunde, bis ihn jemand bestätigt oder er vorbei ist.',
    ],
  },
  pagerduty: {
    key: ['Integrationsschlüssel', 'Einer Integration „Events API v2“ eines Dienstes von PagerDuty.'],
    region: ['Region', 'eu: Ihre Adresse endet auf eu.pagerduty.com. Sonst us.'],
  },
  opsgenie: {
    key: ['API-Schlüssel', 'Einer Integration „API“ eines Teams.'],
    region: [
      'Instanz',
      'eu: Ihre Adresse endet auf app.eu.opsgenie.com. jira: Meldungen sind in Jira Service Management. Sonst us.',
    ],
  },
  webhook: {
    url: ['URL', 'Bekommt für jede Nachricht einen POST mit JSON.'],
    secret: [
      'Schlüssel der Signatur',
      'Beginnt mit whsec_, dann Base64 von 24 bis 64 zufälligen Bytes, etwa von: echo "whsec_$(openssl rand -base64 32)". Ihr Empfänger prüft damit die Signaturen.',
    ],
  },
};

export const germanAlerts: Texts['alerts'] = {
  channels: 'Kanäle',
  channelsLead: 'Kanäle empfangen Alarme; Regeln wählen, welche.',
  noChannels: 'Noch keine Alarme.',
  firstChannel:
    'Fügen Sie unten einen Kanal hinzu, etwa Ihre E-Mail-Adresse, und senden Sie ihm einen Test. Eine erste Regel für alle Ihre Dienste entsteht mit ihm.',
  rules: 'Regeln',
  rulesLead: 'Regeln wählen, welche Änderungen Alarme senden und an welche Kanäle.',
  noRules: 'Es gibt noch keine Regel, darum empfängt kein Kanal Alarme.',
  kind: { ...CHANNEL_NAMES, email: 'E-Mail' },
  setting: germanSetting,
  addChannel: 'Kanal hinzufügen',
  chooseKind: 'Wohin sollen Alarme gehen?',
  addKind: (kind) => `${kind} hinzufügen`,
  name: 'Name',
  nameHint: 'Wie Sie ihn nennen, etwa „Betrieb“.',
  language: 'Sprache seiner Nachrichten',
  keptSecret: 'bleibt, wie es ist',
  save: 'Speichern',
  add: 'Hinzufügen',
  remove: 'Entfernen',
  removeOf: (name) => `${name} entfernen`,
  test: 'Test senden',
  testOf: (name) => `Test senden an ${name}`,
  tested: 'Der Test wurde zugestellt.',
  testWaits: 'Der Test ist unterwegs. Laden Sie die Seite neu, um sein Ergebnis zu sehen.',
  testFailed: (problem) => `Der Test ist fehlgeschlagen: ${problem}.`,
  unconfirmed: 'Wartet auf Bestätigung',
  stopped: 'Vom Empfänger beendet',
  stoppedLead:
    'Der Empfänger hat die E-Mails über den Link in einem Brief beendet und kann das dort zurücknehmen. Bis dahin wird nichts gesendet.',
  unconfirmedLead:
    'Der Empfänger hat eine E-Mail mit einem Link bekommen. Vor der Bestätigung wird nichts anderes gesendet.',
  inNoRule: 'In keiner Regel',
  inNoRuleLead: 'Noch sendet keine Regel Alarme an diesen Kanal.',
  addToRule: 'Zur Regel hinzufügen',
  askAgain: 'Diese E-Mail noch einmal senden',
  newChannel: 'Der Kanal ist hinzugefügt. Senden Sie ihm einen Test.',
  firstRule: 'Alles von mir',
  firstRuleMade:
    'Eine erste Regel nutzt ihn: Sie sendet einen Alarm, wenn einer Ihrer Dienste ausfällt oder wiederkommt.',
  lastOutcome: 'Letzte Nachricht',
  nothingSent: 'Noch wurde nichts gesendet.',
  delivered: (at) => phraseOf`zugestellt ${at}`,
  failedAt: (at) => phraseOf`aufgegeben, von ${at}`,
  waits: 'wartet',
  againAt: (at) => phraseOf`nächster Versuch ${at}`,
  problem: germanChannelProblem,
  delay: (count, half, most) =>
    `Eine Meldung brauchte ${half} vom ersten fehlgeschlagenen Versuch bis zur Zustellung; 99 von 100 brauchten höchstens ${most} (${count} in den letzten 30 Tagen).`,
  log: 'Nachrichten',
  logOf: 'Die letzten Nachrichten',
  made: 'Entstanden',
  what: 'Was',
  to: 'An',
  state: 'Stand',
  tries: 'Versuche',
  action: 'Aktion',
  replay: 'Erneut senden',
  replayOf: (type, at) => `Erneut senden: ${type}, ${at}`,
  message: {
    alert: 'Meldung',
    recovery: 'Entwarnung',
    update: 'Neuer Stand',
    reminder: 'Erinnerung',
    acknowledged: 'Übernommen',
    test: 'Test',
    channel_failing: 'Ein Kanal versagt',
    prober_offline: 'Überwachung offline',
    prober_online: 'Überwachung wieder da',
  },

  addRule: 'Regel hinzufügen',
  newRule: 'Neue Regel',
  ruleServices: 'Welche Dienste?',
  everythingOfMine: 'Alle meine Dienste',
  theseServices: 'Diese Dienste',
  findServices: 'Dienste suchen, auch öffentliche',
  find: 'Suchen',
  found: 'Gefunden',
  nothingFound: 'Kein Dienst heißt so.',
  myCategories: 'Meine Dienste dieser Kategorien',
  publicCategories: 'Öffentliche Dienste dieser Kategorien',
  myPages: 'Dienste auf meinen Statusseiten',
  ruleEvents: 'Was geschieht?',
  event: {
    down: 'er fällt aus',
    up: 'er kommt wieder',
    slow: 'er wird langsam',
    incident: 'ein Vorfall beginnt oder endet',
    incident_update: 'zu einem Vorfall gibt es Neues',
    vendor_incident: 'sein Anbieter meldet einen Vorfall',
    maintenance: 'eine Wartung beginnt oder endet',
    certificate: 'sein Zertifikat endet in 21, 7 oder 1 Tagen',
    heartbeat_missed: 'ein Lebenszeichen bleibt aus',
    run_failed: 'ein Lauf schlägt fehl',
    scope: 'er fällt in mehr oder weniger Regionen aus',
  },
  ruleChannels: 'Wohin?',
  needsChannel: 'Fügen Sie erst einen Kanal hinzu.',
  ruleWhen: 'Wann?',
  after: 'Nur, wenn es so lange dauert',
  atOnce: 'sofort',
  repeat: 'Erinnern, bis es vorbei oder übernommen ist',
  never: 'nie',
  every: (length) => `alle ${length}`,
  quiet: 'Ruhezeiten: Nachrichten warten bis zu ihrem Ende',
  quietFrom: 'Von',
  quietTo: 'Bis',
  quietZone: 'Zeitzone',
  quietExcept: 'Trotzdem gesendet:',
  enabled: 'Die Regel ist eingeschaltet',
  off: 'ausgeschaltet',
  tellsNobody: 'Sie hat keinen Kanal, darum sendet sie nichts.',
  watches(rule) {
    const parts = [
      ...(rule.own ? ['alle Ihre Dienste'] : []),
      ...rule.services,
      ...rule.categories.map((category) => `Ihre Dienste aus ${category}`),
      ...rule.publicCategories.map((category) => `öffentliche Dienste aus ${category}`),
      ...rule.pages.map((page) => `Dienste auf ${page}`),
    ];
    return parts.length === 0 ? 'keine Dienste mehr' : parts.join(', ');
  },
  watchesLabel: 'Beobachtet',
  tellsLabel: 'Meldet, wenn',
  channelsLabel: 'An',
  timingLabel: 'Wie',
  lasts: (length) => `wenn es ${length} dauert`,
  reminds: (length) => `mit einer Erinnerung alle ${length}`,
  quietHours: (from, to, zone) => `Ruhe von ${from} bis ${to} (${zone})`,

  openAlerts: 'Offene Meldungen',
  acknowledge: 'Übernehmen',
  acknowledgeOf: (services) => `Übernehmen: ${services}`,
  acknowledgedBy: (by, at) =>
    by === '' ? phraseOf`über einen Link übernommen, ${at}` : phraseOf`übernommen von ${by}, ${at}`,
  openSince: (at) => phraseOf`seit ${at}`,
  more: (count) => `und ${count} weitere`,

  acknowledgeTitle: 'Eine Meldung übernehmen',
  acknowledgeLead:
    'Damit sagen Sie, dass sich jemand kümmert: Die Kanäle werden einmal benachrichtigt, und Erinnerungen entfallen, bis sich etwas ändert.',
  acknowledgedTitle: 'Übernommen',
  overTitle: 'Diese Meldung ist vorbei',
  overLead: 'Es gibt nichts mehr zu übernehmen.',
  wrongLink: 'Dieser Link gilt nicht. Öffnen Sie ihn so, wie er in der Nachricht steht.',
  about: 'Betrifft',
  since: 'Seit',
  toServices: 'Alle Dienste',
};
