/** The names of services in documents: the first one of a domain of the account by that, others and public ones by slug. */
import { readHostName } from '../../domain/host-name.ts';
import type { Service } from '../../domain/service.ts';
import { isListable } from '../../domain/status-page.ts';

/** A service on a page: by its id, or by its name if it is not stored yet. */
export type ListedOnPage = number | string;

export type NamedService = Pick<Service, 'origin' | 'domain' | 'slug' | 'isFurther'>;

/** The name of a service in documents: the domain of the first one of an account's host, else the slug. */
export function nameOnPage({ origin, domain, slug, isFurther }: NamedService): string {
  return origin === 'catalogue' || isFurther === true ? slug : domain;
}

/** Services of an account by their names in documents. */
export function byNameOnPage<S extends NamedService>(services: readonly S[]): ReadonlyMap<string, S> {
  return new Map(services.map((service) => [nameOnPage(service), service]));
}

/** Finds services for pages of an account: among its services as they will be, null for a new one, and the public ones. */
export function listedFinder(
  accountId: number,
  own: ReadonlyMap<string, Service | null>,
  findPublic: (name: string) => Service | null,
) {
  const bySlug = new Map([...own.values()].flatMap((service) => (service ? [[service.slug, service]] : [])));
  const names = new Map<ListedOnPage, string>();
  return {
    /** The service that `text`, a domain or a slug, stands for; null: none. */
    idOf(text: string): ListedOnPage | null {
      const reading = readHostName(text);
      const name = reading.ok ? reading.domain : text.trim().toLowerCase();
      const known = own.get(name);
      if (known === null) return name;
      const service = known ?? bySlug.get(name) ?? findPublic(name);
      if (service === null || !isListable(service, accountId)) return null;
      names.set(service.id, nameOnPage(service));
      return service.id;
    },
    nameOf: (listed: ListedOnPage): string => names.get(listed) ?? String(listed),
  };
}
