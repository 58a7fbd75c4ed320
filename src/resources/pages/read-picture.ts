/** Validates the picture that an owner uploads as a logo or favicon, by its content and not by its file name or media type. */
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import type { Refusal } from '../../domain/refusal.ts';
import { PICTURE_BOUNDS, type PictureType, type PictureUse } from '../../domain/status-page.ts';
import type { StoredPicture } from '../../store/ports/status-pages.ts';

/** A picture in the form in which it is stored, or why it is refused. */
export type PictureReading =
  | { readonly ok: true; readonly picture: StoredPicture }
  | { readonly ok: false; readonly problem: Refusal };

/** The parser's names of the formats, and their media types. */
const TYPES: Readonly<Record<string, { readonly format: string; readonly type: PictureType }>> = {
  png: { format: 'PNG', type: 'image/png' },
  jpg: { format: 'JPEG', type: 'image/jpeg' },
  webp: { format: 'WebP', type: 'image/webp' },
  gif: { format: 'GIF', type: 'image/gif' },
  ico: { format: 'ICO', type: 'image/x-icon' },
};
const MARK_CHARACTERS = 16;

let imageSize: typeof import('image-size').imageSize | null = null;

/** The parser of pictures, loaded on first use. It accepts no other formats. */
function loadImageSize(): typeof import('image-size').imageSize {
  if (imageSize === null) {
    const reader: typeof import('image-size') = createRequire(import.meta.url)('image-size');
    reader.disableTypes(reader.types.filter((type) => !(type in TYPES)));
    imageSize = reader.imageSize;
  }
  return imageSize;
}

/**
 * Reads a picture within the bounds of its use. Refused with `picture_missing`, `picture_too_large`, `picture_svg`,
 * `picture_unreadable` and `picture_dimensions`.
 */
export function readPicture(bytes: Uint8Array, use: PictureUse): PictureReading {
  const { formats, bytes: maxBytes, minPixels: min, maxPixels: max } = PICTURE_BOUNDS[use];
  if (bytes.length === 0) return refuse({ code: 'picture_missing' });
  if (bytes.length > maxBytes) return refuse({ code: 'picture_too_large', maxBytes });
  if (isMarkup(bytes)) return refuse({ code: 'picture_svg', formats });
  const size = measure(bytes);
  if (size === null || !formats.includes(size.format)) return refuse({ code: 'picture_unreadable', formats });
  const { type, width, height } = size;
  if (Math.min(width, height) < min || Math.max(width, height) > max)
    return refuse({ code: 'picture_dimensions', min, max, width, height });
  const mark = createHash('sha256').update(bytes).digest('hex').slice(0, MARK_CHARACTERS);
  return { ok: true, picture: { type, width, height, mark, bytes } };
}

function measure(bytes: Uint8Array) {
  try {
    // The bytes are copied because the parser reads the underlying buffer, which may contain other data behind them.
    const { type = '', width, height } = loadImageSize()(new Uint8Array(bytes));
    const known = TYPES[type];
    const isWhole = [width, height].every((side) => Number.isSafeInteger(side) && side > 0);
    return known === undefined || !isWhole ? null : { ...known, width, height };
  } catch {
    return null;
  }
}

/** Text at the beginning of a document; no accepted picture begins like this. */
function isMarkup(bytes: Uint8Array): boolean {
  const start = new TextDecoder('utf-8').decode(bytes.subarray(0, 1_000)).trimStart();
  return start.startsWith('<');
}

function refuse(problem: Refusal): PictureReading {
  return { ok: false, problem };
}
