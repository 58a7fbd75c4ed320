/**
 * Reads a catalogue file part by part, each of whole entries, so that no more than a part is in memory and each part can be
 * parsed alone.
 */
import { open } from 'node:fs/promises';
import { isExtension, readYaml } from '../yaml-file.ts';
import { createLineSplitter, type EntryPlace, type EntrySplitter, splitFlow } from './entry-bytes.ts';

/** The list of a catalogue. Its entries are parsed between `head` and `foot`, joined by `separator`. */
export interface EntryList {
  readonly head: string;
  readonly foot: string;
  readonly separator: string;
  /** The number of lines before the first entry. */
  readonly line: number;
}

/** Some entries that follow each other in a file. */
export interface EntryPart {
  readonly list: EntryList;
  readonly entries: readonly EntryPlace[];
  /** The entries and what stands between them; valid until the next part is asked for. */
  readonly bytes: Buffer;
}

/** Longer entries, and longer texts before and after the list, are left to the reader of whole files. */
const MAX_ENTRY_BYTES = 1_048_576;
const MAX_BESIDE_BYTES = 65_536;
/** Stands for bytes that are not UTF-8, so that a text has another length than its bytes. */
const REPLACED = '\uFFFD';
const KEY = /(?:^|[\s{,])(["']?)services\1[ \t]*:/g;
/** An anchor or a tag of the list. */
const PROPERTY = '[&!][^\\s[]*';
const LINE_END = '[ \\t]*(?:#.*)?\\r?\\n';
/** The text between the key and the first entry. */
const LINES = new RegExp(`^(?:[ \\t]+${PROPERTY})*${LINE_END}(?:${LINE_END})*(?= *-[ \\t\\r\\n])`);
const FLOW = new RegExp(`^(?:\\s|#.*\\n|${PROPERTY})*\\[`);

/**
 * The entries of the file in parts. Null is given once, where the file is not a list that can be split, with nothing beside it but
 * extensions. `onRead` is called with all bytes of the file, whatever its form. It stops when `isOutdated`. Rejects if the file cannot be read.
 */
export async function* splitCatalogue(
  file: string,
  partBytes: number,
  onRead: (read: Buffer) => void,
  isOutdated: () => boolean,
): AsyncGenerator<EntryPart | null> {
  let found: FoundList | null = null;
  let isSplit = true;
  /** The end of the list was found; the text after it follows. */
  let isBehind = false;
  /** The beginning of an entry that has not ended, or of the text before or after the list. */
  let rest: Buffer = Buffer.alloc(0);
  const split = function* (bytes: Buffer, isLast: boolean): Generator<EntryPart | null> {
    let list = bytes;
    if (found === null) {
      const first = findList(bytes.toString());
      found = first?.before.includes(REPLACED) === true ? null : first;
      if (found !== null) list = bytes.subarray(Buffer.byteLength(found.before));
    }
    if (found !== null && !isBehind) {
      const { entries, end, isListEnd } = found.split(list, isLast);
      if (entries.length > 0) yield { list: found, entries, bytes: list.subarray(0, end) };
      isBehind = isListEnd;
      list = list.subarray(end);
    }
    // The memory of a part is used again.
    rest = Buffer.from(list);
    isSplit = rest.length <= (isBehind ? MAX_BESIDE_BYTES : MAX_ENTRY_BYTES);
    if (isLast) isSplit &&= found !== null && isWhole(found, isBehind, rest.toString());
    if (!isSplit) yield null;
  };
  for await (const read of readParts(file, partBytes)) {
    if (isOutdated()) return;
    onRead(read);
    if (isSplit) yield* split(rest.length === 0 ? read : Buffer.concat([rest, read]), false);
  }
  if (isSplit) yield* split(rest, true);
}

/** A list that was found at the beginning of a text. */
interface FoundList extends EntryList {
  /** The text before the first entry. */
  readonly before: string;
  /** The text that closes it, apart from the one that follows the list in the file. */
  readonly closing: string;
  readonly split: EntrySplitter;
}

/** Returns true if the list has ended, with nothing after it but extensions. */
function isWhole({ before, closing }: FoundList, isBehind: boolean, after: string): boolean {
  if (closing === '') return isCatalogue(before + after);
  return isBehind && isCatalogue(before + after);
}

/** Finds the list at the beginning of a text, up to its first entry. Null: there is none yet, or it is in another form. */
export function findList(text: string): FoundList | null {
  for (const key of text.slice(0, MAX_BESIDE_BYTES).matchAll(KEY)) {
    const end = key.index + key[0].length;
    const rest = text.slice(end, end + MAX_BESIDE_BYTES);
    const isAtMargin = /(?:^|[\n\uFEFF])["']?$/.test(text.slice(0, text.lastIndexOf('services', end)));
    const lines = isAtMargin ? LINES.exec(rest) : null;
    if (lines !== null) {
      const before = text.slice(0, end + lines[0].length);
      const indent = / */.exec(rest.slice(lines[0].length))?.[0] ?? '';
      if (isCatalogue(before))
        return listOf(before, '', { head: 'services:\n', split: createLineSplitter(indent) });
    }
    const flow = FLOW.exec(rest);
    if (flow === null) continue;
    const before = text.slice(0, end + flow[0].length);
    for (const closing of [']', ']}'])
      if (isCatalogue(before + closing))
        return listOf(before, closing, {
          head: closing === ']' ? 'services: [' : '{services: [',
          split: splitFlow,
        });
  }
  return null;
}

/** `head`: what is enough before the entries, where nothing before them has a meaning for them. */
function listOf(
  before: string,
  closing: string,
  { head, split }: { readonly head: string; readonly split: EntrySplitter },
): FoundList {
  const line = before.split('\n').length - 1;
  const isMeaningful = /[&%]/.test(before);
  return {
    ...{ before, closing, split, line },
    head: isMeaningful ? before : head,
    foot: closing,
    separator: closing === '' ? '' : ',',
  };
}

/** Returns true if a text is a catalogue without entries. */
function isCatalogue(text: string): boolean {
  const { content, problems } = readYaml(text, '');
  if (problems.length > 0 || typeof content !== 'object' || content === null) return false;
  const { services, ...others } = content as { readonly [name: string]: unknown };
  const isEmpty = services === null || (Array.isArray(services) && services.length === 0);
  return isEmpty && Object.keys(others).every(isExtension);
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
