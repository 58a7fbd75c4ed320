/** Much work that nobody waits for, a little at a time: whoever asks for something else is answered between. */

/** Makes a queue that runs tasks in their order, at most `most` of them without a pause. A task must not throw. */
export function createSlices(most: number): (task: () => void) => void {
  const waiting: (() => void)[] = [];
  let isRunning = false;
  const run = (): void => {
    for (const task of waiting.splice(0, most)) task();
    isRunning = waiting.length > 0;
    if (isRunning) setImmediate(run);
  };
  return (task) => {
    waiting.push(task);
    if (isRunning) return;
    isRunning = true;
    // After whoever puts in many at once.
    queueMicrotask(run);
  };
}
