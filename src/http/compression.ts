/**
 * Compresses pages and their files if the client accepts it. Responses that no cache may store stay uncompressed: they
 * carry secrets, which the length of a compressed response could reveal (BREACH).
 */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { entityTag } from './conditional.ts';
import type { HttpResponse, Route } from './route.ts';

/** A content coding that is used here. */
type Coding = 'br' | 'gzip';

/** Shorter bodies fit into one or two packets uncompressed, bytes. */
const WORTHWHILE_BYTES = 1_024;
const TEXT = /^(?:text\/|application\/(?:json|xml)|image\/svg)/;
/** Responses that never change and are kept compressed. */
const KEPT = 100;

const brotli = promisify(brotliCompress);
const squeeze = promisify(gzip);

/** The same routes with compressed responses; the work runs in Node's thread pool. */
export function withCompression(routes: readonly Route[]): Route[] {
  const kept = new Map<string, Promise<Buffer>>();
  return routes.map((route) => ({
    ...route,
    async handle(request) {
      const answer = await route.handle(request);
      if (!isWorthwhile(answer)) return answer;
      const coding = chooseCoding(request.headers['accept-encoding']?.toString());
      const vary = [answer.headers.Vary, 'Accept-Encoding'].filter((name) => name !== undefined).join(', ');
      const headers: Readonly<Record<string, string>> = { ...answer.headers, Vary: vary };
      if (coding === null) return { ...answer, headers };
      const plain = answer.etag ?? entityTag(answer.body);
      // Another representation needs another strong validator (RFC 9110, 8.8.1).
      const etag = `${plain.slice(0, -1)}-${coding}"`;
      const isLasting = headers['Cache-Control']?.includes('immutable') === true;
      const making = kept.get(etag) ?? compress(answer.body, coding, isLasting);
      if (isLasting && kept.size < KEPT) kept.set(etag, making);
      return { ...answer, headers: { ...headers, 'Content-Encoding': coding }, body: await making, etag };
    },
  }));
}

function isWorthwhile({ status, headers, body, stream }: HttpResponse): boolean {
  return (
    status === 200 &&
    stream === undefined &&
    body.length >= WORTHWHILE_BYTES &&
    headers['Content-Encoding'] === undefined &&
    TEXT.test(headers['Content-Type'] ?? '') &&
    headers['Cache-Control']?.includes('no-store') !== true
  );
}

/** The best coding that the client accepts (RFC 9110, 12.5.3); null: none of these. */
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

/** Pages are compressed at each request, so fast; files once, so well. */
function compress(body: string | Uint8Array, coding: Coding, isLasting: boolean): Promise<Buffer> {
  if (coding === 'gzip') return squeeze(body, { level: isLasting ? 9 : 5 });
  return brotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: isLasting ? 11 : 4 } });
}
