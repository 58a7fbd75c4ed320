/** Load for benchmarks of requests. */

/** Makes `count` requests, `atOnce` at a time; returns the responses per second. */
export async function sendConcurrently(
  count: number,
  atOnce: number,
  one: (index: number) => Promise<void>,
): Promise<number> {
  let next = 0;
  const startedMs = performance.now();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next < count) await one(next++);
    }),
  );
  return count / ((performance.now() - startedMs) / 1_000);
}
