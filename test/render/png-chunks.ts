/** Takes a PNG apart by its chunks. */
import { createHash } from 'node:crypto';
import { crc32, inflateSync } from 'node:zlib';

/** A chunk of a PNG. */
export interface PngChunk {
  readonly type: string;
  readonly data: Buffer;
  /** Whether its checksum is right. */
  readonly sound: boolean;
}

/** The chunks of a PNG in order. */
export function pngChunks(png: Uint8Array): PngChunk[] {
  const bytes = Buffer.from(png);
  const chunks: PngChunk[] = [];
  for (let at = 8; at < bytes.length; ) {
    const end = at + 8 + bytes.readUInt32BE(at);
    const sound = bytes.readUInt32BE(end) === crc32(bytes.subarray(at + 4, end));
    chunks.push({
      type: bytes.toString('latin1', at + 4, at + 8),
      data: bytes.subarray(at + 8, end),
      sound,
    });
    at = end + 4;
  }
  return chunks;
}

/** A digest of all that a PNG holds, whatever its pixels were packed by. */
export function pngContent(png: Uint8Array): string {
  const digest = createHash('sha256');
  for (const { type, data } of pngChunks(png))
    digest.update(type).update(type === 'IDAT' ? inflateSync(data) : data);
  return digest.digest('hex').slice(0, 16);
}
