/** The common parts of charts and heat maps: query parameters, their part of the OpenAPI document, and the cache. */
import { createPromiseCache } from '../async/bounded-map.ts';
import type { Clock } from '../clock.ts';
import { PICTURE_THEMES, PICTURE_WINDOWS } from '../domain/picture.ts';
import { entityTag } from '../http/conditional.ts';
import {
  IF_NONE_MATCH,
  LIMIT_HEADERS,
  OPEN_TO_ALL,
  type OpenApiOperation,
  problems,
  queryParameters,
} from '../http/openapi.ts';
import { enumParameter, type ParameterSchemas } from '../http/parameters.ts';
import { type HttpError, retryLater } from '../http/problem.ts';
import type { HttpResponse } from '../http/route.ts';
import { isSampleReadError } from '../store/ports/samples.ts';

/** The query parameter for the window of a picture. */
export const WINDOW_PARAMETER = enumParameter(PICTURE_WINDOWS, 'How far back the picture looks.', '24h');
/** The query parameter for the colours of a picture. */
export const THEME_PARAMETER = enumParameter(PICTURE_THEMES, 'Colours for a light or a dark page.', 'light');

/** The part of an operation that all pictures share. `more`: additional errors, by status. */
export function pictureOperation(
  query: ParameterSchemas,
  more: Readonly<Record<string, string>>,
): Omit<OpenApiOperation, 'operationId' | 'summary' | 'description'> {
  return {
    tags: ['Pictures'],
    security: OPEN_TO_ALL,
    parameters: [...queryParameters(query), IF_NONE_MATCH],
    responses: {
      200: {
        description: 'The picture, to be kept by shared caches for 300 seconds.',
        headers: LIMIT_HEADERS,
        content: { 'image/png': { schema: { type: 'string', contentMediaType: 'image/png' } } },
      },
      304: { description: 'The client has it already (If-None-Match); this costs nothing of the limit.' },
      ...problems({
        400: 'A parameter is not known; the body names it.',
        401: 'The API key is not valid.',
        403: 'The API key lacks the scope read (insufficient_scope).',
        ...more,
        429: 'Too many requests; pictures have a limit of their own.',
        503: 'The store of past checks does not answer, or the first picture of a window takes long; Retry-After says when to come again.',
      }),
    },
  };
}

/** `Cache-Control` of badges (contract 4.6) and of all other pictures. */
export const PICTURE_CACHING = 'public, s-maxage=300, stale-while-revalidate=60';

/** Headers of an SVG. One that is opened by itself is a document; the policy does not let it load or run anything. */
export const SVG_HEADERS = {
  'Content-Type': 'image/svg+xml',
  'Content-Security-Policy': "default-src 'none'; sandbox",
} as const;

const HEADERS = { 'Content-Type': 'image/png', 'Cache-Control': PICTURE_CACHING };
/** The time for which a picture is cached while its content is the same, milliseconds. */
const PICTURE_KEPT_MS = 60_000;

/**
 * Creates a cache of `maxEntries` pictures. A picture is drawn again if its content has changed or a minute has passed.
 * While the sample store is unavailable, {@link lastOrUnavailable} applies.
 */
export function createPictureCache(maxEntries: number, now: () => number) {
  const maxAgeMs = PICTURE_KEPT_MS;
  const cached = createPromiseCache<string, HttpResponse>({
    maxEntries,
    maxAgeMs,
    now,
    recover: lastOrUnavailable,
  });
  return (place: string, content: string, draw: () => Promise<Uint8Array>) =>
    cached(place, content, async () => {
      const body = await draw();
      return { status: 200, headers: HEADERS, body, etag: entityTag(body) };
    });
}

/**
 * The replacement for a value that could not be made while the sample store is unavailable: the previous value, which
 * shows its own time. Throws `history_unavailable` if there is none. Returns null for any other error.
 */
function lastOrUnavailable<Value>(error: unknown, last: Value | null): Value | null {
  if (!isSampleReadError(error)) return null;
  if (last !== null) return last;
  throw historyUnavailable();
}

/** The refusal of a picture of past checks that cannot be read. */
function historyUnavailable(): HttpError {
  const detail = 'The store of past checks does not answer; badges do. Try again in a minute.';
  return retryLater('history_unavailable', 60, detail);
}

/** Time after which a client gets 503 with Retry-After, milliseconds; the picture is still drawn and cached. */
export const PICTURE_TIMEOUT_MS = 10_000;

/** The picture. Throws `history_unavailable` if it takes longer than {@link PICTURE_TIMEOUT_MS}. */
export async function withTimeout(picture: Promise<HttpResponse>, clock: Clock): Promise<HttpResponse> {
  let cancel = () => {};
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(PICTURE_TIMEOUT_MS, () =>
      reject(
        retryLater(
          'history_unavailable',
          10,
          'The checks for this picture are still being read. Try again in ten seconds.',
        ),
      ),
    );
  });
  // An error after the timeout is ignored, because the client already has a response.
  picture.catch(() => {});
  try {
    return await Promise.race([picture, late]);
  } finally {
    cancel();
  }
}
