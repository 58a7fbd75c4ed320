/** JSON Merge Patch (RFC 7396). */

/** Documents are no deeper; below, a patch replaces what it meets. */
const MAX_DEPTH = 20;

/** The target after the patch: members that are null are removed, objects are merged, and all else is replaced. */
export function mergePatch(target: unknown, patch: unknown, depth = 0): unknown {
  if (!isObject(patch) || depth === MAX_DEPTH) return patch;
  const merged = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value, depth + 1));
  }
  return Object.fromEntries(merged);
}

/** Returns true if a value is an object, and no list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
