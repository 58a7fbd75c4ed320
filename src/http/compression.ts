/**
 * Compresses pages and their files if the client accepts it. Responses with `no-store` stay uncompressed, because they
 * contain secrets, which the length of a compressed response could reveal (BREACH).
 */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { BoundedMap, getOrInsert } from '../async/bounded-map.ts';
import { entityTag } from './conditional.ts';
import { type HttpResponse, type Route, wrapReads } from './route.ts';

type Coding = 'br' | 'gzip';

/** Minimum size of a body to compress, bytes; a shorter one fits into one or two packets. */
const MIN_BODY_BYTES = 1_024;
const TEXT = /^(?:text\/|application\/(?:json|xml)|image\/svg)/;
/** Maximum number of cached compressed responses; only immutable ones are cached. */
const MAX_CACHED_RESPONSES = 100;

const brotli = promisify(brotliCompress);
const gzipBody = promisify(gzip);

/** Adds compression to the responses of routes. It runs in the thread pool of Node.js. */
export function withCompression(routes: readonly Route[]): Route[] {
  const cached = new BoundedMap<string, Promise<Buffer>>(MAX_CACHED_RESPONSES);
  return wrapReads(routes, (read) => async (request) => {
    const answer = await read(request);
    if (!isCompressible(answer)) return answer;
    const coding = chooseCoding(request.headers['accept-encoding']?.toString());
    const vary = [answer.headers.Vary, 'Accept-Encoding'].filter((name) => name !== undefined).join(', ');
    const headers: Readonly<Record<string, string>> = { ...answer.headers, Vary: vary };
    if (coding === null) return { ...answer, headers };
    const plain = answer.etag ?? entityTag(answer.body);
    // Each representation needs its own strong validator (RFC 9110, 8.8.1).
    const etag = `${plain.slice(0, -1)}-${coding}"`;
    const isImmutable = headers['Cache-Control']?.includes('immutable') === true;
    const body = isImmutable
      ? await getOrInsert(cached, etag, () => compress(answer.body, coding, isImmutable))
      : await compress(answer.body, coding, isImmutable);
    return { ...answer, headers: { ...headers, 'Content-Encoding': coding }, body, etag };
  });
}

function isCompressible({ status, headers, body, stream }: HttpResponse): boolean {
  return (
    status === 200 &&
    stream === undefined &&
    body.length >= MIN_BODY_BYTES &&
    headers['Content-Encoding'] === undefined &&
    TEXT.test(headers['Content-Type'] ?? '') &&
    headers['Cache-Control']?.includes('no-store') !== true
  );
}

/** The preferred coding that the client accepts (RFC 9110, 12.5.3); null: the client accepts none of them. */
export function chooseCoding(header = ''): Coding | null {
  const refused = new Set<string>();
  const taken = new Set<string>();
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
    const isRefused = parameters.some((parameter) => /^q=0(?:\.0{0,3})?$/.test(parameter));
    (isRefused ? refused : taken).add(name);
  }
  const takes = (name: string) => taken.has(name) || (taken.has('*') && !refused.has(name));
  return takes('br') ? 'br' : takes('gzip') ? 'gzip' : null;
}

/** Compresses a page fast, because it is compressed for each request, and an immutable file as small as possible. */
function compress(body: string | Uint8Array, coding: Coding, isImmutable: boolean): Promise<Buffer> {
  if (coding === 'gzip') return gzipBody(body, { level: isImmutable ? 9 : 5 });
  return brotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: isImmutable ? 11 : 4 } });
}
