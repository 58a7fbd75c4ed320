/** What services depend on: their parents, without which they cannot be reached, such as the router in front of them. */

/** Maximum number of parents of a service. */
export const MAX_PARENTS = 5;

/**
 * The first circle through `start`, which begins and ends with it; null: there is none. `parentsOf`: the services that one depends
 * on.
 */
export function findCircle(
  start: string,
  parentsOf: (name: string) => readonly string[],
): readonly string[] | null {
  const ways: (readonly string[])[] = [[start]];
  const seen = new Set<string>();
  for (let way = ways.shift(); way !== undefined; way = ways.shift()) {
    for (const parent of parentsOf(way.at(-1) ?? start)) {
      if (parent === start) return [...way, start];
      if (seen.has(parent)) continue;
      seen.add(parent);
      ways.push([...way, parent]);
    }
  }
  return null;
}
