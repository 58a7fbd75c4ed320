/** Parses forms of pages of this site, within limits. */
import { HttpError } from './problem.ts';
import type { HttpRequest } from './route.ts';

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

export interface UploadForm {
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
const MAX_DISCARDED_BYTES = 32 * 1024 * 1024;

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
    const body = await readBody(maxFileBytes + MAX_OTHER_BYTES, MAX_DISCARDED_BYTES);
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
