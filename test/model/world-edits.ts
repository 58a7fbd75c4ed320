/** What owners change of the services of a world while it lasts. Times are whole seconds since its beginning. */
import fc from 'fast-check';

/**
 * A change of a service, by its index. `interval`, `slow`: its own interval, seconds, and limit of a good response, milliseconds;
 * null: the usual ones. `period`: that of its heartbeats, seconds; null: the usual silence. `target`: another URL is checked. What does
 * not fit the service, or changes nothing, is left out.
 */
export type Edit = { readonly at: number; readonly service: number } & (
  | { readonly what: 'interval' | 'slow' | 'period'; readonly value: number | null }
  | { readonly what: 'target' }
  | { readonly what: 'pause' }
  | { readonly what: 'resume' }
  | { readonly what: 'remove' }
);

/** Random changes in a world of so many seconds, with intervals so much longer than those of a world of minutes; `some` makes lists of them, up to a length. */
export function edits(
  seconds: number,
  services: number,
  slower: number,
  some: <T>(one: fc.Arbitrary<T>, most: number) => fc.Arbitrary<T[]>,
): fc.Arbitrary<readonly Edit[]> {
  const place = {
    at: fc.integer({ min: 0, max: seconds - 1 }),
    service: fc.nat({ max: services - 1 }),
  };
  const valued = (what: 'interval' | 'slow' | 'period', ...values: (number | null)[]): fc.Arbitrary<Edit> =>
    fc.record({ ...place, what: fc.constant(what), value: fc.constantFrom(...values) });
  const edit: fc.Arbitrary<Edit> = fc.oneof(
    valued('interval', 10 * slower, 20 * slower, 60 * slower, null),
    valued('slow', 1_000, null),
    valued('period', 20, 60, null),
    fc.record({
      ...place,
      what: fc.constantFrom('target' as const, 'pause' as const, 'resume' as const, 'resume' as const),
    }),
    fc.record({ ...place, what: fc.constantFrom('target' as const, 'pause' as const, 'remove' as const) }),
  );
  // Half of the worlds stay as they were defined.
  return fc
    .tuple(fc.boolean(), some(edit, 6))
    .map(([isEdited, all]) => (isEdited ? all.sort((a, b) => a.at - b.at) : []));
}
