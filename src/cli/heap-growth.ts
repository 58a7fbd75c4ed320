/** Bounds the garbage that the heaps of the program hold while it serves. */
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** A heap grows by this part of what lives in it before the next full collection, percent. V8 lets it grow by up to 300 %. */
const GROWTH_PERCENT = 50;
/** The option of V8, which a small memory or the operator may have set. */
const OPTION = '--heap-growing-percent';

/** The option to set; null: one is set already. `execArgv` and `nodeOptions`: how the process was started. */
export function planHeapGrowth(execArgv: readonly string[], nodeOptions = ''): string | null {
  return [...execArgv, nodeOptions].some((text) => text.includes(OPTION))
    ? null
    : `${OPTION}=${GROWTH_PERCENT}`;
}

/**
 * Bounds the growth of all heaps of this process from now on. Call it when the program serves: while a heap is filled for the first time,
 * early collections find nothing. Under overload, what waits for clients outlives the young generation, so that old generations would
 * otherwise grow to several times of what they need.
 */
export function boundHeapGrowth(): void {
  const option = planHeapGrowth(process.execArgv, process.env.NODE_OPTIONS);
  if (option !== null) setFlagsFromString(option);
}

/** A heap with less in it than this, bytes, holds little garbage of a start. */
const LARGE_HEAP_BYTES = 134_217_728;

/**
 * Collects what is left of a start with many services: lists that were sorted, tables that grew. V8 would leave it until
 * the heap has grown by as much again. A large heap takes a good part of a second, so call it before the program serves. A
 * small one is left alone.
 */
export function collectStart(): void {
  if (getHeapStatistics().used_heap_size < LARGE_HEAP_BYTES) return;
  setFlagsFromString('--expose-gc');
  // Contexts have the function that are made while the option is set.
  const collect: () => void = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  collect();
}
