/** Words inside a PNG that no pixel shows (PNG specification, third edition, 11.3.3.2: tEXt). */
import { crc32 } from 'node:zlib';

/** The signature and IHDR, which has to come first. */
const HEAD_BYTES = 33;

/**
 * Adds a text to a PNG. `keyword` has 1 to 79 printable Latin-1 characters; so does `text`, which may be longer.
 * The picture stays the same.
 */
export function addPngText(png: Uint8Array, keyword: string, text: string): Uint8Array {
  const body = Buffer.from(`tEXt${keyword}\0${text}`, 'latin1');
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(body.length - 4, 0);
  chunk.set(body, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  return Buffer.concat([png.subarray(0, HEAD_BYTES), chunk, png.subarray(HEAD_BYTES)]);
}
