/** Refusals, notices and problems of deliveries in German. */

import { type TextTable, textOf } from '../../domain/coded-text.ts';
import { formatDuration, formatTime } from '../../domain/durations.ts';
import type {
  GivenTextProblemParams,
  HostNameProblemParams,
  MemberProblem,
  MemberProblemParams,
  SettingProblem,
  SettingProblemParams,
} from '../../domain/input-problem.ts';
import type { Notice, NoticeParams } from '../../domain/notice.ts';
import type {
  DeliveryProblem,
  DeliveryProblemParams,
  PageTextField,
  ProofFileParams,
  Refusal,
  RefusalParams,
} from '../../domain/refusal.ts';
import { KEY_SCOPES, type Role } from '../../domain/role.ts';
import { CATEGORIES, MONITORING_KINDS } from '../../domain/service.ts';
import { germanFailure } from '../../language/german-failures.ts';
import { germanForm, OF_DOMAINS } from './german-forms.ts';

const DOMAIN_PROBLEMS: TextTable<HostNameProblemParams> = {
  empty: 'Die Domain fehlt.',
  too_long: 'Die Domain ist länger, als ein Hostname sein kann.',
  not_bare: 'Die Domain muss ein bloßer Hostname sein, ohne Schema, Port und Pfad.',
  invalid: 'Die Domain ist kein Hostname.',
  longer_than: ({ maxLength }) => `Die Domain ist länger als ${maxLength} Zeichen.`,
  one_label: 'Die Domain braucht mindestens zwei Teile, wie example.com.',
  bad_label: 'Ein Teil der Domain besteht nicht aus 1 bis 63 Buchstaben, Ziffern und inneren Bindestrichen.',
  ip_address: 'Die Domain darf keine IP-Adresse sein.',
  private_suffix: ({ suffix }) => `Die Domain darf nicht auf die private Endung ${suffix} enden.`,
};

const NAME_PROBLEMS: TextTable<GivenTextProblemParams> = {
  length: ({ maxLength }) => `Der Name muss 1 bis ${maxLength} Zeichen haben.`,
  character: ({ character }) => forbiddenCharacter('Der Name', character),
};

const PAGE_FIELDS: Readonly<Record<PageTextField, string>> = {
  title: 'Ein Titel',
  text: 'Der Text',
  group: 'Der Name einer Gruppe',
  entry: 'Der Name eines Dienstes',
};

const DELIVERY_PROBLEMS: TextTable<DeliveryProblemParams> = {
  status: ({ statusCode }) => `HTTP ${statusCode}`,
  failed: ({ failure }) => germanFailure(failure),
  text: ({ text }) => text,
};

const PROOF_FILES: TextTable<ProofFileParams> = {
  ...DELIVERY_PROBLEMS,
  redirected: 'sie leitet zu einem anderen Host weiter',
  other_word: 'die Datei enthält ein anderes Wort',
};

const TYPES: ReadonlyMap<string, string> = new Map([
  ['integer', 'eine ganze Zahl'],
  ['boolean', 'true oder false'],
  ['array', 'eine Liste'],
  ['string', 'ein Text'],
  ['object', 'eine Gruppe von Einstellungen'],
]);

const LIMITS: ReadonlyMap<string, (limit: number) => string> = new Map([
  ['minimum', (limit: number) => `muss mindestens ${limit} sein`],
  ['maximum', (limit: number) => `darf höchstens ${limit} sein`],
  ['minLength', (limit: number) => `braucht mindestens ${limit} Zeichen`],
  ['maxLength', (limit: number) => `hat höchstens ${limit} Zeichen`],
  ['maxItems', (limit: number) => `hat höchstens ${limit} Zeilen`],
]);

