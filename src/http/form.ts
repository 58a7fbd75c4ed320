/** Reads forms, with a bound, and only from pages of this site. */
import { HttpError } from './problem.ts';
import type { HttpRequest } from './route.ts';

const MAX_BYTES = 16 * 1024;

/** The fields of a form; the first of a repeated one counts. Throws an HttpError for what no form of ours sends. */
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

/** Throws `forbidden_form` if the browser says that the form stands on another site (Fetch Metadata). */
export function refuseOtherSites(headers: HttpRequest['headers']): void {
  const from = headers['sec-fetch-site'];
  if (from !== undefined && from !== 'same-origin' && from !== 'none')
    throw new HttpError('forbidden_form', 'This form was sent by another site.');
}

/** The response to a form: the browser goes to `location` on this site. */
export function seeOther(location: string, headers: Readonly<Record<string, string>> = {}) {
  return { status: 303, headers: { Location: location, 'Cache-Control': 'no-store', ...headers }, body: '' };
}
