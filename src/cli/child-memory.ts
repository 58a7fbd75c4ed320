/** How the program's process is started so that it needs less memory: fewer arenas, sources compiled once, small heaps. */
import { lstatSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** What a process is started with beyond its entry. */
export interface ChildMemory {
  readonly execArgv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Below this memory of the machine or container, heaps are kept small at the cost of more collections. */
const SMALL_BYTES = 1_073_741_824;
/** Each of six threads has a young generation of three such spaces, 16 MiB each by default. */
const SMALL_SEMI_SPACE_MIB = 1;
/** The allocator keeps a heap for each processor and more, between which freed memory is not shared. */
const ARENAS = 2;

/**
 * Decides. `memoryBytes`: what the process may use. `cacheDir`: where compiled sources are kept, which saves each thread
 * the compiler of TypeScript, about 10 MiB; null: nowhere. What `env` sets already stays as it is.
 */
export function planMemory(
  env: Readonly<Record<string, string | undefined>>,
  memoryBytes: number,
  cacheDir: string | null,
): ChildMemory {
  const isOwn = /--max-semi-space-size/.test(env.NODE_OPTIONS ?? '');
  const isSmall = memoryBytes < SMALL_BYTES;
  return {
    execArgv: isSmall && !isOwn ? [`--max-semi-space-size=${SMALL_SEMI_SPACE_MIB}`] : [],
    env: {
      ...(env.MALLOC_ARENA_MAX === undefined ? { MALLOC_ARENA_MAX: String(ARENAS) } : {}),
      ...(env.NODE_COMPILE_CACHE === undefined && cacheDir !== null ? { NODE_COMPILE_CACHE: cacheDir } : {}),
    },
  };
}

/**
 * A folder for compiled sources in `parent` that is this user's alone, or another user could have our threads run code;
 * null: it cannot be made, or belongs to somebody else.
 */
export function openCompileCache(parent: string): string | null {
  const uid = process.getuid?.() ?? null;
  const folder = join(parent, `upbeat-compile-cache-${uid ?? 'user'}`);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return null;
  }
  const found = lstatSync(folder, { throwIfNoEntry: false });
  const isPrivate = uid === null || (found?.uid === uid && (found.mode & 0o077) === 0);
  return found?.isDirectory() === true && isPrivate ? folder : null;
}
