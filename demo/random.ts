/** Chance that is the same each time. */

/** Numbers from 0 to 1 that look like chance and are the same for each name (mulberry32). */
export function createRandom(name: string): () => number {
  let state = 0;
  for (const character of name) state = (Math.imul(state, 31) + (character.codePointAt(0) ?? 0)) | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
