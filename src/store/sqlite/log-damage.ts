/**
 * Finds damage in SQLite's write-ahead log, FILE-wal. SQLite reads a log up to the first frame that does not fit and takes that for its
 * end, which it is after a kill or a power cut. After damage in the middle, what was committed behind it would be lost silently.
 *
 * Two things prove that a place is damage and not the end. Either a later commit continues the checksums of an earlier one that
 * is behind the place: a transaction begins only when the one before it is on disk. Or the index beside the log, FILE-shm, knows
 * more committed frames: they are entered there when they are on disk. Neither holds of a torn last write, of frames that a
 * rolled back transaction has left, and of those from before the log began anew.
 *
 * The formats: https://sqlite.org/fileformat2.html#walformat and https://sqlite.org/walformat.html.
 */
import { closeSync, copyFileSync, existsSync, fstatSync, openSync, readSync, renameSync } from 'node:fs';
import { endianness } from 'node:os';

export interface LogDamage {
  /** The end of the part of the log that SQLite reads, bytes: the length of a log without the damage and what follows. */
  readonly keptBytes: number;
  /** Commits after that which can still be recognized, at least 1; there may have been more. */
  readonly lostCommits: number;
}

/** The salt that names a log since it began anew, and its checksum up to a frame. */
interface Salted {
  readonly salt: string;
  readonly sum: Checksum;
}

/** The first 32 bytes of a log. */
interface LogHeader extends Salted {
  readonly pageBytes: number;
  readonly isLittleEndian: boolean;
}

interface Frame extends Salted {
  readonly isCommit: boolean;
  /** Returns true if it continues a checksum. */
  readonly follows: (sum: Checksum) => boolean;
}

type Checksum = readonly [number, number];

const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const MAGIC = 0x377f0682;
/** Checksums are of words with the lowest byte first, or last. */
const MAGICS = [MAGIC, MAGIC + 1];
const INDEX_HEADER_BYTES = 48;
const IS_LITTLE_ENDIAN = endianness() === 'LE';
/** Readings of a log that another process writes. Damage is found by two in succession. */
const MAX_READINGS = 5;
const READ_BYTES = 1024 * 1024;

/** Damage in the log of a database that may be open elsewhere; null: there is none, or no log. What cannot be read is left to SQLite. */
export function findLogDamage(file: string): LogDamage | null {
  let last: LogDamage | null = null;
  for (let readings = 0; readings < MAX_READINGS; readings++) {
    const found = tryReading(file);
    if (found === null || (last !== null && found.keptBytes === last.keptBytes)) return found;
    last = found;
  }
  return null;
}

function tryReading(file: string): LogDamage | null {
  try {
    // The index comes first: a log that is being written has at least what the index knew before.
    const index = readIndex(`${file}-shm`);
    return useFile(`${file}-wal`, (log) => {
      const before = readAt(log, 0, LOG_HEADER_BYTES);
      const header = readHeader(before);
      const found = examine(log, header, index, header?.pageBytes ?? pageBytesOf(file));
      // Meanwhile another process may have begun the log anew.
      return before.equals(readAt(log, 0, LOG_HEADER_BYTES)) ? found : null;
    });
  } catch {
    return null;
  }
}

/** `header`: null if it is damaged itself. SQLite then takes the log for empty. */
function examine(
  log: number,
  header: LogHeader | null,
  index: { readonly salt: string; readonly frames: number } | null,
  pageBytes: number,
): LogDamage | null {
  const frameBytes = FRAME_HEADER_BYTES + pageBytes;
  let sum = header?.sum ?? null;
  let committed = 0;
  let known = header !== null && index?.salt === header.salt ? index.frames : 0;
  /** The frame before, behind the first one that does not fit; null: it is none of this log. */
  let previous: Frame | null = null;
  let continuesCommit = false;
  let isProven = false;
  let lostCommits = 0;
  let number = 0;
  for (const frame of readFrames(log, frameBytes, header?.isLittleEndian ?? true)) {
    number += 1;
    if (sum !== null) {
      if (frame !== null && frame.salt === header?.salt && frame.follows(sum)) {
        sum = frame.sum;
        if (frame.isCommit) committed = number;
        continue;
      }
      sum = null;
    }
    const salt = header?.salt ?? previous?.salt ?? frame?.salt;
    if (frame === null || frame.salt !== salt) {
      previous = header === null ? frame : null;
      continuesCommit = false;
      continue;
    }
    if (header === null && frame.salt === index?.salt) known = index.frames;
    const isNext = previous !== null && frame.follows(previous.sum);
    if (isNext && frame.isCommit) {
      lostCommits += 1;
      isProven ||= continuesCommit;
    }
    continuesCommit = frame.isCommit || (isNext && continuesCommit);
    previous = frame;
  }
  if (!isProven && known <= committed) return null;
  const keptBytes = committed === 0 ? 0 : LOG_HEADER_BYTES + committed * frameBytes;
  return { keptBytes, lostCommits: Math.max(1, lostCommits) };
}

