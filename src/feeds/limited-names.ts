/** Look-ups for one document; pages of vendors need a few hundred. */
const MAX_LOOKUPS = 2_000;

/**
 * The names of parts by identifier, empty where there is none and after 2,000 look-ups: a document in which all entries refer to all
 * parts must not grow to their product.
 */
export function limitedNames(names: ReadonlyMap<string, string>): (id: string) => string {
  let left = MAX_LOOKUPS;
  return (id) => (left-- > 0 ? (names.get(id) ?? '') : '');
}
