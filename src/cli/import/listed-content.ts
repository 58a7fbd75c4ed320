/**
 * The content of another program's file beside services: channels, rules, status pages and maintenance, as documents of
 * `apply`.
 */
import type { ListName } from '../../apply/apply-lists.ts';
import {
  asText,
  type EntryReading,
  type ListedService,
  type Row,
  type SkippedEntry,
  withOwnName,
} from './listed-service.ts';

/** The names that the account will have of a file. */
interface ListedNames {
  /** The name of a service in documents; null: it is left out. */
  readonly service: (service: ListedService) => string | null;
  /** Returns true if a member of a list is not left out. */
  readonly has: (list: ListedItem['list'], entry: string) => boolean;
}

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

/** A parsed YAML or JSON. */
interface ImportedDocument {
  readonly document: unknown;
  /** The document if it is an object, else an empty one. */
  readonly root: Row;
  readonly text: string;
  readonly fileName: string;
  /** Epoch milliseconds. */
  readonly now: number;
  /** The values of variables of configurations. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A reader of one program's YAML or JSON. */
export interface DocumentReader {
  /** The mark of its documents, and the program, for messages. */
  readonly expected: string;
  readonly recognises: (root: Row, document: unknown) => boolean;
  readonly read: (document: ImportedDocument) => ImportReading;
}

export interface CsvReader {
  /** The column that marks its tables, and the program, for messages. */
  readonly expected: string;
  /** Names are in lower case. */
  readonly recognises: (columns: ReadonlySet<string>) => boolean;
  /** Cells by their columns' names. */
  readonly read: (rows: readonly Readonly<Record<string, string>>[]) => ImportReading;
}

/** The entry of fields outside of entries. */
export const WHOLE_FILE = 'the file';

export interface ListedEntry {
  readonly row: Row;
  readonly service: ListedService;
}

/** The entries of a file, and those and their fields that have no equal here. */
export class Collection {
  readonly entries: ListedEntry[] = [];
  readonly #skipped: SkippedEntry[] = [];
  readonly #notCarried: NotCarried[] = [];
  readonly #renames: boolean;
  readonly #names = new Set<string>();

  /** `renames`: a heartbeat gets another host where one of the file has its host already. */
  constructor({ renames = true }: { readonly renames?: boolean } = {}) {
    this.#renames = renames;
  }

  readonly skip = (entry: string, reason: string): void => {
    this.#skipped.push({ entry, reason });
  };

  readonly lose = (entry: string, field: string, reason: string): void => {
    this.#notCarried.push({ entry, field, reason });
  };

  add(entry: string, row: Row, reading: EntryReading): void {
    if ('problem' in reading) this.skip(entry, reading.problem);
    else {
      const service = this.#renames ? withOwnName(reading.service, this.#names) : reading.service;
      this.entries.push({ row, service });
      for (const { field, reason } of reading.lost) this.lose(entry, field, reason);
    }
  }

  /** Adds entries by their names, domains or addresses. */
  addAll(rows: readonly Row[], read: (row: Row) => EntryReading): void {
    for (const [index, row] of rows.entries()) {
      const entry = asText(row.name) ?? asText(row.domain) ?? asText(row.url) ?? `entry ${index + 1}`;
      this.add(entry, row, read(row));
    }
  }

  reading(format: string, items: readonly ListedItem[] = []): ImportReading {
    const services = this.entries.map(({ service }) => service);
    return { format, services, items, skipped: this.#skipped, notCarried: this.#notCarried };
  }
}
