/**
 * What `npm test` says to the processes that it starts. By heaps for a large fleet and an allocator that returns nothing to the system
 * they take a quarter less CPU time. The program leaves alone what its environment says of these.
 */
export const QUICK_PROGRAMS = {
  /** Becomes `NODE_OPTIONS` of the programs. */
  TEST_NODE_OPTIONS: '--max-semi-space-size=32',
  MALLOC_MMAP_THRESHOLD_: String(4 * 1024 ** 2),
  MALLOC_TRIM_THRESHOLD_: String(256 * 1024 ** 2),
  MALLOC_TOP_PAD_: String(1024 ** 2),
} as const;

/** Environment of a program that is as users have it, in a run too: `install` starts it by the command. */
export const AS_SHIPPED = Object.fromEntries(Object.keys(QUICK_PROGRAMS).map((name) => [name, undefined]));
