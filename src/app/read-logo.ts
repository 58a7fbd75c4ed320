/** Validates the picture that an owner uploads as a logo, by its content and not by its file name or media type. */
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import type { Refusal } from '../domain/refusal.ts';
import { type LogoType, PAGE_BOUNDS } from '../domain/status-page.ts';
import type { StoredLogo } from '../store/ports/status-pages.ts';

/** A picture in the form in which it is stored, or why it is refused. */
export type LogoReading =
  | { readonly ok: true; readonly logo: StoredLogo }
  | { readonly ok: false; readonly problem: Refusal };

const TYPES: Readonly<Record<string, LogoType>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
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

/** Reads a picture: PNG, JPEG, WebP or GIF of at most 256 KiB, 16 to 2,048 pixels on each side. */
export function readLogo(bytes: Uint8Array): LogoReading {
  const { logoBytes, minLogoPixels, maxLogoPixels } = PAGE_BOUNDS;
  if (bytes.length === 0) return refuse({ code: 'logo_missing' });
  if (bytes.length > logoBytes) return refuse({ code: 'logo_too_large', maxBytes: logoBytes });
  if (isMarkup(bytes)) return refuse({ code: 'logo_svg' });
  const size = measure(bytes);
  if (size === null) return refuse({ code: 'logo_unreadable' });
  const { type, width, height } = size;
  if (Math.min(width, height) < minLogoPixels || Math.max(width, height) > maxLogoPixels)
    return refuse({ code: 'logo_dimensions', min: minLogoPixels, max: maxLogoPixels, width, height });
  const mark = createHash('sha256').update(bytes).digest('hex').slice(0, MARK_CHARACTERS);
  return { ok: true, logo: { type, width, height, mark, bytes } };
}

function measure(bytes: Uint8Array): { type: LogoType; width: number; height: number } | null {
  try {
    // The bytes are copied because the parser reads the underlying buffer, which may contain other data behind them.
    const { type = '', width, height } = loadImageSize()(new Uint8Array(bytes));
    const known = TYPES[type];
    const isWhole = [width, height].every((side) => Number.isSafeInteger(side) && side > 0);
    return known === undefined || !isWhole ? null : { type: known, width, height };
  } catch {
    return null;
  }
}

/** Text at the beginning of a document; no accepted picture begins like this. */
function isMarkup(bytes: Uint8Array): boolean {
  const start = new TextDecoder('utf-8').decode(bytes.subarray(0, 1_000)).trimStart();
  return start.startsWith('<');
}

function refuse(problem: Refusal): LogoReading {
  return { ok: false, problem };
}
