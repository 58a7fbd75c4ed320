/** Finds the service that a person or an assistant means: by slug, domain, URL or name. */
import { dashDomain, isOwn, isPublic, type Service } from '../domain/service.ts';
import type { ShownDirectory } from '../view/service-directory.ts';
import { foldText, type ServiceSearch } from '../view/service-search.ts';
import type { ShownServices } from '../view/shown-services.ts';

/** The service, or those that may be meant. */
export type Meant =
  | { readonly service: Service }
  | { readonly service: null; readonly candidates: readonly Service[] };

/** Maximum number of services that may be meant. */
const MAX_CANDIDATES = 10;
/** Maximum number of matches among which a service with exactly this name is looked for. */
const MAX_MATCHES = 500;

/**
 * Finds a service. A slug and a domain come before a name, and a domain stands for its subdomains if the catalogue has it.
 * By name, services that nobody has verified are never the answer, since their owners choose their names.
 */
export function findMeantService(
  text: string,
  shown: ShownServices,
  { directory, search }: { readonly directory: ShownDirectory; readonly search: ServiceSearch },
): Meant {
  const wanted = hostOf(text.trim().toLowerCase());
  const exact =
    shown.bySlug(wanted) ??
    shown.byPageName(dashDomain(wanted)) ??
    (wanted.includes('.') ? directory.byCatalogueDomain(wanted) : null);
  // The answer has no service that the lists of the reader do not have.
  if (exact !== null && (isPublic(exact) || isOwn(exact, shown.accounts))) return { service: exact };
  const { services } = search.list(
    { category: null, status: null, text: wanted },
    { sort: 'slug', from: 0, limit: MAX_MATCHES },
    shown,
  );
  const ofDomain = services.find(({ domain, isFurther }) => domain === wanted && isFurther !== true);
  if (ofDomain !== undefined) return { service: ofDomain };
  const verified = services.filter((service) => service.verified || isOwn(service, shown.accounts));
  const named = verified.filter(({ name }) => foldText(name) === foldText(wanted));
  const [only, ...others] = named.length > 0 ? named : verified;
  if (only !== undefined && others.length === 0) return { service: only };
  return { service: null, candidates: (named.length > 0 ? named : services).slice(0, MAX_CANDIDATES) };
}

/** The host of a URL; another text as it is. */
function hostOf(text: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\/([^/?#:]+)/.exec(text)?.[1] ?? text;
}
