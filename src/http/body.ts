/** Reads the body of a request up to a maximum size. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { HttpError } from './problem.ts';

/**
 * Number of bytes beyond the limit that are read and dropped, so that a client that is still sending gets the response.
 */
const MAX_DISCARDED_BYTES = 1_048_576;

/**
 * Reads the body. Call it at most once. Rejects with `body_too_large` if the body is longer than `maxBytes`; then up to
 * `maxDiscardedBytes` more, by default 1 MiB, are read and dropped before the connection is closed.
 */
export type ReadBody = (maxBytes: number, maxDiscardedBytes?: number) => Promise<Buffer>;

export interface BodyStart {
  readonly bytes: Buffer;
  /** False: the body was longer, or its client left before the end. */
  readonly isWhole: boolean;
}

/**
 * Reads the first `maxBytes` of a body, without waiting for the rest, which is dropped. Call it at most once. Never rejects: what
 * arrived before the client left counts. The response to a body that is not whole ends by {@link endWhileReceiving}.
 */
export type ReadBodyStart = (maxBytes: number) => Promise<BodyStart>;

/** Throws `unsupported_media_type` for a body that is not declared as one of `types`, or that is compressed. */
export function requireType(
  headers: IncomingHttpHeaders,
  types: readonly string[] = ['application/json'],
): void {
  const type = headers['content-type'] ?? '';
  const [essence = ''] = type.split(';');
  if (!types.includes(essence.trim().toLowerCase()))
    throw new HttpError(
      'unsupported_media_type',
      `The body must be sent as Content-Type: ${types.join(' or ')}${type === '' ? '' : `, not ${type.slice(0, 100)}`}.`,
    );
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity')
    throw new HttpError('unsupported_media_type', 'The body must be sent without a Content-Encoding.');
}

/** Decodes a body. Throws `invalid_body` if it is not UTF-8. */
export function decodeText(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new HttpError('invalid_body', 'The body is not UTF-8.', { place: '' });
  }
}

/** Nesting of lists and objects; bodies of this site need less than 10. What walks through one uses the stack. */
const MAX_DEPTH = 100;

/** Parses a body as JSON. Throws `invalid_body` if it is not, or nested too deeply. */
export function parseJson(body: Uint8Array): unknown {
  const text = decodeText(body);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new HttpError('invalid_body', 'The body is not JSON.', { place: '' });
  }
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH)
      throw new HttpError('invalid_body', `The body is nested more than ${MAX_DEPTH} deep.`, { place: '' });
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  }
  return value;
}

/** Creates the reader of a message's body. Nothing is read before the reader is called. */
export function createBodyReader(message: IncomingMessage): ReadBody {
  return (maxBytes, maxDiscardedBytes = MAX_DISCARDED_BYTES) => {
    const tooLarge = () =>
      new HttpError('body_too_large', `The body is longer than ${maxBytes} bytes.`, { limit: maxBytes });
    const declared = Number(message.headers['content-length'] ?? 0);
    if (declared > maxBytes) {
      discard(message, maxDiscardedBytes);
      return Promise.reject(tooLarge());
    }
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let length = 0;
      const onData = (chunk: Buffer) => {
        length += chunk.length;
        if (length <= maxBytes) {
          chunks.push(chunk);
          return;
        }
        message.off('data', onData);
        discard(message, maxDiscardedBytes);
        reject(tooLarge());
      };
      message.on('data', onData);
      message.once('end', () => resolve(Buffer.concat(chunks)));
      // `close` is also emitted after `end`, when the rejection has no effect.
      message.once('close', () => reject(new HttpError('bad_request', 'The body ended early.')));
    });
  };
}

/** Number of bytes after the start of a body that are read and dropped, for clients that read no response before they have sent it all. */
const MAX_DISCARDED_AFTER_START_BYTES = 67_108_864;

/** Creates the reader of the start of a message's body. Nothing is read before the reader is called. */
export function createBodyStartReader(message: IncomingMessage): ReadBodyStart {
  return (maxBytes) =>
    new Promise((resolve) => {
      const chunks: Buffer[] = [];
      let length = 0;
      const finish = (isWhole: boolean) =>
        resolve({ bytes: Buffer.concat(chunks, Math.min(length, maxBytes)), isWhole });
      const onData = (chunk: Buffer) => {
        chunks.push(chunk);
        length += chunk.length;
        if (length <= maxBytes) return;
        message.off('data', onData);
        discard(message, MAX_DISCARDED_AFTER_START_BYTES);
        finish(false);
      };
      message.on('data', onData);
      message.once('end', () => finish(true));
      // `close` is also emitted after `end`, when it has no effect.
      message.once('close', () => finish(false));
    });
}

/**
 * Sends the rest of a response whose client may still be sending. The headers have told it by `Connection: close` to stop; closing the
 * connection at once would reset it before the client has read the response. The server's time limit for requests ends it at last.
 */
export function endWhileReceiving(response: ServerResponse, body: string): void {
  const { req } = response;
  response.write(body);
  if (req.complete || req.destroyed) response.end();
  else req.once('end', () => response.end());
}

/** Reads and drops the rest of a body, so that a client that is still sending gets the response. */
function discard(message: IncomingMessage, maxBytes: number): void {
  let bytes = 0;
  message.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) message.destroy();
  });
}
