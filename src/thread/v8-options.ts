/** The options of V8 that the program runs with, and the garbage that its heaps hold while it serves. */
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Each of six threads has a young generation of three such spaces. Old generations are compacted at every collection, and
 * grow by a tenth before the next one. Code that two collections did not see in use is dropped, and compiled again when it
 * is called; only what runs often is compiled to machine code. One helper thread of V8 compiles and collects instead of
 * four, each with memory of its own. With 1,200 services the program held 179 MB instead of 206 MB 90 s after a start, and its start
 * and these seconds took 9 % more CPU time (2026-11-28, 2 cores, beside other work); each option alone is within the noise of 10 MB.
 * `--no-short-builtin-calls`: threads call the builtin functions of V8 where the program has them, instead of in a copy of 2 MB that is
 * mapped for each thread: 152 MB held instead of 158 MB, in the same CPU time.
 */
export const SMALL_HEAPS = [
  '--max-semi-space-size=1',
  '--optimize-for-size',
  '--heap-growing-percent=10',
  '--bytecode-old-age=2',
  '--no-sparkplug',
  '--v8-pool-size=1',
  '--no-short-builtin-calls',
];

/** Returns true if this process was started for a small fleet. */
export const hasSmallHeaps = (): boolean => process.execArgv.includes('--optimize-for-size');
/**
 * V8 takes spaces of 64 MiB where the machine has much memory, and each thread that loads a large fleet keeps two of them.
 * With 16 MiB the same objects survive the load of a fleet, in more collections. V8 would also allocate objects of kinds that often
 * survive a young collection, such as parts of a socket, in the old generation. There each of them keeps what it references alive: at 1,000
 * checks a second, 0.95 MB survived each collection instead of 0.35 MB.
 */
export const USUAL_HEAPS = ['--max-semi-space-size=16', '--no-allocation-site-pretenuring'];
/**
 * Limit of the young generation of a thread that does little at a time, MB. It is collected more often and
 * holds less garbage, which a thread with much to do would pay for with CPU time.
 */
export const SMALL_YOUNG_MB = 6;

/** A heap grows by this part of what lives in it before the next full collection, percent. V8 lets it grow by up to 300 %. */
const GROWTH_PERCENT = 50;
/** The same for large heaps, where half would be much memory. */
const LARGE_GROWTH_PERCENT = 15;
/** A heap with less in it than this, bytes, is small, and holds little garbage of a start. */
const LARGE_HEAP_BYTES = 33_554_432;
/** The option of V8, which a small memory or the operator may have set. */
const OPTION = '--heap-growing-percent';

/**
 * The option to set; null: one is set already. `execArgv` and `nodeOptions`: how the process was started. `usedBytes`: of the heap of the
 * main thread.
 */
export function planHeapGrowth(
  usedBytes: number,
  execArgv: readonly string[],
  nodeOptions = '',
): string | null {
  return [...execArgv, nodeOptions].some((text) => text.includes(OPTION))
    ? null
    : `${OPTION}=${usedBytes < LARGE_HEAP_BYTES ? GROWTH_PERCENT : LARGE_GROWTH_PERCENT}`;
}

/**
 * Bounds the growth of all heaps of this process from now on. Call it when all is loaded: while a heap is filled for the first time,
 * early collections find nothing. Under overload, what waits for clients outlives the young generation, so that old generations would
 * otherwise grow to several times of what they need.
 */
export function boundHeapGrowth(nodeOptions?: string): void {
  const option = planHeapGrowth(getHeapStatistics().used_heap_size, process.execArgv, nodeOptions);
  if (option !== null) setFlagsFromString(option);
}

/**
 * Collects what is left of a start with many services: lists that were sorted, tables that grew. V8 would leave it until the heap has
 * grown by as much again. A large heap takes a good part of a second, so call it before the first check. A small one is left alone.
 */
export function collectStart(): void {
  if (getHeapStatistics().used_heap_size < LARGE_HEAP_BYTES) return;
  setFlagsFromString('--expose-gc');
  // Contexts have the function that are made while the option is set.
  const collect: (options: object) => void = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  // A usual collection leaves what lives scattered over its pages. With a million services, this one closes the gaps and gives a hundred megabytes back.
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