/** The frames of a log in order; null: one that SQLite never writes. A last one that is cut off is left out. */
function* readFrames(log: number, frameBytes: number, isLittleEndian: boolean): Generator<Frame | null> {
  const total = Math.floor((fstatSync(log).size - LOG_HEADER_BYTES) / frameBytes);
  const atOnce = Math.max(1, Math.floor(READ_BYTES / frameBytes));
  for (let first = 0; first < total; first += atOnce) {
    const count = Math.min(atOnce, total - first);
    const bytes = readAt(log, LOG_HEADER_BYTES + first * frameBytes, count * frameBytes);
    for (let at = 0; at + frameBytes <= bytes.length; at += frameBytes)
      yield readFrame(bytes.subarray(at, at + frameBytes), isLittleEndian);
  }
}

function readFrame(bytes: Buffer, isLittleEndian: boolean): Frame | null {
  if (bytes.readUInt32BE(0) === 0) return null;
  const sum: Checksum = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  return {
    sum,
    salt: bytes.toString('hex', 8, 16),
    isCommit: bytes.readUInt32BE(4) !== 0,
    follows(before) {
      const ofHeader = addWords(before, bytes.subarray(0, 8), isLittleEndian);
      return isSame(addWords(ofHeader, bytes.subarray(FRAME_HEADER_BYTES), isLittleEndian), sum);
    },
  };
}

function readHeader(bytes: Buffer): LogHeader | null {
  if (bytes.length < LOG_HEADER_BYTES) return null;
  const magic = bytes.readUInt32BE(0);
  const isLittleEndian = magic === MAGIC;
  const sum: Checksum = [bytes.readUInt32BE(24), bytes.readUInt32BE(28)];
  if (!MAGICS.includes(magic) || !isSame(addWords([0, 0], bytes.subarray(0, 24), isLittleEndian), sum))
    return null;
  return { sum, isLittleEndian, pageBytes: bytes.readUInt32BE(8), salt: bytes.toString('hex', 16, 24) };
}

/** The log and the number of its committed frames, by the index; null: there is none, or it is not whole. */
function readIndex(file: string): { readonly salt: string; readonly frames: number } | null {
  try {
    return useFile(file, (handle) => {
      const both = readAt(handle, 0, 2 * INDEX_HEADER_BYTES);
      const bytes = both.subarray(0, INDEX_HEADER_BYTES);
      // A process that ends while it writes leaves two that differ.
      if (both.length < 2 * INDEX_HEADER_BYTES || !bytes.equals(both.subarray(INDEX_HEADER_BYTES)))
        return null;
      const numberAt = (at: number) => (IS_LITTLE_ENDIAN ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
      const sum = addWords([0, 0], bytes.subarray(0, 40), IS_LITTLE_ENDIAN);
      if (numberAt(0) === 0 || !isSame(sum, [numberAt(40), numberAt(44)])) return null;
      return { frames: numberAt(16), salt: bytes.toString('hex', 32, 40) };
    });
  } catch {
    return null;
  }
}

/** The size of a page by the header of the database. */
function pageBytesOf(file: string): number {
  const size = useFile(file, (handle) => readAt(handle, 0, 18).readUInt16BE(16));
  return size === 1 ? 65_536 : size;
}

function addWords([first, second]: Checksum, bytes: Buffer, isLittleEndian: boolean): Checksum {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let [a, b] = [first, second];
  for (let at = 0; at + 8 <= bytes.length; at += 8) {
    a = (a + view.getUint32(at, isLittleEndian) + b) >>> 0;
    b = (b + view.getUint32(at + 4, isLittleEndian) + a) >>> 0;
  }
  return [a, b];
}

function isSame([a, b]: Checksum, [c, d]: Checksum): boolean {
  return a === c && b === d;
}

/** As many bytes as there are, at most `length`. */
function readAt(handle: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(handle, bytes, 0, length, position));
}

function useFile<T>(file: string, work: (handle: number) => T): T {
  const handle = openSync(file, 'r');
  try {
    return work(handle);
  } finally {
    closeSync(handle);
  }
}

// Keeps what is damaged of a store that the program can do without, before it goes on without it.

/** Moves a damaged file and those beside it away; returns its new place. `now`: epoch milliseconds. */
export function setFileAside(file: string, now: number): string {
  const place = file + suffixAt(now);
  for (const end of ['', '-wal', '-shm']) if (existsSync(file + end)) renameSync(file + end, place + end);
  return place;
}

/**
 * Copies a damaged log, since the next write replaces what SQLite does not read of it. Returns the place of the copy, which is missing
 * if the disk refuses it; null: the log is whole. `now`: epoch milliseconds.
 */
export function copyDamagedLog(file: string, now: number): string | null {
  if (findLogDamage(file) === null) return null;
  const copy = `${file}-wal${suffixAt(now)}`;
  try {
    copyFileSync(`${file}-wal`, copy);
  } catch {
    // The samples are gone without a copy.
  }
  return copy;
}

function suffixAt(now: number): string {
  return `.damaged-${new Date(now).toISOString().replaceAll(':', '-')}`;
}
