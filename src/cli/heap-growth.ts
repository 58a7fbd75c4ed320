/** Bounds the garbage that the heaps of the program hold while it serves. */
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

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
export function boundHeapGrowth(): void {
  const option = planHeapGrowth(
    getHeapStatistics().used_heap_size,
    process.execArgv,
    process.env.NODE_OPTIONS,
  );
  if (option !== null) setFlagsFromString(option);
}

/**
 * Collects what is left of a start with many services: lists that were sorted, tables that grew. V8 would leave it until
 * the heap has grown by as much again. A large heap takes a good part of a second, so call it before the first check. A
 * small one is left alone.
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
