/** A cache of values that are costly to make: each is made once for all who ask for it, and reused for a time. */
import { BoundedMap } from './bounded-map.ts';

/** How the values of a cache are kept. */
export interface PromiseCacheOptions<Value> {
  /** Of more entries, the one made first is dropped. */
  readonly maxEntries: number;
  /** How long a value is reused, milliseconds. */
  readonly maxAgeMs: number;
  readonly now: () => number;
  /**
   * The value in place of one that could not be made, or what it throws, is reused as well; `last` is the newest value
   * that was made, or null. Null: the error is thrown and not kept, which is the default.
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
 * Creates an empty cache: a function that returns the value of a key. The value is made again if its content is another
 * one, or its time is over.
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
