/** Notices that a thread of samples hangs, and refuses reads meanwhile. */
import { systemClock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { SILENCE_MS, watchSilence } from '../../thread/silence-watch.ts';
import { SampleReadError } from '../ports/samples.ts';

/** The watch over a thread. */
export interface ThreadSilence {
  /** Why the thread cannot be asked, one line; null: it answers. */
  problem(): string | null;
  /** Throws {@link SampleReadError} while the thread hangs: a read would wait for as long. */
  refuse(): void;
  /** Ends the watch. */
  end(): void;
}

/** Watches a thread; the log tells when it hangs, and when it answers again. `clock`: default the system's. */
export function watchSampleThread(
  thread: { readonly ping: () => Promise<void> },
  log: Log,
  clock: Parameters<typeof watchSilence>[0]['clock'] = systemClock,
): ThreadSilence {
  let problem: string | null = null;
  const end = watchSilence({
    ping: thread.ping,
    clock,
    onChange(isSilent) {
      problem = isSilent ? `the samples thread has not answered for ${SILENCE_MS / 1_000} s` : null;
      if (isSilent)
        log.error({}, 'the samples thread does not answer; past checks cannot be read, and new ones wait');
      else log.info({}, 'the samples thread answers again');
    },
  });
  return {
    problem: () => problem,
    refuse() {
      if (problem !== null) throw new SampleReadError('samples_away', problem);
    },
    end,
  };
}
