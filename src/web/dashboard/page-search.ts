/** Finds services that could be added to a page. */

import type { Service } from '../../domain/service.ts';
import type { OwnedPage } from '../../domain/status-page.ts';
import type { ServiceDirectory } from '../../view/service-directory.ts';
import { findListed } from '../../view/status-page-view.ts';

/** What was found: at most 12, and how many more there are. */
export interface FoundServices {
  readonly services: readonly Service[];
  readonly more: number;
}

const MAX_RESULTS = 12;

/**
 * Services that the page's account may show and that are not on it yet, whose name, domain or slug holds the text. The
 * account's own stand first, then those that begin with it.
 */
export function findServices(
  directory: ServiceDirectory,
  { accountId, groups }: Pick<OwnedPage, 'accountId' | 'groups'>,
  text: string,
): FoundServices {
  const wanted = text.trim().toLowerCase();
  const listed = new Set(groups.flatMap(({ services }) => services));
  const found = directory
    .all()
    .filter((service) => !listed.has(service.id) && findListed(directory, accountId, service.id) !== null)
    .filter(({ name, domain, slug }) => `${name}\n${domain}\n${slug}`.toLowerCase().includes(wanted));
  const rank = ({ origin, name }: Service) =>
    (origin === 'owner' ? 0 : 2) + (name.toLowerCase().startsWith(wanted) ? 0 : 1);
  const sorted = [...found].sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name, 'en'));
  return { services: sorted.slice(0, MAX_RESULTS), more: Math.max(0, sorted.length - MAX_RESULTS) };
}
