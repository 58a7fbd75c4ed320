/** Caches pictures: each is drawn at most once a minute, however many requests there are. */

import { BoundedMap } from '../async/bounded-map.ts';
import { entityTag } from '../http/conditional.ts';
import { HttpError } from '../http/problem.ts';
import type { HttpResponse } from '../http/route.ts';
import { isSampleReadError } from '../store/ports/samples.ts';

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
