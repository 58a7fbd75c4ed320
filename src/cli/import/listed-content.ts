/**
 * The content of another program's file beside services: channels, rules, status pages and maintenance, as documents of
 * `apply`.
 */
import type { ListName } from '../../apply/apply-lists.ts';
import type { ListedService, SkippedEntry } from './listed-service.ts';

/** The names that the account will have of a file. */
interface ListedNames {
  /** The name of a service in documents; null: it is left out. */
  readonly service: (service: ListedService) => string | null;
  /** Returns true if a member of a list is not left out. */
  readonly has: (list: ListedItem['list'], entry: string) => boolean;
}

/** A member of one of the other lists. */
export interface ListedItem {
  readonly list: Exclude<ListName, 'services'>;
  /** Name, title or slug, which identifies it in its list. */
  readonly entry: string;
  /** Its document; null: nothing that it is about is imported. */
  readonly document: (names: ListedNames) => object | null;
}

/** An entry or field that was left out. */
export interface NotCarried {
  readonly entry: string;
  readonly field: string;
  /** Why, or what to use instead. */
  readonly reason: string;
}

/** Everything that a file lists. */
export interface ImportReading {
  readonly format: string;
  readonly services: readonly ListedService[];
  readonly items: readonly ListedItem[];
  readonly skipped: readonly SkippedEntry[];
  readonly notCarried: readonly NotCarried[];
}
