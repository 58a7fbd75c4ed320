/** The part of the registry's port that concerns status pages of one's own. */
import type { Incident } from '../../domain/incident.ts';
import type { Maintenance } from '../../domain/maintenance.ts';
import type { OwnedPage, PageGroup, PageLogo } from '../../domain/status-page.ts';

/** A page as it is made. */
export interface NewPage {
  readonly accountId: number;
  readonly slug: string;
  readonly title: string;
  readonly text: string;
  readonly groups: readonly PageGroup[];
  /** Epoch milliseconds. */
  readonly now: number;
}

/** What a change replaces; what is absent stays. */
export interface PageEdit {
  readonly title?: string;
  readonly text?: string;
  readonly groups?: readonly PageGroup[];
}

/** A logo with its bytes. */
export interface StoredLogo extends PageLogo {
  readonly bytes: Uint8Array;
}

/** Which incidents of a page to list; newest `startedAt` first, then `id`. */
export interface PageIncidentQuery {
  readonly serviceIds: readonly number[];
  /** Only those that are not resolved, or only those that are; absent: both. */
  readonly running?: boolean;
  readonly limit: number;
  readonly offset: number;
}

/** What the registry knows of pages. Who may write is checked by account: another's page is as if it were not there. */
export interface PageBook {
  /**
   * Makes a page. Throws `account_limit` (20 an account), `slug_taken` (a page of another account ever had the slug, a
   * live one has it, or it names a service of the catalogue).
   */
  addPage(page: NewPage): Promise<OwnedPage>;
  /** Null: there is none. */
  findPage(slug: string): Promise<OwnedPage | null>;
  /** By slug. */
  pagesOf(accountId: number): Promise<OwnedPage[]>;
  /** Every page with the name of its account, by slug. */
  listPages(): Promise<(OwnedPage & { readonly accountName: string })[]>;
  /** Changes a page that is still at `revision`; `stale`: it was changed meanwhile, `missing`: the account has none. */
  changePage(
    accountId: number,
    slug: string,
    revision: number,
    edit: PageEdit,
    now: number,
  ): Promise<'changed' | 'stale' | 'missing'>;
  /** Sets the logo, or takes it away with null; false: the account has no such page. */
  putLogo(accountId: number, slug: string, logo: StoredLogo | null, now: number): Promise<boolean>;
  /** Null: there is no such page, or it has none. */
  findLogo(slug: string): Promise<StoredLogo | null>;
  /** Removes a page for good, its logo too; its slug stays its account's. False: the account has none of that slug. */
  removePage(accountId: number, slug: string): Promise<boolean>;
  /** Incidents of several services; those of removed ones are left out. */
  incidentsOfPage(query: PageIncidentQuery): Promise<Incident[]>;
  /** Maintenances of several services, planned and running, by their start, then id, at most `limit`. */
  maintenancesOfPage(serviceIds: readonly number[], limit: number): Promise<Maintenance[]>;
}
