/** What services depend on: their parents, without which they cannot be reached, such as the router in front of them. */

/** Maximum number of parents of a service. */
export const MAX_PARENTS = 5;

/** Maximum number of ancestors of a service that are followed. */
const MAX_ANCESTORS = 100;

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
/**
 * All that a service depends on, directly or through others, each once, the nearest first. `parentsOf`: the direct parents of one; a
 * circle, which two changes at once could leave, ends where it closes.
 */
export function ancestorsOf<T extends { readonly id: number }>(
  service: T,
  parentsOf: (one: T) => readonly T[],
): readonly T[] {
  const found = new Map<number, T>();
  const waiting = [service];
  for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
    for (const parent of parentsOf(one)) {
      if (parent.id === service.id || found.has(parent.id)) continue;
      if (found.size >= MAX_ANCESTORS) return [...found.values()];
      found.set(parent.id, parent);
      waiting.push(parent);
    }
  }
  return [...found.values()];
}
