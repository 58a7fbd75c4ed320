/**
 * Lists of what an account has, page by page as all lists of the API: `limit`, `offset` and `cursor`, `total`, and the `Link`
 * header (docs/api.md, Lists).
 */

import {
  CURSOR_PARAMETER,
  cutPage,
  type PlaceForm,
  type PlaceMember,
  readCursor,
  withLinks,
} from '../../http/cursor.ts';
import { LINK_HEADER, queryParameters } from '../../http/openapi.ts';
import {
  limitParameter,
  OFFSET_PARAMETER,
  type ParameterSchemas,
  type ParameterValues,
  readParameters,
} from '../../http/parameters.ts';
import { json, type KeyBearer, type Route } from '../../http/route.ts';
import { namedObject, PAGE_MEMBERS, whole } from '../../http/schema.ts';
import { type TSchema, Type } from '../../json-schema.ts';
import { bearerOf, type OwnEndpoint, ownRoute } from './write-route.ts';

export interface ListWindow {
  /** Number of items, one more than the page shows: whether it is there tells whether another page follows. */
  readonly limit: number;
  /** Items to leave out first; 0 with `after`. */
  readonly offset: number;
  /** The place after which the items begin; null: the beginning of the list. */
  readonly after: readonly PlaceMember[] | null;
}

export interface ListPart<Item> {
  readonly items: readonly Item[];
  /** Number of items of the whole list. */
  readonly total: number;
}

export interface OwnList<Item, Filters extends ParameterSchemas>
  extends Pick<OwnEndpoint, 'path' | 'id' | 'tag' | 'summary' | 'description'> {
  /** The name of the schema of a page, such as `ApiKeyList`. */
  readonly name: string;
  /** The member of a page that has the items, such as `keys`. */
  readonly member: string;
  readonly item: TSchema;
  /** The order, as a sentence of the OpenAPI document. */
  readonly order: string;
  /** Parameters of the query that narrow the list. Default none. */
  readonly filters?: Filters;
  /** The types of the members of a place. */
  readonly place: PlaceForm['types'];
  /** The place of an item in the order of the list; no two items have the same. */
  readonly placeOf: (item: Item) => readonly PlaceMember[];
  /** Reads a part of the list. {@link cutWindow} makes it from a list that is read as a whole. */
  readonly read: (
    accountId: number,
    window: ListWindow,
    filters: ParameterValues<Filters>,
  ) => Promise<ListPart<Item>>;
  /** An item as JSON, for the bearer of a key. */
  readonly view: (item: Item, key: KeyBearer) => object | Promise<object>;
}

const PAGE_QUERY = {
  limit: limitParameter(100, 500),
  offset: OFFSET_PARAMETER,
  cursor: CURSOR_PARAMETER,
};

/** Creates the route of a list, which needs a key with the scope `read`. */
export function ownListRoute<Item, const Filters extends ParameterSchemas = Record<never, never>>(
  list: OwnList<Item, Filters>,
): Route {
  const { path, id, tag, summary, description, name, member, item, order } = list;
  const filters: ParameterSchemas = list.filters ?? {};
  const query = { ...filters, ...PAGE_QUERY };
  const schema = namedObject(name, {
    [member]: Type.Array(item, { description: order }),
    total: whole('Number of items in the whole list.'),
    ...PAGE_MEMBERS,
  });
  return ownRoute({
    ...{ path, id, tag, summary, description },
    parameters: queryParameters(query),
    answers: { 200: { description: 'A page of the list.', headers: LINK_HEADER, schema } },
    problems: { 400: 'A parameter is not valid; the body names it.' },
    async handle(request) {
      const { limit, ...given } = readParameters(request.query, PAGE_QUERY);
      const cursor = readCursor(path, { types: list.place }, given);
      const window = {
        limit: limit + 1,
        offset: cursor === null ? given.offset : 0,
        after: cursor?.place ?? null,
      };
      const chosen = readParameters(request.query, filters) as ParameterValues<Filters>;
      const key = bearerOf(request);
      const { items: found, total } = await list.read(key.accountId, window, chosen);
      const { offset } = cursor ?? given;
      const { items, beside } = cutPage(path, found, { limit, offset, total: null }, list.placeOf);
      const shown = await Promise.all(items.map((one) => list.view(one, key)));
      const page = json({ [member]: shown, total, limit, offset });
      const headers = { ...page.headers, 'Cache-Control': 'private, no-cache' };
      return withLinks({ ...page, headers }, request, { path, query }, beside);
    },
  });
}

/** The place of an item in a list that is ordered by numbers, oldest first. */
export function placeOfId({ id }: { readonly id: number }): readonly [number] {
  return [id];
}

/** A part of a list that was read as a whole. The list may have any order; its parts are ordered by their places. */
export function cutWindow<Item>(
  all: readonly Item[],
  { limit, offset, after }: ListWindow,
  placeOf: (item: Item) => readonly PlaceMember[],
): ListPart<Item> {
  const ordered = all
    .map((item) => ({ item, place: placeOf(item) }))
    .sort((a, b) => comparePlaces(a.place, b.place));
  const rest =
    after === null ? ordered.slice(offset) : ordered.filter(({ place }) => comparePlaces(place, after) > 0);
  return { items: rest.slice(0, limit).map(({ item }) => item), total: all.length };
}

function comparePlaces(one: readonly PlaceMember[], other: readonly PlaceMember[]): number {
  for (const [index, member] of one.entries()) {
    const against = other[index] ?? member;
    if (member !== against) return member < against ? -1 : 1;
  }
  return 0;
}