const SETTING_PROBLEMS: TextTable<SettingProblemParams> = {
  missing: 'fehlt',
  unknown: 'gibt es für diese Art nicht',
  choice: ({ choices }) => `muss eines von diesen sein: ${choices.join(', ')}`,
  type: ({ type }) => `muss ${TYPES.get(type) ?? 'ein anderer Wert'} sein`,
  limit: ({ keyword, limit }) => (LIMITS.get(keyword) ?? String)(limit),
  format: ({ example }) => `braucht ${germanForm(example)}`,
  assertion: ({ line, ...fault }) => `hat einen Fehler in Zeile ${line}: ${germanFault(fault)}`,
  not_with: ({ other }) => `lässt sich nicht mit ${other} verbinden`,
  together: ({ other }) => `muss zusammen mit ${other} eingegeben werden`,
  key_of_another: ({ other }) => `ist nicht der Schlüssel von ${other}`,
  expired: ({ endedAt }) => `ist am ${formatTime(endedAt).slice(0, 10)} abgelaufen`,
  secret_again: 'muss neu eingegeben oder entfernt werden, weil die Prüfung nun an einen anderen Ort geht',
  secret_missing: 'hat keinen gespeicherten Wert, der bleiben könnte',
  port_closed: ({ port }) =>
    `ist ${port} und steht nicht in checks.ports: Der Betreiber kann den Port dort eintragen`,
  not_public: ({ host }) =>
    `führt zu ${host}, was nicht öffentlich ist: Verbunden wird nur mit öffentlichen Hosts`,
};

function germanFault({ part, word, choices }: Omit<SettingProblemParams['assertion'], 'line'>): string {
  const list = choices.join(', ');
  switch (part) {
    case 'subject':
      return `„${word}“ gehört nicht zu einer Antwort. Am Anfang steht ${list}`;
    case 'name':
      return `auf „${word}“ folgt kein Name einer Kopfzeile oder JSON-Pfad wie $.status`;
    case 'operator':
      return word === ''
        ? `ein Operator fehlt. Möglich sind ${list}`
        : `„${word}“ ist kein Operator. Möglich sind ${list}`;
    default:
      return `bei „${word}“ steht kein passender Wert`;
  }
}

/** The problem of a form's field, as a sentence. `label`: its name in the form. */
export function germanSettingProblem(label: string, problem: SettingProblem): string {
  if (problem.code === 'assertion') return `Zeile ${problem.line}: ${germanFault(problem)}.`;
  return `„${label}“ ${textOf(SETTING_PROBLEMS, problem, 'ist ungültig')}.`;
}

/** The problem of a time or the regions in a form, as a sentence. */
export function germanMemberProblem(label: string, member: string, problem: MemberProblem): string {
  const text = textOf(MEMBER_PROBLEMS, problem, 'ist ungültig');
  const form = MEMBER_FORMS.get(member) ?? 'braucht eine Dauer wie 30s, 5m oder 1h';
  return `„${label}“ ${problem.code === 'format' ? form : text}.`;
}

const MEMBER_PROBLEMS: TextTable<MemberProblemParams> = {
  format: 'ist nicht lesbar',
  minimum: ({ limitMs }) => `muss mindestens ${formatDuration(limitMs)} sein`,
  maximum: ({ limitMs }) => `darf höchstens ${formatDuration(limitMs)} sein`,
  over_interval: ({ limitMs }) =>
    `darf nicht länger sein als der Abstand der Prüfungen (${formatDuration(limitMs)})`,
  over_timeout: ({ limitMs }) => `darf nicht länger sein als das Zeitlimit (${formatDuration(limitMs)})`,
  count: ({ max }) => `hat höchstens ${max} Teile`,
  region_unknown: ({ region, regions }) =>
    `nennt ${region}, wo kein Knoten prüft: Möglich sind ${regions.join(', ')}`,
};

const MEMBER_FORMS: ReadonlyMap<string, string> = new Map([
  ['confirmAfter', 'braucht Dauern wie „2s 4s“ oder „none“'],
  ['regions', 'braucht Namen von Regionen wie „eu us“'],
]);

