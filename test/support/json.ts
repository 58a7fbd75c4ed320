/** Reads parsed JSON of which nothing is known, such as the body of an answer. */

/** A step into JSON: the name of a member, or the index of an element. */
type Step = string | number;

/** The value at a path; undefined where there is none. */
export function at(json: unknown, ...path: readonly Step[]): unknown {
  let value = json;
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Object.getOwnPropertyDescriptor(value, step)?.value;
  }
  return value;
}

/** The array at a path. Throws where there is none. */
export function listAt(json: unknown, ...path: readonly Step[]): readonly unknown[] {
  const value = at(json, ...path);
  if (!Array.isArray(value)) throw new TypeError(`${path.join('.')} is no array: ${JSON.stringify(json)}`);
  return value;
}

/** The text at a path. Throws where there is none. */
export function textAt(json: unknown, ...path: readonly Step[]): string {
  const value = at(json, ...path);
  if (typeof value !== 'string') throw new TypeError(`${path.join('.')} is no text: ${JSON.stringify(json)}`);
  return value;
}

/** The number at a path. Throws where there is none. */
export function numberAt(json: unknown, ...path: readonly Step[]): number {
  const value = at(json, ...path);
  if (typeof value !== 'number')
    throw new TypeError(`${path.join('.')} is no number: ${JSON.stringify(json)}`);
  return value;
}

/** The object at a path. Throws where there is none. */
export function objectAt(json: unknown, ...path: readonly Step[]): object {
  const value = at(json, ...path);
  if (typeof value !== 'object' || value === null)
    throw new TypeError(`${path.join('.')} is no object: ${JSON.stringify(json)}`);
  return value;
}

/** The names of the members of the object at a path, sorted. Throws where there is none. */
export function namesAt(json: unknown, ...path: readonly Step[]): string[] {
  return Object.keys(objectAt(json, ...path)).sort();
}
