/** An example of every refusal and every notice, with its English text. */

import type { Coded } from '../../src/domain/coded-text.ts';
import type { GivenTextProblemParams, HostNameProblemParams } from '../../src/domain/input-problem.ts';
import type { Notice, NoticeParams } from '../../src/domain/notice.ts';
import type { ProofFileParams, Refusal, RefusalParams } from '../../src/domain/refusal.ts';
import { CATEGORIES } from '../../src/domain/service.ts';

/** Examples by their codes; the compiler asks for one of each. */
type Examples<Params> = {
  readonly [Code in keyof Params]: readonly [Params[Code], english: string];
};

const AT = Date.UTC(2026, 10, 20, 10);
const FORBIDDEN = 'control characters, marks of direction and unassigned characters are not allowed';

const REFUSALS: Examples<Omit<RefusalParams, 'name_invalid' | 'domain_invalid' | 'proof_missing'>> = {
  too_many_keys: [{ max: 100 }, 'An account has at most 100 keys: revoke one first.'],
  too_many_webhooks: [{ max: 10 }, 'An account has at most 10 webhooks: remove one first.'],
  too_many_pages: [{ max: 20 }, 'An account has at most 20 status pages: remove one first.'],
  too_many_channels: [{ max: 50 }, 'An account has at most 50 channels: remove one first.'],
  too_many_rules: [{ max: 100 }, 'An account has at most 100 rules: remove one first.'],
  too_many_domains: [{ max: 5 }, 'The account has 5 domains, which is its limit: remove one first.'],
  too_many_registrations: [
    { max: 200, retryAt: AT },
    'The account has registered 200 domains within a day, which is its limit: try again after 2026-11-20T10:00:00.000Z.',
  ],
  too_many_incidents: [{ max: 9 }, 'An account has at most 9 incidents: remove old ones first.'],
  too_many_maintenances: [{ max: 9 }, 'An account announces at most 9 maintenances: remove one first.'],
  too_much_text: [
    { max: 67_108_864 },
    "The texts of an account's incidents and maintenances take at most 64 MiB, in the lists of their services too: remove old incidents first.",
  ],
  no_parent: [
    { name: 'router' },
    'A service can depend on public services and on yours, and router is neither.',
  ],
  parent_circle: [
    { circle: 'a → b → a' },
    'A service cannot depend on itself, directly or through others: a → b → a.',
  ],
  no_incident: [{ id: 'owner-3' }, 'The account has written no incident owner-3.'],
  no_maintenance: [{ id: 'm3' }, 'The account has announced no maintenance m3.'],
  incident_stale: [{}, 'This incident was changed elsewhere in the meantime.'],
  maintenance_stale: [{}, 'This maintenance was changed elsewhere in the meantime.'],
  incident_too_large: [
    { max: 262_144 },
    'All texts of an incident have at most 256 KiB, counted with and without their markup.',
  ],
  too_many_updates: [{ max: 100 }, 'An incident has at most 100 updates.'],
  post_mortem_early: [{}, 'A post-mortem is written after the incident is resolved.'],
  subject_missing: [{}, 'Choose at least one of your services or status pages.'],
  no_subject: [{ name: 'shop' }, 'The account has neither a service nor a status page shop.'],
  maintenance_past: [{}, 'A maintenance cannot begin in the past.'],
  maintenance_length: [
    { minMs: 60_000, maxMs: 86_400_000 },
    'Enter a duration such as 90m or 2h (1m to 1d).',
  ],
  recurrence_invalid: [
    {},
    'A recurrence is a rule of iCalendar such as FREQ=WEEKLY;BYDAY=TU, at most daily, that has an occurrence.',
  ],
  no_running_maintenance: [{}, 'The maintenance is not running now.'],
  no_next_maintenance: [{}, 'The maintenance has no further occurrence.'],
  too_many_invitations_today: [
    { max: 60 },
    'An account, and a person, sends at most 60 invitations a day: try again tomorrow.',
  ],
  accounts_closed: [{}, 'You are a member of no account here. Ask an owner of an account to invite you.'],
  too_many_invitations: [{ max: 20 }, 'An account has at most 20 invitations: withdraw one first.'],
  too_many_members: [{ max: 100 }, 'An account has at most 100 members.'],
  too_many_claims: [{ max: 20 }, 'The account waits for 20 domains: verify or drop one first.'],
  role_required: [{ role: 'editor' }, 'Only an owner or an editor of the account may do this.'],
  shared_address: [
    { domain: 'a.example', max: 10 },
    'a.example leads to an address where 10 services of owners are checked already; more are not.',
  ],
  no_account: [{ account: '7' }, 'There is no account 7.'],
  no_service: [{ slug: 'a-example' }, 'There is no service a-example.'],
  no_owned_service: [{ slug: 'a-example' }, 'No account has a service a-example.'],
  idempotency_mismatch: [{ key: 'a' }, 'The Idempotency-Key a was used for another request within a day.'],
  service_stale: [{}, 'This service was changed elsewhere in the meantime.'],
  catalogue_service: [
    { slug: 'github' },
    'github belongs to the catalogue: take it out of the catalogue file instead.',
  ],
  no_key: [{ id: 7 }, 'There is no key 7.'],
  same_account: [{}, 'An account cannot be merged into itself.'],
  merge_untrusted: [
    { from: 'ada', into: 'home' },
    'The account "home" is trusted and "ada" is not: trust it first with "upbeat accounts trust", or end the trust.',
  ],
  no_person: [{ id: 7 }, 'There is no person 7.'],
  no_member: [{ id: 7 }, 'The account has no member 7.'],
  no_invitation: [
    {},
    'This invitation has expired, was used or withdrawn, or belongs to somebody else. Ask for another one.',
  ],
  member_stale: [{}, 'The role of this member was changed elsewhere in the meantime.'],
  member_already: [{}, 'You are a member of this account already.'],
  last_owner: [{}, 'An account keeps an owner: make another member an owner first.'],
  no_webhook: [{ id: 7 }, 'There is no webhook 7.'],
  no_delivery: [{ id: 7 }, 'There is no delivery 7.'],
  no_channel: [{ id: 7 }, 'There is no channel 7.'],
  no_rule: [{ id: 7 }, 'There is no rule 7.'],
  no_message: [{ id: 7 }, 'There is no message 7.'],
  no_alert: [{}, 'There is no such alert any more: it is over.'],
  channel_stale: [{}, 'This channel was changed elsewhere in the meantime.'],
  rule_stale: [{}, 'This rule was changed elsewhere in the meantime.'],
  channel_name_taken: [{ name: 'Ops' }, 'The account has a channel named Ops already.'],
  rule_name_taken: [{ name: 'Mine' }, 'The account has a rule named Mine already.'],
  channel_unconfirmed: [{}, 'The receiver has not confirmed this channel yet, so nothing is sent to it.'],
  channel_name_missing: [{}, 'A channel needs a name.'],
  channel_kind_fixed: [{}, 'The kind of a channel cannot be changed: add another channel.'],
  rule_name_missing: [{}, 'A rule needs a name.'],
  rule_services_missing: [{}, 'A rule needs services: choose all of yours, or name some.'],
  rule_channels_missing: [{}, 'A rule needs a channel: choose where it notifies you.'],
  rule_channel_unknown: [{ name: 'Ops' }, 'There is no channel named Ops.'],
  rule_page_unknown: [{ slug: 'acme' }, 'The account has no status page acme.'],
  rule_time_invalid: [
    { minMs: 300_000, maxMs: 604_800_000 },
    'This is a duration such as 5m or 1h, from 5m to 1w.',
  ],
  rule_quiet_invalid: [{}, 'Quiet hours begin and end at times such as 22:00 and 07:00.'],
  no_page: [{ slug: 'acme' }, 'There is no status page acme.'],
  page_stale: [{}, 'This page was changed elsewhere in the meantime.'],
  no_page_service: [{ slug: 'hers' }, 'There is no such service among the public ones and yours: hers.'],
  page_slug_taken: [{ slug: 'acme' }, 'The address acme is taken.'],
  page_slug_of_service: [
    { slug: 'github', name: 'GitHub' },
    'The address github stands for the public service GitHub.',
  ],
  slug_taken: [{ slug: 'shop', free: 'shop-2' }, 'The slug shop is reserved. shop-2 is free.'],
  slug_invalid: [
    { slug: 'A b' },
    'A b is not a slug: it has lower-case letters, digits and dashes, and at most 300 characters.',
  ],
  slug_of_host: [
    { slug: 'shop', form: 'a-example' },
    'The slug shop does not belong to the domain: it begins with a-example-, such as a-example-api.',
  ],
  slug_fixed: [{}, 'The slug of a service cannot be changed: add another service.'],
  domain_taken: [
    { domain: 'a.example', free: 'a-example-api' },
    'The domain a.example is registered already. Another check of it needs a slug, such as a-example-api.',
  ],
  foreign_domain: [
    { domain: 'a.example' },
    'a.example is registered by another account. If it is yours, verify the domain.',
  ],
  catalogue_domain: [
    { domain: 'x.github.com', parent: 'github.com', slug: 'github' },
    'x.github.com lies within github.com of the public catalogue (github): verify the domain first.',
  ],
  catalogue_owns: [
    { domain: 'x.github.com', parent: 'github.com' },
    'The domain x.github.com belongs to github.com of the public catalogue.',
  ],
  name_taken: [
    { name: 'GitHub.', other: 'GitHub' },
    'The name GitHub. equals or resembles GitHub of the public catalogue: choose another.',
  ],
  sign_in_name_taken: [{ name: 'ada' }, 'The name ada is taken: choose another to sign in with.'],
  password_length: [{ min: 12, max: 256 }, 'A password has 12 to 256 characters.'],
  password_weak: [
    {},
    'This password is easy to guess: it contains your name or "upbeat", or has too few different characters.',
  ],
  code_wrong: [
    {},
    'The code is not right. Enter the one that the app shows now; if it is still refused, set the clock of its device.',
  ],
  passkey_refused: [{}, 'The passkey was not accepted, or the dialog took too long. Try again.'],
  passkey_known: [{}, 'This passkey is registered already.'],
  no_passkey: [{}, 'There is no such passkey.'],
  no_session: [{}, 'There is no such session.'],
  too_many_passkeys: [{ max: 20 }, 'A person has at most 20 passkeys: remove one first.'],
  last_way_in: [{}, 'You could not sign in any more: add another way to sign in first.'],
  sign_in_again: [
    { minutes: 15 },
    'Sign in again first: a change of how you sign in needs a sign-in within the last 15 minutes.',
  ],
  key_name_missing: [{}, 'A key needs a name, such as the machine that will use it.'],
  scopes_invalid: [{}, 'A key has one or more of the scopes read, heartbeat, write.'],
  scope_beyond_key: [{ scope: 'write' }, 'A key can only make keys with scopes that it has: it lacks write.'],
  service_name_missing: [{}, 'A service needs a name.'],
  role_invalid: [{}, 'There is no such role: choose one of owner, editor, viewer.'],
  lifetime_invalid: [{}, 'A key expires after a duration such as 12h, 90d or 1y, at most 1000y, or never.'],
  category_invalid: [{}, `There is no such category: choose one of ${CATEGORIES.join(', ')}.`],
  kind_invalid: [
    {},
    'There is no such way to monitor a service: choose one of root, health, tcp, tls, http, websocket, grpc, icmp, dns, smtp, ssh, postgres, mysql, redis, mqtt, mongodb, domain, docker, heartbeat.',
  ],
  kind_unavailable: [
    { kind: 'icmp', cause: { code: 'ping_missing' } },
    'Checks of the kind icmp are not possible here: this machine has no ping: install the package iputils-ping.',
  ],
  url_elsewhere: [
    { domain: 'a.example' },
    'The address of a check must be at a.example or at a name below it.',
  ],
  domain_fixed: [{}, 'The domain of a service cannot be changed: create a service for the other domain.'],
  setting_invalid: [
    { setting: 'port', problem: { code: 'port_closed', port: 5432 } },
    'The setting port is 5432, which is not among checks.ports: the operator can add it there.',
  ],
  member_invalid: [
    { member: 'check.paths', problem: { code: 'unknown' } },
    'There is no member check.paths.',
  ],
  listed_twice: [{ key: 'a.example' }, 'a.example is listed more than once.'],
  check_member_invalid: [
    { member: 'confirmAfter', problem: { code: 'format' } },
    'confirmAfter must be delays such as "2s 4s", or "none".',
  ],
  method_invalid: [{}, 'The method is HEAD or GET.'],
  method_of_root: [
    {},
    'This method belongs to the kind root; the kind http has a setting named method, and the others have none.',
  ],
  accept_invalid: [
    {},
    'Expected statuses are codes such as 401 and classes such as 2xx, separated by spaces.',
  ],
  duration_invalid: [{}, 'A period and a grace are durations such as 90s, 10m or 1h, at most 365d.'],
  schedule_invalid: [{ never: true }, 'This schedule never occurs.'],
  timezone_invalid: [
    {},
    'There is no such time zone: give a name such as UTC, Europe/Berlin or America/New_York.',
  ],
  timezone_alone: [{}, 'A time zone needs a schedule.'],
  period_and_schedule: [{}, 'Heartbeats have either a period or a schedule: leave one of them empty.'],
  url_refused: [
    { problem: { code: 'not_public', host: '127.0.0.1' } },
    'The URL leads to 127.0.0.1, which is not public: only public hosts are connected to.',
  ],
  webhook_url_invalid: [{}, 'The URL must begin with https:// or http:// and must not contain a password.'],
  page_group_name_missing: [{}, 'A new group needs a name.'],
  page_password_missing: [{}, 'Enter a password for the page.'],
  page_password_unused: [
    {},
    'A password is only for the access "password": choose that, or leave the password empty.',
  ],
  picture_missing: [{}, 'Choose a picture first.'],
  page_slug_invalid: [
    { minLength: 3, maxLength: 60 },
    'An address is 3 to 60 lower-case letters and digits, with single dashes between them.',
  ],
  page_slug_reserved: [{ slug: 'api' }, '"api" is a word of this site: choose another address.'],
  page_slug_fixed: [{}, 'The address of a page cannot be changed: create a page with the other address.'],
  page_title_missing: [{}, 'A page needs a title.'],
  page_domain_of_site: [{ domain: 'a.example' }, 'a.example is the address of this site.'],
  page_domain_public: [
    { domain: 'co.uk' },
    'co.uk is a public suffix, under which anyone can register names: use a name below it.',
  ],
  no_page_domain: [{}, 'The page has no custom domain: save one first.'],
  page_colour_invalid: [{}, 'A colour is six hexadecimal digits, such as #0a7d4f.'],
  page_text_too_long: [
    { field: 'title', maxLength: 120, length: 121 },
    'A title has at most 120 characters; this one has 121.',
  ],
  page_text_character: [
    { field: 'text', character: 'U+0007' },
    `The text must not contain U+0007: ${FORBIDDEN}.`,
  ],
  page_entry_unnamed: [
    { slug: 'nas-local' },
    'nas-local is private: give it a name for this page, which shows nothing else of it.',
  ],
  page_has_service: [{}, 'The service is on this page already.'],
  page_services_full: [{ max: 100 }, 'A page has at most 100 services.'],
  page_groups_full: [{ max: 20 }, 'A page has at most 20 groups.'],
  picture_too_large: [{ maxBytes: 262_144 }, 'This picture may have at most 256 KiB.'],
  picture_svg: [{ formats: ['PNG', 'ICO'] }, 'SVG is not taken, for it can hold script: send PNG, ICO.'],
  picture_unreadable: [{ formats: ['PNG', 'ICO'] }, 'This is no picture that can be read: send PNG, ICO.'],
  picture_dimensions: [
    { min: 16, max: 2_048, width: 4, height: 9 },
    'This picture needs 16 to 2048 pixels on each side; yours has 4 by 9.',
  ],
};

