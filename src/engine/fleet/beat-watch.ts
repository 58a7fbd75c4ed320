/** Watches the counter that a thread increments while its event loop turns. */
import type { Clock } from '../../clock.ts';

/** What to watch. Durations are milliseconds. */
export interface BeatWatchOptions {
  readonly beats: SharedArrayBuffer;
  readonly clock: Clock;
  /** How long the counter may stand still; asked at every look. */
  readonly patienceMs: () => number;
  /** Told at each look from then on. */
  readonly onSilent: (silentMs: number) => void;
}

const LOOK_EVERY_MS = 500;
/** A watch that runs this late, milliseconds, was delayed by our own event loop and is skipped. */
const OWN_LATENESS_MS = 250;

/** Starts watching; the function that it returns ends it. */
export function watchBeats({ beats, clock, patienceMs, onSilent }: BeatWatchOptions): () => void {
  const counter = new Int32Array(beats);
  let seen = Atomics.load(counter, 0);
  let seenAt = clock.monotonic();
  let lookedAt = seenAt;
  return clock.every(LOOK_EVERY_MS, () => {
    const now = clock.monotonic();
    const late = now - lookedAt > LOOK_EVERY_MS + OWN_LATENESS_MS;
    lookedAt = now;
    const beat = Atomics.load(counter, 0);
    if (beat !== seen || late) {
      seen = beat;
      seenAt = now;
    } else if (now - seenAt >= patienceMs()) {
      onSilent(now - seenAt);
    }
  });
}
