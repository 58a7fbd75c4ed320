/** Finds services whose name or domain is like a text with a slip of the finger: "githbu" finds GitHub. */
import type { Service } from '../../domain/service.ts';

/** Minimum length of a text in which slips are looked for; in shorter ones every word is like every other. */
const MIN_LENGTH = 4;
/** Minimum length of a text that may have two slips. */
const MIN_LENGTH_OF_TWO = 8;
/** Maximum number of services that are compared, which takes some 50 ms. */
const MAX_COMPARED = 100_000;

/**
 * The services that are like a text, the likest first, then in the given order: a word of the name, the name without
 * spaces or a label of the domain begins with the text but for a letter that is missing, added, wrong, or swapped with its
 * neighbour; two of them from eight letters on.
 */
export function findSimilar<Found>(
  services: readonly Found[],
  serviceOf: (found: Found) => Pick<Service, 'name' | 'domain'>,
  written: string,
  limit: number,
): readonly Found[] {
  const text = plain(written);
  if (text.length < MIN_LENGTH) return [];
  const most = text.length < MIN_LENGTH_OF_TWO ? 1 : 2;
  const byDistance: Found[][] = Array.from({ length: most + 1 }, () => []);
  for (const service of services.slice(0, MAX_COMPARED)) {
    const distance = Math.min(...wordsOf(serviceOf(service)).map((word) => distanceOf(text, word, most)));
    byDistance[distance]?.push(service);
  }
  return byDistance.flat().slice(0, limit);
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .slice(0, 40);
}

function wordsOf({ name, domain }: Pick<Service, 'name' | 'domain'>): readonly string[] {
  return [...new Set([name, ...name.split(/[^\p{L}\p{N}]+/u), ...domain.split('.').slice(0, -1)].map(plain))];
}

/**
 * The number of slips (optimal string alignment) between the text and the likest beginning of the word; a number above
 * `most` if there are more.
 */
function distanceOf(text: string, word: string, most: number): number {
  if (word.length < text.length - most) return most + 1;
  const beginning = word.slice(0, text.length + most);
  let before: number[] = [];
  let last = Array.from({ length: beginning.length + 1 }, (_, column) => column);
  for (let row = 1; row <= text.length; row++) {
    const next = [row];
    for (let column = 1; column <= beginning.length; column++) {
      const isSame = text[row - 1] === beginning[column - 1];
      const isSwapped =
        row > 1 &&
        column > 1 &&
        text[row - 1] === beginning[column - 2] &&
        text[row - 2] === beginning[column - 1];
      next[column] = Math.min(
        (last[column] ?? 0) + 1,
        (next[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (before[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    if (Math.min(...next) > most) return most + 1;
    before = last;
    last = next;
  }
  // The rest of a longer word costs nothing, since the reader may still be typing.
  return Math.min(...last.slice(Math.max(0, text.length - most)));
}