const REFUSALS: TextTable<RefusalParams> = {
  too_many_keys: ({ max }) => `Ein Konto hat höchstens ${max} Schlüssel: widerrufen Sie erst einen.`,
  too_many_webhooks: ({ max }) => `Ein Konto hat höchstens ${max} Webhooks: entfernen Sie erst einen.`,
  too_many_pages: ({ max }) => `Ein Konto hat höchstens ${max} Statusseiten: entfernen Sie erst eine.`,
  too_many_channels: ({ max }) => `Ein Konto hat höchstens ${max} Kanäle: entfernen Sie erst einen.`,
  too_many_rules: ({ max }) => `Ein Konto hat höchstens ${max} Regeln: entfernen Sie erst eine.`,
  too_many_domains: ({ max }) =>
    `Das Konto hat ${max} Domains, mehr sind nicht möglich: entfernen Sie erst eine.`,
  too_many_registrations: ({ max, retryAt }) =>
    `Das Konto hat an einem Tag ${max} Domains registriert, mehr sind nicht möglich: versuchen Sie es nach ${formatTime(retryAt)} wieder.`,
  role_required: ({ role }) =>
    `Das dürfen im Konto nur Eigentümer${role === 'owner' ? '' : ' und Bearbeiter'}.`,
  too_many_invitations_today: ({ max }) =>
    `Ein Konto und eine Person verschicken höchstens ${max} Einladungen am Tag: versuchen Sie es morgen wieder.`,
  accounts_closed:
    'Sie sind hier in keinem Konto Mitglied. Bitten Sie den Inhaber eines Kontos um eine Einladung.',
  too_many_invitations: ({ max }) =>
    `Ein Konto hat höchstens ${max} Einladungen: ziehen Sie zuerst eine zurück.`,
  too_many_members: ({ max }) => `Ein Konto hat höchstens ${max} Mitglieder.`,
  too_many_claims: ({ max }) =>
    `Das Konto wartet auf ${max} Domains: bestätigen oder verwerfen Sie erst eine.`,
  shared_address: ({ domain, max }) =>
    `${domain} führt zu einer Adresse, wo schon ${max} Dienste von Inhabern geprüft werden; mehr nicht.`,

  no_account: ({ account }) => `Das Konto ${account} gibt es nicht.`,
  no_service: ({ slug }) => `Den Dienst ${slug} gibt es nicht.`,
  no_owned_service: ({ slug }) => `Kein Konto hat einen Dienst ${slug}.`,
  idempotency_mismatch: ({ key }) =>
    `Der Idempotency-Key ${key} gehörte innerhalb eines Tages zu einer anderen Anfrage.`,
  service_stale: 'Dieser Dienst wurde inzwischen anderswo geändert.',
  catalogue_service: ({ slug }) => `${slug} gehört zum Katalog: nehmen Sie es aus dessen Datei.`,
  no_key: ({ id }) => `Den Schlüssel ${id} gibt es nicht.`,
  same_account: 'Ein Konto kann nicht mit sich selbst zusammengelegt werden.',
  merge_untrusted: ({ from, into }) =>
    `Dem Konto „${into}“ vertraut der Betreiber, „${from}“ nicht: „upbeat accounts trust“ vertraut auch diesem oder beendet das Vertrauen.`,
  no_person: ({ id }) => `Es gibt keine Person ${id}.`,
  no_member: ({ id }) => `Das Konto hat kein Mitglied ${id}.`,
  no_invitation:
    'Diese Einladung ist abgelaufen, verbraucht oder zurückgezogen, oder sie gehört jemand anderem. Bitten Sie um eine neue.',
  member_already: 'Sie sind schon Mitglied dieses Kontos.',
  member_stale: 'Die Rolle dieses Mitglieds wurde inzwischen anderswo geändert.',
  last_owner: 'Ein Konto behält einen Eigentümer: machen Sie zuerst ein anderes Mitglied dazu.',
  no_webhook: ({ id }) => `Den Webhook ${id} gibt es nicht.`,
  no_delivery: ({ id }) => `Die Zustellung ${id} gibt es nicht.`,
  no_channel: ({ id }) => `Den Kanal ${id} gibt es nicht.`,
  no_rule: ({ id }) => `Die Regel ${id} gibt es nicht.`,
  no_message: ({ id }) => `Die Nachricht ${id} gibt es nicht.`,
  no_alert: 'Diese Meldung gibt es nicht mehr: sie ist vorbei.',
  channel_stale: 'Dieser Kanal wurde inzwischen anderswo geändert.',
  rule_stale: 'Diese Regel wurde inzwischen anderswo geändert.',
  channel_name_taken: ({ name }) => `Das Konto hat schon einen Kanal namens ${name}.`,
  rule_name_taken: ({ name }) => `Das Konto hat schon eine Regel namens ${name}.`,
  channel_unconfirmed: 'Der Empfänger hat diesen Kanal noch nicht bestätigt, darum wird ihm nichts gesendet.',
  too_many_incidents: ({ max }) => `Ein Konto hat höchstens ${max} Vorfälle: entfernen Sie erst alte.`,
  too_many_maintenances: ({ max }) =>
    `Ein Konto kündigt höchstens ${max} Wartungen an: entfernen Sie erst eine.`,
  too_much_text: ({ max }) =>
    `Die Texte der Vorfälle und Wartungen eines Kontos nehmen höchstens ${Math.floor(max / 1_048_576)} MiB ein, auch in den Listen ihrer Dienste: entfernen Sie erst alte Vorfälle.`,
  no_incident: ({ id }) => `Das Konto hat keinen Vorfall ${id} geschrieben.`,
  no_maintenance: ({ id }) => `Das Konto hat keine Wartung ${id} angekündigt.`,
  incident_stale: 'Dieser Vorfall wurde inzwischen anderswo geändert.',
  maintenance_stale: 'Diese Wartung wurde inzwischen anderswo geändert.',
  incident_too_large: ({ max }) =>
    `Alle Texte eines Vorfalls haben zusammen höchstens ${Math.floor(max / 1024)} KiB, mit und ohne Auszeichnung gezählt.`,
  too_many_updates: ({ max }) => `Ein Vorfall hat höchstens ${max} Meldungen.`,
  post_mortem_early: 'Eine Nachbetrachtung wird geschrieben, wenn der Vorfall behoben ist.',
  subject_missing: 'Wählen Sie mindestens einen Ihrer Dienste oder eine Ihrer Statusseiten.',
  no_subject: ({ name }) => `Das Konto hat weder einen Dienst noch eine Statusseite ${name}.`,
  maintenance_past: 'Eine Wartung kann nicht in der Vergangenheit beginnen.',
  maintenance_length: ({ minMs, maxMs }) =>
    `Geben Sie eine Dauer an, etwa 90m oder 2h (${formatDuration(minMs)} bis ${formatDuration(maxMs)}).`,
  recurrence_invalid:
    'Eine Wiederholung ist eine Regel von iCalendar wie FREQ=WEEKLY;BYDAY=TU, höchstens täglich, die einen Termin hat.',
  no_running_maintenance: 'Die Wartung läuft gerade nicht.',
  no_next_maintenance: 'Die Wartung hat keinen weiteren Termin.',
  no_page: ({ slug }) => `Die Statusseite ${slug} gibt es nicht.`,
  page_stale: 'Diese Seite wurde inzwischen anderswo geändert.',
  no_page_service: ({ slug }) =>
    `Einen solchen Dienst gibt es weder unter den öffentlichen noch unter Ihren: ${slug}.`,
  page_slug_taken: ({ slug }) => `Die Adresse ${slug} ist vergeben.`,
  page_slug_of_service: ({ slug, name }) => `Die Adresse ${slug} steht für den öffentlichen Dienst ${name}.`,
  no_parent: ({ name }) =>
    `Ein Dienst kann von öffentlichen und von Ihren Diensten abhängen, ${name} ist keiner davon.`,
  parent_circle: ({ circle }) =>
    `Ein Dienst kann nicht von sich selbst abhängen, auch nicht über andere: ${circle}.`,
  ...OF_DOMAINS,

  sign_in_name_taken: ({ name }) =>
    `Der Name ${name} ist vergeben: wählen Sie einen anderen, um sich anzumelden.`,
  password_length: ({ min, max }) => `Ein Passwort hat ${min} bis ${max} Zeichen.`,
  password_weak:
    'Dieses Passwort ist leicht zu erraten: es enthält Ihren Namen oder „upbeat“ oder hat zu wenige verschiedene Zeichen.',
  code_wrong:
    'Der Code stimmt nicht. Geben Sie den ein, den die App jetzt zeigt; wird er wieder abgelehnt, stellen Sie die Uhr des Geräts.',
  passkey_refused:
    'Der Passkey wurde nicht angenommen, oder der Dialog dauerte zu lange. Versuchen Sie es noch einmal.',
  passkey_known: 'Dieser Passkey ist schon eingetragen.',
  no_passkey: 'Einen solchen Passkey gibt es nicht.',
  no_session: 'Eine solche Sitzung gibt es nicht.',
  too_many_passkeys: ({ max }) => `Eine Person hat höchstens ${max} Passkeys: entfernen Sie erst einen.`,
  last_way_in: 'Sie könnten sich nicht mehr anmelden: fügen Sie zuerst eine andere Art der Anmeldung hinzu.',
  sign_in_again: ({ minutes }) =>
    `Melden Sie sich erst noch einmal an: Wer ändert, wie er sich anmeldet, muss sich in den letzten ${minutes} Minuten angemeldet haben.`,

  key_name_missing: 'Ein Schlüssel braucht einen Namen, etwa den des Rechners, der ihn benutzt.',
  scopes_invalid: `Ein Schlüssel hat eine oder mehrere dieser Berechtigungen: ${KEY_SCOPES.join(', ')}.`,
  scope_beyond_key: ({ scope }) =>
    `Ein Schlüssel kann nur Schlüssel mit Berechtigungen erstellen, die er selbst hat: ${scope} fehlt ihm.`,
  service_name_missing: 'Ein Dienst braucht einen Namen.',
  name_invalid: ({ problem }) => textOf(NAME_PROBLEMS, problem, 'Der Name ist nicht erlaubt.'),
  domain_invalid: ({ problem }) => textOf(DOMAIN_PROBLEMS, problem, 'Die Domain ist kein Hostname.'),
  role_invalid: 'Diese Rolle gibt es nicht.',
  lifetime_invalid:
    'Ein Schlüssel läuft nach einer Dauer wie 12h, 90d oder 1y ab, höchstens 1000y, oder nie (never).',
  category_invalid: `Diese Kategorie gibt es nicht: wählen Sie aus ${CATEGORIES.join(', ')}.`,
  kind_invalid: `Eine solche Überwachung gibt es nicht: Möglich sind ${MONITORING_KINDS.join(', ')}.`,
  url_elsewhere: ({ domain }) =>
    `Die Adresse einer Prüfung muss bei ${domain} oder einem Namen darunter liegen.`,
  kind_unavailable: ({ kind, cause }) =>
    `Prüfungen der Art ${kind} sind hier nicht möglich: ${germanFailure({ class: 'unreachable', cause })}.`,
  setting_invalid: ({ setting, problem }) =>
    `Die Einstellung ${setting} ${textOf(SETTING_PROBLEMS, problem, 'ist ungültig')}.`,
  member_invalid: ({ member, problem }) =>
    member === ''
      ? `Das Dokument ${textOf(SETTING_PROBLEMS, problem, 'ist ungültig')}.`
      : problem.code === 'unknown'
        ? `Ein Feld ${member} gibt es nicht.`
        : `Das Feld ${member} ${textOf(SETTING_PROBLEMS, problem, 'ist ungültig')}.`,
  listed_twice: ({ key }) => `${key} steht mehr als einmal in der Liste.`,
  check_member_invalid: ({ member, problem }) => {
    const text = textOf(MEMBER_PROBLEMS, problem, 'ist ungültig');
    const form = MEMBER_FORMS.get(member) ?? 'braucht eine Dauer wie 30s, 5m oder 1h';
    return `${member} ${problem.code === 'format' ? form : text}.`;
  },
  method_invalid: 'Die Methode ist HEAD oder GET.',
  method_of_root:
    'Diese Methode gehört zur Art root; die Art http hat eine eigene Einstellung method, die übrigen haben keine.',
  accept_invalid: 'Erwartete Status sind Codes wie 401 und Klassen wie 2xx, durch Leerzeichen getrennt.',
  duration_invalid: 'Abstand und Toleranz sind Dauern wie 90s, 10m oder 1h, höchstens 365d.',
  schedule_invalid: ({ never }) =>
    never
      ? 'Dieser Zeitplan tritt nie ein.'
      : 'Ein Zeitplan ist ein Cron-Ausdruck aus fünf Feldern wie 30 3 * * 1-5: Minute, Stunde, Tag des Monats, Monat, Wochentag.',
  timezone_invalid: 'Diese Zeitzone gibt es nicht: Namen sind etwa UTC, Europe/Berlin oder America/New_York.',
  timezone_alone: 'Zu einer Zeitzone gehört ein Zeitplan.',
  period_and_schedule:
    'Lebenszeichen haben entweder einen Abstand oder einen Zeitplan: Lassen Sie eines davon leer.',
  channel_name_missing: 'Ein Kanal braucht einen Namen.',
  channel_kind_fixed: 'Die Art eines Kanals kann nicht geändert werden: legen Sie einen anderen Kanal an.',
  rule_name_missing: 'Eine Regel braucht einen Namen.',
  rule_services_missing: 'Eine Regel braucht Dienste: wählen Sie alle Ihre Dienste, oder nennen Sie welche.',
  rule_channels_missing: 'Eine Regel braucht einen Kanal: wählen Sie, wohin sie Nachrichten schickt.',
  rule_channel_unknown: ({ name }) => `Einen Kanal namens ${name} gibt es nicht.`,
  rule_page_unknown: ({ slug }) => `Das Konto hat keine Statusseite ${slug}.`,
  rule_time_invalid: ({ minMs, maxMs }) =>
    `Das ist eine Dauer wie 5m oder 1h, von ${formatDuration(minMs)} bis ${formatDuration(maxMs)}.`,
  rule_quiet_invalid: 'Ruhezeiten beginnen und enden zu Uhrzeiten wie 22:00 und 07:00.',
  url_refused: ({ problem }) => `Die URL ${textOf(SETTING_PROBLEMS, problem, 'ist ungültig')}.`,
  webhook_url_invalid: 'Die URL muss mit https:// oder http:// beginnen und darf kein Passwort enthalten.',
  proof_missing: ({ hasRecords, recordName, fileUrl, file }) =>
    `Die Domain ist nicht bestätigt: ${hasRecords ? 'der TXT-Eintrag enthält ein anderes Wort' : 'ein TXT-Eintrag fehlt'} bei ${recordName}, und bei ${fileUrl}: ${textOf(PROOF_FILES, file, 'das Wort ist nicht da')}.`,
  page_slug_invalid: ({ minLength, maxLength }) =>
    `Eine Adresse besteht aus ${minLength} bis ${maxLength} kleinen Buchstaben und Ziffern, mit einzelnen Bindestrichen dazwischen.`,
  page_slug_reserved: ({ slug }) => `„${slug}“ ist ein Wort dieser Website: wählen Sie eine andere Adresse.`,
  page_slug_fixed:
    'Die Adresse einer Seite lässt sich nicht ändern: legen Sie eine Seite mit der anderen Adresse an.',
  page_title_missing: 'Eine Seite braucht einen Titel.',
  page_domain_of_site: ({ domain }) => `${domain} ist die Adresse dieser Website.`,
  page_domain_public: ({ domain }) =>
    `${domain} ist eine öffentliche Endung, unter der jeder Namen registrieren kann: Nehmen Sie einen Namen darunter.`,
  no_page_domain: 'Die Seite hat keine eigene Domain: Speichern Sie zuerst eine.',
  page_colour_invalid: 'Eine Farbe besteht aus sechs hexadezimalen Ziffern, etwa #0a7d4f.',
  page_text_too_long: ({ field, maxLength, length }) =>
    `${PAGE_FIELDS[field]} hat höchstens ${maxLength} Zeichen; dieser hat ${length}.`,
  page_text_character: ({ field, character }) => forbiddenCharacter(PAGE_FIELDS[field], character),
  page_group_name_missing: 'Eine neue Gruppe braucht einen Namen.',
  page_entry_unnamed: ({ slug }) =>
    `${slug} ist privat: Geben Sie dem Dienst einen Namen für diese Seite, die sonst nichts von ihm zeigt.`,
  page_has_service: 'Der Dienst steht schon auf dieser Seite.',
  page_services_full: ({ max }) => `Eine Seite hat höchstens ${max} Dienste.`,
  page_groups_full: ({ max }) => `Eine Seite hat höchstens ${max} Gruppen.`,
  page_password_missing: 'Geben Sie ein Passwort für die Seite an.',
  page_password_unused:
    'Ein Passwort gibt es nur beim Zugang „Passwort“: Wählen Sie diesen, oder lassen Sie das Passwort leer.',
  picture_missing: 'Wählen Sie zuerst ein Bild aus.',
  picture_too_large: ({ maxBytes }) => `Dieses Bild darf höchstens ${maxBytes / 1024} KiB haben.`,
  picture_svg: ({ formats }) =>
    `SVG wird nicht angenommen, denn es kann Skripte enthalten: Senden Sie ${formats.join(', ')}.`,
  picture_unreadable: ({ formats }) => `Das ist kein lesbares Bild: Senden Sie ${formats.join(', ')}.`,
  picture_dimensions: ({ min, max, width, height }) =>
    `Dieses Bild braucht ${min} bis ${max} Pixel auf jeder Seite; Ihres hat ${width} mal ${height}.`,
};

