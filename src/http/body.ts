/** Reads the body of a request up to a maximum size, and the forms of this site's pages within limits. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { HttpError } from './problem.ts';
import type { HttpRequest, ReadBody, ReadBodyStart } from './route.ts';

/**
 * Number of bytes beyond the limit that are read and dropped, so that a client that is still sending gets the response.
 */
const MAX_DISCARDED_BYTES = 1_048_576;

/** Throws `unsupported_media_type` for a body that is not declared as one of `types`, or that is compressed. */
export function requireType(
  headers: IncomingHttpHeaders,
  types: readonly string[] = ['application/json'],
): void {
  const type = headers['content-type'] ?? '';
  const [essence = ''] = type.split(';');
  if (!types.includes('*/*') && !types.includes(essence.trim().toLowerCase()))
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

const MAX_BYTES = 16 * 1024;

/** Returns the fields of a form. The first value of a repeated field counts. Throws an HttpError if it is invalid. */
export async function readForm(request: HttpRequest): Promise<ReadonlyMap<string, string>> {
  refuseOtherSites(request);
  const { headers, readBody } = request;
  const [type = ''] = (headers['content-type'] ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/x-www-form-urlencoded' || readBody === undefined)
    throw new HttpError('unsupported_media_type', 'A form is sent as application/x-www-form-urlencoded.');
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams((await readBody(MAX_BYTES)).toString()))
    if (!fields.has(name)) fields.set(name, value.trim());
  return fields;
}

/**
 * Throws `forbidden_form` if the browser says that another site sent the form. Browsers send `Sec-Fetch-Site` to https alone, and
 * `Origin` with every form. A proxy may change `Host`, so that the configured address counts too.
 */
function refuseOtherSites({ headers, siteHost }: HttpRequest): void {
  const { origin, host } = headers;
  const from = headers['sec-fetch-site'];
  const isOwn =
    from === undefined
      ? origin === undefined || [host, siteHost].includes(URL.parse(origin)?.host ?? '')
      : from === 'same-origin' || from === 'none';
  if (!isOwn) throw new HttpError('forbidden_form', 'This form was sent by another site.');
}

/** The response to a form: a redirect to `location` on this site. */
export function seeOther(location: string, headers: Readonly<Record<string, string>> = {}) {
  return { status: 303, headers: { Location: location, 'Cache-Control': 'no-store', ...headers }, body: '' };
}

interface UploadForm {
  /** The first value of a repeated field counts. */
  readonly fields: ReadonlyMap<string, string>;
  /** The first file; null: none was chosen, or its field has another name. */
  readonly file: Buffer | null;
  /** True if the file or the whole body was too long. */
  readonly tooLarge: boolean;
}

const MAX_FIELDS = 10;
const MAX_FIELD_BYTES = 2_000;
/** Maximum size of everything but the file: fields and the headers of parts. */
const MAX_OTHER_BYTES = 16 * 1024;
/** Number of bytes to read and drop after a file that is too large, so that the browser shows the response. */
const MAX_DISCARDED_AFTER_FILE_BYTES = 32 * 1024 * 1024;

/**
 * Reads a form whose field `fileField` is a file of at most `maxFileBytes`. The name and the type that the browser
 * gives the file are ignored. Throws an HttpError for a body that no form of this site sends.
 */
export async function readUpload(
  request: HttpRequest,
  fileField: string,
  maxFileBytes: number,
): Promise<UploadForm> {
  refuseOtherSites(request);
  const { headers, readBody } = request;
  const type = headers['content-type'] ?? '';
  if (!/^multipart\/form-data *;/i.test(type) || readBody === undefined)
    throw new HttpError('unsupported_media_type', 'This form is sent as multipart/form-data.');
  try {
    const body = await readBody(maxFileBytes + MAX_OTHER_BYTES, MAX_DISCARDED_AFTER_FILE_BYTES);
    return await parse(body, type, fileField, maxFileBytes);
  } catch (error) {
    if (!(error instanceof HttpError) || error.code !== 'body_too_large') throw error;
    return { fields: new Map(), file: null, tooLarge: true };
  }
}

async function parse(
  body: Buffer,
  type: string,
  fileField: string,
  maxFileBytes: number,
): Promise<UploadForm> {
  // Few forms have a file.
  const { Busboy } = await import('@fastify/busboy');
  return await new Promise((resolve, reject) => {
    const unreadable = () => reject(new HttpError('bad_request', 'The form cannot be read.'));
    const fields = new Map<string, string>();
    const chunks: Buffer[] = [];
    let hasFile = false;
    let tooLarge = false;
    try {
      const parser = new Busboy({
        headers: { 'content-type': type },
        limits: {
          fileSize: maxFileBytes,
          files: 1,
          fields: MAX_FIELDS,
          fieldSize: MAX_FIELD_BYTES,
          headerPairs: 20,
          headerSize: 4_096,
        },
      });
      parser.on('field', (name, value) => {
        if (!fields.has(name)) fields.set(name, value.trim());
      });
      parser.on('file', (name, stream) => {
        stream.on('error', unreadable);
        stream.on('limit', () => {
          tooLarge = true;
        });
        stream.on('data', (chunk: Buffer) => {
          if (name === fileField) chunks.push(chunk);
        });
        if (name === fileField) hasFile = true;
      });
      parser.on('error', unreadable);
      parser.on('finish', () => {
        const file = Buffer.concat(chunks);
        // Browsers send an empty file if none was chosen.
        resolve({ fields, file: hasFile && file.length > 0 ? file : null, tooLarge });
      });
      parser.end(body);
    } catch {
      unreadable();
    }
  });
}
