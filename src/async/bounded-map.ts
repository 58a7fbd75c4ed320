/** A map that keeps a bounded number of entries, and maps that are filled as they are read. */

/**
 * A map of at most `maxEntries` entries, 1 or more. `set` makes its entry the newest; of more entries, the oldest is
 * removed. `get` changes no order: with {@link BoundedMap.touch} the entry used least recently is the oldest.
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

  /** The value of a key, whose entry becomes the newest; undefined: there is none. */
  touch(key: Key): Value | undefined {
    const value = this.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }
}

/** The value of a key, which `make` makes and the map keeps where it has none. */
export function getOrInsert<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