const HOST_NAMES: Examples<HostNameProblemParams> = {
  empty: [{}, 'The domain must not be empty.'],
  too_long: [{}, 'The domain is longer than a host name can be.'],
  not_bare: [{}, 'The domain must be a host name alone, without scheme, port or path.'],
  invalid: [{}, 'The domain is not a host name.'],
  longer_than: [{ maxLength: 253 }, 'The domain is longer than 253 characters.'],
  one_label: [{}, 'The domain needs at least two labels, such as example.com.'],
  bad_label: [{}, 'The domain has a label that is not 1 to 63 letters, digits and inner hyphens.'],
  ip_address: [{}, 'The domain must not be an IP address.'],
  private_suffix: [{ suffix: '.local' }, 'The domain must not end in the private suffix .local.'],
};

const NAMES: Examples<GivenTextProblemParams> = {
  length: [{ maxLength: 100 }, 'The name must have 1 to 100 characters.'],
  character: [{ character: 'U+202E' }, `The name must not contain U+202E: ${FORBIDDEN}.`],
};

const PROOF = { recordName: '_upbeat.a.example', fileUrl: 'https://a.example/w' };
const FILE =
  'The domain is not verified: there is no TXT record at _upbeat.a.example, and at https://a.example/w:';
const PROOF_FILES: Examples<ProofFileParams> = {
  redirected: [{}, `${FILE} it redirects to another host.`],
  other_word: [{}, `${FILE} it holds another word.`],
  status: [{ statusCode: 404 }, `${FILE} HTTP 404.`],
  failed: [
    { failure: { class: 'refused', phase: 'connect', cause: { code: 'connection_refused' } } },
    `${FILE} the connection was refused.`,
  ],
};

