/** Notices that a thread hangs: it has not ended, so nothing is rejected, but it answers nothing either. */
import type { Clock } from '../clock.ts';

/** Interval of the pings, milliseconds. */
const PING_MS = 1_000;
/** A thread that has not answered a ping for this time hangs, milliseconds. */
export const SILENCE_MS = 10_000;

/** Pings a thread every second. Returns the function that ends the watch. */
export function watchSilence({
  ping,
  clock,
  silenceMs = SILENCE_MS,
  onChange,
}: {
  /** Resolves when the thread has answered; what it rejects with is ignored, since the thread has ended then. */
  readonly ping: () => Promise<void>;
  readonly clock: Clock;
  /** Default: {@link SILENCE_MS}. */
  readonly silenceMs?: number;
  /** Called with true when the thread has not answered for `silenceMs`, and with false when it answers again. */
  readonly onChange: (isSilent: boolean) => void;
}): () => void {
  /** The time at which the ping was sent that has no answer yet, monotonic milliseconds; null: each has its answer. */
  let askedAtMs: number | null = null;
  let isSilent = false;
  let lastTickMs = clock.monotonic();
  const answered = (): void => {
    askedAtMs = null;
    if (!isSilent) return;
    isSilent = false;
    onChange(false);
  };
  return clock.every(PING_MS, () => {
    const nowMs = clock.monotonic();
    const ownDelayMs = nowMs - lastTickMs - PING_MS;
    lastTickMs = nowMs;
    if (askedAtMs === null) {
      askedAtMs = nowMs;
      ping().then(answered, () => {});
      return;
    }
    // The answer may be there and unread, because this thread was busy or stopped itself.
    if (ownDelayMs > PING_MS) askedAtMs = nowMs;
    if (isSilent || nowMs - askedAtMs < silenceMs) return;
    isSilent = true;
    onChange(true);
  });
}
