/** Refusals, notices and problems of deliveries in English: the texts of the API, the command line and English pages. */
import { CATEGORIES } from './category.ts';
import { isKnown, type TextTable, textOf } from './coded-text.ts';
import { formatTime } from './durations.ts';
import { describeCause, isKnownFailure } from './failure-text.ts';
import type {
  DeliveryProblem,
  DeliveryProblemParams,
  GivenTextProblem,
  GivenTextProblemParams,
  HostNameProblem,
  HostNameProblemParams,
  Notice,
  NoticeParams,
  PageTextField,
  ProofFileParams,
  Refusal,
  RefusalParams,
} from './refusal.ts';

const HOST_NAME_PROBLEMS: TextTable<HostNameProblemParams> = {
  empty: 'must not be empty',
  too_long: 'is longer than a host name can be',
  not_bare: 'must be a host name alone, without scheme, port or path',
  invalid: 'is not a host name',
  longer_than: ({ maxLength }) => `is longer than ${maxLength} characters`,
  one_label: 'needs at least two labels, such as example.com',
  bad_label: 'has a label that is not 1 to 63 letters, digits and inner hyphens',
  ip_address: 'must not be an IP address',
  private_suffix: ({ suffix }) => `must not end in the private suffix ${suffix}`,
};

const GIVEN_TEXT_PROBLEMS: TextTable<GivenTextProblemParams> = {
  length: ({ maxLength }) => `must have 1 to ${maxLength} characters`,
  character: ({ character }) =>
    `must not contain ${character}: control characters, marks of direction and unassigned characters are not allowed`,
};

const PAGE_FIELDS: Readonly<Record<PageTextField, string>> = {
  title: 'A title',
  text: 'The text',
  group: 'The name of a group',
};

const DELIVERY_PROBLEMS: TextTable<DeliveryProblemParams> = {
  status: ({ statusCode }) => `HTTP ${statusCode}`,
  failed: ({ failure }) => describeCause(failure),
  text: ({ text }) => text,
};

const PROOF_FILES: TextTable<ProofFileParams> = {
  ...DELIVERY_PROBLEMS,
  redirected: 'it redirects to another host',
  other_word: 'it holds another word',
};

const LOGO_FORMATS = 'PNG, JPEG, WebP or GIF';

const REFUSALS: TextTable<RefusalParams> = {
  too_many_keys: ({ max }) => `An account has at most ${max} keys: revoke one first.`,
  too_many_webhooks: ({ max }) => `An account has at most ${max} webhooks: remove one first.`,
  too_many_pages: ({ max }) => `An account has at most ${max} status pages: remove one first.`,
  too_many_domains: ({ max }) => `The account has ${max} domains, which is its limit: remove one first.`,
  too_many_registrations: ({ max, retryAt }) =>
    `The account has registered ${max} domains within a day, which is its limit: try again after ${formatTime(retryAt)}.`,
  too_many_claims: ({ max }) => `The account waits for ${max} domains: verify or drop one first.`,
  shared_address: ({ domain, max }) =>
    `${domain} leads to an address where ${max} services of owners are checked already; more are not.`,

  no_account: ({ account }) => `There is no account ${account}.`,
  no_service: ({ slug }) => `There is no service ${slug}.`,
  no_owned_service: ({ slug }) => `No account has a service ${slug}.`,
  catalogue_service: ({ slug }) =>
    `${slug} belongs to the catalogue: take it out of the catalogue file instead.`,
  no_key: ({ id }) => `There is no key ${id}.`,
  no_claim: ({ domain }) => `The domain ${domain} is not awaiting verification.`,
  no_webhook: ({ id }) => `There is no webhook ${id}.`,
  no_delivery: ({ id }) => `There is no delivery ${id}.`,
  no_page: ({ slug }) => `There is no status page ${slug}.`,
  page_stale:
    'This page was changed elsewhere in the meantime. This is its current state; repeat your change if it is still needed.',
  no_page_service: ({ slug }) => `There is no such service among the public ones and yours: ${slug}.`,
  page_slug_taken: ({ slug }) => `The address ${slug} is taken.`,
  page_slug_of_service: ({ slug, name }) => `The address ${slug} stands for the public service ${name}.`,
  slug_taken: ({ slug }) => `The slug ${slug} is taken: it stands for another service.`,
  domain_taken: ({ domain }) => `The domain ${domain} is registered already.`,
  foreign_domain: ({ domain }) =>
    `${domain} is registered by another account. If it is yours, verify the domain.`,
  catalogue_domain: ({ domain, parent, slug }) =>
    `${domain} lies within ${parent} of the public catalogue (${slug}): verify the domain first.`,
  catalogue_owns: ({ domain, parent }) =>
    `The domain ${domain} belongs to ${parent} of the public catalogue.`,
  name_taken: ({ name, other }) =>
    `The name ${name} equals or resembles ${other} of the public catalogue: choose another.`,

  key_name_missing: 'A key needs a name, such as the machine that will use it.',
  service_name_missing: 'A service needs a name.',
  name_invalid: ({ problem }) => `The name ${describeGivenTextProblem(problem)}.`,
  domain_invalid: ({ problem }) => `The domain ${describeHostNameProblem(problem)}.`,
  lifetime_invalid: 'A key expires after a duration such as 12h, 90d or 1y, at most 1000y, or never.',
  category_invalid: `There is no such category: choose one of ${CATEGORIES.join(', ')}.`,
  kind_invalid: 'A service is monitored by root, health or heartbeat.',
  duration_invalid: 'A period and a grace are durations such as 90s, 10m or 1h, at most 365d.',
  webhook_url_invalid: 'The URL must begin with https:// or http:// and must not contain a password.',
  proof_missing: ({ hasRecords, recordName, fileUrl, file }) =>
    `The domain is not verified: ${hasRecords ? 'the TXT record holds another word' : 'there is no TXT record'} at ${recordName}, and at ${fileUrl}: ${textOf(PROOF_FILES, file, 'the word is not there')}.`,
  page_slug_invalid: ({ minLength, maxLength }) =>
    `An address is ${minLength} to ${maxLength} lower-case letters and digits, with single dashes between them.`,
  page_slug_reserved: ({ slug }) => `"${slug}" is a word of this site: choose another address.`,
  page_title_missing: 'A page needs a title.',
  page_text_too_long: ({ field, maxLength, length }) =>
    `${PAGE_FIELDS[field]} has at most ${maxLength} characters; this one has ${length}.`,
  page_text_character: ({ field, character }) =>
    `${PAGE_FIELDS[field]} ${describeGivenTextProblem({ code: 'character', character })}.`,
  page_group_name_missing: 'A new group needs a name.',
  page_has_service: 'The service is on this page already.',
  page_services_full: ({ max }) => `A page has at most ${max} services.`,
  page_groups_full: ({ max }) => `A page has at most ${max} groups.`,
  logo_missing: 'Choose a picture first.',
  logo_too_large: ({ maxBytes }) => `A logo has at most ${maxBytes / 1024} KiB.`,
  logo_svg: `SVG is not taken, for it can hold script: send ${LOGO_FORMATS}.`,
  logo_unreadable: `This is no picture that can be read: send ${LOGO_FORMATS}.`,
  logo_dimensions: ({ min, max, width, height }) =>
    `A logo has ${min} to ${max} pixels on each side; this one has ${width} by ${height}.`,
};

