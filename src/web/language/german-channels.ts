/** Settings of channels, and why messages to them fail, in German. */
import type { ChannelKind, ChannelProblem, ChannelProblemParams } from '../../domain/alert/channel.ts';
import { type TextTable, textOf } from '../../domain/coded-text.ts';
import { germanFailure } from '../../language/german-failures.ts';
import type { SettingText } from './english-alerts.ts';

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
export function germanChannelProblem(problem: ChannelProblem): string {
  return textOf(PROBLEMS, problem, 'der Grund ist nicht bekannt');
}

/** The title of a setting, and where to find its value; null: there is no German text. */
export function germanSetting(kind: ChannelKind, name: string): SettingText | null {
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
