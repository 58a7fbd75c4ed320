/** Pictures that are drawn at most once a minute, however often and at once they are asked for. */

import { entityTag } from '../http/conditional.ts';
import { ApiError } from '../http/problem.ts';
import type { ApiAnswer } from '../http/route.ts';
import { isSampleReadError } from '../store/ports/samples.ts';

/** Makes a picture: its bytes. */
export type MakePicture = () => Promise<Uint8Array>;

/** Gives the answer that is kept for a place, or makes it anew where its content is another or a minute has passed. */
export type KeepPicture = (place: string, content: string, make: MakePicture) => Promise<ApiAnswer>;

/** A picture is not drawn again for so long, as long as its content is the same. */
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
  readonly answer: Promise<ApiAnswer>;
  /** The last one that could be made; null: none could. */
  readonly before: ApiAnswer | null;
}

/**
 * Makes a keeper of `most` pictures; beyond, the one made first goes. While the store of the samples is away, the
 * picture that was made before stands in, with its own time on it; without one: `history_unavailable`.
 */
export function createPictureKeeper(most: number, now: () => number): KeepPicture {
  const kept = new Map<string, Kept>();
  return (place, content, make) => {
    const known = kept.get(place);
    const madeAt = now();
    if (known?.content === content && Math.abs(madeAt - known.madeAt) < PICTURE_KEPT_MS) return known.answer;
    const before = known?.before ?? null;
    const answer: Promise<ApiAnswer> = make().then(
      (body) => {
        const made: ApiAnswer = { status: 200, headers: HEADERS, body, etag: entityTag(body) };
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
        throw new ApiError('history_unavailable', detail, {}, { 'Retry-After': '60' });
      },
    );
    kept.delete(place);
    kept.set(place, { content, madeAt, answer, before });
    if (kept.size > most) kept.delete(kept.keys().next().value ?? place);
    return answer;
  };
}
