/**
 * Notices to accounts about what happened to what they have: codes with parameters, and their English texts. Other languages are
 * in `src/web/language/`.
 */
import { type Coded, isKnown, type ParamsOf, textOf } from './coded-text.ts';
import type { Role } from './role.ts';

type OfName = { readonly name: string };
type OfDomain = { readonly domain: string };
/** `slug` now stands for another domain, and the service `domain` has the slug `newSlug`. */
type OfSlugMove = OfDomain & {
  readonly slug: string;
  readonly takenBy: string;
  readonly newSlug: string;
};

const NOTICES = {
  domain_lost: ({ domain }: OfDomain) =>
    `${domain} was verified by another account and belongs to it from now on.`,
  domain_won: ({ domain }: OfDomain) =>
    `${domain} belonged to another account. You have verified it; it is yours now.`,
  page_domain_lost: ({ domain }: OfDomain) =>
    `${domain} was verified by another account. Your status page is at its address on this site again.`,
  page_domain_lapsed: ({ domain }: OfDomain) =>
    `The proof for ${domain} has been missing for three days. Your status page is at its address on this site again.`,
  /** The service was removed because the catalogue has its domain. */
  service_displaced: ({
    slug,
    domain,
    entrySlug,
    entryDomain,
  }: OfDomain & { readonly slug: string; readonly entrySlug: string; readonly entryDomain: string }) =>
    `${entryDomain} is part of the public catalogue now, as ${entrySlug}. Your service ${slug} (${domain}) was not verified and gave way; verify the domain to keep your own beside it.`,
  slug_to_catalogue: ({ slug, takenBy, domain, newSlug }: OfSlugMove) =>
    `The slug ${slug} stands for ${takenBy} of the public catalogue now. Your service ${domain} goes on as ${newSlug}, with its history.`,
  slug_to_verified: ({ slug, takenBy, domain, newSlug }: OfSlugMove) =>
    `The slug ${slug} belongs to the verified domain ${takenBy} now. Your service ${domain} goes on as ${newSlug}, with its history.`,
  name_to_catalogue: ({ domain, entryName }: OfDomain & { readonly entryName: string }) =>
    `The public catalogue has a service named ${entryName} now. Your service ${domain} bears its domain as its name; choose another.`,
  member_joined: ({ name, role }: { readonly name: string; readonly role: Role }) =>
    `${name} has joined the account as ${role}.`,
  /** `keys`: the number of valid keys. */
  keys_stay: ({ name, keys }: { readonly name: string; readonly keys: number }) =>
    `${name} is an owner of the account no longer. Keys belong to the account, and its valid keys (${keys}) stay: revoke those that ${name} may know.`,
  account_merged: ({ name }: { readonly name: string }) =>
    `The account ${name} was merged into this one: its services, keys, status pages, webhooks and members are here now.`,
  webhook_removed: ({ url }: { readonly url: string }) =>
    `The webhook to ${url} was removed: its secret was lost. Add it again.`,
  channel_refused: ({ name }: OfName) =>
    `The channel ${name} is off: the mail server has refused its last messages. Correct its address, or have the letter sent again that asks its receiver.`,
  channel_stopped: ({ name }: OfName) =>
    `The receiver of the channel ${name} has stopped its e-mail. Alerts no longer go there until the receiver takes that back.`,
  channel_resumed: ({ name }: OfName) => `The receiver of the channel ${name} gets its e-mail again.`,
  /** No other channel of the account works. `problem`: in English. */
  channel_failing: ({ name, problem }: OfName & { readonly problem: string }) =>
    `Nothing has reached the channel ${name} for an hour: ${problem}. Alerts wait for it for a day.`,
  channel_removed: ({ name }: OfName) =>
    `The channel ${name} was removed: its settings can no longer be decrypted. Add it again, and to the rules that named it.`,
  credentials_removed: ({ domain }: OfDomain) =>
    `The credentials of the check of ${domain} were removed: their key was lost. Enter them again.`,
};

/** Every notice to an account with its parameters. */
export type NoticeParams = ParamsOf<typeof NOTICES>;

/** A notice to an account about its services. */
export type Notice = Coded<NoticeParams>;

export function describeNotice(notice: Notice): string {
  return textOf(NOTICES, notice, '');
}

/** The notice that a store has kept; null: this version does not know it, and shows the text that was stored with it. */
export function fromStoredNotice(notice: Notice | null): Notice | null {
  return notice !== null && isKnown(NOTICES, notice) ? notice : null;
}
