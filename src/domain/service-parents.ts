/** The parents of services, without which they cannot be reached, such as the router in front of them. */

/** Maximum number of parents of a service. */
export const MAX_PARENTS = 5;

/** Maximum number of ancestors of a service that are followed. */
const MAX_ANCESTORS = 100;

/**
 * The first circle through `start`, which begins and ends with it; null: there is none. `parentsOf`: the services that one depends on.
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
 * All services that one depends on, directly or through others, each once, the nearest first. `bySlug`: null: there is none. A circle,
 * which two changes at once could leave, ends where it closes.
 */
export function ancestorsOf<T extends Child>(service: T, bySlug: (slug: string) => T | null): readonly T[] {
  if (service.dependsOn === undefined) return [];
  const found = new Map<number, T>();
  const waiting = [service];
  for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
    for (const slug of one.dependsOn ?? []) {
      const parent = bySlug(slug);
      if (parent === null || parent.id === service.id || found.has(parent.id)) continue;
      if (found.size >= MAX_ANCESTORS) return [...found.values()];
      found.set(parent.id, parent);
      waiting.push(parent);
    }
  }
  return [...found.values()];
}

/** The members of a service that name its parents. */
interface Child {
  readonly id: number;
  readonly dependsOn?: readonly string[];
}
