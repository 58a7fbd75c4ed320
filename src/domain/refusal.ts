/**
 * Refusals and notices to users: codes with parameters. English texts are in `refusal-text.ts`, those of other languages in
 * `src/web/language/`.
 */
import type { Coded, NoParams } from './coded-text.ts';
import type { Failure } from './failure.ts';

/** Why a text is no host name for a service, with parameters. */
export interface HostNameProblemParams {
  readonly empty: NoParams;
  readonly too_long: NoParams;
  readonly not_bare: NoParams;
  readonly invalid: NoParams;
  readonly longer_than: { readonly maxLength: number };
  readonly one_label: NoParams;
  readonly bad_label: NoParams;
  readonly ip_address: NoParams;
  /** `suffix` begins with a dot. */
  readonly private_suffix: { readonly suffix: string };
}

/** Why a text is no host name for a service. */
export type HostNameProblem = Coded<HostNameProblemParams>;

/** What is wrong with a name or text that a person gives, with parameters. */
export interface GivenTextProblemParams {
  readonly length: { readonly maxLength: number };
  /** `character` is its code point, as in `U+202E`. */
  readonly character: { readonly character: string };
}

/** What is wrong with a name or text that a person gives. */
export type GivenTextProblem = Coded<GivenTextProblemParams>;

/** Texts of a status page. */
export type PageTextField = 'title' | 'text' | 'group';

/** Why a request to an owner's server failed, with parameters. */
interface ResponseProblemParams {
  readonly status: { readonly statusCode: number };
  readonly failed: { readonly failure: Failure };
}

/** What the file of a proof held instead of the word, with parameters. */
export interface ProofFileParams extends ResponseProblemParams {
  readonly redirected: NoParams;
  readonly other_word: NoParams;
}

/** What the file of a proof held instead of the word. */
export type ProofFile = Coded<ProofFileParams>;

/** Every refusal with its parameters. */
export interface RefusalParams {
  // Limits of an account.
  readonly too_many_keys: { readonly max: number };
  readonly too_many_webhooks: { readonly max: number };
  readonly too_many_pages: { readonly max: number };
  readonly too_many_domains: { readonly max: number };
  /** `retryAt` in epoch milliseconds. */
  readonly too_many_registrations: { readonly max: number; readonly retryAt: number };
  readonly too_many_claims: { readonly max: number };
  readonly shared_address: { readonly domain: string; readonly max: number };

  // Names that are taken, or belong to nothing.
  readonly no_account: { readonly account: string };
  readonly no_service: { readonly slug: string };
  readonly no_owned_service: { readonly slug: string };
  readonly catalogue_service: { readonly slug: string };
  readonly no_key: { readonly id: number };
  readonly no_claim: { readonly domain: string };
  readonly no_webhook: { readonly id: number };
  readonly no_delivery: { readonly id: number };
  readonly no_page: { readonly slug: string };
  /** The page was changed after its owner saw it. */
  readonly page_stale: NoParams;
  /** Neither the catalogue nor the account has a service with this slug. */
  readonly no_page_service: { readonly slug: string };
  readonly page_slug_taken: { readonly slug: string };
  readonly page_slug_of_service: { readonly slug: string; readonly name: string };
  readonly slug_taken: { readonly slug: string };
  readonly domain_taken: { readonly domain: string };
  readonly foreign_domain: { readonly domain: string };
  /** `parent` is the domain of the catalogue's service `slug`. */
  readonly catalogue_domain: { readonly domain: string; readonly parent: string; readonly slug: string };
  /** `parent` is in the catalogue: only its file adds services there. */
  readonly catalogue_owns: { readonly domain: string; readonly parent: string };
  /** `other` is the name in the catalogue. */
  readonly name_taken: { readonly name: string; readonly other: string };

  // What a person writes into a form.
  readonly key_name_missing: NoParams;
  readonly service_name_missing: NoParams;
  readonly name_invalid: { readonly problem: GivenTextProblem };
  readonly domain_invalid: { readonly problem: HostNameProblem };
  readonly lifetime_invalid: NoParams;
  readonly category_invalid: NoParams;
  readonly kind_invalid: NoParams;
  readonly duration_invalid: NoParams;
  readonly webhook_url_invalid: NoParams;
  readonly proof_missing: {
    /** Whether the name has TXT records, none of which is the word. */
    readonly hasRecords: boolean;
    readonly recordName: string;
    readonly fileUrl: string;
    readonly file: ProofFile;
  };
  readonly page_slug_invalid: { readonly minLength: number; readonly maxLength: number };
  readonly page_slug_reserved: { readonly slug: string };
  readonly page_title_missing: NoParams;
  readonly page_text_too_long: {
    readonly field: PageTextField;
    readonly maxLength: number;
    readonly length: number;
  };
  readonly page_text_character: { readonly field: PageTextField; readonly character: string };
  readonly page_group_name_missing: NoParams;
  readonly page_has_service: NoParams;
  readonly page_services_full: { readonly max: number };
  readonly page_groups_full: { readonly max: number };
  readonly logo_missing: NoParams;
  readonly logo_too_large: { readonly maxBytes: number };
  readonly logo_svg: NoParams;
  readonly logo_unreadable: NoParams;
  /** All in pixels. */
  readonly logo_dimensions: {
    readonly min: number;
    readonly max: number;
    readonly width: number;
    readonly height: number;
  };
}

/** Why something that a person asked for is refused. */
export type Refusal = Coded<RefusalParams>;

/** Every notice to an account with its parameters. */
export interface NoticeParams {
  readonly domain_lost: { readonly domain: string };
  readonly domain_won: { readonly domain: string };
  /** The service gave way to the entry of the catalogue. */
  readonly service_displaced: {
    readonly slug: string;
    readonly domain: string;
    readonly entrySlug: string;
    readonly entryDomain: string;
  };
  /** `slug` now stands for another domain, and the service `domain` has the slug `newSlug`. */
  readonly slug_to_catalogue: SlugMove;
  readonly slug_to_verified: SlugMove;
  readonly name_to_catalogue: { readonly domain: string; readonly entryName: string };
  readonly webhook_removed: { readonly url: string };
}

interface SlugMove {
  readonly slug: string;
  readonly takenBy: string;
  readonly domain: string;
  readonly newSlug: string;
}

/** What an account is told about its services. */
export type Notice = Coded<NoticeParams>;

/** Why a webhook was not delivered, with parameters. */
export interface DeliveryProblemParams extends ResponseProblemParams {
  /** English text of an error of the program, or that another version recorded; it is shown as it is. */
  readonly text: { readonly text: string };
}

/** Why a webhook was not delivered. */
export type DeliveryProblem = Coded<DeliveryProblemParams>;
