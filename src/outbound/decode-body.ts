/** Undoes content codings within a bound, for servers that compress although we ask them not to. */
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import type { Headers } from './response-head.ts';

/** A decoded body, or why there is none. */
export type Decoded =
  | { readonly kind: 'body'; readonly body: Buffer }
  /** It would be longer than allowed: perhaps a bomb. Nothing beyond the bound was decoded. */
  | { readonly kind: 'overlong' }
  /** A coding that we do not know, or bytes that are not in it. */
  | { readonly kind: 'unreadable' };

/** Decodes `body` to at most `maxBytes`. Several codings over one another are refused. */
export function decodeBody(body: Buffer, headers: Headers, maxBytes: number): Decoded {
  const field = headers['content-encoding'];
  const coding = (typeof field === 'string' ? field : (field ?? []).join(',')).trim().toLowerCase();
  if (coding === '' || coding === 'identity') return { kind: 'body', body };
  if (body.length === 0) return { kind: 'body', body };
  const decode = DECODERS.get(coding);
  if (decode === undefined) return { kind: 'unreadable' };
  try {
    return { kind: 'body', body: decode(body, maxBytes) };
  } catch (error) {
    const tooLong = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    return { kind: tooLong ? 'overlong' : 'unreadable' };
  }
}

const DECODERS = new Map<string, (body: Buffer, maxOutputLength: number) => Buffer>(
  Object.entries({
    gzip: (body, maxOutputLength) => gunzipSync(body, { maxOutputLength }),
    'x-gzip': (body, maxOutputLength) => gunzipSync(body, { maxOutputLength }),
    // "deflate" is the zlib format (RFC 9110, 8.4.1.2), but some servers send bare deflate; the low four bits tell.
    deflate: (body, maxOutputLength) =>
      ((body[0] ?? 0) & 0x0f) === 8
        ? inflateSync(body, { maxOutputLength })
        : inflateRawSync(body, { maxOutputLength }),
    br: (body, maxOutputLength) => brotliDecompressSync(body, { maxOutputLength }),
    zstd: (body, maxOutputLength) => zstdDecompressSync(body, { maxOutputLength }),
  }),
);
