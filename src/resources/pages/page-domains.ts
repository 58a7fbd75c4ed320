/** Domains of owners for their status pages: chosen by an owner or editor, proved like the domains of services. */
import { createRequire } from 'node:module';
import type * as Tldts from 'tldts';
import type { ProofCheck } from '../../auth/domain-proof.ts';
import type { OwnedPage } from '../../domain/status-page.ts';
import type { PageStore } from '../../store/ports/status-pages.ts';
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
  readonly registry: Pick<PageStore, 'findPage' | 'provePageDomain'>;
  readonly proofs: ProofCheck;
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
 * Verifies the domain of a page by the TXT record or the file. Refused with `role_required`, `no_page`, `no_page_domain`,
 * `page_domain_of_site` and `proof_missing`.
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
