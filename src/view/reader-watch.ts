/** Ends open streams when their readers may no longer see what they see: nothing else asks again while a stream is open. */
import type { ServerResponse } from 'node:http';
import type { Cancel, Clock } from '../clock.ts';
import { HttpError } from '../http/problem.ts';

export type ReaderWatch = ReturnType<typeof createReaderWatch>;

export interface StreamReader {
  /** Streams with the same key have the same reader, and are looked after together. */
  readonly key: string;
  /** Resolves with the rights of the reader as a text. */
  readonly read: () => Promise<string>;
}

/** The interval at which readers are looked after, milliseconds: the time that a reader who is shut out still gets events. */
const LOOK_MS = 3_000;

/** Creates the watch, which costs nothing while it has no streams. */
export function createReaderWatch(clock: Clock) {
  const watched = new Map<ServerResponse, StreamReader & { readonly first: string }>();
  let stop: Cancel | null = null;
  let isLooking = false;

  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    const known = new Map<string, string | null>();
    for (const [response, { key, read, first }] of watched) {
      if (!known.has(key)) known.set(key, await read().catch(unread));
      const present = known.get(key) ?? null;
      // The client connects again, and gets what it may see now.
      if (present !== null && present !== first) response.end();
    }
    isLooking = false;
  };

  /** Ends a stream, once it is open, when `reader` reads something else than `first`. */
  return (response: ServerResponse, first: string, reader: StreamReader): void => {
    watched.set(response, { ...reader, first });
    stop ??= clock.every(LOOK_MS, () => void look());
    response.once('close', () => {
      watched.delete(response);
      if (watched.size > 0) return;
      stop?.();
      stop = null;
    });
  };
}

/**
 * Returns the rights after a failed read; null: as before, as far as is known. After too many wrong passwords a reader sees
 * nothing.
 */
function unread(error: unknown): string | null {
  return error instanceof HttpError && error.code === 'rate_limited' ? '' : null;
}
