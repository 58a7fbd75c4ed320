/** Reads a PNG back with a decoder that shares nothing with our encoder. */
import { Readable } from 'node:stream';
import { type Bitmap, decodePNGFromStream } from 'pureimage';

/** Decodes to pixels of four bytes. */
export function decodePng(bytes: Uint8Array): Promise<Bitmap> {
  return decodePNGFromStream(Readable.from([Buffer.from(bytes)]));
}

/** A pixel as `rrggbbaa`. */
export function pixelAt(bitmap: Bitmap, x: number, y: number): string {
  const at = (y * bitmap.width + x) * 4;
  return Buffer.from(bitmap.data.subarray(at, at + 4)).toString('hex');
}

/** How many pixels have each colour within a column range, as `rrggbbaa`. */
export function countColours(bitmap: Bitmap, fromX: number, toX: number): Map<string, number> {
  const counts = new Map<string, number>();
  for (let y = 0; y < bitmap.height; y++) {
    for (let x = fromX; x < toX; x++) {
      const colour = pixelAt(bitmap, x, y);
      counts.set(colour, (counts.get(colour) ?? 0) + 1);
    }
  }
  return counts;
}
