/** Which services of an account the entries of an import file stand for. */
import type { Service } from '../../domain/service.ts';
import { serviceDocumentOf } from '../../resources/services/service-document.ts';
import { documentOf } from '../service-commands.ts';
import type { ListedService } from './listed-service.ts';
import { listingOf } from './own-form.ts';

type Likeness = (service: Service, listed: ListedService) => boolean;

/** From the surest on. An entry with a slug stands for no service but that with the slug. */
const LIKENESSES: readonly Likeness[] = [
  ({ slug }, listed) => slug === listed.slug,
  (service, listed) => listed.slug === undefined && differences(service, listed).length === 0,
  (service, listed) => listed.slug === undefined && !differences(service, listed).some(isOfCheck),
  ({ name, check }, listed) =>
    listed.slug === undefined && name === listed.name && check.kind === listed.kind,
];

/** The services of an account for which entries stand, by entry; a service stands for one entry. */
export function matchServices(
  entries: readonly ListedService[],
  services: readonly Service[],
): ReadonlyMap<ListedService, Service> {
  const ofDomain = Map.groupBy(services, ({ domain }) => domain);
  const matched = new Map<ListedService, Service>();
  const taken = new Set<Service>();
  for (const isAlike of LIKENESSES)
    for (const listed of entries) {
      if (matched.has(listed)) continue;
      const found = ofDomain.get(listed.domain)?.find((one) => !taken.has(one) && isAlike(one, listed));
      if (found === undefined) continue;
      matched.set(listed, found);
      taken.add(found);
    }
  return matched;
}

/** The columns in which an existing service differs from the list, by their names in an export. */
export function differences(service: Service, listed: ListedService): string[] {
  const shown = documentOf({ ...listed, secrets: null });
  const [there, wanted] = [listingOf(serviceDocumentOf(service)), listingOf(shown)];
  return [...new Set([...Object.keys(there), ...Object.keys(wanted)])].filter(
    (member) => member !== 'slug' && JSON.stringify(there[member]) !== JSON.stringify(wanted[member]),
  );
}

function isOfCheck(column: string): boolean {
  return ['kind', 'url', 'method', 'accept', 'settings'].includes(column);
}
