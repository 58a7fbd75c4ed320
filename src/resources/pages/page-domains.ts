/** Domains of owners for their status pages: chosen by an owner or editor, proved like the domains of services. */
import { createRequire } from 'node:module';
import { isIP } from 'node:net';
import type * as Tldts from 'tldts';
import type { ProofCheck } from '../../auth/domain-proof.ts';
import { isPrivateName, readAnyHost } from '../../domain/host-name.ts';
import type { OwnedPage } from '../../domain/status-page.ts';
import type { AccountStore } from '../../store/ports/accounts.ts';
import type { PageDomainStore, PageReads } from '../../store/ports/status-pages.ts';
import {
  accept,
  mayChange,
  type Outcome,
  type Principal,
  readDomain,
  refuse,
  refuseRole,
} from '../kit/change.ts';

/** The dependencies of these changes. */
export interface PageDomainContext {
  readonly registry: PageReads & PageDomainStore & AccountStore;
  readonly proofs: ProofCheck;
  /** Public URL of this site. */
  readonly siteUrl: string;
  readonly now: () => number;
}

const requirePackage = createRequire(import.meta.url);

/** The rules for a domain of a page. */
export interface PageDomainRules {
  /** Public URL of this site, whose own host is refused; null: not known yet. */
  readonly siteUrl: string | null;
  /** Names that are not public are taken too, as of a trusted account. */
  readonly anyHost: boolean;
}

/** The rules for a form that is read before its account is known. */
export const FORM_OF_DOMAIN: PageDomainRules = { siteUrl: null, anyHost: true };

/**
 * Reads a domain for a page; empty: none. Refused with `domain_invalid`, with `page_domain_public` for a public suffix
 * (publicsuffix.org), and with `page_domain_of_site`.
 */
export function readPageDomain(text: string, { siteUrl, anyHost }: PageDomainRules): Outcome<string | null> {
  if (text.trim() === '') return accept(null);
  const name = anyHost ? readPrivateName(text) : null;
  const reading = name === null ? readDomain(text) : accept(name);
  if (!reading.ok) return reading;
  const domain = reading.value;
  if (siteUrl !== null && new URL(siteUrl).hostname === domain)
    return refuse({ code: 'page_domain_of_site', domain });
  if (name !== null) return accept(name);
  // Its list of suffixes is loaded with the first domain.
  const { parse }: typeof Tldts = requirePackage('tldts');
  const { publicSuffix } = parse(domain, { allowPrivateDomains: true, validateHostname: false });
  return publicSuffix === domain ? refuse({ code: 'page_domain_public', domain }) : accept(domain);
}

/** A name of several labels that is no public one, such as `status.home.arpa`; null: it is none. Names of this machine lead to this site. */
function readPrivateName(text: string): string | null {
  const reading = readAnyHost(text);
  const name = reading.ok && isIP(reading.domain) === 0 ? reading.domain : '';
  return isPrivateName(name) && name.includes('.') && !name.endsWith('.localhost') ? name : null;
}

/**
 * Verifies the domain of a page by the TXT record or the file; that of a trusted account needs neither, unless another page has it. Refused
 * with `role_required`, `no_page`, `no_page_domain`, `page_domain_of_site` and `proof_missing`.
 */
export async function verifyPageDomain(
  context: PageDomainContext,
  principal: Principal,
  slug: string,
): Promise<Outcome<OwnedPage>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  const page = await context.registry.findPage(slug.toLowerCase());
  if (page === null || !mayChange(principal, page.accountId)) return refuse({ code: 'no_page', slug });
  const { accountId, slug: known, domain } = page;
  if (domain === undefined) return refuse({ code: 'no_page_domain' }, 'custom_domain');
  const { registry, proofs, siteUrl, now } = context;
  const anyHost = await registry.isTrusted(accountId);
  const reading = readPageDomain(domain.name, { siteUrl, anyHost });
  if (!reading.ok) return atDomain(reading);
  const missing = await proofs.check(accountId, domain.name);
  if (missing !== null) return domain.byTrust === true ? accept(page) : refuse(missing, 'custom_domain');
  const proved = await registry.provePageDomain(accountId, known, domain.name, now());
  return proved === 'missing' ? refuse({ code: 'page_stale' }) : accept(proved);
}

/** Refusals of a domain concern the member `custom_domain`. */
export function atDomain<T>(outcome: Outcome<T>): Outcome<T> {
  if (outcome.ok) return outcome;
  return { ok: false, refusals: outcome.refusals.map((one) => ({ ...one, field: 'custom_domain' })) };
}
