/**
 * Pages of lists by cursor. A cursor is the place of an item in the order of a list, so that a page neither repeats nor
 * misses an item when others come and go. The `Link` header (RFC 8288) has the addresses of other pages.
 */
import { refuse, textParameter } from './parameters.ts';
import type { HttpRequest, HttpResponse } from './route.ts';

/** A member of a place: what the list is ordered by. */
export type PlaceMember = string | number;

export interface PlaceForm {
  /** The types of the members, in their order. */
  readonly types: readonly ('string' | 'number')[];
  /** True if a page may end before a place. Default false. */
  readonly goesBack?: boolean;
}

/** The beginning or the end of a page. */
export interface Cursor {
  /** True: the page ends before the place; false: it begins after it. */
  readonly isBefore: boolean;
  /** Results before the page when the cursor was made. */
  readonly offset: number;
  readonly place: readonly PlaceMember[];
}

/** Maximum length of a cursor, characters. */
const MAX_CURSOR_LENGTH = 2_000;
/** Maximum length of a query that is repeated in links, characters, so that the header stays acceptable to clients. */
const MAX_LINKED_QUERY_LENGTH = 2_000;

/** The parameter for the page that a link leads to. */
export const CURSOR_PARAMETER = textParameter(
  `^[A-Za-z0-9_-]{1,${MAX_CURSOR_LENGTH}}$`,
  'The page, as the Link header of another page gives it. It excludes "offset", and belongs to the list and the order that it comes from.',
);

/** Encodes a cursor of the list `list`, whose name contains its order. */
export function writeCursor(list: string, { isBefore, offset, place }: Cursor): string {
  return Buffer.from(JSON.stringify([list, isBefore ? 1 : 0, offset, ...place])).toString('base64url');
}

/**
 * Decodes the cursor of a request. Null: the request has none. Throws `invalid_parameter` for a text that
 * {@link writeCursor} did not make for this list, and for a cursor together with an offset over 0.
 */
export function readCursor(
  list: string,
  { types, goesBack = false }: PlaceForm,
  { cursor, offset = 0 }: { readonly cursor?: string | undefined; readonly offset?: number },
): Cursor | null {
  if (cursor === undefined) return null;
  if (offset > 0) throw refuse('cursor', 'is given together with "offset"; give one of them');
  const decoded = decode(cursor);
  if (decoded === null)
    throw refuse('cursor', 'is not one that the Link header of a page gave; begin without a cursor');
  const [name, before, count, ...place] = decoded;
  if (name !== list) throw refuse('cursor', 'belongs to another list or order; begin without a cursor');
  const isPlace = place.length === types.length && place.every((member, at) => typeof member === types[at]);
  const isDirection = before === 0 || (before === 1 && goesBack);
  if (!isPlace || !isDirection || !isCount(count))
    throw refuse('cursor', 'is not one that the Link header of a page gave; begin without a cursor');
  return { isBefore: before === 1, offset: count, place };
}

/** Null: the text is not the canonical form of a list of texts without control characters and of whole numbers. */
function decode(cursor: string): PlaceMember[] | null {
  if (cursor.length > MAX_CURSOR_LENGTH) return null;
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.toString('base64url') !== cursor) return null;
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return Array.isArray(value) && value.every(isMember) ? value : null;
  } catch {
    return null;
  }
}

function isMember(value: unknown): value is PlaceMember {
  return typeof value === 'string' ? !/\p{Cc}/u.test(value) : Number.isSafeInteger(value);
}

function isCount(value: PlaceMember | undefined): value is number {
  return typeof value === 'number' && value >= 0;
}

/** The cursors of the pages beside one; null: there is none, or it is not offered. */
export interface PagesBeside {
  readonly next: string | null;
  readonly prev: string | null;
}

/** A list of the API: the pattern of its route, and the parameters of its query. */
interface LinkedList {
  readonly path: string;
  readonly query: object;
}

/**
 * Adds the `Link` header with the first, the next and the previous page. Of the query of a request, only the parameters of the
 * list are repeated. A query over 2,000 characters gets no links.
 */
export function withLinks(
  answer: HttpResponse,
  { params, query }: HttpRequest,
  list: LinkedList,
  { next, prev }: PagesBeside,
): HttpResponse {
  if (query.length > MAX_LINKED_QUERY_LENGTH) return answer;
  const names = Object.keys(list.query);
  const filled = list.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const given = [...new URLSearchParams(query)].filter(
    ([name]) => names.includes(name) && name !== 'cursor' && name !== 'offset',
  );
  const linkTo = (relation: string, cursor: string | null) => {
    const parameters = new URLSearchParams(given);
    if (cursor !== null) parameters.set('cursor', cursor);
    return `<${filled}${parameters.size === 0 ? '' : `?${parameters}`}>; rel="${relation}"`;
  };
  const links = [
    linkTo('first', null),
    ...(next === null ? [] : [linkTo('next', next)]),
    ...(prev === null ? [] : [linkTo('prev', prev)]),
  ];
  return { ...answer, headers: { ...answer.headers, Link: links.join(', ') } };
}

/** The known end of a page that was read from a store. */
interface ReadPage {
  readonly limit: number;
  /** Results before the page. */
  readonly offset: number;
  /** Results of the whole list; null: the store was asked for one item beyond the page instead. */
  readonly total: number | null;
}

/**
 * The items of a page among those that a store found, and the cursor of the page after it. `placeOf` is the place of an
 * item in the order of the list.
 */
export function cutPage<Item>(
  list: string,
  found: readonly Item[],
  { limit, offset, total }: ReadPage,
  placeOf: (item: Item) => Cursor['place'],
): { readonly items: readonly Item[]; readonly beside: PagesBeside } {
  const items = found.slice(0, limit);
  const end = offset + items.length;
  const isLast = total === null ? found.length <= limit : end >= total;
  const last = isLast ? undefined : items.at(-1);
  const next =
    last === undefined ? null : writeCursor(list, { isBefore: false, offset: end, place: placeOf(last) });
  return { items, beside: { next, prev: null } };
}
