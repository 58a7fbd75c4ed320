/** Figures that an operator may set and a client must know; the documents of the API tell those in force. */

/** The figures. */
export interface ApiLimits {
  readonly anonymousPerMinute: number;
  readonly authenticatedPerMinute: number;
  /** Silence after which a service that reports by itself is down, where its owner set no period, milliseconds. */
  readonly silenceMs: number;
  readonly domainsPerAccount: number;
}

/** Makes what depends on the limits once for each of their values. */
export function perLimits<T>(limits: () => ApiLimits, make: (limits: ApiLimits) => T): () => T {
  let made: { readonly of: ApiLimits; readonly value: T } | null = null;
  return () => {
    const now = limits();
    if (made?.of !== now) made = { of: now, value: make(now) };
    return made.value;
  };
}
