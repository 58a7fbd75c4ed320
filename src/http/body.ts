/** Reading the body of a request: JSON alone, up to a bound, and no more of it than we must. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { HttpError } from './problem.ts';

/** What a client may send beyond the bound before its connection is cut; it is read so that it sees the answer. */
const MAX_DISCARDED_BYTES = 1_048_576;

/**
 * Gives the body; rejects with `body_too_large` where it is longer than `maxBytes`. Called once at most. What comes
 * beyond is read and dropped up to `maxDiscardedBytes`, by default 1 MiB; then the connection is cut.
 */
export type ReadBody = (maxBytes: number, maxDiscardedBytes?: number) => Promise<Buffer>;

/** Refuses a body that is not declared to be JSON, or that is packed. Throws `unsupported_media_type`. */
export function requireJson(headers: IncomingHttpHeaders): void {
  const type = headers['content-type'] ?? '';
  const [essence = ''] = type.split(';');
  if (essence.trim().toLowerCase() !== 'application/json')
    throw new HttpError(
      'unsupported_media_type',
      `The body must be sent as Content-Type: application/json${type === '' ? '' : `, not ${type.slice(0, 100)}`}.`,
    );
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity')
    throw new HttpError('unsupported_media_type', 'The body must be sent without a Content-Encoding.');
}

/** The text of a body. Throws `invalid_body` for what is not UTF-8. */
export function decodeText(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new HttpError('invalid_body', 'The body is not UTF-8.', { place: '' });
  }
}

/** Reads the body of a message when it is asked to. */
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
      // Also after `end`, when it no longer matters.
      message.once('close', () => reject(new HttpError('bad_request', 'The body ended early.')));
    });
  };
}

/** Lets the rest of a body run into nothing, so that a client that is still sending reads our answer. */
function discard(message: IncomingMessage, maxBytes: number): void {
  let bytes = 0;
  message.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) message.destroy();
  });
}
