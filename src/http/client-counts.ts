/** Counts what each client holds at a time, such as open streams. A client that holds nothing takes no memory. */

/** Counts by client. */
export interface ClientCounts {
  /** How many the client holds. */
  of(client: string): number;
  add(client: string): void;
  /** Takes one back that {@link add} counted. */
  remove(client: string): void;
}

/** Makes counts that are all 0. */
export function createClientCounts(): ClientCounts {
  const counts = new Map<string, number>();
  const of = (client: string) => counts.get(client) ?? 0;
  return {
    of,
    add: (client) => void counts.set(client, of(client) + 1),
    remove(client) {
      const left = of(client) - 1;
      if (left > 0) counts.set(client, left);
      else counts.delete(client);
    },
  };
}
