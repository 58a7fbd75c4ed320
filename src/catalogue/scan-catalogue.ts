/**
 * Reads a catalogue file of any length in parts, so that the event loop serves requests in between and no more than a part
 * is in memory. Entries that are as they were before are recognized by a hash and not parsed.
 */
import { createHash, type Hash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import { dashDomain } from '../domain/service.ts';
import type { NewService } from '../store/ports/services.ts';
import { readYaml } from '../yaml-file.ts';
import { findList, type PlainList, readPlainEntry, splitEntries } from './plain-entries.ts';
import { readEntry } from './read-entry.ts';

/** What identifies the content of a file. */
export interface CatalogueMark {
  /** SHA-256 of the whole file, hexadecimal. */
  readonly digest: string;
  /** Hashes of the texts of the entries, ascending; null: the file is not in the plain form. */
  readonly hashes: Float64Array | null;
}

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

/** Bytes that are read at a time: a millisecond of work, or a few where the entries are parsed. Requests are served in between. */
const PART_BYTES = 65_536;
const ENTRIES_PER_PAGE = 5_000;

/**
 * Reads the file. `wanted`: which entries are parsed: none, all, or those that are not among the hashes of an earlier
 * reading. Rejects if the file cannot be read.
 */
export async function scanCatalogue(
  file: string,
  wanted: 'none' | 'all' | { readonly except: Float64Array },
): Promise<CatalogueScan> {
  const digest = createHash('sha256');
  const entries = wanted === 'none' ? null : createEntries();
  const hashes = createNumbers();
  let list: PlainList | null = null;
  let isPlain = true;
  let rest = '';

  /** Takes whole entries. */
  const take = (part: string, { indent }: PlainList): boolean => {
    const texts = splitEntries(part, { indent });
    if (texts === undefined) return false;
    const parsed: string[] = [];
    for (const text of texts) {
      const hash = hashText(text);
      hashes.add(hash);
      if (entries !== null && (wanted === 'all' || (typeof wanted === 'object' && !has(wanted.except, hash))))
        parsed.push(text);
    }
    return entries?.add(parsed) ?? true;
  };

  for await (const text of readTexts(file, digest)) {
    if (!isPlain) continue;
    rest += text;
    if (list === null) {
      const found = findList(rest);
      if (found === undefined) continue;
      list = found;
      rest = rest.slice(found.start);
    }
    const until = rest.lastIndexOf(`\n${list.indent}- `) + 1;
    if (until === 0) continue;
    isPlain = take(rest.slice(0, until), list);
    rest = rest.slice(until);
  }
  isPlain = isPlain && list !== null && take(rest, list);
  const sorted = isPlain ? hashes.sorted() : null;
  return {
    digest: digest.digest('hex'),
    hashes: sorted,
    pages: isPlain && entries !== null && !hasEqual(sorted) ? entries.pages() : null,
    slugs: entries?.slugs ?? [],
  };
}

async function* readTexts(file: string, digest: Hash): AsyncGenerator<string> {
  const handle = await open(file);
  try {
    const decoder = new StringDecoder('utf8');
    const buffer = Buffer.allocUnsafe(PART_BYTES);
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, PART_BYTES);
      if (bytesRead === 0) break;
      const part = buffer.subarray(0, bytesRead);
      digest.update(part);
      yield decoder.write(part);
    }
    yield decoder.end();
  } finally {
    await handle.close();
  }
}

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
    sorted: (): Float64Array => numbers.slice(0, length).sort(),
  };
}

/** A hash of 53 bits (cyrb53, public domain): among a million texts, two are equal by chance once in 18,000 files. */
export function hashText(text: string): number {
  let [a, b] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    a = Math.imul(a ^ code, 0x9e3779b1);
    b = Math.imul(b ^ code, 0x5f356495);
  }
  a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
  b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
  return (b & 0x1fffff) * 2 ** 32 + (a >>> 0);
}

function has(sorted: Float64Array, value: number): boolean {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === value;
}

function hasEqual(sorted: Float64Array | null): boolean {
  return sorted?.some((value, index) => index > 0 && value === sorted[index - 1]) ?? false;
}
