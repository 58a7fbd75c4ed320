/**
 * Reads a catalogue file of any length in parts, so that the event loop serves requests in between and no more than a part
 * is in memory. Entries that are as they were before are recognized by a hash and not parsed.
 */
import { createHash } from 'node:crypto';
import { dashDomain } from '../domain/service.ts';
import type { NewService } from '../store/ports/services.ts';
import { hashText, mayHoldAnchor } from './entry-bytes.ts';
import { createEntryParser, type EntryParser } from './entry-parser.ts';
import { readEntry } from './read-entry.ts';
import { type EntryList, type EntryPart, splitCatalogue } from './split-catalogue.ts';

/** Recognizes the entries of a list that an earlier reading of it had, by their hashes. */

/** After so many entries that were found at another place than the next one, places are no longer looked for. */
const MAX_JUMPS = 200;

/** The identity of the content of a file. */
export interface CatalogueMark {
  /** SHA-256 of the whole file, hexadecimal. */
  readonly digest: string;
  /** Hashes of the entries in their order; null: it cannot be read in parts, or an entry may depend on another one by an alias. */
  readonly hashes: Float64Array | null;
}

/** Which entries are parsed: none, all, or those that are not among the hashes of an earlier reading. */
export type Wanted = 'none' | 'all' | { readonly except: Float64Array };

/** A file that was read. */
export interface CatalogueScan extends CatalogueMark {
  /**
   * The entries that were wanted, as JSON texts of lists of {@link NewService}; null: the file has a problem, or
   * cannot be read in parts, so that it must be read by `readCatalogue`.
   */
  readonly pages: readonly string[] | null;
  /** The slugs of these entries. */
  readonly slugs: readonly string[];
}

/**
 * Bytes that are read at a time: two milliseconds of work where entries are compared, a few where they are parsed. Requests are served in between,
 * and in a program that makes thousands of checks a second each pause costs about a millisecond.
 */
const PART_BYTES = { compared: 524_288, parsed: 32_768 };
const ENTRIES_PER_PAGE = 5_000;

/**
 * Reads the file. `isOutdated`: whether nobody needs the rest; the scan then ends with null. Rejects if the file cannot be read.
 * `takePage`: takes each page as soon as it is full, and no page is kept; the scan waits for it, and rejects as it does.
 */
export async function scanCatalogue(file: string, wanted: Wanted): Promise<CatalogueScan>;
export async function scanCatalogue(
  file: string,
  wanted: Wanted,
  isOutdated: () => boolean,
): Promise<CatalogueScan | null>;
export async function scanCatalogue(
  file: string,
  wanted: 'all',
  isOutdated: () => false,
  takePage: (page: string) => Promise<void>,
): Promise<CatalogueScan>;
export async function scanCatalogue(
  file: string,
  wanted: Wanted,
  isOutdated: () => boolean = () => false,
  takePage: ((page: string) => Promise<void>) | null = null,
): Promise<CatalogueScan | null> {
  const digest = createHash('sha256');
  const entries = wanted === 'none' ? null : createEntries();
  const known = typeof wanted === 'object' ? createKnownEntries(wanted.except) : null;
  const hashes = createNumbers();
  let hasAnchors = false;
  const onRead = (read: Buffer) => {
    digest.update(read);
    hasAnchors ||= mayHoldAnchor(read);
  };
  const take = ({ list, entries: places, bytes }: EntryPart): boolean => {
    const texts: string[] = [];
    for (const { from, until, hash } of places) {
      hashes.add(hash);
      if (entries !== null && known?.has(hash) !== true) texts.push(bytes.toString('utf8', from, until));
    }
    return entries?.add(list, texts) ?? true;
  };
  let outdated = false;
  const stop = () => {
    outdated ||= isOutdated();
    return outdated;
  };
  let isRead = true;
  const partBytes = wanted === 'all' ? PART_BYTES.parsed : PART_BYTES.compared;
  const handOn = async () => {
    for (const page of entries?.takePages() ?? []) await takePage?.(page);
  };
  for await (const part of splitCatalogue(file, partBytes, onRead, stop)) {
    isRead = isRead && part !== null && take(part);
    if (takePage !== null && isRead) await handOn();
  }
  if (outdated) return null;
  // Two equal entries have the same slug, where both are parsed.
  const isDoubled = () => known !== null && (known.hasDouble() ?? hasEqual(hashes.sorted()));
  const isWhole = isRead && entries !== null && !isDoubled();
  const isValid = isWhole && !entries.hasDouble();
  entries?.endPage();
  if (takePage !== null && isValid) await handOn();
  return {
    digest: digest.digest('hex'),
    hashes: isRead && !hasAnchors ? hashes.all() : null,
    pages: isValid ? entries.takePages() : null,
    slugs: entries?.slugs ?? [],
  };
}

