/** Port of the registry: several changes of what an account has, in one transaction. */
import type { Refusal } from '../../domain/refusal.ts';
import type { PageGroup } from '../../domain/status-page.ts';
import type { NewService } from './services.ts';
import type { NewPage, StoredLogo } from './status-pages.ts';

/** A service as its account wants it. It is found by its domain. */
export type WantedService = Pick<NewService, 'domain' | 'name' | 'category' | 'paused' | 'check'> & {
  readonly publicDependencies: boolean;
};

/** A status page as its account wants it. It is found by its slug. */
export type WantedPage = Pick<NewPage, 'slug' | 'title' | 'text'> & {
  readonly groups: readonly WantedGroup[];
  /** Null: none. */
  readonly logo: StoredLogo | null;
};

/** A group of a page. */
export interface WantedGroup extends Pick<PageGroup, 'name'> {
  /** Ids of services, or domains of services of the account. */
  readonly services: readonly (number | string)[];
}

/** Changes, which are made in the order of these members. */
export interface ContentChanges {
  /** Slugs of pages of the account; others are ignored. */
  readonly removedPages: readonly string[];
  /** Slugs of services of the account; others are ignored. */
  readonly removedServices: readonly string[];
  readonly services: readonly WantedService[];
  readonly pages: readonly WantedPage[];
}

/** How changes are made. */
export interface ContentOptions {
  /** Epoch milliseconds. */
  readonly now: number;
  /**
   * New services are added on behalf of the operator: they are verified, and count against no limit of the day. Otherwise
   * they are registered as by `registerService`.
   */
  readonly verified: boolean;
  /** Everything is rolled back. Domains on pages may then be unknown. */
  readonly dryRun: boolean;
}

/** A change that was refused. */
export interface RefusedContent {
  readonly type: 'service' | 'page';
  /** The domain of the service, or the slug of the page. */
  readonly key: string;
  readonly refusal: Refusal;
}

/** Stands for an account that does not exist yet, in dry runs. */
export const NO_ACCOUNT = 0;

/** Changes of what an account has. */
export interface ContentStore {
  /**
   * Makes all changes, or none if one is refused. Services and pages that are as wanted already are not changed. A
   * service keeps its heartbeat address, and the kind that its owner chose. Resolves with the refusals: the codes of
   * `addServices` or `registerService`, of `changeService`, and of `addPage`.
   */
  putContent(
    accountId: number,
    changes: ContentChanges,
    options: ContentOptions,
  ): Promise<readonly RefusedContent[]>;
}
