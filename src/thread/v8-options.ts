/** The options of V8 that the program runs with, and the garbage that its heaps hold while it serves. */
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Clock, systemClock } from '../clock.ts';

/**
 * A heap that may have 2 GiB or more calls the builtin functions of V8 in a copy of 2 MB that is mapped for its thread, otherwise where the
 * program has them, in the same CPU time. MB.
 */
const SMALL_THREAD_MB = 2_040;
/** The option that bounds every heap, whatever limits a thread has. */
const HEAP_LIMIT = '--max-old-space-size';

/**
 * Each thread has a young generation of three such spaces. One helper thread of V8 compiles and collects instead of four, each with memory
 * of its own. V8 does not compare these options before it takes compiled code. With any other one it would refuse the code that comes
 * with Node.js, and each thread would compile Node's own modules: with those of {@link SMALL_HEAPS_LATER} the program took 1.0 s of CPU
 * to ready instead of 0.77 s, with 1,200 services (2026-11-29, 2 cores, in turn beside other work).
 */
export const SMALL_HEAPS = ['--max-semi-space-size=1', '--v8-pool-size=1'];
/** The same for the heap of the main thread alone; see {@link freeThreads}. */
export const SMALL_MAIN_HEAP = `${HEAP_LIMIT}=${SMALL_THREAD_MB}`;

/** Takes back the limit of the main thread's heap, which has it by now, so that other threads keep their own limits. Call it before they start. */
export function freeThreads(): void {
  if (process.execArgv.includes(SMALL_MAIN_HEAP)) setFlagsFromString(`${HEAP_LIMIT}=0`);
}

/**
 * Options that are set when the start is over. After 90 s the program holds as much as with them from the beginning (131 MB). Old generations
 * are compacted at every collection, and grow by a tenth before the next one. Code that two collections did not see in use is dropped, and
 * compiled again when it is called; only what runs often is compiled to machine code; that of the start's baseline compiler is dropped, too, 1 MB.
 */
const SMALL_HEAPS_LATER = [
  '--optimize-for-size',
  '--heap-growing-percent=10',
  '--bytecode-old-age=2',
  '--no-sparkplug',
  '--flush-baseline-code',
];

/** Returns true if a process with these options was started for a small fleet; default: this one. */
export const hasSmallHeaps = (execArgv: readonly string[] = process.execArgv): boolean =>
  SMALL_HEAPS.every((option) => execArgv.includes(option));

/** The limits of a thread that has no others. */
export const usualLimits = () => (hasSmallHeaps() ? { maxOldGenerationSizeMb: SMALL_THREAD_MB } : {});

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

/** The time after which a thread is no longer starting, milliseconds: most services of a small fleet have been checked, and compiled code is kept. */
const COLLECT_AFTER_MS = 30_000;

/**
 * The options of V8 to set when the start is over, but for those that the operator has set. `execArgv` and `nodeOptions`: how the process was
 * started. `usedBytes`: of the heap of the main thread.
 */
export function planHeapBounds(
  usedBytes: number,
  execArgv: readonly string[],
  nodeOptions = '',
): readonly string[] {
  const growth = usedBytes < LARGE_HEAP_BYTES ? GROWTH_PERCENT : LARGE_GROWTH_PERCENT;
  const wanted = hasSmallHeaps(execArgv) ? SMALL_HEAPS_LATER : [`--heap-growing-percent=${growth}`];
  const given = [...execArgv, nodeOptions].join(' ');
  return wanted.filter((option) => !given.includes(option.replace(/=.*/, '')));
}

/**
 * Bounds all heaps of this process from now on. Call it when all is loaded: while a heap is filled for the first time, early
 * collections find nothing. Under overload, what waits for clients outlives the young generation, so that old generations would otherwise
 * grow to several times of what they need.
 */
export function boundHeaps(nodeOptions?: string): void {
  const { used_heap_size: usedBytes } = getHeapStatistics();
  for (const option of planHeapBounds(usedBytes, process.execArgv, nodeOptions)) setFlagsFromString(option);
}

/**
 * Collects what is left of a start with many services: lists that were sorted, tables that grew. V8 would leave it until the heap has
 * grown by as much again. A large heap takes a good part of a second, so call it before the first check. A small one is left alone.
 */
export function collectStart(): void {
  if (getHeapStatistics().used_heap_size >= LARGE_HEAP_BYTES) collect();
}

/**
 * Collects once what the start of this thread has left in a small heap, when V8 finds little garbage and would leave it: with 1,200 services
 * the program then holds 4 MB less. Each thread takes 20 to 60 ms of CPU time for it.
 */
export function collectLater(
  clock: Pick<Clock, 'after'> = systemClock,
  execArgv: readonly string[] = process.execArgv,
): void {
  if (hasSmallHeaps(execArgv)) clock.after(COLLECT_AFTER_MS, collect);
}

function collect(): void {
  setFlagsFromString('--expose-gc');
  // Contexts have the function that are made while the option is set.
  const gc: ((options: object) => void) | undefined = runInNewContext('globalThis.gc');
  setFlagsFromString('--no-expose-gc');
  // A usual collection leaves what lives scattered over its pages. With a million services, this one closes the gaps and gives a hundred megabytes back.
  // Undefined: another thread has just taken the option back, since all share it.
  gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