/** Gathers valid entries, and the hashes of their names. */
function createEntries() {
  const slugs: string[] = [];
  const names = createNumbers();
  const dashed = createNumbers();
  let pages: string[] = [];
  let page: NewService[] = [];
  let parser: EntryParser | null = null;
  const endPage = () => {
    if (page.length > 0) pages.push(JSON.stringify(page));
    page = [];
  };
  return {
    slugs: slugs as readonly string[],
    /** False: one of them has a problem. */
    add(list: EntryList, texts: readonly string[]): boolean {
      parser ??= createEntryParser(list);
      const items = parser.parse(texts);
      if (items === null) return false;
      for (const item of items) {
        const reading = readEntry(item, 0);
        if (!('service' in reading)) return false;
        const { service } = reading;
        slugs.push(service.slug);
        names.add(hashText(service.slug));
        dashed.add(hashText(dashDomain(service.domain)));
        if (page.push(service) === ENTRIES_PER_PAGE) endPage();
      }
      return true;
    },
    endPage,
    /** The full pages that were not taken before. */
    takePages(): readonly string[] {
      const taken = pages;
      pages = [];
      return taken;
    },
    /** Returns true if two of them share a slug, or the name of a badge. */
    hasDouble: (): boolean => hasEqual(names.sorted()) || hasEqual(dashed.sorted()),
  };
}

/** Numbers in a typed array that grows. */
function createNumbers() {
  let numbers = new Float64Array(1_024);
  let length = 0;
  return {
    add(value: number): void {
      if (length === numbers.length) {
        const longer = new Float64Array(length * 2);
        longer.set(numbers);
        numbers = longer;
      }
      numbers[length++] = value;
    },
    all: (): Float64Array => numbers.slice(0, length),
    sorted: (): Float64Array => numbers.slice(0, length).sort(),
  };
}

function hasEqual(sorted: Float64Array): boolean {
  return sorted.some((value, index) => index > 0 && value === sorted[index - 1]);
}

/** `hashes`: of the entries of the earlier reading, in their order, all different. */
function createKnownEntries(hashes: Float64Array) {
  /** The offset of the next entry if nothing was added, removed or moved before it. */
  let next = 0;
  let jumps = 0;
  /** 1: the entry at that place was found. */
  const found = new Uint8Array(hashes.length);
  let hasDouble = false;
  let isEachPlaced = true;
  let sorted: Float64Array | null = null;
  const note = (place: number): void => {
    if (found[place] === 1) hasDouble = true;
    found[place] = 1;
    next = place + 1;
  };
  return {
    /** Returns true if the earlier reading had an entry with this hash. Entries are given in the order of the present reading. */
    has(hash: number): boolean {
      if (hashes[next] === hash) {
        note(next);
        return true;
      }
      sorted ??= hashes.slice().sort();
      if (!hasSorted(sorted, hash)) {
        // Most of what is new is an entry that was edited in its place.
        next++;
        return false;
      }
      if (jumps++ < MAX_JUMPS) note(hashes.indexOf(hash));
      else isEachPlaced = false;
      return true;
    },
    /** Returns true if an entry of the earlier reading was found twice; null: not known. */
    hasDouble: (): boolean | null => (hasDouble ? true : isEachPlaced ? false : null),
  };
}

function hasSorted(sorted: Float64Array, value: number): boolean {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === value;
}
