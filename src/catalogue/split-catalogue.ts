/**
 * Reads a catalogue file part by part, each of whole entries, so that no more than a part is in memory and each part can be
 * parsed alone.
 */
import { open } from 'node:fs/promises';
import { isExtension, readYaml } from '../yaml-file.ts';
import { createEntrySplitter, type EntrySplitter } from './entry-bytes.ts';

export interface EntryList extends EntrySplitter {
  /** Members before the list, to which aliases in it may refer; empty: none. */
  readonly prologue: string;
  /** The number of lines before the first entry. */
  readonly line: number;
}

/** Some entries that follow each other in a file. */
export interface EntryPart {
  readonly list: EntryList;
  /** Valid until the next part is asked for. */
  readonly bytes: Buffer;
}

/** Longer entries, and longer texts before the list, are left to the reader of whole files. */
const MAX_ENTRY_BYTES = 1_048_576;
/** The prologue is parsed with each part. */
const MAX_PROLOGUE = 65_536;
const HEADER = /^\uFEFF?services:[ ]*(?:#.*)?\r?\n/m;
const FIRST_ENTRY = /^(?:[ ]*(?:#.*)?\r?\n)*( *)-[ \r\n]/;

/**
 * The entries of the file in parts. Null is given once, where the file is not a list whose entries begin on lines with the same
 * indentation. `onRead` is called with all bytes of the file, whatever its form. It stops when `isOutdated`. Rejects if the file
 * cannot be read.
 */
export async function* splitCatalogue(
  file: string,
  partBytes: number,
  onRead: (read: Buffer) => void,
  isOutdated: () => boolean,
): AsyncGenerator<EntryPart | null> {
  let list: EntryList | null = null;
  let isSplit = true;
  /** The beginning of an entry that has not ended, or of the text before the list. */
  let rest: Buffer = Buffer.alloc(0);
  for await (const read of readParts(file, partBytes)) {
    if (isOutdated()) return;
    onRead(read);
    if (!isSplit) continue;
    let bytes: Buffer = rest.length === 0 ? read : Buffer.concat([rest, read]);
    if (list === null) {
      const text = bytes.toString();
      const found = findList(text);
      if (found !== undefined) {
        const before = text.slice(0, found.start);
        list = {
          ...createEntrySplitter(found.indent),
          prologue: found.prologue,
          line: before.split('\n').length - 1,
        };
        bytes = bytes.subarray(Buffer.byteLength(before));
      }
    }
    const until = list?.lastEntry(bytes) ?? 0;
    if (list !== null && until > 0) yield { list, bytes: bytes.subarray(0, until) };
    // The memory of a part is used again.
    rest = Buffer.from(bytes.subarray(until));
    isSplit = rest.length <= MAX_ENTRY_BYTES;
    if (!isSplit) yield null;
  }
  if (isSplit) yield list === null ? null : { list, bytes: rest };
}

/**
 * Finds the list at the beginning of a text: where its first entry starts, its indentation, and the members before it. Undefined: there
 * is none yet, or it is in another form.
 */
export function findList(
  text: string,
): { readonly start: number; readonly indent: string; readonly prologue: string } | undefined {
  const header = HEADER.exec(text);
  if (header === null || header.index > MAX_PROLOGUE) return undefined;
  const end = header.index + header[0].length;
  const first = FIRST_ENTRY.exec(text.slice(end));
  if (first === null) return undefined;
  const prologue = text.slice(0, header.index);
  const { content, problems } = readYaml(prologue, '');
  const isExtended = Object.keys(content ?? {}).every(isExtension);
  if (problems.length > 0 || typeof content !== 'object' || !isExtended) return undefined;
  const indent = first[1] ?? '';
  const start = end + first[0].length - '- '.length - indent.length;
  return { start, indent, prologue: content === null ? '' : prologue };
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
