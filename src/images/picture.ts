/** What charts and heat maps have in common: query parameters, their part of the OpenAPI document, and the cache. */
import { BoundedMap } from '../async/bounded-map.ts';
import { PICTURE_THEMES, PICTURE_WINDOWS } from '../domain/picture.ts';
import { entityTag } from '../http/conditional.ts';
import {
  LIMIT_HEADERS,
  OPEN_TO_ALL,
  type OpenApiOperation,
  problems,
  queryParameters,
} from '../http/openapi.ts';
import { type ParameterSchemas, wordParameter } from '../http/parameters.ts';
import { HttpError } from '../http/problem.ts';
import type { HttpResponse } from '../http/route.ts';
import { isSampleReadError } from '../store/ports/samples.ts';

/** The query parameter for the window of a picture. */
export const WINDOW_PARAMETER = wordParameter(PICTURE_WINDOWS, 'How far back the picture looks.', '24h');
/** The query parameter for the colours of a picture. */
export const THEME_PARAMETER = wordParameter(PICTURE_THEMES, 'Colours for a light or a dark page.', 'light');

/** The part of an operation that is the same for every picture. `more`: errors beyond the usual ones, by status. */
export function pictureOperation(
  query: ParameterSchemas,
  more: Readonly<Record<string, string>>,
): Omit<OpenApiOperation, 'operationId' | 'summary' | 'description'> {
  return {
    tags: ['Pictures'],
    security: OPEN_TO_ALL,
    parameters: queryParameters(query),
    responses: {
      200: {
        description: 'The picture, to be kept by shared caches for 300 seconds.',
        headers: LIMIT_HEADERS,
        content: { 'image/png': { schema: { type: 'string', contentMediaType: 'image/png' } } },
      },
      304: { description: 'The client has it already; this costs nothing of the limit.' },
      ...problems({
        400: 'A parameter is not known; the body names it.',
        401: 'The API key is not valid.',
        ...more,
        429: 'Too many requests; pictures have a limit of their own.',
        503: 'The store of past checks does not answer, or the first picture of a window takes long; Retry-After says when to come again.',
      }),
    },
  };
}

/** Makes a picture: its bytes. */
export type DrawPicture = () => Promise<Uint8Array>;

/** Returns the cached response for a key, or draws it again if its content has changed or a minute has passed. */
export type PictureCache = (place: string, content: string, make: DrawPicture) => Promise<HttpResponse>;

/** A picture with the same content is drawn at most once in this time. */
export const PICTURE_KEPT_MS = 60_000;

/** How long caches may keep a badge (contract 4.6), and any other picture. */
export const PICTURE_CACHING = 'public, s-maxage=300, stale-while-revalidate=60';

const HEADERS = {
  'Content-Type': 'image/png',
  'Cache-Control': PICTURE_CACHING,
};

interface Kept {
  readonly content: string;
  readonly madeAt: number;
  readonly answer: Promise<HttpResponse>;
  /** The last one that was drawn; null: none was. */
  readonly before: HttpResponse | null;
}

/**
 * Makes a cache of `most` pictures; beyond, the one drawn first is dropped. While the sample store is out of reach, the
 * last picture is returned, with its own time on it; without one, it throws `history_unavailable`.
 */
export function createPictureCache(most: number, now: () => number): PictureCache {
  const kept = new BoundedMap<string, Kept>(most);
  return (place, content, make) => {
    const known = kept.get(place);
    const madeAt = now();
    if (known?.content === content && Math.abs(madeAt - known.madeAt) < PICTURE_KEPT_MS) return known.answer;
    const before = known?.before ?? null;
    const answer: Promise<HttpResponse> = make().then(
      (body) => {
        const made: HttpResponse = { status: 200, headers: HEADERS, body, etag: entityTag(body) };
        if (kept.get(place)?.answer === answer) kept.set(place, { content, madeAt, answer, before: made });
        return made;
      },
      (error: unknown) => {
        if (!isSampleReadError(error)) {
          if (kept.get(place)?.answer === answer) kept.delete(place);
          throw error;
        }
        if (before !== null) return before;
        const detail =
          'The store of past checks does not answer; the status badge does. Try again in a minute.';
        throw new HttpError('history_unavailable', detail, {}, { 'Retry-After': '60' });
      },
    );
    kept.set(place, { content, madeAt, answer, before });
    return answer;
  };
}
