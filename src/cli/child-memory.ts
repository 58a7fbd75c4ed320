/**
 * Chooses options of the program's process that reduce its memory: fewer arenas, compiled sources at hand, small heaps.
 */
import { SMALL_HEAPS, SMALL_MAIN_HEAP, USUAL_HEAPS } from '../thread/v8-options.ts';

/** With less memory than this, bytes, heaps are kept small at the cost of more garbage collections. */
export const SMALL_BYTES = 1_073_741_824;
/** A fleet of so many services, with so many checks a second at the usual interval, does as well with small heaps. */
const SMALL_FLEET = { services: 5_000, checksPerSecond: 100 };
/** Threads share Node's own list of authorities if it has the machine's too; see `outbound/trust.ts`. */
const SHARED_AUTHORITIES = '--use-system-ca';
/** By default the allocator has several heaps per processor, which do not share freed memory. */
const ARENAS = '2';
/**
 * One heap. Freed blocks of 8 KiB and more, such as data read from a connection and what V8 parses and compiles in, are returned to the
 * system. With 16 KiB the program held 6 MB more: the smaller blocks of a start lay between those that stay. Without a pad, the system
 * would be asked for each page alone, which took 40 ms of a start.
 */
const SMALL_ALLOCATOR = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '8192',
  MALLOC_TRIM_THRESHOLD_: '65536',
  MALLOC_TOP_PAD_: '65536',
};

/** Returns true if a fleet does as well with small heaps; `services` null: it is not known how many there are. */
export function isSmallFleet(services: number | null, intervalMs: number): boolean {
  if (services === null || services > SMALL_FLEET.services) return false;
  return (services * 1_000) / intervalMs <= SMALL_FLEET.checksPerSecond;
}

/**
 * Returns the options and variables with which a process is started. `isSmall`: its heaps are kept small. `cacheDir`:
 * where compiled sources are kept, which saves each thread the compiler of TypeScript, about 10 MiB; null: nowhere.
 * Variables that `env` already contains stay unchanged.
 */
export function planMemory(
  env: Readonly<Record<string, string | undefined>>,
  isSmall: boolean,
  cacheDir: string | null,
) {
  const isOwn = /--max-semi-space-size/.test(env.NODE_OPTIONS ?? '');
  const wanted = {
    ...(isSmall ? SMALL_ALLOCATOR : { MALLOC_ARENA_MAX: ARENAS }),
    ...(cacheDir === null ? {} : { NODE_COMPILE_CACHE: cacheDir }),
  };
  const small = /--max-old-space-size/.test(env.NODE_OPTIONS ?? '')
    ? SMALL_HEAPS
    : [...SMALL_HEAPS, SMALL_MAIN_HEAP];
  return {
    execArgv: [SHARED_AUTHORITIES, ...(isOwn ? [] : isSmall ? small : USUAL_HEAPS)],
    env: Object.fromEntries(Object.entries(wanted).filter(([name]) => env[name] === undefined)),
  };
}

/** Returns what {@link planMemory} does for large heaps, for a process that runs with small ones. `env`: its environment. */
export function planLargeHeaps(env: Readonly<Record<string, string | undefined>>) {
  const small: Readonly<Record<string, string>> = SMALL_ALLOCATOR;
  const own = Object.fromEntries(Object.entries(env).filter(([name, value]) => small[name] !== value));
  const plan = planMemory(own, false, null);
  return { execArgv: plan.execArgv, env: { ...own, ...plan.env } };
}
