/**
 * Refusals and problems of deliveries: codes with parameters, and their English texts for the API, the command line
 * and English pages. Other languages are in `src/web/language/`.
 */

import { type Coded, isKnown, type ParamsOf, textOf } from './coded-text.ts';
import { formatDuration, formatTime } from './durations.ts';
import { describeCause, type Failure, type FailureCause, isKnownFailure } from './failure.ts';
import type { ScheduleProblem } from './heartbeat/heartbeat-schedule.ts';
import {
  describeGivenTextProblem,
  describeHostNameProblem,
  describeMemberProblem,
  describeSettingProblem,
  type GivenTextProblem,
  type HostNameProblem,
  type MemberProblem,
  type SettingProblem,
} from './input-problem.ts';
import { KEY_SCOPES, type LimitedRole, ROLES } from './role.ts';
import { CATEGORIES, MONITORING_KINDS } from './service.ts';

type OfMax = { readonly max: number };
type OfFormats = { readonly formats: readonly string[] };
type OfId = { readonly id: number };
type OfSlug = { readonly slug: string };
type OfName = { readonly name: string };
type OfDomain = { readonly domain: string };
type OfMaxLength = { readonly maxLength: number };
type OfFailure = { readonly failure: Failure };
type OfStatus = { readonly statusCode: number };
/** A code point, as in `U+202E`. */
type OfCharacter = { readonly character: string };
/** A domain within `parent`, which is a domain of the catalogue. */
type OfParent = OfDomain & { readonly parent: string };
export type PageTextField = 'title' | 'text' | 'group' | 'entry';
type OfField = { readonly field: PageTextField };

type OfSetting = { readonly setting: string; readonly problem: SettingProblem };

type OfMember = { readonly member: string; readonly problem: SettingProblem };

const PAGE_FIELDS: Readonly<Record<PageTextField, string>> = {
  title: 'A title',
  text: 'The text',
  group: 'The name of a group',
  entry: 'The name of a service',
};

/** Why a request to an owner's server failed. */
const RESPONSE_PROBLEMS = {
  status: ({ statusCode }: OfStatus) => `HTTP ${statusCode}`,
  failed: ({ failure }: OfFailure) => describeCause(failure),
};

const DELIVERY_PROBLEMS = {
  ...RESPONSE_PROBLEMS,
  /** English text of an error of the program, or that another version recorded; it is shown as it is. */
  text: ({ text }: { readonly text: string }) => text,
};

/** Why a webhook was not delivered, with parameters. */
export type DeliveryProblemParams = ParamsOf<typeof DELIVERY_PROBLEMS>;

/** Why a webhook was not delivered. */
export type DeliveryProblem = Coded<DeliveryProblemParams>;

const PROOF_FILES = {
  ...RESPONSE_PROBLEMS,
  redirected: 'it redirects to another host',
  other_word: 'it holds another word',
};

/** The content of a proof file without the token, with parameters. */
export type ProofFileParams = ParamsOf<typeof PROOF_FILES>;

/** The content of a proof file without the token. */
export type ProofFile = Coded<ProofFileParams>;

interface ProofMissing {
  /** True if the name has TXT records, none of which is the token. */
  readonly hasRecords: boolean;
  readonly recordName: string;
  readonly fileUrl: string;
  readonly file: ProofFile;
}

