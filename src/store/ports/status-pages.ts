/** Port of the registry: status pages of owners. */
import type { OwnedPage, PageGroup, PageLogo } from '../../domain/status-page.ts';

/** A page before it is stored. */
export interface NewPage {
  readonly accountId: number;
  readonly slug: string;
  readonly title: string;
  readonly text: string;
  readonly groups: readonly PageGroup[];
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The properties of a page that a change replaces; an absent one stays as it is. */
export interface PageEdit {
  readonly title?: string;
  readonly text?: string;
  readonly groups?: readonly PageGroup[];
}

/** A logo with its bytes. */
export interface StoredLogo extends PageLogo {
  readonly bytes: Uint8Array;
}

/** Status pages. An account changes only its own pages: those of others do not exist for it. */
export interface PageStore {
  /**
   * Makes a page. Rejects with `account_limit` (20 an account) or `slug_taken` (a page of another account ever had the
   * slug, a live page has it, or it names a service of the catalogue).
   */
  addPage(page: NewPage): Promise<OwnedPage>;
  /** Null: there is none. */
  findPage(slug: string): Promise<OwnedPage | null>;
  /** Ordered by slug. */
  pagesOf(accountId: number): Promise<OwnedPage[]>;
  /** Every page with the name of its account, ordered by slug. */
  listPages(): Promise<(OwnedPage & { readonly accountName: string })[]>;
  /** Changes a page that is still at `revision`; `stale`: it was changed meanwhile, `missing`: the account has no such page. */
  changePage(
    accountId: number,
    slug: string,
    revision: number,
    edit: PageEdit,
    now: number,
  ): Promise<'changed' | 'stale' | 'missing'>;
  /** Sets the logo, or removes it with null; false: the account has no such page. */
  putLogo(accountId: number, slug: string, logo: StoredLogo | null, now: number): Promise<boolean>;
  /** Null: there is no such page, or it has no logo. */
  findLogo(slug: string): Promise<StoredLogo | null>;
  /** Removes a page and its logo for good; its slug stays its account's. False: the account has no such page. */
  removePage(accountId: number, slug: string): Promise<boolean>;
}
