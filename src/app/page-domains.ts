/** Domains of owners for their status pages: chosen by an owner or editor, proved like the domains of services. */
import { createRequire } from 'node:module';
import type * as Tldts from 'tldts';
import type { DomainProofs } from '../auth/domain-proof.ts';
import type { OwnedPage } from '../domain/status-page.ts';
import { accept, type Outcome, type Principal, refuse } from '../resources/kit/change.ts';
import { readDomain } from '../resources/kit/read-input.ts';
import type { PageStore } from '../store/ports/status-pages.ts';
import { findOwnedPage } from './status-pages.ts';

/** The dependencies of these changes. */
export interface PageDomainContext {
  readonly registry: Pick<PageStore, 'findPage' | 'changePage' | 'provePageDomain'>;
  readonly proofs: Pick<DomainProofs, 'check'>;
  /** Public URL of this site. */
  readonly siteUrl: string;
  readonly now: () => number;
}

const requirePackage = createRequire(import.meta.url);

/**
 * Reads a domain for a page; empty: none. Refused with `domain_invalid`, with `page_domain_public` for a public suffix
 * (publicsuffix.org), and with `page_domain_of_site`.
 */
export function readPageDomain(text: string, siteUrl: string | null = null): Outcome<string | null> {
  if (text.trim() === '') return accept(null);
  const reading = readDomain(text);
  if (!reading.ok) return reading;
  const domain = reading.value;
  if (siteUrl !== null && new URL(siteUrl).hostname === domain)
    return refuse({ code: 'page_domain_of_site', domain });
  // Its list of suffixes is loaded with the first domain.
  const { parse }: typeof Tldts = requirePackage('tldts');
  const { publicSuffix } = parse(domain, { allowPrivateDomains: true, validateHostname: false });
  return publicSuffix === domain ? refuse({ code: 'page_domain_public', domain }) : accept(domain);
}

/**
 * Sets the domain of a page that is still at `revision`, empty for none. Another domain has to be proved again. Refused with
 * `role_required`, `no_page`, `page_stale`, and as {@link readPageDomain}.
 */
export async function setPageDomain(
  context: PageDomainContext,
  principal: Principal,
  slug: string,
  revision: number,
  text: string,
): Promise<Outcome<void>> {
  const page = await findOwnedPage(context, principal, slug);
  if (!page.ok) return page;
  const reading = readPageDomain(text, context.siteUrl);
  if (!reading.ok) return atDomain(reading);
  const { registry, now } = context;
  const edit = { domain: reading.value };
  const outcome = await registry.changePage(page.value.accountId, page.value.slug, revision, edit, now());
  if (outcome === 'changed') return accept(undefined);
  return refuse(outcome === 'stale' ? { code: 'page_stale' } : { code: 'no_page', slug });
}

/**
 * Verifies the domain of a page by the TXT record or the file. Refused with `role_required`, `no_page`, `no_page_domain`,
 * `page_domain_of_site` and `proof_missing`.
 */
export async function verifyPageDomain(
  context: PageDomainContext,
  principal: Principal,
  slug: string,
): Promise<Outcome<OwnedPage>> {
  const page = await findOwnedPage(context, principal, slug);
  if (!page.ok) return page;
  const { accountId, slug: known, domain } = page.value;
  if (domain === undefined) return refuse({ code: 'no_page_domain' }, 'custom_domain');
  const reading = readPageDomain(domain.name, context.siteUrl);
  if (!reading.ok) return atDomain(reading);
  const { registry, proofs, now } = context;
  const missing = await proofs.check(accountId, domain.name);
  if (missing !== null) return refuse(missing, 'custom_domain');
  const proved = await registry.provePageDomain(accountId, known, domain.name, now());
  return proved === 'missing' ? refuse({ code: 'page_stale' }) : accept(proved);
}

/** Refusals of a domain concern the member `custom_domain`. */
export function atDomain<T>(outcome: Outcome<T>): Outcome<T> {
  if (outcome.ok) return outcome;
  return { ok: false, refusals: outcome.refusals.map((one) => ({ ...one, field: 'custom_domain' })) };
}
