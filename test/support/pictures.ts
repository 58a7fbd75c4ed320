/** Small pictures of each kind, made by hand: as much of a file as readers of its type and size need. */
import { crc32, deflateSync } from 'node:zlib';

const bytes = (...parts: readonly (string | Uint8Array | readonly number[])[]) =>
  Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))),
  );
const u16 = (value: number) => [value >> 8, value & 255];
const u32 = (value: number) => [...u16(value >>> 16), ...u16(value & 0xffff)];
const u16le = (value: number) => [value & 255, value >> 8];
const u24le = (value: number) => [value & 255, (value >> 8) & 255, value >> 16];
const u32le = (value: number) => [...u16le(value & 0xffff), ...u16le(value >>> 16)];

/** A grey PNG that every viewer shows. */
export function pngOf(width: number, height: number): Buffer {
  const chunk = (type: string, data: Uint8Array) => {
    const body = bytes(type, data);
    return bytes(u32(data.length), body, u32(crc32(body)));
  };
  const header = bytes(u32(width), u32(height), [8, 0, 0, 0, 0]);
  const rows = Buffer.alloc((width + 1) * height, 128);
  for (let row = 0; row < height; row++) rows[row * (width + 1)] = 0;
  return bytes(
    [0x89],
    'PNG\r\n\x1a\n',
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  );
}

/** The head of a GIF. */
export function gifOf(width: number, height: number): Buffer {
  return bytes('GIF89a', u16le(width), u16le(height), [0, 0, 0, 0x3b]);
}

/** The head of a JPEG. */
export function jpegOf(width: number, height: number): Buffer {
  const frame = [8, ...u16(height), ...u16(width), 1, 1, 0x11, 0];
  const app0 = bytes('JFIF\0', [1, 1, 0, ...u16(1), ...u16(1), 0, 0]);
  return bytes(
    [0xff, 0xd8, 0xff, 0xe0],
    u16(app0.length + 2),
    app0,
    [0xff, 0xc0],
    u16(frame.length + 2),
    frame,
    [0xff, 0xd9],
  );
}

/** The head of a WebP in the extended form. */
export function webpOf(width: number, height: number): Buffer {
  const data = [0, 0, 0, 0, ...u24le(width - 1), ...u24le(height - 1)];
  return bytes('RIFF', u32le(4 + 8 + data.length), 'WEBPVP8X', u32le(data.length), data);
}

/** An ICO that holds a PNG. */
export function icoOf(width: number, height: number): Buffer {
  const inner = pngOf(width, height);
  const entry = [
    width % 256,
    height % 256,
    0,
    0,
    ...u16le(1),
    ...u16le(32),
    ...u32le(inner.length),
    ...u32le(22),
  ];
  return bytes(u16le(0), u16le(1), u16le(1), entry, inner);
}

/** A BMP, which is no kind of logo. */
export function bmpOf(width: number, height: number): Buffer {
  return bytes(
    'BM',
    u32le(54),
    [0, 0, 0, 0],
    u32le(54),
    u32le(40),
    u32le(width),
    u32le(height),
    Buffer.alloc(28),
  );
}