const ROLES: Readonly<Record<Role, string>> = {
  owner: 'Eigentümer',
  editor: 'Bearbeiter',
  viewer: 'Betrachter',
};

const NOTICES: TextTable<NoticeParams> = {
  domain_lost: ({ domain }) =>
    `${domain} wurde von einem anderen Konto bestätigt und gehört von jetzt an diesem.`,
  domain_won: ({ domain }) =>
    `${domain} gehörte einem anderen Konto. Sie haben die Domain bestätigt; jetzt ist es Ihre.`,
  page_domain_lost: ({ domain }) =>
    `${domain} wurde von einem anderen Konto bestätigt. Ihre Statusseite ist wieder unter ihrer Adresse auf dieser Website.`,
  page_domain_lapsed: ({ domain }) =>
    `Der Nachweis für ${domain} fehlt seit drei Tagen. Ihre Statusseite ist wieder unter ihrer Adresse auf dieser Website.`,
  service_displaced: ({ slug, domain, entrySlug, entryDomain }) =>
    `${entryDomain} gehört jetzt als ${entrySlug} zum öffentlichen Katalog. Ihr Dienst ${slug} (${domain}) war nicht bestätigt und ist gewichen; bestätigen Sie die Domain, um daneben einen eigenen zu haben.`,
  slug_to_catalogue: ({ slug, takenBy, domain, newSlug }) =>
    `Der Kurzname ${slug} steht jetzt für ${takenBy} des öffentlichen Katalogs. Ihr Dienst ${domain} heißt dort von nun an ${newSlug} und behält seinen Verlauf.`,
  slug_to_verified: ({ slug, takenBy, domain, newSlug }) =>
    `Der Kurzname ${slug} gehört jetzt zur bestätigten Domain ${takenBy}. Ihr Dienst ${domain} heißt dort von nun an ${newSlug} und behält seinen Verlauf.`,
  name_to_catalogue: ({ domain, entryName }) =>
    `Der öffentliche Katalog hat jetzt einen Dienst namens ${entryName}. Ihr Dienst ${domain} trägt seine Domain als Namen; wählen Sie einen anderen.`,
  member_joined: ({ name, role }) => `${name} ist dem Konto beigetreten, als ${ROLES[role]}.`,
  keys_stay: ({ name, keys }) =>
    `${name} gehört nicht mehr zu den Besitzern des Kontos. Schlüssel gehören dem Konto, und seine gültigen (${keys}) gelten weiter: widerrufen Sie die, welche ${name} kennen kann.`,
  account_merged: ({ name }) =>
    `Das Konto ${name} wurde mit diesem zusammengelegt: seine Dienste, Schlüssel, Statusseiten, Webhooks und Mitglieder sind jetzt hier.`,
  webhook_removed: ({ url }) =>
    `Der Webhook an ${url} wurde entfernt, weil sein Geheimnis verloren ging. Fügen Sie ihn neu hinzu.`,
  channel_stopped: ({ name }) =>
    `Der Empfänger des Kanals ${name} hat dessen E-Mails beendet. Alarme gehen nicht mehr dorthin, bis er das zurücknimmt.`,
  channel_resumed: ({ name }) => `Der Empfänger des Kanals ${name} erhält dessen E-Mails wieder.`,
  channel_refused: ({ name }) =>
    `Der Kanal ${name} ist aus: Der Mailserver hat seine letzten Meldungen abgelehnt. Berichtigen Sie seine Adresse, oder lassen Sie den Empfänger noch einmal fragen.`,
  channel_failing: ({ name, problem }) =>
    `Seit einer Stunde erreicht den Kanal ${name} nichts: ${problem}. Meldungen warten einen Tag lang auf ihn.`,
  channel_removed: ({ name }) =>
    `Der Kanal ${name} wurde entfernt, weil sich seine Einstellungen nicht mehr entschlüsseln lassen. Fügen Sie ihn neu hinzu, auch bei den Regeln, die ihn nannten.`,
  credentials_removed: ({ domain }) =>
    `Die Zugangsdaten der Prüfung von ${domain} wurden entfernt, weil ihr Schlüssel verloren ging. Geben Sie sie neu ein.`,
};

export function germanRefusal(refusal: Refusal): string {
  return textOf(REFUSALS, refusal, 'Die Anfrage wird abgelehnt.');
}

export function germanNotice(notice: Notice): string {
  return textOf(NOTICES, notice, '');
}

/** Why a webhook was not delivered, in German. */
export function germanDeliveryProblem(problem: DeliveryProblem): string {
  return textOf(DELIVERY_PROBLEMS, problem, 'die Zustellung ist gescheitert');
}

function forbiddenCharacter(what: string, character: string): string {
  return `${what} darf ${character} nicht enthalten: Steuerzeichen, Zeichen der Schreibrichtung und nicht vergebene Zeichen sind nicht erlaubt.`;
}
