/** Port of the registry: status pages of owners. */
import type {
  OwnedPage,
  PageAccess,
  PageGroup,
  PagePicture,
  PageTexts,
  PictureUse,
} from '../../domain/status-page.ts';

/** A page before it is stored. */
export interface NewPage extends PageTexts {
  readonly accountId: number;
  readonly slug: string;
  readonly groups: readonly PageGroup[];
  /** Null or absent: none. */
  readonly logo?: StoredPicture | null;
  /** Null or absent: none. */
  readonly favicon?: StoredPicture | null;
  /** `#rrggbb`; null or absent: none. */
  readonly colour?: string | null;
  /** Absent: public. */
  readonly access?: PageAccess;
  /** Hash of the password, for that access. Null or absent: none. */
  readonly passwordHash?: string | null;
  /** A host name that is not proved yet; null or absent: none. */
  readonly domain?: string | null;
  /** Epoch milliseconds. */
  readonly now: number;
}

/**
 * The properties of a page that a change replaces. Absent properties stay unchanged. A password stays too where it is null, unless the
 * access is another one now; the proof of a domain is lost if it is another one.
 */
export type PageEdit = Partial<Omit<NewPage, 'accountId' | 'slug' | 'now'>>;

/** A domain that an account has proved for a page. */
export interface ProvedPageDomain {
  readonly domain: string;
  readonly slug: string;
  readonly accountId: number;
  /** Time of the last check of the proof, epoch milliseconds; null: the account has the domain by trust, without a proof. */
  readonly checkedAt: number | null;
  /** Since when the proof is missing, epoch milliseconds; null: the last check found it. */
  readonly missingSince: number | null;
}

/** A picture with its bytes. */
export interface StoredPicture extends PagePicture {
  readonly bytes: Uint8Array;
}

/** A page of an account, at the revision that was seen. */
export type SeenPage = Pick<OwnedPage, 'accountId' | 'slug' | 'revision'>;

/** Pictures to store by their use. Null: none; absent: unchanged. */
export type PutPictures = { readonly [use in PictureUse]?: StoredPicture | null | undefined };

export interface PageReads {
  /** Null: there is none. */
  findPage(slug: string): Promise<OwnedPage | null>;
  /** Ordered by slug. */
  pagesOf(accountId: number): Promise<OwnedPage[]>;
  /** All pages, each with the name of its account, ordered by slug. */
  listPages(): Promise<(OwnedPage & { readonly accountName: string })[]>;
  /** The hash of the password of a page; null: it has none. */
  findPagePassword(pageId: number): Promise<string | null>;
  /** Null: there is no such page, or it has no such picture. */
  findPicture(slug: string, use: PictureUse): Promise<StoredPicture | null>;
}

/** Status pages. An account can change only its own pages; pages of others count as missing. */
export interface PageStore extends PageReads {
  /**
   * Creates a page. Rejects with `account_limit` (20 pages per account) or `slug_taken` (a page of another account has
   * or had the slug, a live page has it, or it is the slug of a catalogue service).
   */
  addPage(page: NewPage): Promise<OwnedPage>;
  /** Changes a page. Rejects with `not_found`, and with `stale` if it is no longer at `revision`. */
  changePage(page: SeenPage, edit: PageEdit, now: number): Promise<void>;
  /** Sets pictures; false: the account has no such page. */
  putPictures(page: Omit<SeenPage, 'revision'>, pictures: PutPictures, now: number): Promise<boolean>;
  /**
   * Removes a page and its pictures permanently. Its slug stays reserved for its account. Rejects as {@link changePage}; without
   * `revision` it may have any.
   */
  removePage(accountId: number, slug: string, revision?: number): Promise<void>;
}

export interface PageDomainStore {
  /**
   * Notes that the account has proved the domain of a page. The newest proof counts: another page that had the domain loses its proof,
   * and its account, if it is another one, receives a notice. `missing`: the account has no such page, or the page has another domain.
   */
  provePageDomain(
    accountId: number,
    slug: string,
    domain: string,
    now: number,
  ): Promise<OwnedPage | 'missing'>;
  /** Domains that are proved, of live pages that everyone may see, by name. */
  provedPageDomains(): Promise<ProvedPageDomain[]>;
  /**
   * Notes a check of the proof of a domain. `lapses`: the proof, which is missing, does not count any longer, and the account
   * receives a notice. Does nothing if the account has not proved the domain meanwhile.
   */
  notePageProof(
    accountId: number,
    domain: string,
    outcome: 'found' | 'missing' | 'lapses',
    now: number,
  ): Promise<void>;
}
