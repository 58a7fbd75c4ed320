/** Tables of services and their changes. */
import type { Generated } from 'kysely';
import type { Category } from '../../domain/category.ts';
import type { ServiceOrigin, Visibility } from '../../domain/service.ts';

/** The tables. */
export interface ServiceSchema {
  /**
   * Every service. A removed service keeps its row, so that its id is never reused, nor its slug if the service was ever
   * verified.
   */
  services: {
    id: Generated<number>;
    slug: string;
    /** The domain with dots replaced by dashes. */
    dashed: string;
    name: string;
    domain: string;
    category: Category;
    origin: ServiceOrigin;
    account_id: number | null;
    verified: number;
    paused: number;
    /** JSON of CheckDefinition. */
    check_definition: string;
    /** JSON of StatusPage. */
    status_page: string | null;
    revision: number;
    removed: number;
    public_dependencies: number;
    /** 1: it was verified once; only such a service keeps its slug reserved when it is removed. */
    ever_verified: number;
    /**
     * 1: added by an account that was trusted, without a proof of the domain. Such a service does not own its domain: others may
     * register and prove it. It is verified while its account is trusted.
     */
    unproven: number;
    /** JSON of the former slugs, which still lead to the service; null: none. */
    former_slugs: string | null;
    note: string | null;
    /** 1: the host has a service of its account that came first. */
    further: Generated<number>;
    /** Null: `public`. */
    visibility: Exclude<Visibility, 'public'> | null;
    /** JSON of the slugs of the services that it depends on; null: none. */
    depends_on: string | null;
    /** The number of times that the signed address of its badge was renewed. */
    badge_renewals: Generated<number>;
  };
  /** The feed of changes; `service` is the JSON of the service after the change, null for a removal. */
  changes: {
    seq: Generated<number>;
    service_id: number;
    slug: string;
    service: string | null;
  };
}
