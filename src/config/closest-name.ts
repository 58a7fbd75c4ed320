/** Finds the known name that is closest to a misspelt one. */

/** The candidate with the smallest edit distance from `name`, at most a third of its length; null: there is none. */
export function closest(name: string, candidates: readonly string[]): string | null {
  let best: { readonly candidate: string; readonly distance: number } | null = null;
  for (const candidate of candidates) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance <= MAX_SHARE * candidate.length && (best === null || distance < best.distance))
      best = { candidate, distance };
  }
  return best?.candidate ?? null;
}

/** Returns true if a name could be the candidate, misspelt. */
export function isClose(name: string, candidate: string): boolean {
  return editDistance(name, candidate) <= MAX_SHARE * candidate.length;
}

/** The largest share of letters that are wrong. */
const MAX_SHARE = 1 / 3;

/** Insertions, deletions, substitutions and transpositions (optimal string alignment distance). */
function editDistance(a: string, b: string): number {
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
          ? (before[j - 2] ?? 0) + 1
          : replaced;
      next.push(Math.min(replaced, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}