const NOTICES: Examples<NoticeParams> = {
  domain_lost: [
    { domain: 'a.example' },
    'a.example was verified by another account and belongs to it from now on.',
  ],
  domain_won: [
    { domain: 'a.example' },
    'a.example belonged to another account. You have verified it; it is yours now.',
  ],
  page_domain_lost: [
    { domain: 'a.example' },
    'a.example was verified by another account. Your status page is at its address on this site again.',
  ],
  page_domain_lapsed: [
    { domain: 'a.example' },
    'The proof for a.example has been missing for three days. Your status page is at its address on this site again.',
  ],
  service_displaced: [
    { slug: 'a-example', domain: 'a.example', entrySlug: 'acme', entryDomain: 'example' },
    'example is part of the public catalogue now, as acme. Your service a-example (a.example) was not verified and gave way; verify the domain to keep your own beside it.',
  ],
  slug_to_catalogue: [
    { slug: 'acme', takenBy: 'acme.com', domain: 'a.example', newSlug: 'acme-2' },
    'The slug acme stands for acme.com of the public catalogue now. Your service a.example goes on as acme-2, with its history.',
  ],
  slug_to_verified: [
    { slug: 'acme', takenBy: 'acme.com', domain: 'a.example', newSlug: 'acme-2' },
    'The slug acme belongs to the verified domain acme.com now. Your service a.example goes on as acme-2, with its history.',
  ],
  name_to_catalogue: [
    { domain: 'a.example', entryName: 'Acme' },
    'The public catalogue has a service named Acme now. Your service a.example bears its domain as its name; choose another.',
  ],
  member_joined: [{ name: 'Ada', role: 'editor' }, 'Ada has joined the account as editor.'],
  account_merged: [
    { name: 'ops' },
    'The account ops was merged into this one: its services, keys, status pages, webhooks and members are here now.',
  ],
  keys_stay: [
    { name: 'grace', keys: 2 },
    'grace is an owner of the account no longer. Keys belong to the account, and its valid keys (2) stay: revoke those that grace may know.',
  ],
  webhook_removed: [
    { url: 'https://a.example/hook' },
    'The webhook to https://a.example/hook was removed: its secret was lost. Add it again.',
  ],
  channel_refused: [
    { name: 'ops' },
    'The channel ops is off: the mail server has refused its last messages. Correct its address, or have the letter sent again that asks its receiver.',
  ],
  channel_stopped: [
    { name: 'ops' },
    'The receiver of the channel ops has stopped its e-mail. Alerts no longer go there until the receiver takes that back.',
  ],
  channel_resumed: [{ name: 'ops' }, 'The receiver of the channel ops gets its e-mail again.'],
  channel_failing: [
    { name: 'ops', problem: 'HTTP 503' },
    'Nothing has reached the channel ops for an hour: HTTP 503. Alerts wait for it for a day.',
  ],
  channel_removed: [
    { name: 'ops' },
    'The channel ops was removed: its settings can no longer be decrypted. Add it again, and to the rules that named it.',
  ],
  credentials_removed: [
    { domain: 'a.example' },
    'The credentials of the check of a.example were removed: their key was lost. Enter them again.',
  ],
};

/** Every refusal with its English text. */
export const REFUSAL_EXAMPLES: readonly (readonly [Refusal, english: string])[] = [
  ...list(REFUSALS),
  ...list(HOST_NAMES).map(([problem, text]) => [{ code: 'domain_invalid', problem } as const, text] as const),
  ...list(NAMES).map(([problem, text]) => [{ code: 'name_invalid', problem } as const, text] as const),
  ...list(PROOF_FILES).map(
    ([file, text]) => [{ code: 'proof_missing', hasRecords: false, ...PROOF, file } as const, text] as const,
  ),
  [
    { code: 'proof_missing', hasRecords: true, ...PROOF, file: { code: 'other_word' } },
    'The domain is not verified: the TXT record holds another word at _upbeat.a.example, and at https://a.example/w: it holds another word.',
  ],
];

/** Every notice with its English text. */
export const NOTICE_EXAMPLES: readonly (readonly [Notice, english: string])[] = list(NOTICES);

function list<Params>(examples: Examples<Params>): (readonly [Coded<Params>, string])[] {
  const codes = Object.keys(examples) as (keyof Params)[];
  return codes.map((code) => [{ ...examples[code][0], code } as Coded<Params>, examples[code][1]] as const);
}
