/** What people send with forms: read with a bound, and taken from this site's own pages alone. */

import { HttpError } from './problem.ts';
import type { HttpRequest } from './route.ts';

const MAX_BYTES = 16 * 1024;

/** The fields of a form; of a repeated one the first counts. Throws an ApiError for what no form of ours sends. */
export async function readForm({ headers, readBody }: HttpRequest): Promise<ReadonlyMap<string, string>> {
  refuseOtherSites(headers);
  const [type = ''] = (headers['content-type'] ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/x-www-form-urlencoded' || readBody === undefined)
    throw new HttpError('unsupported_media_type', 'A form is sent as application/x-www-form-urlencoded.');
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams((await readBody(MAX_BYTES)).toString()))
    if (!fields.has(name)) fields.set(name, value.trim());
  return fields;
}

/** Browsers say where a request comes from; a form on another site has no business here. Throws `forbidden_form`. */
export function refuseOtherSites(headers: HttpRequest['headers']): void {
  const from = headers['sec-fetch-site'];
  if (from !== undefined && from !== 'same-origin' && from !== 'none')
    throw new HttpError('forbidden_form', 'This form was sent by another site.');
}

/** Answers a form: the browser goes on to a page of this site. */
export function seeOther(location: string, headers: Readonly<Record<string, string>> = {}) {
  return { status: 303, headers: { Location: location, 'Cache-Control': 'no-store', ...headers }, body: '' };
}
