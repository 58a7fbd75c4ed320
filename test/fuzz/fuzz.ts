/** Tries a reader with hostile inputs, and keeps the smallest input that it fails with. */
import { mutate, seededRandom } from './fuzz-input.ts';

/** Something that reads input from outside. */
export interface FuzzTarget {
  /** Also the name of its folder in `corpus/`. */
  readonly name: string;
  /** Inputs that are right, or nearly so, from which others are made. */
  readonly examples: readonly string[];
  /** Its part of the cases of a long run; quick readers have more. Default 1. */
  readonly weight?: number;
  /** Reads an input. Throws for what must not happen; errors that the reader promises are no failure. */
  readonly read: (input: Buffer) => void | Promise<void>;
}

/** An input that a target failed with. */
export interface FuzzFailure {
  readonly target: string;
  readonly seed: number;
  readonly input: Buffer;
  readonly error: Error;
}

/** An input takes a small part of this, milliseconds, on a busy machine too. */
const SOON_MS = 5_000;
/** Tries to make a failing input smaller. */
const MAX_SHRINKS = 400;

/** What is wrong with reading this input; null: nothing. */
export async function tryInput({ read }: FuzzTarget, input: Buffer): Promise<Error | null> {
  const startedAt = performance.now();
  try {
    const pending = read(input);
    if (pending !== undefined) await pending;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
  const elapsedMs = performance.now() - startedAt;
  return elapsedMs > SOON_MS ? new Error(`it took ${Math.round(elapsedMs)} ms`) : null;
}

/** Tries `cases` inputs; returns the first failure, made small; null: there is none. */
export async function fuzz(target: FuzzTarget, seed: number, cases: number): Promise<FuzzFailure | null> {
  const random = seededRandom(seed);
  for (let done = 0; done < cases; done++) {
    const input = mutate(random, target.examples);
    const error = await tryInput(target, input);
    if (error !== null) return { target: target.name, seed, ...(await shrink(target, input, error)) };
  }
  return null;
}

/** Cuts parts out as long as it still fails. */
async function shrink(target: FuzzTarget, input: Buffer, error: Error) {
  let smallest = { input, error };
  let size = Math.ceil(input.length / 2);
  for (let tries = 0; tries < MAX_SHRINKS && size >= 1; size = Math.floor(size / 2))
    for (let from = 0; from < smallest.input.length && tries < MAX_SHRINKS; tries++) {
      const shorter = Buffer.concat([smallest.input.subarray(0, from), smallest.input.subarray(from + size)]);
      const still = await tryInput(target, shorter);
      if (still === null) from += size;
      else smallest = { input: shorter, error: still };
    }
  return smallest;
}
