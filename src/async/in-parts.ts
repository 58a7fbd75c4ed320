/** Long computations as generators that pause between their parts, so that the event loop serves requests in between. */

/** Items that are sorted or merged between two pauses. */
const PART_SIZE = 10_000;

export function runAtOnce<Result>(computation: Generator<void, Result>): Result {
  for (;;) {
    const { done, value } = computation.next();
    if (done === true) return value;
  }
}

/** Runs a computation, with one part in each turn of the event loop. Rejects if the computation throws. */
export async function runInParts<Result>(computation: Generator<void, Result>): Promise<Result> {
  for (;;) {
    const { done, value } = computation.next();
    if (done === true) return value;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Pauses after each part of a list; the caller processes one item at a time. */
export function* inParts<Item>(items: Iterable<Item>, process: (item: Item) => void): Generator<void, void> {
  let count = 0;
  for (const item of items) {
    process(item);
    if (++count % PART_SIZE === 0) yield;
  }
}

/** Sorts items into a new list by merging sorted parts. The order of equal items is kept. */
export function* sortInParts<Item>(
  items: readonly Item[],
  compare: (a: Item, b: Item) => number,
): Generator<void, Item[]> {
  let runs: Item[][] = [];
  for (let at = 0; at < items.length; at += PART_SIZE) {
    runs.push(items.slice(at, at + PART_SIZE).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const merged: Item[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      merged.push(yield* mergeInParts(runs[at] ?? [], runs[at + 1] ?? [], compare));
    runs = merged;
  }
  return runs[0] ?? [];
}

function* mergeInParts<Item>(
  left: readonly Item[],
  right: readonly Item[],
  compare: (a: Item, b: Item) => number,
): Generator<void, Item[]> {
  const merged: Item[] = [];
  let [fromLeft, fromRight] = [0, 0];
  while (fromLeft < left.length && fromRight < right.length) {
    const [a, b] = [left[fromLeft] as Item, right[fromRight] as Item];
    if (compare(a, b) <= 0) {
      merged.push(a);
      fromLeft++;
    } else {
      merged.push(b);
      fromRight++;
    }
    if (merged.length % PART_SIZE === 0) yield;
  }
  return merged.concat(left.slice(fromLeft), right.slice(fromRight));
}

/**
 * Creates a queue that runs tasks in the order of the calls, at most `maxPerTurn` of them in one turn of the event
 * loop. A call costs the same however many tasks are waiting. A task must not throw.
 */
export function createCooperativeQueue(maxPerTurn: number): (task: () => void) => void {
  /** The tasks that are running, from `next` on. New tasks are collected and replace these when they are done. */
  let tasks: (() => void)[] = [];
  let next = 0;
  let gathered: (() => void)[] = [];
  let isRunning = false;
  const run = (): void => {
    for (let count = 0; count < maxPerTurn; count++) {
      if (next === tasks.length) {
        [tasks, gathered, next] = [gathered, [], 0];
        if (tasks.length === 0) break;
      }
      const task = tasks[next] as () => void;
      // Lets the garbage collector free a finished task before the others are done.
      tasks[next++] = finished;
      task();
    }
    isRunning = next < tasks.length || gathered.length > 0;
    if (isRunning) setImmediate(run);
  };
  return (task) => {
    gathered.push(task);
    if (isRunning) return;
    isRunning = true;
    // Runs after the caller, which may add many tasks at once.
    queueMicrotask(run);
  };
}

const finished = (): void => {};

/** Calls `work` with at most `size` of the items at a time, one call in each turn of the event loop. Rejects if `work` throws. */
export async function forEachYielding<Item>(
  items: readonly Item[],
  size: number,
  work: (part: readonly Item[]) => void,
): Promise<void> {
  for (let at = 0; at < items.length; at += size) {
    work(items.slice(at, at + size));
    await new Promise((resolve) => setImmediate(resolve));
  }
}