const NOTICES: TextTable<NoticeParams> = {
  domain_lost: ({ domain }) => `${domain} was verified by another account and belongs to it from now on.`,
  domain_won: ({ domain }) => `${domain} belonged to another account. You have verified it; it is yours now.`,
  service_displaced: ({ slug, domain, entrySlug, entryDomain }) =>
    `${entryDomain} is part of the public catalogue now, as ${entrySlug}. Your service ${slug} (${domain}) was not verified and gave way; verify the domain to have one of your own beside it.`,
  slug_to_catalogue: ({ slug, takenBy, domain, newSlug }) =>
    `The slug ${slug} stands for ${takenBy} of the public catalogue now. Your service ${domain} goes on as ${newSlug}, with its history.`,
  slug_to_verified: ({ slug, takenBy, domain, newSlug }) =>
    `The slug ${slug} belongs to the verified domain ${takenBy} now. Your service ${domain} goes on as ${newSlug}, with its history.`,
  name_to_catalogue: ({ domain, entryName }) =>
    `The public catalogue has a service named ${entryName} now. Your service ${domain} bears its domain as its name; choose another.`,
  webhook_removed: ({ url }) => `The webhook to ${url} was removed: its secret was lost. Add it again.`,
};

/** Why a text is no host name, as the end of a sentence: `must not be an IP address`. */
export function describeHostNameProblem(problem: HostNameProblem): string {
  return textOf(HOST_NAME_PROBLEMS, problem, 'is not a host name');
}

/** What is wrong with a given text, as the end of a sentence: `must have 1 to 100 characters`. */
export function describeGivenTextProblem(problem: GivenTextProblem): string {
  return textOf(GIVEN_TEXT_PROBLEMS, problem, 'is not allowed');
}

/** A refusal as a sentence. */
export function describeRefusal(refusal: Refusal): string {
  return textOf(REFUSALS, refusal, 'The request is refused.');
}

/** A notice as one or two sentences. */
export function describeNotice(notice: Notice): string {
  return textOf(NOTICES, notice, '');
}

/** The notice that a store has kept; null: this version does not know it, and shows the text that was stored with it. */
export function fromStoredNotice(notice: Notice | null): Notice | null {
  return notice !== null && isKnown(NOTICES, notice) ? notice : null;
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
