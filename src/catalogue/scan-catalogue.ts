/**
 * Reads a catalogue file of any length in parts, so that the event loop serves requests in between and no more than a part
 * is in memory. Entries that are as they were before are recognized by a hash and not parsed.
 */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { dashDomain } from '../domain/service.ts';
import type { NewService } from '../store/ports/services.ts';
import { readYaml } from '../yaml-file.ts';
import { createEntrySplitter, type EntrySplitter, hashText } from './entry-bytes.ts';
import { createKnownEntries } from './known-entries.ts';
import { findList, readPlainEntry } from './plain-entries.ts';
import { readEntry } from './read-entry.ts';

/** What identifies the content of a file. */
export interface CatalogueMark {
  /** SHA-256 of the whole file, hexadecimal. */
  readonly digest: string;
  /** Hashes of the entries in their order; null: the file is not in the plain form. */
  readonly hashes: Float64Array | null;
}

/** Which entries are parsed: none, all, or those that are not among the hashes of an earlier reading. */
export type Wanted = 'none' | 'all' | { readonly except: Float64Array };

/** A file that was read. */
export interface CatalogueScan extends CatalogueMark {
  /**
   * The entries that were wanted, as JSON texts of lists of {@link NewService}; null: the file has a problem, or is not in the
   * plain form, so that it must be read by `readCatalogue`.
   */
  readonly pages: readonly string[] | null;
  /** The slugs of these entries. */
  readonly slugs: readonly string[];
}

/**
 * Bytes that are read at a time: two milliseconds of work where entries are compared, a few where they are parsed. Requests are served in between,
 * and in a program that makes thousands of checks a second each pause costs about a millisecond.
 */
const PART_BYTES = { compared: 524_288, parsed: 65_536 };
/** Longer entries, and longer comments before the list, are left to the parser. */
const MAX_ENTRY_BYTES = 1_048_576;
const ENTRIES_PER_PAGE = 5_000;

/**
 * Reads the file. `isOutdated`: whether nobody needs the rest; the scan then ends with null. Rejects if the file cannot be read.
 */
export async function scanCatalogue(file: string, wanted: Wanted): Promise<CatalogueScan>;
export async function scanCatalogue(
  file: string,
  wanted: Wanted,
  isOutdated: () => boolean,
): Promise<CatalogueScan | null>;
export async function scanCatalogue(
  file: string,
  wanted: Wanted,
  isOutdated = () => false,
): Promise<CatalogueScan | null> {
  const digest = createHash('sha256');
  const entries = wanted === 'none' ? null : createEntries();
  const known = typeof wanted === 'object' ? createKnownEntries(wanted.except) : null;
  const hashes = createNumbers();
  let splitter: EntrySplitter | null = null;
  let isPlain = true;
  /** What was read of an entry that has not ended, or of what stands before the list. */
  let rest: Buffer = Buffer.alloc(0);

  /** Takes whole entries. */
  const take = (part: Buffer, { split }: EntrySplitter): boolean => {
    const parsed: string[] = [];
    const isSplit = split(part, (from, until, hash) => {
      hashes.add(hash);
      if (entries !== null && known?.has(hash) !== true) parsed.push(part.toString('utf8', from, until));
      return true;
    });
    return isSplit && (entries?.add(parsed) ?? true);
  };

  const partBytes = wanted === 'all' ? PART_BYTES.parsed : PART_BYTES.compared;
  for await (const read of readParts(file, partBytes)) {
    if (isOutdated()) return null;
    digest.update(read);
    // An entry that is as it was may mean something else, where it stands for another one.
    isPlain = isPlain && !mayHoldAnchor(read);
    if (!isPlain) continue;
    let part: Buffer = rest.length === 0 ? read : Buffer.concat([rest, read]);
    if (splitter === null) {
      const text = part.toString();
      const list = findList(text);
      if (list !== undefined) {
        splitter = createEntrySplitter(list);
        part = part.subarray(Buffer.byteLength(text.slice(0, list.start)));
      }
    }
    const until = splitter?.lastEntry(part) ?? 0;
    if (splitter !== null && until > 0) isPlain = take(part.subarray(0, until), splitter);
    // The memory of a part is used again.
    rest = Buffer.from(part.subarray(until));
    if (rest.length > MAX_ENTRY_BYTES) isPlain = false;
  }
  isPlain = isPlain && splitter !== null && take(rest, splitter);
  const isWhole = isPlain && entries !== null && !(known?.hasDouble() ?? hasEqual(hashes.sorted()));
  return {
    digest: digest.digest('hex'),
    hashes: isPlain ? hashes.all() : null,
    pages: isWhole ? entries.pages() : null,
    slugs: entries?.slugs ?? [],
  };
}

/** Reads a file part by part. While the caller works on a part, the next one is read; each is valid until the next one is asked for. */
async function* readParts(file: string, bytes: number): AsyncGenerator<Buffer> {
  const handle = await open(file);
  const buffers = [Buffer.allocUnsafe(bytes), Buffer.allocUnsafe(bytes)] as const;
  const read = (buffer: Buffer) => {
    const reading = handle.read(buffer, 0, bytes);
    // If the caller stops early, nothing else would catch a failure of this read.
    reading.catch(() => {});
    return reading;
  };
  let reading = read(buffers[0]);
  try {
    for (let turn = 1; ; turn++) {
      const { bytesRead, buffer } = await reading;
      if (bytesRead === 0) break;
      reading = read(buffers[turn % 2 === 0 ? 0 : 1]);
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await reading.catch(() => {});
    await handle.close();
  }
}

/** Whether a part may hold an anchor of YAML: an ampersand at the start of a word. */
function mayHoldAnchor(part: Buffer): boolean {
  for (let at = part.indexOf(AMPERSAND); at !== -1; at = part.indexOf(AMPERSAND, at + 1)) {
    const [before = SPACE, after = LETTER] = [part[at - 1], part[at + 1]];
    if (after > SPACE && (before <= SPACE || before === BRACKET || before === BRACE || before === COMMA))
      return true;
  }
  return false;
}

const [AMPERSAND, SPACE, LETTER, BRACKET, BRACE, COMMA] = [0x26, 0x20, 0x61, 0x5b, 0x7b, 0x2c];

/** Gathers valid entries, and the hashes of their names. */
function createEntries() {
  const slugs: string[] = [];
  const names = createNumbers();
  const dashed = createNumbers();
  const pages: string[] = [];
  let page: NewService[] = [];
  const endPage = () => {
    if (page.length > 0) pages.push(JSON.stringify(page));
    page = [];
  };
  return {
    slugs: slugs as readonly string[],
    /** False: one of them has a problem. */
    add(texts: readonly string[]): boolean {
      const items = parseEntries(texts);
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
    /** Null: two of them share a slug, or the name of a badge. */
    pages(): readonly string[] | null {
      endPage();
      return hasEqual(names.sorted()) || hasEqual(dashed.sorted()) ? null : pages;
    },
  };
}

/** Parses entries in their order; those that are not in the plain form together. Null: the parser has found a problem. */
function parseEntries(texts: readonly string[]): readonly unknown[] | null {
  const items: unknown[] = texts.map(readPlainEntry);
  const others = [...items.keys()].filter((index) => items[index] === undefined);
  if (others.length === 0) return items;
  const { content } = readYaml(`services:\n${others.map((index) => texts[index]).join('')}`, 'entries');
  const parsed = (content as { readonly services?: unknown } | null)?.services;
  if (!Array.isArray(parsed) || parsed.length !== others.length) return null;
  others.forEach((index, place) => {
    items[index] = parsed[place];
  });
  return items;
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
