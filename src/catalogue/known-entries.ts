/** Recognizes the entries of a list that an earlier reading of it had, by their hashes. */

/** After so many entries that were found at another place than the next one, places are no longer looked for. */
const MAX_JUMPS = 200;

/** `hashes`: of the entries of the earlier reading, in their order, all different. */
export function createKnownEntries(hashes: Float64Array) {
  /** Where the next entry is if nothing was added, removed or moved before it. */
  let next = 0;
  let jumps = 0;
  /** 1: the entry at that place was found. */
  const found = new Uint8Array(hashes.length);
  let hasDouble = false;
  let isEachPlaced = true;
  let sorted: Float64Array | null = null;
  const note = (place: number): void => {
    if (found[place] === 1) hasDouble = true;
    found[place] = 1;
    next = place + 1;
  };
  return {
    /** Whether the earlier reading had an entry with this hash. Entries are given in the order of the present reading. */
    has(hash: number): boolean {
      if (hashes[next] === hash) {
        note(next);
        return true;
      }
      sorted ??= hashes.slice().sort();
      if (!hasSorted(sorted, hash)) {
        // Most of what is new is an entry that was edited in its place.
        next++;
        return false;
      }
      if (jumps++ < MAX_JUMPS) note(hashes.indexOf(hash));
      else isEachPlaced = false;
      return true;
    },
    /** Whether an entry of the earlier reading was found twice; null: not known. */
    hasDouble: (): boolean | null => (hasDouble ? true : isEachPlaced ? false : null),
  };
}

function hasSorted(sorted: Float64Array, value: number): boolean {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === value;
}
