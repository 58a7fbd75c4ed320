/** Port of the registry: status pages of owners. */
import type { OwnedPage, PageGroup, PageLogo } from '../../domain/status-page.ts';

/** A page before it is stored. */
export interface NewPage {
  readonly accountId: number;
  readonly slug: string;
  readonly title: string;
  readonly text: string;
  readonly groups: readonly PageGroup[];
  /** Null or absent: none. */
  readonly logo?: StoredLogo | null;
  /** `#rrggbb`; null or absent: none. */
  readonly colour?: string | null;
  /** Absent: false. */
  readonly membersOnly?: boolean;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The properties of a page that a change replaces. Absent properties stay unchanged. */
export interface PageEdit {
  readonly title?: string;
  readonly text?: string;
  readonly groups?: readonly PageGroup[];
  /** Null: none. */
  readonly logo?: StoredLogo | null;
  /** `#rrggbb`; null: none. */
  readonly colour?: string | null;
  readonly membersOnly?: boolean;
}

/** A logo with its bytes. */
export interface StoredLogo extends PageLogo {
  readonly bytes: Uint8Array;
}

/** Status pages. An account can change only its own pages; pages of others count as missing. */
export interface PageStore {
  /**
   * Creates a page. Rejects with `account_limit` (20 pages per account) or `slug_taken` (a page of another account has
   * or had the slug, a live page has it, or it is the slug of a catalogue service).
   */
  addPage(page: NewPage): Promise<OwnedPage>;
  /** Null: there is none. */
  findPage(slug: string): Promise<OwnedPage | null>;
  /** Ordered by slug. */
  pagesOf(accountId: number): Promise<OwnedPage[]>;
  /** All pages, each with the name of its account, ordered by slug. */
  listPages(): Promise<(OwnedPage & { readonly accountName: string })[]>;
  /**
   * Changes a page if it is still at `revision`. `stale`: the page was changed meanwhile; `missing`: the account has no
   * such page.
   */
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
  /**
   * Removes a page and its logo permanently. Its slug stays reserved for its account. False: the account has no such
   * page, or it is not at `revision`, if that is given.
   */
  removePage(accountId: number, slug: string, revision?: number): Promise<boolean>;
}
