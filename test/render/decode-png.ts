/** Reads a PNG back with a decoder that shares nothing with our encoder. */
import { Readable } from 'node:stream';
import { type Bitmap, decodePNGFromStream } from 'pureimage';

/** Decodes to pixels of four bytes. */
export function decodePng(bytes: Uint8Array): Promise<Bitmap> {
  return decodePNGFromStream(Readable.from([Buffer.from(bytes)]));
}

/** A pixel as `rrggbbaa`. */
export function pixelAt({ data, width }: Bitmap, x: number, y: number): string {
  return hexOf(viewOf(data).getUint32((y * width + x) * 4));
}

/** How many pixels have each colour within a column range, as `rrggbbaa`. */
export function countColours(
  { data, width, height }: Bitmap,
  fromX: number,
  toX: number,
): Map<string, number> {
  // Numbers first: a text for each of a million pixels takes a second.
  const counts = new Map<number, number>();
  const view = viewOf(data);
  for (let y = 0; y < height; y++) {
    for (let x = fromX; x < toX; x++) {
      const colour = view.getUint32((y * width + x) * 4);
      counts.set(colour, (counts.get(colour) ?? 0) + 1);
    }
  }
  return new Map([...counts].map(([colour, count]) => [hexOf(colour), count]));
}

function viewOf({ buffer, byteOffset, byteLength }: Bitmap['data']): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

function hexOf(colour: number): string {
  return colour.toString(16).padStart(8, '0');
}