const REFUSALS = {
  // Limits of an account. `retryAt` in epoch milliseconds.
  too_many_keys: ({ max }: OfMax) => `An account has at most ${max} keys: revoke one first.`,
  too_many_webhooks: ({ max }: OfMax) => `An account has at most ${max} webhooks: remove one first.`,
  too_many_pages: ({ max }: OfMax) => `An account has at most ${max} status pages: remove one first.`,
  too_many_channels: ({ max }: OfMax) => `An account has at most ${max} channels: remove one first.`,
  too_many_rules: ({ max }: OfMax) => `An account has at most ${max} rules: remove one first.`,
  too_many_domains: ({ max }: OfMax) =>
    `The account has ${max} domains, which is its limit: remove one first.`,
  too_many_registrations: ({ max, retryAt }: OfMax & { readonly retryAt: number }) =>
    `The account has registered ${max} domains within a day, which is its limit: try again after ${formatTime(retryAt)}.`,
  too_many_incidents: ({ max }: OfMax) => `An account has at most ${max} incidents: remove old ones first.`,
  too_many_maintenances: ({ max }: OfMax) =>
    `An account announces at most ${max} maintenances: remove one first.`,
  /** In bytes: of all incidents and maintenances, in the lists of their services too. */
  too_much_text: ({ max }: OfMax) =>
    `The texts of an account's incidents and maintenances take at most ${Math.floor(max / 1_048_576)} MiB, in the lists of their services too: remove old incidents first.`,
  too_many_invitations_today: ({ max }: OfMax) =>
    `An account, and a person, sends at most ${max} invitations a day: try again tomorrow.`,
  /** The setting `accounts.open` is false. */
  accounts_closed: 'You are a member of no account here. Ask an owner of an account to invite you.',
  too_many_invitations: ({ max }: OfMax) => `An account has at most ${max} invitations: withdraw one first.`,
  too_many_members: ({ max }: OfMax) => `An account has at most ${max} members.`,
  too_many_claims: ({ max }: OfMax) => `The account waits for ${max} domains: verify or drop one first.`,
  shared_address: ({ domain, max }: OfDomain & OfMax) =>
    `${domain} leads to an address where ${max} services of owners are checked already; more are not.`,

  /** The member of an account has a lesser role. */
  role_required: ({ role }: { readonly role: LimitedRole }) =>
    `Only ${role === 'owner' ? 'an owner' : 'an owner or an editor'} of the account may do this.`,

  // Names that are taken, or belong to nothing.
  no_account: ({ account }: { readonly account: string }) => `There is no account ${account}.`,
  no_service: ({ slug }: OfSlug) => `There is no service ${slug}.`,
  no_owned_service: ({ slug }: OfSlug) => `No account has a service ${slug}.`,
  /** `key` is the client's word for another request. */
  idempotency_mismatch: ({ key }: { readonly key: string }) =>
    `The Idempotency-Key ${key} was used for another request within a day.`,
  /** The client has seen another revision. */
  service_stale: 'This service was changed elsewhere in the meantime.',
  catalogue_service: ({ slug }: OfSlug) =>
    `${slug} belongs to the catalogue: take it out of the catalogue file instead.`,
  no_key: ({ id }: OfId) => `There is no key ${id}.`,
  same_account: 'An account cannot be merged into itself.',
  merge_untrusted: ({ from, into }: { readonly from: string; readonly into: string }) =>
    `The account "${into}" is trusted and "${from}" is not: trust it first with "upbeat accounts trust", or end the trust.`,
  no_person: ({ id }: OfId) => `There is no person ${id}.`,
  no_member: ({ id }: OfId) => `The account has no member ${id}.`,
  no_invitation:
    'This invitation has expired, was used or withdrawn, or belongs to somebody else. Ask for another one.',
  /** The member was given another role after the owner saw the list. */
  member_stale: 'The role of this member was changed elsewhere in the meantime.',
  member_already: 'You are a member of this account already.',
  last_owner: 'An account keeps an owner: make another member an owner first.',
  no_webhook: ({ id }: OfId) => `There is no webhook ${id}.`,
  no_delivery: ({ id }: OfId) => `There is no delivery ${id}.`,
  no_channel: ({ id }: OfId) => `There is no channel ${id}.`,
  no_rule: ({ id }: OfId) => `There is no rule ${id}.`,
  no_message: ({ id }: OfId) => `There is no message ${id}.`,
  no_alert: 'There is no such alert any more: it is over.',
  channel_stale: 'This channel was changed elsewhere in the meantime.',
  rule_stale: 'This rule was changed elsewhere in the meantime.',
  channel_name_taken: ({ name }: OfName) => `The account has a channel named ${name} already.`,
  rule_name_taken: ({ name }: OfName) => `The account has a rule named ${name} already.`,
  channel_unconfirmed: 'The receiver has not confirmed this channel yet, so nothing is sent to it.',
  no_incident: ({ id }: { readonly id: string }) => `The account has written no incident ${id}.`,
  no_maintenance: ({ id }: { readonly id: string }) => `The account has announced no maintenance ${id}.`,
  incident_stale: 'This incident was changed elsewhere in the meantime.',
  maintenance_stale: 'This maintenance was changed elsewhere in the meantime.',
  too_many_updates: ({ max }: OfMax) => `An incident has at most ${max} updates.`,
  /** In bytes: of all its texts, as they were written and without markup. */
  incident_too_large: ({ max }: OfMax) =>
    `All texts of an incident have at most ${Math.floor(max / 1024)} KiB, counted with and without their markup.`,
  /** A post-mortem is written once the incident is over. */
  post_mortem_early: 'A post-mortem is written after the incident is resolved.',
  /** Neither a service nor a status page of the account is named. */
  subject_missing: 'Choose at least one of your services or status pages.',
  /** None of the account's services or pages has this name. */
  no_subject: ({ name }: { readonly name: string }) =>
    `The account has neither a service nor a status page ${name}.`,
  maintenance_past: 'A maintenance cannot begin in the past.',
  /** In milliseconds. */
  maintenance_length: ({ minMs, maxMs }: { readonly minMs: number; readonly maxMs: number }) =>
    `Enter a duration such as 90m or 2h (${formatDuration(minMs)} to ${formatDuration(maxMs)}).`,
  recurrence_invalid:
    'A recurrence is a rule of iCalendar such as FREQ=WEEKLY;BYDAY=TU, at most daily, that has an occurrence.',
  /** Only an occurrence that runs can be ended or extended. */
  no_running_maintenance: 'The maintenance is not running now.',
  no_next_maintenance: 'The maintenance has no further occurrence.',
  no_page: ({ slug }: OfSlug) => `There is no status page ${slug}.`,
  /** The page was changed after its owner saw it. */
  page_stale: 'This page was changed elsewhere in the meantime.',
  /** Neither the catalogue nor the account has a service with this slug. */
  no_page_service: ({ slug }: OfSlug) => `There is no such service among the public ones and yours: ${slug}.`,
  page_slug_taken: ({ slug }: OfSlug) => `The address ${slug} is taken.`,
  page_slug_of_service: ({ slug, name }: OfSlug & { readonly name: string }) =>
    `The address ${slug} stands for the public service ${name}.`,
  no_parent: ({ name }: OfName) =>
    `A service can depend on public services and on yours, and ${name} is neither.`,
  /** `circle`: slugs from the service back to itself. */
  parent_circle: ({ circle }: { readonly circle: string }) =>
    `A service cannot depend on itself, directly or through others: ${circle}.`,
  /** `free`: a similar one that is not taken. Says the same of a service that nobody may know of as of one that was removed. */
  slug_taken: ({ slug, free }: OfSlug & { readonly free: string }) =>
    `The slug ${slug} is reserved. ${free} is free.`,
  slug_invalid: ({ slug }: OfSlug) =>
    `${slug} is not a slug: it has lower-case letters, digits and dashes, and at most 300 characters.`,
  slug_of_host: ({ slug, form }: OfSlug & { readonly form: string }) =>
    `The slug ${slug} does not belong to the domain: it begins with ${form}-, such as ${form}-api.`,
  slug_fixed: 'The slug of a service cannot be changed: add another service.',
  /** `free`: the slug of another check of the domain; null: it is that of another account. */
  domain_taken: ({ domain, free }: OfDomain & { readonly free: string | null }) =>
    free === null
      ? `The domain ${domain} is registered already.`
      : `The domain ${domain} is registered already. Another check of it needs a slug, such as ${free}.`,
  foreign_domain: ({ domain }: OfDomain) =>
    `${domain} is registered by another account. If it is yours, verify the domain.`,
  /** `parent` is the domain of the catalogue's service `slug`. */
  catalogue_domain: ({ domain, parent, slug }: OfParent & OfSlug) =>
    `${domain} lies within ${parent} of the public catalogue (${slug}): verify the domain first.`,
  /** `parent` is in the catalogue: only its file adds services there. */
  catalogue_owns: ({ domain, parent }: OfParent) =>
    `The domain ${domain} belongs to ${parent} of the public catalogue.`,
  /** `other` is the name in the catalogue. */
  name_taken: ({ name, other }: { readonly name: string; readonly other: string }) =>
    `The name ${name} equals or resembles ${other} of the public catalogue: choose another.`,

  // What people sign in with.
  sign_in_name_taken: ({ name }: { readonly name: string }) =>
    `The name ${name} is taken: choose another to sign in with.`,
  password_length: ({ min, max }: OfMax & { readonly min: number }) =>
    `A password has ${min} to ${max} characters.`,
  password_weak:
    'This password is easy to guess: it contains your name or "upbeat", or has too few different characters.',
  code_wrong:
    'The code is not right. Enter the one that the app shows now; if it is still refused, set the clock of its device.',
  passkey_refused: 'The passkey was not accepted, or the dialog took too long. Try again.',
  passkey_known: 'This passkey is registered already.',
  no_passkey: 'There is no such passkey.',
  no_session: 'There is no such session.',
  too_many_passkeys: ({ max }: OfMax) => `A person has at most ${max} passkeys: remove one first.`,
  last_way_in: 'You could not sign in any more: add another way to sign in first.',
  sign_in_again: ({ minutes }: { readonly minutes: number }) =>
    `Sign in again first: a change of how you sign in needs a sign-in within the last ${minutes} minutes.`,

  // What a person writes into a form.
  key_name_missing: 'A key needs a name, such as the machine that will use it.',
  scopes_invalid: `A key has one or more of the scopes ${KEY_SCOPES.join(', ')}.`,
  scope_beyond_key: ({ scope }: { readonly scope: string }) =>
    `A key can only make keys with scopes that it has: it lacks ${scope}.`,
  service_name_missing: 'A service needs a name.',
  name_invalid: ({ problem }: { readonly problem: GivenTextProblem }) =>
    `The name ${describeGivenTextProblem(problem)}.`,
  domain_invalid: ({ problem }: { readonly problem: HostNameProblem }) =>
    `The domain ${describeHostNameProblem(problem)}.`,
  role_invalid: `There is no such role: choose one of ${ROLES.join(', ')}.`,
  lifetime_invalid: 'A key expires after a duration such as 12h, 90d or 1y, at most 1000y, or never.',
  category_invalid: `There is no such category: choose one of ${CATEGORIES.join(', ')}.`,
  kind_invalid: `There is no such way to monitor a service: choose one of ${MONITORING_KINDS.join(', ')}.`,
  url_elsewhere: ({ domain }: OfDomain) =>
    `The address of a check must be at ${domain} or at a name below it.`,
  domain_fixed: 'The domain of a service cannot be changed: create a service for the other domain.',
  /** `cause` is why this machine cannot make such checks. */
  kind_unavailable: ({ kind, cause }: { readonly kind: string; readonly cause: FailureCause }) =>
    `Checks of the kind ${kind} are not possible here: ${describeCause({ cause })}.`,
  setting_invalid: ({ setting, problem }: OfSetting) =>
    `The setting ${setting} ${describeSettingProblem(problem)}.`,
  /** `member` is a path in a document, such as `check.settings.port`. */
  member_invalid: ({ member, problem }: OfMember) =>
    member === ''
      ? `The document ${describeSettingProblem(problem)}.`
      : problem.code === 'unknown'
        ? `There is no member ${member}.`
        : `The member ${member} ${describeSettingProblem(problem)}.`,
  listed_twice: ({ key }: { readonly key: string }) => `${key} is listed more than once.`,
  check_member_invalid: ({ member, problem }: { readonly member: string; readonly problem: MemberProblem }) =>
    `${member} ${describeMemberProblem(member, problem)}.`,
  method_invalid: 'The method is HEAD or GET.',
  method_of_root:
    'This method belongs to the kind root; the kind http has a setting named method, and the others have none.',
  accept_invalid: 'Expected statuses are codes such as 401 and classes such as 2xx, separated by spaces.',
  duration_invalid: 'A period and a grace are durations such as 90s, 10m or 1h, at most 365d.',
  schedule_invalid: ({ never }: { readonly never: boolean }) =>
    never
      ? 'This schedule never occurs.'
      : 'A schedule is a cron expression of five fields, such as 30 3 * * 1-5: minute, hour, day of the month, month, day of the week.',
  timezone_invalid: 'There is no such time zone: give a name such as UTC, Europe/Berlin or America/New_York.',
  timezone_alone: 'A time zone needs a schedule.',
  period_and_schedule: 'Heartbeats have either a period or a schedule: leave one of them empty.',
  channel_name_missing: 'A channel needs a name.',
  channel_kind_fixed: 'The kind of a channel cannot be changed: add another channel.',
  rule_name_missing: 'A rule needs a name.',
  rule_services_missing: 'A rule needs services: choose all of yours, or name some.',
  rule_channels_missing: 'A rule needs a channel: choose where it notifies you.',
  rule_channel_unknown: ({ name }: OfName) => `There is no channel named ${name}.`,
  rule_page_unknown: ({ slug }: OfSlug) => `The account has no status page ${slug}.`,
  /** A duration; both limits in milliseconds. */
  rule_time_invalid: ({ minMs, maxMs }: { readonly minMs: number; readonly maxMs: number }) =>
    `This is a duration such as 5m or 1h, from ${formatDuration(minMs)} to ${formatDuration(maxMs)}.`,
  rule_quiet_invalid: 'Quiet hours begin and end at times such as 22:00 and 07:00.',
  url_refused: ({ problem }: { readonly problem: SettingProblem }) =>
    `The URL ${describeSettingProblem(problem)}.`,
  webhook_url_invalid: 'The URL must begin with https:// or http:// and must not contain a password.',
  proof_missing: ({ hasRecords, recordName, fileUrl, file }: ProofMissing) =>
    `The domain is not verified: ${hasRecords ? 'the TXT record holds another word' : 'there is no TXT record'} at ${recordName}, and at ${fileUrl}: ${textOf(PROOF_FILES, file, 'the word is not there')}.`,
  page_slug_invalid: ({ minLength, maxLength }: OfMaxLength & { readonly minLength: number }) =>
    `An address is ${minLength} to ${maxLength} lower-case letters and digits, with single dashes between them.`,
  page_slug_reserved: ({ slug }: OfSlug) => `"${slug}" is a word of this site: choose another address.`,
  page_slug_fixed: 'The address of a page cannot be changed: create a page with the other address.',
  page_title_missing: 'A page needs a title.',
  page_colour_invalid: 'A colour is six hexadecimal digits, such as #0a7d4f.',
  page_domain_of_site: ({ domain }: OfDomain) => `${domain} is the address of this site.`,
  page_domain_public: ({ domain }: OfDomain) =>
    `${domain} is a public suffix, under which anyone can register names: use a name below it.`,
  no_page_domain: 'The page has no custom domain: save one first.',
  page_text_too_long: ({ field, maxLength, length }: OfField & OfMaxLength & { readonly length: number }) =>
    `${PAGE_FIELDS[field]} has at most ${maxLength} characters; this one has ${length}.`,
  page_text_character: ({ field, character }: OfField & OfCharacter) =>
    `${PAGE_FIELDS[field]} ${describeGivenTextProblem({ code: 'character', character })}.`,
  page_group_name_missing: 'A new group needs a name.',
  page_entry_unnamed: ({ slug }: OfSlug) =>
    `${slug} is private: give it a name for this page, which shows nothing else of it.`,
  page_has_service: 'The service is on this page already.',
  page_services_full: ({ max }: OfMax) => `A page has at most ${max} services.`,
  page_groups_full: ({ max }: OfMax) => `A page has at most ${max} groups.`,
  page_password_missing: 'Enter a password for the page.',
  page_password_unused:
    'A password is only for the access "password": choose that, or leave the password empty.',
  picture_missing: 'Choose a picture first.',
  picture_too_large: ({ maxBytes }: { readonly maxBytes: number }) =>
    `This picture may have at most ${maxBytes / 1024} KiB.`,
  picture_svg: ({ formats }: OfFormats) =>
    `SVG is not taken, for it can hold script: send ${formats.join(', ')}.`,
  picture_unreadable: ({ formats }: OfFormats) =>
    `This is no picture that can be read: send ${formats.join(', ')}.`,
  /** All in pixels. */
  picture_dimensions: ({
    min,
    max,
    width,
    height,
  }: OfMax & { readonly min: number; readonly width: number; readonly height: number }) =>
    `This picture needs ${min} to ${max} pixels on each side; yours has ${width} by ${height}.`,
};

export type RefusalParams = ParamsOf<typeof REFUSALS>;

/** Why something that a person asked for is refused. */
export type Refusal = Coded<RefusalParams>;

/** The refusal of a schedule that is not valid. */
export function refusalOfSchedule(problem: ScheduleProblem): Refusal {
  return problem === 'timezone'
    ? { code: 'timezone_invalid' }
    : { code: 'schedule_invalid', never: problem === 'never' };
}

export function describeRefusal(refusal: Refusal): string {
  return textOf(REFUSALS, refusal, 'The request is refused.');
}

/** Why a webhook was not delivered, in one line: `HTTP 503`. */
export function describeDeliveryProblem(problem: DeliveryProblem): string {
  return textOf(DELIVERY_PROBLEMS, problem, 'the delivery failed');
}

/** The problem that a store has kept. `text` is the same in English: it stands where this version does not know the code. */
export function fromStoredDeliveryProblem(
  problem: DeliveryProblem | null,
  text: string | null,
): DeliveryProblem | null {
  const known =
    problem !== null &&
    isKnown(DELIVERY_PROBLEMS, problem) &&
    (problem.code !== 'failed' || isKnownFailure(problem.failure));
  if (known) return problem;
  return text === null ? null : { code: 'text', text };
}
