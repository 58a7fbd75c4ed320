/** A map that keeps a bounded number of entries, and maps that are filled as they are read. */

/**
 * A map of at most `maxEntries` entries, 1 or more. `set` makes its entry the newest and removes the oldest entry if
 * the map is full. `get` does not change the order; with {@link BoundedMap.touch} the map is an LRU cache.
 */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #maxEntries: number;

  constructor(maxEntries: number) {
    super();
    this.#maxEntries = maxEntries;
  }

  override set(key: Key, value: Value): this {
    super.delete(key);
    super.set(key, value);
    if (this.size > this.#maxEntries) {
      for (const oldest of this.keys()) {
        super.delete(oldest);
        break;
      }
    }
    return this;
  }

  /** Returns the value of a key and makes its entry the newest; undefined: there is none. */
  touch(key: Key): Value | undefined {
    const value = this.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }
}

/** Returns the value of a key. If there is none, `make` makes it and the map stores it. */
export function getOrInsert<Key, Value>(
  map: { get(key: Key): Value | undefined; set(key: Key, value: Value): unknown },
  key: Key,
  make: () => Value,
): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
