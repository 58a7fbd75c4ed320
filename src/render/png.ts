/** Encodes PNG with a palette, a third of the size of one in full colour (PNG specification, third edition). */
import { crc32, deflateSync } from 'node:zlib';

/** Pixels in RGBA with straight alpha, row by row. */
interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const MAX_COLOURS = 256;
/** The signature and IHDR, which comes first. */
const HEAD_BYTES = 33;

/**
 * Encodes 8 bits per pixel. Lossless up to 256 colours, of which all fully transparent ones count as one; else the fewest
 * possible low bits of all channels are dropped.
 */
export function encodePalettePng(pixels: Pixels): Uint8Array {
  const { width, height } = pixels;
  const { colours, lines } = indexColours(pixels);
  // Colours with alpha come first, so that the list of alphas ends with the last of them.
  const order = [...colours.keys()].sort((a, b) => ((colours[a] ?? 0) % 256) - ((colours[b] ?? 0) % 256));
  const places = new Uint8Array(order.length);
  for (const [place, index] of order.entries()) places[index] = place;
  const sorted = order.map((index) => colours[index] ?? 0);
  const alphas = sorted.map((colour) => colour % 256).filter((alpha) => alpha < 255);

  for (let y = 0; y < height; y++) {
    const start = y * (width + 1) + 1;
    for (let at = start; at < start + width; at++) lines[at] = places[lines[at] ?? 0] ?? 0;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from(SIGNATURE),
    chunk('IHDR', header),
    chunk('PLTE', Uint8Array.from(sorted.flatMap((c) => [c / 2 ** 24, (c >>> 16) % 256, (c >>> 8) % 256]))),
    ...(alphas.length > 0 ? [chunk('tRNS', Uint8Array.from(alphas))] : []),
    chunk('IDAT', deflateSync(lines, { level: 7, memLevel: 8, windowBits: 14 })),
    chunk('IEND', new Uint8Array()),
  ]);
}

/**
 * Adds a text that is not drawn (PNG specification, third edition, 11.3.3.2: tEXt). `keyword` has 1 to 79 printable
 * Latin-1 characters, `text` any number of them.
 */
export function addPngText(png: Uint8Array, keyword: string, text: string): Uint8Array {
  const body = Buffer.from(`${keyword}\0${text}`, 'latin1');
  return Buffer.concat([png.subarray(0, HEAD_BYTES), chunk('tEXt', body), png.subarray(HEAD_BYTES)]);
}

/** The colours, and the lines of the picture: a byte for the filter, 0, then the place of each pixel's colour. */
function indexColours({ width, height, data }: Pixels): { colours: readonly number[]; lines: Uint8Array } {
  const lines = new Uint8Array((width + 1) * height);
  for (let dropped = 0; ; dropped++) {
    const places = new Map<number, number>();
    let fits = true;
    // Most pixels equal the one before, which saves their lookup.
    let lastColour = -1;
    let lastPlace = 0;
    let pixel = 0;
    for (let at = 0; at < data.length && fits; at += 4) {
      // The byte for the filter.
      if (pixel % (width + 1) === 0) pixel++;
      const colour = colourAt(data, at, dropped);
      if (colour !== lastColour) {
        let place = places.get(colour);
        if (place === undefined) {
          place = places.size;
          fits = place < MAX_COLOURS;
          places.set(colour, place);
        }
        lastColour = colour;
        lastPlace = place;
      }
      lines[pixel++] = lastPlace;
    }
    if (fits) return { colours: [...places.keys()], lines };
  }
}

/** A pixel as a number with red in the highest byte, without the lowest `dropped` bits of each channel. */
function colourAt(data: Uint8Array, at: number, dropped: number): number {
  const alpha = thin(data[at + 3] ?? 0, dropped);
  if (alpha === 0) return 0;
  const red = thin(data[at] ?? 0, dropped);
  const green = thin(data[at + 1] ?? 0, dropped);
  const blue = thin(data[at + 2] ?? 0, dropped);
  return red * 2 ** 24 + (green << 16) + (blue << 8) + alpha;
}

/** Drops low bits; 0 and 255 stay. */
function thin(value: number, dropped: number): number {
  const steps = 2 ** (8 - dropped) - 1;
  return dropped === 0
    ? value
    : dropped >= 8
      ? 0
      : Math.round((Math.round((value / 255) * steps) / steps) * 255);
}

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  framed.set(body, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}
