/**
 * The content of another program's file beside services: channels, rules, status pages and maintenance, as documents of
 * `apply`.
 */
import type { ListName } from '../../apply/apply-lists.ts';
import { DAY_MS, formatDuration, MINUTE_MS } from '../../domain/durations.ts';
import { usualVisibility } from '../../domain/special-address.ts';
import { PAGE_BOUNDS } from '../../domain/status-page.ts';
import { entryOf } from '../../resources/pages/page-document.ts';
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

/** Maximum number of services of a rule. */
const MAX_OF_RULE = 500;
/** Bounds of the time between reminders, milliseconds. */
const REPEAT = { minMs: 5 * MINUTE_MS, maxMs: 7 * DAY_MS } as const;

/** Returns names that differ in more than case: a name that was given before gets a number. */
export function uniqueNames(): (name: string) => string {
  const taken = new Set<string>();
  return (name) => {
    let own = name;
    for (let number = 2; taken.has(own.toLowerCase()); number++) own = `${name} (${number})`;
    taken.add(own.toLowerCase());
    return own;
  };
}

export function inParts<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, at) =>
    list.slice(at * size, (at + 1) * size),
  );
}

export function channelItems(
  nameOf: () => string,
  { kind, settings }: { readonly kind: string; readonly settings: readonly object[] },
): ListedItem[] {
  return settings.map((one) => {
    const name = nameOf();
    return { list: 'channels', entry: name, document: () => ({ name, kind, settings: one }) };
  });
}

/**
 * Rules for services that were imported, as long as one of its channels is too. `more`: further members; with `own` a rule is about
 * all services of the account.
 */
export function ruleItems(
  nameOf: () => string,
  listed: readonly ListedService[],
  channels: readonly ListedItem[],
  more: object,
): ListedItem[] {
  return inParts(listed, MAX_OF_RULE).map((part) => {
    const name = nameOf();
    return {
      list: 'rules',
      entry: name,
      document(names) {
        const services = [...new Set(part.flatMap((service) => names.service(service) ?? []))];
        const told = channels.map(({ entry }) => entry).filter((entry) => names.has('channels', entry));
        if (services.length === 0 || told.length === 0) return null;
        return { name, ...('own' in more ? {} : { services }), channels: told, ...more };
      },
    };
  });
}

/** The times of a rule: the delay before an alert and the time between reminders, milliseconds; 0: none. */
export function ruleTimes(
  afterMs: number,
  repeatMs: number,
): { readonly after?: string; readonly repeat?: string } {
  return {
    ...(afterMs > 0 ? { after: formatDuration(afterMs) } : {}),
    ...(repeatMs > 0
      ? { repeat: formatDuration(Math.min(Math.max(repeatMs, REPEAT.minMs), REPEAT.maxMs)) }
      : {}),
  };
}

/** Maintenance of services that were imported. */
export function maintenanceItem(
  entry: string,
  document: object,
  listed: readonly ListedService[],
): ListedItem {
  return {
    list: 'maintenances',
    entry,
    document(names) {
      const services = [...new Set(listed.flatMap((service) => names.service(service) ?? []))];
      return services.length === 0 ? null : { ...document, services };
    },
  };
}

/** A status page; services that are left out are not on it. */
export function pageItem(
  page: { readonly slug: string; readonly title: string },
  groups: readonly { readonly name: string; readonly services: readonly ListedService[] }[],
): ListedItem {
  return {
    list: 'pages',
    entry: page.slug,
    document(names) {
      const shown = new Set<string>();
      const listed = groups.map(({ name, services }) => ({
        ...(name === '' ? {} : { name }),
        services: services.flatMap((service) => {
          const one = names.service(service);
          if (one === null || shown.has(one)) return [];
          shown.add(one);
          return [entryOf(one, isPrivate(service) ? nameForPages(service) : '')];
        }),
      }));
      return { ...page, ...(listed.length === 0 ? {} : { groups: listed }) };
    },
  };
}

/** Returns true if a page may show a service: a private one whose name would show its address is lost. */
export function mayShow(service: ListedService, entry: string, { lose }: Collection): boolean {
  const isTelling = isPrivate(service) && service.name.toLowerCase().includes(service.domain);
  if (isTelling) lose(entry, service.name, 'it is private, and its name is its address');
  return !isTelling;
}

function isPrivate({ visibility, domain }: ListedService): boolean {
  return (visibility ?? usualVisibility(domain)) === 'private';
}

/** The name of a service, as long as pages take it. */
function nameForPages({ name }: ListedService): string {
  return [...name].slice(0, PAGE_BOUNDS.entryCharacters).join('');
}
