/** A map that keeps a bounded number of entries, maps that are filled as they are read, and caches of what is costly to make. */

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

interface PromiseCacheOptions<Value> {
  /** Maximum number of entries; when there are more, the oldest is dropped. */
  readonly maxEntries: number;
  /** The time for which a value is reused, milliseconds. */
  readonly maxAgeMs: number;
  readonly now: () => number;
  /**
   * Called when a value could not be made. The cache stores the value that it returns, or the error that it throws, as
   * it would store the value itself. `last` is the previous value, or null. If it returns null, the error is thrown and
   * not stored, which is also the default.
   */
  readonly recover?: (error: unknown, last: Value | null) => Value | null;
}

interface Entry<Value> {
  readonly content: string;
  readonly madeAt: number;
  readonly value: Promise<Value>;
  readonly last: Value | null;
}

/**
 * Creates an empty cache: a function that returns the value of a key. The value is made again if its content has
 * changed or if it has expired.
 */
export function createPromiseCache<Key, Value>({
  maxEntries,
  maxAgeMs,
  now,
  recover = () => null,
}: PromiseCacheOptions<Value>) {
  const entries = new BoundedMap<Key, Entry<Value>>(maxEntries);
  return (key: Key, content: string, make: () => Promise<Value>): Promise<Value> => {
    const known = entries.get(key);
    const madeAt = now();
    if (known?.content === content && Math.abs(madeAt - known.madeAt) < maxAgeMs) return known.value;
    const last = known?.last ?? null;
    const isCurrent = () => entries.get(key)?.value === value;
    const value = make().then(
      (made) => {
        if (isCurrent()) entries.set(key, { content, madeAt, value, last: made });
        return made;
      },
      (error: unknown) => {
        const recovered = recover(error, last);
        if (recovered !== null) return recovered;
        if (isCurrent()) entries.delete(key);
        throw error;
      },
    );
    entries.set(key, { content, madeAt, value, last });
    return value;
  };
}
