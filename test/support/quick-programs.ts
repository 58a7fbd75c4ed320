/**
 * What `npm test` says to the programs that it starts. By heaps for a large fleet and the usual allocator, which the program would have
 * with more services, a start takes a quarter less CPU time. The program leaves alone what its environment says of these.
 */
export const QUICK_PROGRAMS = {
  /** Becomes `NODE_OPTIONS` of the programs. */
  TEST_NODE_OPTIONS: '--max-semi-space-size=16',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
  MALLOC_TOP_PAD_: '131072',
} as const;

/** Environment of a program that is as users have it, in a run too: `install` starts it by the command. */
export const AS_SHIPPED = Object.fromEntries(Object.keys(QUICK_PROGRAMS).map((name) => [name, undefined]));
